"""Linux as a process beside Debian's own binary in qemu: how far apart two kernels of one release are, and by chance.

Both ran the same cells. Their difference in a cell is chance, unless it is larger than that of the simulator under
other seeds, or one machine is always on one side. Errors are those of a validation (`validation.judging`).
"""

import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from statistics import mean, median, stdev

from page import ROOT

from goodqueue.measures.stats import Estimate
from goodqueue.show import markdown as markdowns
from goodqueue.show.table import Column, Table, number
from goodqueue.validation import judging
from goodqueue.validation import pages as validations
from goodqueue.validation.judging import Errors
from goodqueue.validation.result import Result, Side

VALIDATION = ROOT / "experiments" / "validation"
SETS = (
    ("the fixed set, 7.3", "process/fixed-7.3", "fixed-7.3"),
    ("drawn at random, 7.3", "process/drawn-7.3", "drawn-7.3"),
    ("the fixed set, 6.1", "process/fixed-6.1", "."),
    ("drawn at random, 6.1", "process/drawn-6.1", "drawn"),
)


def _mean(error: Estimate | None) -> float | None:
    return error.mean if error else None


NUMBERS: Mapping[str, tuple[float, Callable[[Errors], float | None]]] = {
    "mean delay, %": (100, lambda errors: _mean(errors.delay_mean_ln)),
    "95th percentile, %": (100, lambda errors: _mean(errors.delay_p95_ln)),
    "use of the link, points": (1, lambda errors: _mean(errors.utilisation_points)),
    "Jain's index, %": (100, lambda errors: _mean(errors.jain)),
    "drops, %": (100, lambda errors: errors.drops_ln),
}
"""What is compared: the heading, what an error is multiplied by, and the error."""


def markdown() -> str:
    """Return the table: a row for each set and number, with the differences of the kernels and those of chance."""
    headings = ("set", "number", "cells", "median off by", "by chance", "mean", "by chance", "t")
    rows = [row for name, *folders in SETS for row in _rows(name, *(VALIDATION / one for one in folders))]
    return markdowns.table(Table("", [Column(one, at > 1) for at, one in enumerate(headings)], rows, [], names=2))


def _rows(name: str, process: Path, qemu: Path) -> Iterator[list[str]]:
    (ours, _), (theirs, _) = (validations.load(folder / "results.json") for folder in (process, qemu))
    runs = len(ours.seeds)
    if list(theirs.seeds[:runs]) != list(ours.seeds):
        raise ValueError(f"{qemu}: found other seeds than in {process}")
    beside = {result.id: result for result in theirs.results}
    cells = [result for result in ours.results if result.id in beside]
    off = [_errors(cell.kernel, beside[cell.id].kernel, runs) for cell in cells]
    chance = [_errors(cell.sim, cell.again, runs) for cell in cells if cell.again]
    for heading, (factor, of) in NUMBERS.items():
        judged, by_chance = (
            [factor * error for each in every if (error := of(each)) is not None and math.isfinite(error)]
            for every in (off, chance)
        )
        spread = stdev(judged) / math.sqrt(len(judged))
        values = [median(map(abs, judged)), median(map(abs, by_chance)), mean(judged), mean(by_chance)]
        t = mean(judged) / spread if spread else 0.0
        yield [name, heading, str(len(judged)), *(number(value, 2) for value in values), number(t, 1)]


def _errors(side: Side, against: Side, runs: int) -> Errors:
    """Return the errors of ``side`` over the first ``runs`` seeds. Curves and single flows are left out."""
    first, second = (
        Side({key: values[:runs] for key, values in each.values.items()}, [], [], {}) for each in (side, against)
    )
    return judging.errors(Result("", "", "", sim=first, kernel=second))
