"""``gq.sweep``: one scenario over a grid of values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from goodqueue.api import asking, frames, showing
from goodqueue.ask.question import Question
from goodqueue.errors import UserError, quoted
from goodqueue.measures import numbers
from goodqueue.measures.stats import Estimate
from goodqueue.show.answer import Answer, Part
from goodqueue.sweeps import files, grid, question, result, show
from goodqueue.sweeps.answer import parts
from goodqueue.sweeps.result import Values

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from matplotlib.figure import Figure

Grid = Mapping[str, Sequence[Any]]
"""Dotted keys of a scenario, each with a list of values."""


@dataclass(frozen=True, repr=False)
class Sweep(showing.Shown):
    """A grid of scenarios, several seeds each.

    >>> import goodqueue as gq
    >>> grid = {"bottleneck.qdisc": ["pfifo", "codel"], "path.rtt": ["10ms", "40ms"]}
    >>> found = gq.sweep(rate="10mbit", duration="8s", grid=grid, seeds=2, progress=False)
    >>> found.values("delay_p95_ms").shape  # the grid's axes, seeds
    (2, 2, 2)
    """

    result: result.Sweep
    """The result from which the tables and figures are made."""

    @property
    def df(self) -> "pd.DataFrame":
        """A DataFrame with one row per run. Its columns: the grid's keys, ``seed``, and one per metric, with its unit.

        The columns are those of ``runs.parquet`` in a store, where ``key`` names the run. Cells that failed have no
        rows: see `failures`. Raises `gq.UserError` if pandas is missing.
        """
        return frames.frame([*files.rows(self.result)])

    @property
    def failures(self) -> list[str]:
        """One line per cell that was refused or failed. All other cells are complete."""
        return show.failures(self.result)

    @property
    def axes(self) -> dict[str, list[str]]:
        """The keys that have several values, in the order of the axes of `values`, with their values as text."""
        return {axis.key: list(axis.values) for axis in self.result.swept()}

    def values(self, metric: str) -> "np.ndarray[tuple[int, ...], np.dtype[np.float64]]":
        """Return the numbers of one metric: one axis per key of `axes`, and the seeds as the last axis.

        A missing number is NaN, as in a cell that failed. Raises `gq.UserError` for an unknown metric.
        """
        import numpy as np

        self._check(metric)
        n = max(len(cell.keys) for cell in self.result.cells)
        rows = [[*cell.values.get(metric, ())] for cell in self.result.cells]
        flat = np.array([row + [None] * (n - len(row)) for row in rows], dtype=np.float64)
        return flat.reshape(*map(len, self.axes.values()), n)

    def estimate(self, at: Mapping[str, Any], metric: str) -> Estimate | None:
        """Return the mean of ``metric`` in the cell ``at``, such as ``{"path.rtt": "10ms"}``, with its 95 % interval.

        Raises `gq.UserError` for an unknown cell or metric.
        """
        self._check(metric)
        return self._cell(at).estimate(metric)

    @asking.in_words_of_python
    def difference(self, at: Mapping[str, Any], metric: str, against: str | None = None) -> Estimate | None:
        """Return the mean difference of the cell ``at`` from its baseline, paired by seed, with its 95 % interval.

        The baseline has the value ``against``, such as ``"path.rtt=10ms"``, and otherwise the values of ``at``. If
        None, it is the sweep's own, or the first qdisc. ``p`` and ``effect`` of the result are the p value of Student's
        t test and the effect size. Returns None if ``at`` is the baseline itself. Raises `gq.UserError` for an unknown
        cell, metric or baseline, or if there is none.
        """
        self._check(metric)
        found = self.result
        if against is not None:
            found = replace(found, against=result.baseline(against, found.axes))
        if found.baseline() is None:
            raise UserError("against", "found none, and no qdiscs are swept; accepted: KEY=VALUE of the grid")
        return found.difference(self._cell(at), metric)

    def _cell(self, at: Mapping[str, Any]) -> Values:
        wanted = {key: grid.written(key, value) for key, value in at.items()}
        for cell in self.result.cells:
            if cell.cell.at == wanted:
                return cell
        first = dict(self.result.cells[0].cell.at)
        raise UserError("at", f"found {quoted(wanted)}; accepted: a value for each key, as {quoted(first)}")

    @asking.in_words_of_python
    def plot(
        self,
        metric: str = "delay_p95_ms",
        title: str = "",
        *,
        width: str | None = None,
        font: str | None = None,
        style: str | None = None,
    ) -> "Figure":
        """Return the figure of ``metric`` along the longest axis: one line per qdisc, with 95 % intervals.

        Raises `gq.UserError` if the grid has no axis, or the metric is unknown.

        ``width`` (``"3.5in"``, ``"9cm"``, ``"slide"``), ``font`` (``"Times New Roman 9pt"``) and ``style`` are as in
        ``goodqueue plot``. A figure also follows a matplotlibrc, and what a notebook sets in ``matplotlib.rcParams``.
        """
        from goodqueue.sweeps import drawing

        self._check(metric)
        if not self.axes:
            raise UserError("plot", "found one cell; accepted: a sweep of a key with several values")
        (chosen,) = numbers.find([metric])
        with showing.looking(width, font, style):
            return drawing.along_axis(self.result, chosen, title)

    def _check(self, metric: str) -> None:
        known = [one.key for one in self.result.metrics]
        if metric not in known:
            raise UserError("metric", f"found {quoted(metric)}; accepted: {', '.join(known)}")

    def _parts(self) -> Sequence[Part]:
        return [*parts(self.result), *self.failures]


def _swept(answer: Answer, _: Question) -> Sweep:
    return Sweep(answer.result)


sweep = asking.function(
    question.Sweep, _swept, "Sweep", "A `Sweep`. If some cells are refused, `Sweep.failures` names them."
)
