"""A sweep as tables and sentences, for the terminal and the report."""

from goodqueue import options
from goodqueue.measures import FIRST_SEED
from goodqueue.measures.metrics import Metric
from goodqueue.measures.stats import Estimate
from goodqueue.show import metric_columns
from goodqueue.show.findings import sentences
from goodqueue.show.table import Column, Table, number
from goodqueue.sweeps.grid import MIX, QDISC
from goodqueue.sweeps.result import Sweep, Values

LEFT_OUT = ("p50", "p99")
"""Percentiles that are shown only if they were asked for. results.json has them."""


def describe(sweep: Sweep) -> str:
    """Return a sentence on the runs of the sweep."""
    parts = [f"{axis.key} ({len(axis.values)})" for axis in sweep.swept()]
    along = " x ".join(parts) or "one cell"
    counts = sorted({len(cell.keys) for cell in sweep.cells if cell.error is None})
    n = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else f"{counts[0] if counts else 0}"
    return f"{sweep.name}: {along}, n = {n} seeds per cell from {sweep.first_seed}, engine {sweep.engine}"


def shown(sweep: Sweep) -> list[Metric]:
    """Return the metrics that the tables show: those asked for, or the main ones."""
    return [metric for metric in sweep.shown() if sweep.is_asked or metric.detail not in LEFT_OUT]


def cells_table(sweep: Sweep) -> Table:
    """Return one row per cell: its values along the axes, the number of seeds, each metric with its interval."""
    cells, chosen = sweep.cells, shown(sweep)
    columns = [*_axis_columns(sweep), Column("n"), *(metric_columns.heading(metric, chosen) for metric in chosen)]
    rows = [[*_place(cell, sweep), _n(cell)] for cell in cells]
    for metric in chosen:
        metric_columns.fill(rows, metric, [cell.estimate(metric.key) for cell in cells])
    notes = [" ".join(["± is the mean's 95 % confidence interval (Student's t).", *metric_columns.notes(chosen)])]
    if sweep.scenario.get("seed") is not None:
        notes.append("The scenario's own seed is not used; see --seed.")
    return Table("Means over the seeds (± 95 % CI)", columns, rows, notes, names=max(1, len(sweep.swept())))


def tables(sweep: Sweep, effect: bool = False) -> list[Table]:
    """Return the tables of a sweep: its cells, and their differences."""
    return [cells_table(sweep), *difference_tables(sweep, effect)]


def _n(cell: Values) -> str:
    """Return the number of independent runs of a cell: 1 if every seed gave the same numbers."""
    return "failed" if cell.error is not None else "1" if cell.is_nil else str(len(cell.keys))


def difference_tables(sweep: Sweep, effect: bool = False) -> list[Table]:
    """Return the paired differences from the baseline in the same place.

    With ``effect``, their effect sizes and the changes in percent follow.
    """
    cells = [
        cell for cell in sweep.cells if cell.error is None and (other := sweep.reference(cell)) and not other.error
    ]
    if not cells or all(len(cell.keys) < 2 for cell in cells):
        return []
    key, value = sweep.baseline() or ("", "")
    first = value if key == QDISC else f"{key} = {value}"
    chosen = [metric for metric in shown(sweep) if sweep.is_asked or metric.is_main]
    names, places = _axis_columns(sweep), [_place(cell, sweep) for cell in cells]
    differences = [[sweep.difference(cell, metric.key) for metric in chosen] for cell in cells]
    title = f"Difference from {first}, paired by seed (± 95 % CI)"
    tables = [metric_columns.differences(title, names, places, chosen, differences, sweep.correct)]
    if effect:
        tables.append(metric_columns.effects(f"Effect size against {first}", names, places, chosen, differences))
        ratios = [[sweep.ratio(cell, metric.key) for metric in chosen] for cell in cells]
        tables.append(metric_columns.changes(f"Change from {first}, in % (95 % CI)", names, places, chosen, ratios))
    return tables


