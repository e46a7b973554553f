"""Selects what ``--only`` names: published scenarios, values or claims, by id."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from goodqueue.errors import UserError
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
            needed += _needs(claims[id_])
        else:
            raise UserError("--only", _unknown(word, facts))
        ids.append(id_)
    return Selection(frozenset(ids), tuple(needed))


def _needs(claim: Claim) -> list[tuple[str, str | None, At]]:
    """Return the cells behind ``claim``: all points of its scenarios, for the algorithms that it names."""
    terms: Sequence[Term] = [term for term in (claim.left, claim.right, *claim.items) if term and term.is_lookup]
    algorithms = {name for term in terms for name in term.algorithms or ()}
    scenarios = {*claim.scenarios, *(term.scenario for term in terms if term.scenario)}
    return [(scenario, name, {}) for scenario in sorted(scenarios) for name in sorted(algorithms)]


def _unknown(word: str, facts: Published) -> str:
    ids = [*facts.scenarios, *(claim.id for claim in facts.claims), *(value.id for value in facts.values)]
    return unknown(word, [id_ if "/" in word else id_.rpartition("/")[2] for id_ in ids])
