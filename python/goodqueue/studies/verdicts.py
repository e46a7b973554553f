"""Judges the claims of a study by the measured numbers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from goodqueue.studies import sentences
from goodqueue.studies.claims import Row, evaluate
from goodqueue.studies.execution import Measured
from goodqueue.studies.model import Study
from goodqueue.studies.published import Claim
from goodqueue.studies.selection import LEFT_OUT, Selection

VERDICTS = ("holds", "fails", "not_run")

CONTRADICTED = "not tested: the paper's own table contradicts it"
"""The reason of ``not_run`` for a claim that the paper itself refutes. The claim's note may follow."""


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """A claim with its verdict."""

    claim: Claim
    verdict: str
    """``holds``, ``fails`` or ``not_run``."""
    certain: bool | None
    """Whether the verdict is the same for all numbers, or differences seed by seed, within their 95 % confidence
    intervals. None if a number has no interval."""
    measured: Mapping[str, float | None]
    """The numbers that the claim is about, by name."""
    why: str
    """What decided it."""


def judge(study: Study, measured: Iterable[Measured], selection: Selection) -> list[JudgedClaim]:
    """Judge every claim of ``study``."""
    cells = list(measured)
    numbers, intervals = _rows(cells, exact=True), _rows(cells, exact=False)
    return [_judge(study, claim, numbers, intervals, selection) for claim in study.published.claims]


def _rows(cells: Sequence[Measured], exact: bool) -> list[Row]:
    """Return the cells' numbers as rows. Unless ``exact``, these are the intervals that exist, with the runs."""
    rows = []
    for cell in cells:
        for metric, at, number in cell.placed():
            low, high = (number.value, number.value) if exact else (number.low, number.high)
            if low is not None and high is not None:
                # Standard deviations of two algorithms have no differences seed by seed.
                runs = number.runs if not exact and metric.over_seeds == "mean" else ()
                rows.append(Row(cell.cell.scenario, cell.cell.algorithm, metric.name, at, low, high, runs))
    return rows


def _judge(
    study: Study, claim: Claim, numbers: Sequence[Row], intervals: Sequence[Row], selection: Selection
) -> JudgedClaim:
    if not selection.takes_claim(claim):
        return JudgedClaim(claim, "not_run", None, {}, LEFT_OUT)
    if not claim.agrees:
        reason = CONTRADICTED + (f" ({claim.note})" if claim.note else "")
        return JudgedClaim(claim, "not_run", None, {}, reason)
    holds, checks = evaluate(claim, numbers)
    measured = {name: value for check in checks for name, value in check.terms.items()}
    if holds is None:
        reason = _lacking(study, claim) or sentences.open_ones(study, checks)
        return JudgedClaim(claim, "not_run", None, measured, reason)
    surely, sure_checks = evaluate(claim, intervals, steps=True)
    without = any(value is None for check in sure_checks for value in check.terms.values())
    certain = None if without else surely == holds
    why = sentences.decided(study, claim, holds, checks)
    return JudgedClaim(claim, "holds" if holds else "fails", certain, measured, why)


def _lacking(study: Study, claim: Claim) -> str:
    """Return the study's reason why something that ``claim`` needs is missing, or an empty text if it has none."""
    reasons = [exclusion.why for exclusion in study.exclusions if set(exclusion.needs) & set(claim.needs)]
    return f"not tested: {reasons[0]}" if reasons else ""
