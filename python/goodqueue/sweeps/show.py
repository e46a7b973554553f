"""A sweep as tables and sentences, for the terminal and the report."""

from functools import partial

from goodqueue import options
from goodqueue.measures import FIRST_SEED
from goodqueue.measures.metrics import Metric
from goodqueue.measures.stats import Estimate
from goodqueue.show import findings as sentences
from goodqueue.show import labels as naming
from goodqueue.show import layout, metric_columns, undone
from goodqueue.show.labels import MIX
from goodqueue.show.table import Column, Table, number
from goodqueue.sweeps.grid import QDISC
from goodqueue.sweeps.result import Sweep, Values

PATH = ("path.", "bottleneck.rate", "bottleneck.up.rate", "bottleneck.trace", "hop.")
"""The beginnings of keys that say which path it is."""


def describe(sweep: Sweep) -> str:
    """Return a sentence on the runs of the sweep."""
    parts = [f"{axis.key} ({len(axis.values)})" for axis in sweep.swept()]
    along = " x ".join(parts) or "one cell"
    counts = sorted({len(cell.keys) for cell in sweep.cells if cell.error is None})
    n = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else f"{counts[0] if counts else 0}"
    return f"{sweep.name}: {along}, n = {n} seeds per cell from {sweep.first_seed}, engine {sweep.engine}"


def shown(sweep: Sweep) -> list[Metric]:
    """Return the metrics that the tables show: those asked for, or the main ones."""
    return [metric for metric in sweep.shown() if sweep.is_asked or metric.detail not in metric_columns.LEFT_OUT]


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
    table = Table("Means over the seeds (± 95 % CI)", columns, rows, notes, names=max(1, len(sweep.swept())))
    least = metric_columns.least_first(chosen)
    count = ["n"] if len({_n(cell) for cell in cells}) == 1 else []
    return layout.fitted(table, [*count, *(metric_columns.heading(metric, chosen).heading for metric in least)])


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
    """Return the main findings in sentences: the best and the worst by each metric, if there are several."""
    return not_done(sweep).around([*headline(sweep), *others(sweep)])


def not_done(sweep: Sweep) -> undone.Undone:
    """Return sentences on what never started or had not ended, which no time in a table shows."""
    return undone.of_many(sweep.cells, partial(_cell_name, sweep))


def _cell_name(sweep: Sweep, cell: Values) -> str:
    """Return the name of a cell in a sentence: ``codel, rtt 10ms, count 4``."""
    return ", ".join(_names(sweep, key)[value] for key, value in cell.cell.at.items() if key in _swept(sweep))


def _swept(sweep: Sweep) -> list[str]:
    return [axis.key for axis in sweep.swept()]


def headline(sweep: Sweep) -> list[str]:
    """Return which value is best, by how much, how sure that is and what it costs, where it matters most.

    Cells are compared that differ in one axis only: the qdiscs at one place of the other axes.
    """
    group, groups = _widest(sweep), _groups(sweep)
    said = sentences.headline(sweep.shown(), group, partial(_value_name, sweep), _compared(sweep))
    said = said if _axis(sweep) == QDISC else said[:1]  # a longer path has no price
    if not said or len(groups) < 2:
        return said
    order = sentences.lead(sweep.shown(), group)
    assert order is not None, "there is a headline"
    ranked = [found for cells in groups if (found := sentences.ranked(order.metric, cells))]
    key, best = _axis(sweep), order.means[0][1]
    wins = sum(found.means[0][1].cell.at[key] == best.cell.at[key] for found in ranked)
    rest = " and ".join(axis.key.rpartition(".")[2] for axis in sweep.swept() if axis.key != key)
    counted = f"By this it is the best for {wins} of {len(ranked)} values of {rest}."
    return [_at(sweep, f"{said[0]} {counted}"), *said[1:]]


def _at(sweep: Sweep, sentence: str) -> str:
    """Return ``sentence`` with the place that it is about, if there are several."""
    if len(_groups(sweep)) < 2:
        return sentence
    key = _axis(sweep)
    place = [_names(sweep, other)[value] for other, value in _widest(sweep)[0].cell.at.items() if other != key]
    return f"At {', '.join(place)}: {sentence}"


def others(sweep: Sweep) -> list[str]:
    """Return a sentence for each further metric, about the same cells."""
    said = sentences.others(sweep.shown(), _widest(sweep), partial(_value_name, sweep), _compared(sweep))
    return [_at(sweep, sentence) for sentence in said]


def _axis(sweep: Sweep) -> str:
    """Return the key whose values are compared: that of the baseline, or the first one that leaves the path as it is.

    So no sentence compares two paths, if anything else differs.
    """
    if (baseline := sweep.baseline()) is not None:
        return baseline[0]
    keys = [axis.key for axis in sweep.swept()]
    return next((key for key in keys if not key.startswith(PATH)), keys[0] if keys else "")


def _compared(sweep: Sweep) -> str:
    """Return what has a mean, in a word: ``qdisc``, or the last word of the key."""
    return _axis(sweep).rpartition(".")[2] if sweep.swept() else "cell"


def _value_name(sweep: Sweep, cell: Values) -> str:
    """Return the name of what is compared in a sentence: the qdisc, or the key's last word with its value."""
    key = _axis(sweep)
    return _names(sweep, key)[cell.cell.at[key]]


def _names(sweep: Sweep, key: str) -> dict[str, str]:
    """Return the name of each value of ``key`` in a sentence."""
    values = next(axis.values for axis in sweep.swept() if axis.key == key)
    return sweep.once(f"names of {key}", lambda: naming.of_values(key, values))


def _groups(sweep: Sweep) -> list[list[Values]]:
    """Return the cells that differ in one axis only, at each place of the other axes."""
    return sweep.once("groups", lambda: _found_groups(sweep))


def _found_groups(sweep: Sweep) -> list[list[Values]]:
    groups: dict[tuple[str, ...], list[Values]] = {}
    for cell in sweep.cells:
        if sweep.swept() and cell.error is None:
            place = tuple(value for key, value in cell.cell.at.items() if key != _axis(sweep))
            groups.setdefault(place, []).append(cell)
    return list(groups.values())


def _widest(sweep: Sweep) -> list[Values]:
    """Return the cells at the place where the best and the worst differ most by the first metric, in proportion."""
    return sweep.once("widest", lambda: _found_widest(sweep))


def _found_widest(sweep: Sweep) -> list[Values]:
    def spread(cells: list[Values]) -> float:
        order = sentences.lead(sweep.shown(), cells)
        if order is None or not order.is_told:
            return 0.0
        means = [mean for mean, _ in order.means]
        return (max(means) - min(means)) / max(map(abs, means)) if any(means) else 0.0

    return max(_groups(sweep), key=spread, default=[])


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
