"""Selects what ``--only`` names: published scenarios, values or claims, by id."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from goodqueue.errors import UserError
from goodqueue.studies.claims import inherited
from goodqueue.studies.keys import unknown
from goodqueue.studies.model import Cell, Study
from goodqueue.studies.published import At, Claim, Published, Term, Value

LEFT_OUT = "left out by --only"
"""The reason of the verdict ``not_run`` for values and claims that were not asked for."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The cells to run and the values and claims to judge. All of them if ``ids`` is empty."""

    ids: frozenset[str]
    wanted: tuple[tuple[str, str | None, At], ...] = ()
    """Published scenario, algorithm (None: all) and the fixed part of the point."""

    def takes(self, cell: Cell) -> bool:
        """Return whether ``cell`` must run."""
        return not self.ids or any(
            cell.scenario == scenario
            and algorithm in (None, cell.algorithm)
            and all(cell.at.get(name, value) == value for name, value in at.items())
            for scenario, algorithm, at in self.wanted
        )

    def takes_value(self, value: Value) -> bool:
        """Return whether ``value`` was asked for, by its own id or by its scenario's."""
        return not self.ids or value.id in self.ids or value.scenario in self.ids

    def takes_claim(self, claim: Claim) -> bool:
        """Return whether ``claim`` was asked for, by its own id or by one of its scenarios'."""
        return not self.ids or claim.id in self.ids or any(scenario in self.ids for scenario in claim.scenarios)


def select(study: Study, only: Iterable[str]) -> Selection:
    """Return the selection of the ids ``only``, with or without the paper's key: ``table1a``, ``c04``, ``v001``.

    Raises UserError for an unknown id.
    """
    facts = study.published
    values = {value.id: value for value in facts.values}
    claims = {claim.id: claim for claim in facts.claims}
    ids: list[str] = []
    needed: list[tuple[str, str | None, At]] = []
    for word in only:
        id_ = word if "/" in word else f"{facts.key}/{word}"
        if id_ in facts.scenarios:
            needed.append((id_, None, {}))
        elif id_ in values:
            value = values[id_]
            needed.append((value.scenario, value.algorithm, value.at))
        elif id_ in claims:
            needed += _needs(claims[id_], study)
        else:
            raise UserError("--only", _unknown(word, facts))
        ids.append(id_)
    return Selection(frozenset(ids), tuple(needed))


def _needs(claim: Claim, study: Study) -> Iterator[tuple[str, str | None, At]]:
    """Yield the cells behind ``claim``: each term's algorithms, at each of the claim's points.

    A parameter over which a metric joins its points is left open, as each of them is a part of the number.
    """
    for scenario in claim.scenarios:
        first = inherited(Term(scenario=scenario), claim.left or claim.items[0])
        for term in (first, *(inherited(first, other) for other in (claim.right, *claim.items) if other)):
            open_ones = _joined(study, term)
            for algorithm in term.algorithms or ():
                for point in claim.points:
                    at = {name: value for name, value in {**point, **term.at}.items() if name not in open_ones}
                    yield term.scenario or scenario, algorithm, at


def _joined(study: Study, term: Term) -> set[str]:
    """Return the parameters over which any experiment joins the points of a metric of ``term``."""
    return {
        parameter
        for experiment in study.experiments
        for metric in experiment.metrics.values()
        if metric.name in (term.metrics or ())
        for parameter in metric.joined
    }


def _unknown(word: str, facts: Published) -> str:
    ids = [*facts.scenarios, *(claim.id for claim in facts.claims), *(value.id for value in facts.values)]
    return unknown(word, [id_ if "/" in word else id_.rpartition("/")[2] for id_ in ids])