def _axis_columns(sweep: Sweep) -> list[Column]:
    names = [axis.key for axis in sweep.swept()]
    short = [name.rpartition(".")[2] for name in names]
    unique = [part if short.count(part) == 1 else name for name, part in zip(names, short, strict=True)]
    return [Column(name, False) for name in unique] or [Column("scenario", False)]


def _place(cell: Values, sweep: Sweep) -> list[str]:
    return [cell.cell.at[axis.key] for axis in sweep.swept()] or [sweep.name]


def findings(sweep: Sweep) -> list[str]:
    """Return the main findings in sentences: the best and the worst cell by each metric, if there are several."""
    return sentences(sweep.shown(), sweep.cells, lambda cell: _cell_name(sweep, cell), "cell")


def _cell_name(sweep: Sweep, cell: Values) -> str:
    """Return the name of a cell in a sentence: ``codel at rtt 10ms, count 4``."""
    names = [column.heading for column in _axis_columns(sweep)]
    words = dict(zip(names, _place(cell, sweep), strict=True))
    qdisc = words.pop("qdisc", "")
    rest = ", ".join(f"{name} {value}" for name, value in words.items())
    return f"{qdisc} at {rest}" if qdisc and rest else qdisc or rest


def command(sweep: Sweep, store: str = "") -> str:
    """Return the command that makes the sweep again, in the folder of its scenario file."""
    axes = (axis for axis in sweep.axes if axis.key != MIX or not sweep.mixes)
    return options.command(
        "sweep", sweep.name,
        set=[f"{axis.key}={','.join(axis.values)}" for axis in axes],
        mix=[f"{mix.name}={mix.said}" for mix in sweep.mixes],
        seeds=sweep.seeds,
        seed=None if sweep.first_seed == FIRST_SEED else sweep.first_seed,
        until_ci=f"{sweep.goal.percent:g}%" if sweep.goal else None,
        max_seeds=sweep.goal.most if sweep.goal else None,
        metric=[metric.key for metric in sweep.metrics if sweep.is_asked],
        engine=None if sweep.engine == "sim" else sweep.engine,
        against="=".join(sweep.against) if sweep.against else None,
        correct=sweep.correct or None,
        out=store or None,
    )  # fmt: skip


def certainty(sweep: Sweep) -> list[str]:
    """Return sentences on how far ``--until-ci`` was reached, and on what a single seed cannot tell."""
    goal = sweep.goal
    whole = [cell for cell in sweep.cells if cell.error is None]
    nil = [cell for cell in whole if cell.is_nil]
    who = "Every seed" if len(nil) == len(whole) else f"In {len(nil)} of {len(whole)} cells every seed"
    equal = [metric_columns.nil_note(who)] if nil else []
    if goal is None:
        single = any(len(cell.keys) == 1 for cell in whole)
        return ["One seed per cell: how sure these numbers are is unknown. More: --seeds 5"] if single else equal
    short = [cell for cell in whole if not cell.reached]
    aim = f"{goal.metric} within ± {goal.percent:g} % of its mean"
    sentences = [f"{aim}: reached in {len(whole) - len(short)} of {len(sweep.cells)} cells."]
    for cell in short:
        sentences.append(f"{cell.cell.name}: {_reach(cell.estimate(goal.metric))} after n = {len(cell.keys)}.")
    if short:
        sentences.append(f"The cap is {goal.most} seeds per cell (--max-seeds).")
    if any(len(cell.keys) > sweep.seeds for cell in whole):
        sentences.append(
            "Seeds were added until an interval was narrow, so it holds the true mean less often than 95 %."
        )
    return sentences + equal


def _reach(estimate: Estimate | None) -> str:
    if estimate is None or estimate.half_width is None:
        return "no run shows it"
    if not estimate.mean:
        return f"the mean is 0, ± {estimate.half_width:.3g}"
    return f"± {number(estimate.half_width / abs(estimate.mean) * 100, 1)} %"


def failures(sweep: Sweep) -> list[str]:
    """Return one line per cell that failed."""
    return [f"{cell.cell.name}: {cell.error}" for cell in sweep.cells if cell.error is not None]
