"""Compares whole runs that were drawn at random, by packets and by numbers.

What chance does is known from Linux itself: it makes each run again with the next seed, whose flows start at other
times and whose disciplines draw other numbers.
"""

import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median, quantiles

from goodqueue.measures import numbers
from goodqueue.record import Scenario
from goodqueue.running import Progress
from goodqueue.validation.packets import captured, kept, many
from goodqueue.validation.packets.kept import Blocks
from goodqueue.validation.packets.many import Row
from goodqueue.validation.packets.matrix import Cell
from goodqueue.validation.packets.reading import SENT
from goodqueue.validation.packets.runs import Pair

METRICS = numbers.find(["goodput_mbps", "delay_mean_ms", "delay_p95_ms", "dropped"])
FLOORS = {"goodput_mbps": 0.01, "delay_mean_ms": 0.1, "delay_p95_ms": 0.1, "dropped": 20.0}
"""What is added to both numbers before their ratio is taken, so that next to nothing is no large difference."""


@dataclass(frozen=True, slots=True)
class Run:
    """One drawn run."""

    row: Row
    values: Mapping[str, Sequence[float | None]]
    """By metric: the simulator's number, Linux's, and Linux's with another seed."""
    blocks: Mapping[str, Blocks]
    """Linux's packets in short."""

    def off(self, key: str) -> float | None:
        """Return how far the simulator is from Linux, as the absolute logarithm of the ratio."""
        ours, linux, _ = self.values[key]
        return _off(ours, linux, FLOORS[key])

    def chance(self, key: str) -> float | None:
        """Return how far Linux is from itself with another seed."""
        _, linux, again = self.values[key]
        return _off(again, linux, FLOORS[key])


def _off(number: float | None, other: float | None, floor: float) -> float | None:
    if number is None or other is None:
        return None
    return abs(math.log((number + floor) / (other + floor)))


def carry_out(
    cells: Sequence[Cell],
    release: str | None,
    on: Sequence[str],
    progress: Progress,
    folder: Path | None,
    workers: int | None,
) -> list[Run]:
    """Make the runs of ``cells``. ``folder`` keeps those of Linux. Raises UserError and OSError."""
    return many.compare(cells, release, on, partial(_one, on[1], folder), progress, folder, workers)


def _one(linux: str, folder: Path | None, cell: Cell, scenario: Scenario, both: Pair, stop: threading.Event) -> Run:
    other = {**scenario, "seed": scenario["seed"] + 1}
    again = captured.record(linux, other, folder, stop)
    records = (*both.records, again)
    values = {metric.key: [metric.pick(record) for record in records] for metric in METRICS}
    return Run(many.row(cell.name, both), values, {point: kept.blocks(both.seen[1][point]) for point in SENT})


def middle(values: Sequence[float | None]) -> float | None:
    """Return the median of the numbers among ``values``."""
    found = [value for value in values if value is not None]
    return median(found) if found else None


def ninth(values: Sequence[float | None]) -> float | None:
    """Return the 90th percentile of the numbers among ``values``."""
    found = [value for value in values if value is not None]
    return quantiles(found, n=10, method="inclusive")[-1] if len(found) > 1 else middle(found)
