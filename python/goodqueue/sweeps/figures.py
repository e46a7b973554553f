"""The figures of a sweep: each metric along an axis, and the distributions of queueing delay."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from goodqueue.measures import metrics
from goodqueue.measures.metrics import Metric
from goodqueue.show.answer import Picture
from goodqueue.sweeps.grid import QDISC, Axis
from goodqueue.sweeps.result import Sweep

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METRICS = 4
"""The most metrics of a sweep with a figure each. If there are more, the main metrics have figures."""

CURVES = 8
"""The most distributions in one figure."""

PANELS = 6
"""The maximum number of panels. The table has everything."""


def of(sweep: Sweep) -> Iterator[Picture]:
    """Yield the figures of ``sweep``."""
    yield from _along(sweep)
    yield from _distributions(sweep)


def _along(sweep: Sweep) -> Iterator[Picture]:
    if not sweep.swept():
        return
    shown = sweep.shown()
    left_out = len(panels_of(sweep)[2]) - PANELS
    caption = f"Mean and 95 % confidence interval over the seeds of a cell, {counts(sweep)}."
    if left_out > 0:
        caption += f" {left_out} more panels are left out; the table has all cells."
    drawn = [metric for metric in shown if len(sweep.metrics) <= METRICS or metric.is_main]
    for metric in drawn:
        title = metrics.label(metric, metrics.directions_of(shown))
        yield Picture(metric.key, caption, partial(_metric, sweep, metric), title)


def panels_of(sweep: Sweep) -> tuple[Axis, Axis | None, list[dict[str, str]]]:
    """Return the axis to draw along, the axis whose values are lines, and each panel's values on the other axes.

    The lines are the qdiscs if these are swept. The axis to draw along is the longest of the others. Raises
    ValueError for a sweep with no axis.
    """
    swept = sorted(sweep.swept(), key=lambda axis: -len(axis.values))
    along = max(swept, key=lambda axis: (axis.key != QDISC, len(axis.values)))
    others = [axis for axis in swept if axis is not along]
    lines = next((axis for axis in others if axis.key == QDISC), others[0] if others else None)
    rest = [axis for axis in others if axis is not lines]
    places = [
        dict(zip((axis.key for axis in rest), values, strict=True))
        for values in itertools.product(*(axis.values for axis in rest))
    ]
    return along, lines, places


def _metric(sweep: Sweep, metric: Metric) -> "Figure":
    from goodqueue.sweeps import drawing  # the import of matplotlib takes longer than a small sweep

    return drawing.along_axis(sweep, metric)


def _distributions(sweep: Sweep) -> Iterator[Picture]:
    """Yield the distributions of queueing delay in each loaded direction, if the cells are few enough for a figure."""
    caption = f"Share of packets that queued for at most a given time; all seeds pooled, {counts(sweep)}."
    directions = sweep.loaded()
    for index, direction in enumerate(directions):
        every = [(name(cell.cell.at), cell.delay_percentiles_ms.get(direction)) for cell in sweep.cells]
        spread = [(called, runs) for called, runs in every if runs]
        if 0 < len(spread) <= CURVES:
            at = metrics.said(direction, directions)
            kind = f"cdf{f'-{direction}' if index else ''}"
            yield Picture(kind, caption, partial(_cdf, spread, at), f"How long packets queue{at}")


def _cdf(spread: Sequence[tuple[str, Sequence[float]]], at: str) -> "Figure":
    from goodqueue.plot import delay

    return delay.cdf(spread, what=f"queueing delay{at}")


def counts(sweep: Sweep) -> str:
    """Return the number of seeds of a cell, or its least and its greatest number."""
    every = sorted({len(cell.keys) for cell in sweep.cells if cell.error is None}) or [0]
    return f"n = {every[0]}" if len(every) == 1 else f"n = {every[0]} to {every[-1]}"


def name(at: Mapping[str, str]) -> str:
    """Return the name of the cell with the values ``at``, in a figure."""
    return ", ".join(at.values()) or "all"
