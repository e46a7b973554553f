"""``gq.sweep``: one scenario over a grid of values."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from goodqueue import engines, executors
from goodqueue.api import asking, frames, showing
from goodqueue.comparison import request
from goodqueue.errors import Option, Place, UserError, quoted, warn
from goodqueue.measures import FIRST_SEED, SEEDS, metrics, numbers
from goodqueue.measures.stats import Estimate
from goodqueue.show import notes, terminal
from goodqueue.show.answer import Part
from goodqueue.sweeps import carrying, pages, result, show
from goodqueue.sweeps import grid as grids
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
        return frames.frame(pages.rows(self.result))

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
        wanted = {key: _written(key, value) for key, value in at.items()}
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
        from goodqueue.plot import sweep as drawing

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
        sweep = self.result
        return [show.describe(sweep), *show.tables(sweep), *show.certainty(sweep), *self.failures]


@asking.in_words_of_python
def sweep(
    scenario: asking.Source | None = None,
    grid: Grid | None = None,
    *,
    seeds: int = SEEDS,
    seed: int = FIRST_SEED,
    metric: str | Sequence[str] | None = None,
    engine: str = "sim",
    store: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    progress: bool = True,
    against: str | None = None,
    correct: str | None = None,
    mixes: Mapping[str, str] | None = None,
    **sets: Any,
) -> Sweep:
    """Run a scenario over every combination of the values in ``grid``, with the same seeds in each cell.

    Args:
        scenario: A file, a dict, or None. If None, the options describe the scenario, as in `gq.run`.
        grid: Dotted keys with their values: ``{"bottleneck.qdisc": ["codel", "pie"], "path.rtt": ["5ms", "50ms"]}``.
        seeds: Number of runs per cell.
        seed: The first seed.
        metric: The metrics that the tables show, as in `gq.compare`.
        engine: ``"sim"``, ``"kernel"`` or ``"live"``.
        store: A folder that keeps each run. A run that is in it is not run again.
        workers: Number of threads; the result does not depend on it. If None, all cores.
        progress: Whether a terminal shows a progress bar if the work takes longer than half a second.
        against: The baseline of the differences in the tables, such as ``"path.rtt=10ms"``. If None, the first qdisc.
        correct: ``"holm"`` corrects the stars in the tables for the number of comparisons.
        mixes: Mixes of traffic by name, as the values of the key ``traffic``: ``{"calls": "bulk:8,voip:20,ping"}``, or
            a scenario file with the traffic.
        **sets: Options and keys of the scenario that are the same in each cell, as in `gq.run`.

    Returns:
        A `Sweep`.

    Raises:
        UserError: An argument is refused, or every cell is. If only some are refused, `Sweep.failures` names them.

    >>> import goodqueue as gq
    >>> gq.sweep(grid={"path.rtt": []})
    Traceback (most recent call last):
    goodqueue.errors.UserError: grid path.rtt: found no values; accepted: a list of them
    """
    (on,) = engines.parse(asking.word("engine", engine), several=False)
    wanted = numbers.find(asking.words("metric", metric)) or list(metrics.METRICS)
    asking.numbers(seeds=seeds, seed=seed, workers=workers)
    if not isinstance(grid, Mapping | None):
        raise UserError("grid", f"found {quoted(grid)}; accepted: a dict of keys with their values")
    mixed = grids.mixes([f"{name}={text}" for name, text in (mixes or {}).items()])
    axes = grids.with_mixes(grids.checked([_axis(key, values) for key, values in (grid or {}).items()]), mixed)
    first = None if against is None else result.baseline(asking.word("against", against), axes)
    by = request.correction(correct)
    base, _ = asking.scenario_of(scenario, sets)
    name = "sweep" if scenario is None or isinstance(scenario, Mapping) else os.fspath(scenario)
    cells = grids.cells(base, axes, "" if name == "sweep" else name, on, mixed, workers)
    if metric is not None:
        numbers.check(wanted, [cell.scenario for cell in cells if cell.scenario is not None])
    notes.warn_of_grid(base, [(axis.key, axis.values) for axis in axes if axis.key != grids.MIX])
    kept = asking.kept(store)
    plan = carrying.Plan(name, base, axes, cells, on, wanted, seed, seeds, None, first, by, mixed)
    shows = terminal.progress if progress else terminal.silent
    try:
        found, _ = carrying.carry_out(plan, kept, executors.local(workers), shows, warn)
    except OSError as error:
        raise UserError(f"store {store}", f"cannot be written: {error.strerror or error}") from error
    if kept:
        pages.write(kept, found)
    return Sweep(found)


def _axis(key: str, values: Sequence[Any]) -> tuple[Place, grids.Axis]:
    """Return an axis, and its name in errors. Raises UserError."""
    place = f"grid {key}"
    if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
        raise UserError(place, f"found {quoted(values)}; accepted: a list of values")
    texts = [_written(place, value) for value in values]
    if not texts:
        raise UserError(place, "found no values; accepted: a list of them")
    joined = ",".join(texts)
    if grids.split(joined, place) != texts:
        raise UserError(place, f"found {quoted(joined)}, with a comma within a value; accepted: values without")
    return Option("set", key), grids.Axis(key, tuple(" ".join(text.split()) for text in texts))


def _written(place: str, value: object) -> str:
    """Return a value as it is written in a grid, where it names cells. Raises UserError."""
    plain = asking.plain(value)
    if isinstance(plain, str):
        return plain
    try:
        if isinstance(plain, bool | int | float | list | tuple) and "{" not in str(plain):
            return json.dumps(plain, allow_nan=False)
    except (TypeError, ValueError):
        pass
    accepted = "text, a finite number, True or False, or a list of these; tables stand in the scenario's dict"
    raise UserError(place, f"found {quoted(plain)}; accepted: {accepted}")
