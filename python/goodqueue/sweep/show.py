"""A sweep as tables and sentences, for the terminal and the report."""

from collections.abc import Sequence

from goodqueue.metrics import Metric
from goodqueue.stats import Estimate
from goodqueue.sweep.grid import QDISC
from goodqueue.sweep.result import Sweep, Values
from goodqueue.tables import NOTE, Column, Table, decimals, number, plus_minus

LEFT_OUT = ("p50", "p99")
"""Percentiles that are not shown unless they were asked for; results.json has them."""


def describe(sweep: Sweep) -> str:
    """Return what was run, in a sentence."""
    parts = [f"{axis.key} ({len(axis.values)})" for axis in sweep.swept()]
    along = " x ".join(parts) or "one cell"
    counts = sorted({len(cell.keys) for cell in sweep.cells if cell.error is None})
    n = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else f"{counts[0] if counts else 0}"
    return f"{sweep.name}: {along}, n = {n} seeds a cell from {sweep.first_seed}, engine {sweep.engine}"


def shown(sweep: Sweep) -> list[Metric]:
    """Return the metrics that the tables show: those asked for, or the main ones."""
    return [metric for metric in sweep.shown() if sweep.is_asked or metric.detail not in LEFT_OUT]


def cells_table(sweep: Sweep) -> Table:
    """Return a row a cell: its values along the axes, the number of seeds, each metric with its interval."""
    cells, chosen = sweep.cells, shown(sweep)
    columns = [*_axis_columns(sweep), Column("n"), *map(_column, chosen)]
    rows = [[*_place(cell, sweep), str(len(cell.keys)) if cell.error is None else "failed"] for cell in cells]
    for metric in chosen:
        _fill(rows, metric, [cell.estimate(metric.key) for cell in cells])
    notes = [f"± is the mean's 95 % confidence interval (Student's t). {NOTE}"]
    if sweep.scenario.get("seed") is not None:
        notes.append("The scenario's own seed is not used; see --seed.")
    return Table("Means over the seeds (± 95 % CI)", columns, rows, notes, names=max(1, len(sweep.swept())))


def difference_table(sweep: Sweep) -> Table | None:
    """Return the paired differences from the first qdisc in the same place, or None where there are none."""
    cells = [
        cell for cell in sweep.cells if cell.error is None and (other := sweep.reference(cell)) and not other.error
    ]
    if not cells or all(len(cell.keys) < 2 for cell in cells):
        return None
    first = next(axis.values[0] for axis in sweep.swept() if axis.key == QDISC)
    chosen = [metric for metric in shown(sweep) if metric.key not in ("jain_goodput", "mark_percent")]
    rows = [_place(cell, sweep) for cell in cells]
    for metric in chosen:
        _fill(rows, metric, [sweep.difference(cell, metric.key) for cell in cells], mark=True)
    notes = [f"* the 95 % interval excludes 0 ({len(cells) * len(chosen)} comparisons, each on its own at 5 %)"]
    title = f"Difference from {first}, paired by seed (± 95 % CI)"
    return Table(title, [*_axis_columns(sweep), *map(_column, chosen)], rows, notes, names=len(sweep.swept()))


def _axis_columns(sweep: Sweep) -> list[Column]:
    names = [axis.key for axis in sweep.swept()]
    short = [name.rpartition(".")[2] for name in names]
    unique = [part if short.count(part) == 1 else name for name, part in zip(names, short, strict=True)]
    return [Column(name, False) for name in unique] or [Column("scenario", False)]


def _place(cell: Values, sweep: Sweep) -> list[str]:
    return [cell.cell.at[axis.key] for axis in sweep.swept()] or [sweep.name]


def _column(metric: Metric) -> Column:
    return Column(f"{metric.label}\n{metric.unit}")


def _fill(rows: Sequence[list[str]], metric: Metric, found: Sequence[Estimate | None], mark: bool = False) -> None:
    """Add the column of ``metric`` to ``rows``."""
    digits = 3 if metric.key == "jain_goodput" else decimals(one.mean for one in found if one)
    if mark:  # differences near zero say nothing about the digits that matter
        largest = max((abs(one.mean) for one in found if one), default=1.0)
        digits = 1 if largest >= 20 else 2 if largest >= 0.2 else 3
    for row, one in zip(rows, found, strict=True):
        row.append(plus_minus(one, max(digits, 2) if metric.unit == "Mbit/s" else digits, mark))


def certainty(sweep: Sweep) -> list[str]:
    """Return what was reached of ``--until-ci``, in sentences, and what a single seed cannot say."""
    goal = sweep.goal
    if goal is None:
        single = any(len(cell.keys) == 1 for cell in sweep.cells)
        return ["One seed a cell: how sure these numbers are is unknown. More: --seeds 5"] if single else []
    whole = [cell for cell in sweep.cells if cell.error is None]
    short = [cell for cell in whole if not cell.reached]
    aim = f"{goal.metric} within ± {goal.percent:g} % of its mean"
    said = [f"{aim}: reached in {len(whole) - len(short)} of {len(sweep.cells)} cells."]
    for cell in short:
        said.append(f"{cell.cell.name}: {_reach(cell.estimate(goal.metric))} after n = {len(cell.keys)}.")
    if short:
        said.append(f"The cap is {goal.most} seeds a cell (--max-seeds).")
    return said


def _reach(found: Estimate | None) -> str:
    if found is None or found.half_width is None:
        return "no run shows it"
    if not found.mean:
        return f"the mean is 0, ± {found.half_width:.3g}"
    return f"± {number(found.half_width / abs(found.mean) * 100, 1)} %"


def failures(sweep: Sweep) -> list[str]:
    """Return a line for each cell that failed."""
    return [f"{cell.cell.name}: {cell.error}" for cell in sweep.cells if cell.error is not None]
