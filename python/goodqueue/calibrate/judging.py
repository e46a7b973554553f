"""Sets what the programs said beside what the queues did: bias, spread, interval, and whether repeats agree."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

from goodqueue.calibrate.keeping import Result
from goodqueue.calibrate.programs.program import Claim, Program
from goodqueue.measures import numbers
from goodqueue.measures.stats import Median, median
from goodqueue.record import Record

NEAR_PERCENT = 10.0
"""A number within this of the truth is near."""

AGREE_PERCENT = 5.0
"""Figures of two repeats that differ by no more agree."""


@dataclass(frozen=True, slots=True)
class Figure:
    """What one number of one program is worth, over several runs."""

    program: str
    key: str
    line: str
    """The line of these runs. Empty: all lines."""
    runs: int
    told: float
    """The median of what the program said."""
    truth: float
    """The median of the truth."""
    bias: Median
    """The median error with its 95 % interval: in percent of the truth, or the difference if the number is a share."""
    low: float
    high: float
    """The spread: the 10th and the 90th percentile of the errors."""
    near_percent: float
    """The share of the runs whose error is at most `NEAR_PERCENT`, or as many percentage points."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far apart the same figure of two repeats is."""

    program: str
    key: str
    line: str
    first: float
    second: float

    @property
    def apart(self) -> float:
        """The difference in percentage points."""
        return abs(self.second - self.first)


def figures(results: Sequence[Result], programs: Sequence[Program]) -> list[Figure]:
    """Return the figures of each claim: over all lines, then line by line."""
    lines = list(dict.fromkeys(result.line for result in results))
    judged_figures = []
    for program in programs:
        for claim in program.claims:
            for line in ["", *lines]:
                of_line = [result for result in results if line in ("", result.line)]
                if (figure := _figure(of_line, program.name, claim, line)) is not None:
                    judged_figures.append(figure)
    return judged_figures


def _figure(results: Iterable[Result], program: str, claim: Claim, line: str) -> Figure | None:
    import numpy as np

    pairs = [pair for result in results if (pair := _pair(result, program, claim)) is not None]
    errors = [error for reported, true in pairs if (error := _error(reported, true, claim)) is not None]
    if not errors:
        return None
    bias = median(errors)
    assert bias is not None
    reported, true = (float(np.median(values)) for values in zip(*pairs, strict=True))
    low, high = (float(end) for end in np.quantile(errors, (0.1, 0.9)))
    near = 100 * sum(abs(error) <= NEAR_PERCENT for error in errors) / len(errors)
    return Figure(program, claim.key, line, len(errors), reported, true, bias, low, high, near)


def truth(result: Result, claim: Claim) -> float | None:
    """Return the truth that ``claim`` stands for, as the link's record has it."""
    return numbers.by_key()[claim.truth].pick(cast("Record", result.record))


def _pair(result: Result, program: str, claim: Claim) -> tuple[float, float] | None:
    """Return what the program said, and the truth, or None if one of them is unknown or the machine was busy."""
    reported = result.told.get(program, {}).get(claim.key)
    if reported is None or result.is_busy:
        return None
    true = truth(result, claim)
    return None if true is None else (reported, true)


def _error(reported: float, truth: float, claim: Claim) -> float | None:
    if claim.is_share:
        return reported - truth
    return 100 * (reported / truth - 1) if truth else None


def agreements(results: Sequence[Result], programs: Sequence[Program]) -> list[Agreement]:
    """Return how far the biases of the first two repeats are apart, figure by figure. Empty without a second repeat."""
    first, second = (
        {(figure.program, figure.key, figure.line): figure.bias.value for figure in figures(of_repeat, programs)}
        for of_repeat in ([result for result in results if result.repeat == repeat] for repeat in (1, 2))
    )
    return [Agreement(*key, value, second[key]) for key, value in first.items() if key in second]
