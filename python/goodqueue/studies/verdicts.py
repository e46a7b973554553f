"""Claims of a study, judged by what was measured."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from goodqueue.studies.claims import Check, Row, evaluate
from goodqueue.studies.execution import Measured
from goodqueue.studies.model import Study
from goodqueue.studies.published import Claim
from goodqueue.studies.selection import LEFT_OUT, Selection

SHOWN = 3
"""So many deciding comparisons are named."""


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """A claim with its verdict."""

    claim: Claim
    verdict: str
    """``holds``, ``fails`` or ``not_run``."""
    certain: bool | None
    """Whether the verdict is the same wherever the numbers, or differences seed by seed, lie within their 95 %
    confidence intervals; None where a number has no interval."""
    measured: Mapping[str, float | None]
    """What the claim is about: a name to its number."""
    why: str
    """What decided it."""


def judge(study: Study, measured: Iterable[Measured], selection: Selection) -> list[JudgedClaim]:
    """Judge every claim of ``study``."""
    cells = list(measured)
    numbers, intervals = _rows(cells, exact=True), _rows(cells, exact=False)
    return [_judge(claim, numbers, intervals, selection) for claim in study.published.claims]


def _rows(cells: Sequence[Measured], exact: bool) -> list[Row]:
    """Return the cells' numbers as rows; unless ``exact``, their intervals where they have one, with the runs."""
    rows = []
    for cell in cells:
        for name, number in cell.numbers.items():
            metric = cell.cell.experiment.metrics[name]
            low, high = (number.value, number.value) if exact else (number.low, number.high)
            if low is not None and high is not None:
                at = {**cell.cell.at, **metric.at}
                # Deviations of two algorithms have no differences seed by seed.
                runs = number.runs if not exact and metric.over_seeds == "mean" else ()
                rows.append(Row(cell.cell.scenario, cell.cell.algorithm, metric.name, at, low, high, runs))
    return rows


def _judge(claim: Claim, numbers: Sequence[Row], intervals: Sequence[Row], selection: Selection) -> JudgedClaim:
    if not selection.takes_claim(claim):
        return JudgedClaim(claim, "not_run", None, {}, LEFT_OUT)
    if not claim.agrees:
        reason = "not tested: the paper's own table contradicts it" + (f" ({claim.note})" if claim.note else "")
        return JudgedClaim(claim, "not_run", None, {}, reason)
    holds, checks = evaluate(claim, numbers)
    measured = {name: value for check in checks for name, value in check.terms.items()}
    if holds is None:
        open_ones = [check.text for check in checks if check.verdict is None]
        return JudgedClaim(claim, "not_run", None, measured, _list(open_ones))
    surely, sure_checks = evaluate(claim, intervals, steps=True)
    without = any(value is None for check in sure_checks for value in check.terms.values())
    certain = None if without else surely == holds
    return JudgedClaim(claim, "holds" if holds else "fails", certain, measured, _why(claim, holds, checks))


def _why(claim: Claim, holds: bool, checks: Sequence[Check]) -> str:
    """Return the comparisons that decided the claim, with their numbers."""
    against = [check.text for check in checks if check.verdict is False]
    if claim.quantifier != "all":
        return f"{len(checks) - len(against)} of {len(checks)} comparisons hold, {claim.quantifier} must"
    if holds:
        return checks[0].text if len(checks) == 1 else f"all {len(checks)} comparisons hold"
    of = f" ({len(against)} of {len(checks)} comparisons fail)" if len(checks) > 1 else ""
    return f"not so: {_list(against)}{of}"


def _list(texts: Iterable[str]) -> str:
    every = list(dict.fromkeys(texts))
    return "; ".join(every[:SHOWN]) + ("; …" if len(every) > SHOWN else "")
