"""Writes a comparison as tables and sentences, for the terminal and the report. They are about loaded directions."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from goodqueue.comparison import parts
from goodqueue.comparison.comparing import Comparison, Entry
from goodqueue.measures import measured, metrics, steady
from goodqueue.measures.metrics import Metric
from goodqueue.measures.stats import Estimate
from goodqueue.scenario.discipline import is_python
from goodqueue.show import findings as sentences
from goodqueue.show import layout, metric_columns, undone
from goodqueue.show.labels import directions
from goodqueue.show.table import Column, Table, number, plus_minus, short


def tables(comparison: Comparison) -> list[Table]:
    """Return the means as narrow tables with one row per discipline, for the terminal.

    If one direction is loaded and it fits, there is one table. Otherwise there is one per direction, and one for what
    applications measured. Metrics that were asked for are in one table, each with its interval.
    """
    if comparison.is_asked:
        return full_tables(comparison)
    shown, directions = comparison.shown(), comparison.loaded()
    tables_shown = [_means(comparison, "Means over the seeds", shown, directions[0])]
    if len(directions) > 1 or not layout.fits(tables_shown[0]):
        tables_shown = [
            _fitted(_means(comparison, f"{name}: means over the seeds", group_metrics, direction), group_metrics)
            for name, group_metrics, direction in _groups(shown)
        ]
    tables_shown[-1] = replace(tables_shown[-1], notes=metric_columns.notes(shown))
    return [*tables_shown, *parts.tables(comparison)]


def _groups(shown: Sequence[Metric]) -> list[tuple[str, list[Metric], str]]:
    """Return the metrics of each direction, then those of applications, each with a name."""
    groups = [
        (direction.capitalize(), [metric for metric in shown if metric.direction == direction], direction)
        for direction in metrics.DIRECTIONS
    ]
    groups.append(("Applications", [metric for metric in shown if not metric.direction], ""))
    return [group for group in groups if group[1]]


def _means(comparison: Comparison, title: str, shown: Sequence[Metric], direction: str) -> Table:
    """Return one row per discipline: the means of ``shown``, and the interval of the mean delay in ``direction``."""
    lead = next((metric for metric in shown if metric.is_delay and metric.detail == "mean"), None)
    columns = [Column("qdisc", numeric=False)]
    rows = [[entry.label] for entry in comparison.entries]
    before = ""
    for metric in shown:
        queue = f"{metric.heading} {direction}" if metric.is_delay and direction == "up" else metric.heading
        top = queue or metric.label
        if metric is lead:
            columns.append(Column(f"{top} {metric.unit}\nmean ± CI"))
        else:
            below = metric.detail if metric.is_delay else f"{metric.detail} {metric.unit}".strip()
            columns.append(Column(f"{'' if top == before else top}\n{below}" if below else top))
        before = top
        columns[-1] = columns[-1]._replace(is_detail=metric.is_delay and metric.detail in metric_columns.LEFT_OUT)
        estimates = [entry.estimates[metric.key] for entry in comparison.entries]
        for row, estimate in zip(rows, estimates, strict=True):
            mean = estimate.mean if estimate else None
            if metric is lead:
                row.append(plus_minus(estimate, metric_columns.places(metric, estimate)))
            else:
                row.append(short(mean) if metric.decimals is None else number(mean, metric.decimals))
    return Table(title, columns, rows)


def _fitted(table: Table, shown: Sequence[Metric]) -> Table:
    """Return ``table`` of the metrics ``shown`` with those that are not main as details, if it does not fit."""
    columns = zip(table.columns[1:], shown, strict=True)
    return layout.fitted(table, [column.heading for column, metric in columns if not metric.is_main][::-1])


def full_tables(comparison: Comparison) -> list[Table]:
    """Return the means with the interval of every metric, and the tables of stations, plans and hosts."""
    return [*means(comparison), *([] if comparison.is_asked else parts.tables(comparison))]


def means(comparison: Comparison) -> list[Table]:
    """Return the means with the interval of every metric, for pages that are wider than a terminal.

    There is one table per loaded direction, and one for what applications measured; or one of the metrics asked for.
    """
    shown = comparison.shown()
    if comparison.is_asked:
        return [_full(comparison, "Means over the seeds (± 95 % CI)", shown)]
    return [
        _full(comparison, f"{name}: means over the seeds (± 95 % CI)", group_metrics)
        for name, group_metrics, _ in _groups(shown)
    ]


def _full(comparison: Comparison, title: str, shown: Sequence[Metric]) -> Table:
    columns = [Column("qdisc", numeric=False), *(metric_columns.heading(metric, shown) for metric in shown)]
    rows = [[entry.label] for entry in comparison.entries]
    for metric in shown:
        metric_columns.fill(rows, metric, [entry.estimates[metric.key] for entry in comparison.entries])
    return Table(title, columns, rows, metric_columns.notes(shown))


def difference_tables(comparison: Comparison, effect: bool = False) -> list[Table]:
    """Return the paired differences from the first engine and from the reference, where there is any to compare.

    With ``effect``, the effect sizes of each table follow it, and the changes from the reference in percent are last.
    """
    on_first = [(entry.label, entry.engine_differences) for entry in comparison.entries if entry.engine_differences]
    others = [entry for entry in comparison.entries if entry.qdisc != comparison.reference]
    name = next(entry.name for entry in comparison.entries if entry.qdisc == comparison.reference)
    note = " on the same engine" if len(comparison.engines) > 1 else ""
    return [
        *_differences(comparison, f"engine {comparison.engines[0]}", on_first, effect),
        *_differences(comparison, f"{name}{note}", [(entry.label, entry.differences) for entry in others], effect),
        *(_changes(comparison, f"{name}{note}", others) if effect else []),
    ]


def _differences(
    comparison: Comparison, first: str, rows: Sequence[tuple[str, Mapping[str, Estimate | None]]], effect: bool
) -> list[Table]:
    """Return one row per label of ``rows``, with its differences by metric. Returns nothing for a single seed."""
    if not rows or len(comparison.seeds) < 2:
        return []
    shown = _main(comparison)
    names, places = [Column("qdisc", numeric=False)], [[label] for label, _ in rows]
    values = [[differences[metric.key] for metric in shown] for _, differences in rows]
    title = f"Difference from {first}, paired by seed (± 95 % CI)"
    tables_shown = [metric_columns.differences(title, names, places, shown, values, comparison.correct)]
    if effect:
        tables_shown.append(metric_columns.effects(f"Effect size against {first}", names, places, shown, values))
    return tables_shown


def _changes(comparison: Comparison, first: str, others: Sequence[Entry]) -> list[Table]:
    """Return the changes from the reference in percent. Returns nothing for a single seed."""
    if not others or len(comparison.seeds) < 2:
        return []
    references = {entry.engine: entry for entry in comparison.entries if entry.qdisc == comparison.reference}
    shown, rows = _main(comparison), []
    for entry in others:
        reference = references[entry.engine]
        both = entry.is_nil and reference.is_nil
        rows.append([measured.ratio(entry.values, reference.values, metric.key, both) for metric in shown])
    names, places = [Column("qdisc", numeric=False)], [[entry.label] for entry in others]
    return [metric_columns.changes(f"Change from {first}, in % (95 % CI)", names, places, shown, rows)]


def _main(comparison: Comparison) -> list[Metric]:
    return [metric for metric in comparison.shown() if comparison.is_asked or metric.is_main]


# --- in sentences ---------------------------------------------------------------------------------------------------


def findings(comparison: Comparison) -> list[str]:
    """Return the main findings in sentences: the best and the worst discipline by each metric."""
    return [*headline(comparison), *others(comparison)]


def headline(comparison: Comparison) -> list[str]:
    """Return which discipline is best, by how much, how sure that is, and what it costs."""
    return sentences.headline(comparison.shown(), comparison.entries, lambda entry: entry.label)


def others(comparison: Comparison) -> list[str]:
    """Return a sentence for each further metric."""
    return sentences.others(comparison.shown(), comparison.entries, lambda entry: entry.label)


def not_done(comparison: Comparison) -> undone.Undone:
    """Return sentences on what never started or had not ended, which no time in a table shows."""
    return undone.of_many(comparison.entries, lambda one: one.label)


def certainty(comparison: Comparison) -> list[str]:
    """Return sentences on the certainty of the numbers."""
    n = len(comparison.seeds)
    slow = list(
        dict.fromkeys(entry.name for entry in comparison.entries if any(map(is_python, directions(entry.qdisc))))
    )
    note = [f"Written in Python, so slower, and one run at a time: {', '.join(slow)}."] if slow else []
    note += _moving(comparison)
    if n == 1:
        return ["One seed: the spread is unknown, and so is how sure these numbers are. More: --seeds 5", *note]
    seeds = f"n = {n} seeds ({comparison.seeds[0]} to {comparison.seeds[-1]}), common to all"
    if comparison.spread_is_nil():
        return [f"{seeds}. {metric_columns.nil_note('Every seed')}", *note]
    return [f"{seeds}; ± is the mean's 95 % confidence interval (Student's t).", *note]


def _moving(comparison: Comparison) -> list[str]:
    """Return the sentence on the lines whose numbers are those of a start, or none."""
    if not (moving_s := comparison.moving_s):
        return []
    names = {entry.qdisc: entry.name for entry in comparison.entries}
    lines = " and ".join(f"{names[line]}, whose start shows for {after_s:g} s" for line, after_s in moving_s.items())
    whole = comparison.scenario["duration"]
    return [f"Measured in the first {whole}: not yet stationary with {lines} ({steady.METHOD}). Longer: --duration."]
