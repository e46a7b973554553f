"""Draws a figure of stored runs by its kind, for ``goodqueue plot``, and refuses a figure that would be unreadable."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from goodqueue.errors import UserError, quoted
from goodqueue.measures import measured, metrics, numbers
from goodqueue.measures.metrics import Metric
from goodqueue.measures.stats import Estimate
from goodqueue.plot import air, along, course, delay, ellipse, law, panels, rows, selection, tree, wishes
from goodqueue.plot.selection import NONE, Runs
from goodqueue.plot.series import available, hop_delays, is_law
from goodqueue.plot.stored import DISTRIBUTIONS, Group, directed, distribution, labels_of, percentiles, words_of
from goodqueue.record import Record
from goodqueue.scenario.quantity import quantities
from goodqueue.show import labels
from goodqueue.show.labels import QDISCS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LINES = 16
"""The maximum number of lines, ellipses or distributions in one panel."""

ROWS = 40
"""The maximum number of boxes or bars below each other."""

PANELS = 12
"""The maximum number of panels in one figure. With several series, rows times columns."""

COLUMNS = 4
"""The maximum number of panels beside each other if several series are rows."""


def of_runs(
    kind: str,
    runs: Runs,
    wanted_metrics: Sequence[str],
    by: str | None,
    x: str | None,
    title: str = "",
    window: law.Window = (None, None),
) -> "Figure":
    """Return the figure of ``kind`` of ``runs``. ``by`` may be several keys, separated by commas.

    ``window`` is the time that figures over time show.

    Raises UserError if there is no such metric, if no record has it, or if the figure would be too full.
    """
    keys = [selection.key_of(runs, key.strip(), "--by") for key in (by or "").split(",") if key.strip()]
    if kind == "lines":
        return lines(runs, wanted_metrics, keys, x, title)
    groups = selection.groups(runs, keys)
    if kind not in ("air", "law", "tree"):
        check(kind, runs, groups, len(wanted_metrics) or 1)
    return draw(kind, groups, wanted_metrics, title, window)


def check(kind: str, runs: Runs, groups: Sequence[Group], series: int = 1) -> None:
    """Refuse an unreadable figure. Raises UserError with the counts and the keys that differ."""
    most = ROWS if kind in ("box", "bar", "jain") else LINES
    what = {"box": "boxes", "bar": "bars", "jain": "rows", "ellipse": "ellipses"}.get(kind, "lines")
    count, places = len(labels_of(groups)), len(panels.titles([group.panel for group in groups]))
    columns = PANELS if series == 1 else COLUMNS
    if count <= most and places <= columns and series * places <= PANELS:
        return
    accepted = f"at most {most} {what} and {columns} panels"
    if series > 1:
        accepted += f", and {PANELS} with the {series} series"
    raise UserError(
        f"plot {kind}",
        f"found {count} {what} in {places} panel{'s' if places > 1 else ''}, for these differ: {runs.said()}; "
        f"accepted: {accepted}, by --where KEY=VALUE or --by KEY",
    )


def draw(
    kind: str, groups: Sequence[Group], keys: Sequence[str], title: str, window: law.Window = (None, None)
) -> "Figure":
    """Return the figure of ``groups``. Without a metric in ``keys`` it shows the loaded direction.

    Raises UserError if there is no such metric, or no record has it.
    """
    if kind == "time":
        return _time(groups, keys, title, window)
    if kind == "law":
        return _law(groups, window, title)
    if kind == "air":
        return _air(groups, title)
    if kind == "tree":
        return _tree(groups, title)
    name = keys[0] if keys else directed("delay_mean_ms" if kind == "bar" else "delay_ms", groups)
    drawn: Figure | None
    if kind == "ellipse":
        drawn, name = ellipse.figure(groups, title), "both goodput and latency (of pings, of the queue or of TCP)"
    elif kind == "jain":
        drawn, name = rows.jain(groups, title), "Jain's index, which compares two flows or more"
    elif kind == "bar":
        drawn = rows.bars(groups, numbers.find([name])[0], title)
    elif kind == "box" and name not in DISTRIBUTIONS:
        drawn = rows.boxes(groups, numbers.find([name])[0], title)
    elif kind == "box":
        drawn = rows.distribution_boxes(groups, name, title)
    else:
        drawn = _cdf(groups, name, title)
    if drawn is None:
        accepted = "runs with --set series.interval=200ms" if name == "ping_rtt_ms" else "records that have"
        raise UserError(f"plot {kind}", f"no record has {name}; accepted: {accepted}")
    return drawn


def _cdf(groups: Sequence[Group], name: str, title: str) -> "Figure | None":
    if name not in DISTRIBUTIONS:
        raise UserError("--metric", f"found {quoted(name)}; accepted: {', '.join(DISTRIBUTIONS)}")
    of = "round trips that took no longer" if name == "ping_rtt_ms" else delay.OF
    distributions: dict[str, list[tuple[str, Sequence[float]]]] = {}
    for group in groups:
        if pooled := percentiles(group, name):
            distributions.setdefault(group.panel, []).append((group.label, pooled))
    words = wishes.written(distribution(name, groups), name)
    return delay.cdfs(distributions, title, words, wishes.written(of)) if distributions else None


def _air(groups: Sequence[Group], title: str) -> "Figure":
    if full := air.check(groups):
        raise UserError("plot air", full)
    drawn = air.figure(groups, title)
    if drawn is None:
        accepted = "runs with --set series.air.from=10s --set series.air.to=10.05s"
        raise UserError("plot air", f"no record has a log of the air with transmissions in it; accepted: {accepted}")
    return drawn


def _tree(groups: Sequence[Group], title: str) -> "Figure":
    drawn = tree.figure(groups, title)
    if drawn is None:
        accepted = "runs of subscribers with --set series.interval=1s"
        raise UserError("plot tree", f"no record has the nodes of a tree over time; accepted: {accepted}")
    return drawn


def _law(groups: Sequence[Group], window: law.Window, title: str) -> "Figure":
    if len(groups) > law.RUNS:
        accepted = f"at most {law.RUNS}, by --where KEY=VALUE or --by KEY"
        raise UserError("plot law", f"found {len(groups)} runs to draw below each other; accepted: {accepted}")
    _check_window(groups, window)
    drawn = law.figure(groups, window, title)
    if drawn is None:
        accepted = "runs with --set series.interval=10ms --set series.law=true"
        raise UserError("plot law", f"no record has the queue over time; accepted: {accepted}")
    return drawn


def _check_window(groups: Sequence[Group], window: law.Window) -> None:
    """Refuse a window without any time of the runs in it. Raises UserError."""
    begin, end = window
    times = [
        at for group in groups for record in group.records for at in (record.get("series") or {"time_s": []})["time_s"]
    ]
    if times and not any((begin is None or at >= begin) and (end is None or at <= end) for at in times):
        options = " ".join(f"{name} {at:g}s" for name, at in (("--from", begin), ("--to", end)) if at is not None)
        raise UserError(options, f"found no time of these runs; accepted: within {min(times):g}s to {max(times):g}s")


def _time(groups: Sequence[Group], keys: Sequence[str], title: str, window: law.Window) -> "Figure":
    names = list(keys) or [directed("delay_ms", groups), *hop_delays(groups)]
    if twice := [name for name in names if names.count(name) > 1]:
        raise UserError("--metric", f"found {quoted(twice[0])} twice; accepted: each once")
    for name in names:
        if course.has(groups, name):
            continue
        there = available(groups)
        if not there:
            raise UserError("plot time", f"no record has {name}; accepted: runs with --set series.interval=200ms")
        more = "" if any(is_law(name) for name in there) else "; of the law, runs with --set series.law=true"
        raise UserError("--metric", f"found {quoted(name)}; accepted of these records: {', '.join(there)}{more}")
    _check_window(groups, window)
    drawn = course.figure(groups, names, title, window)
    assert drawn is not None
    return drawn


def lines(runs: Runs, keys: Sequence[str], by: Sequence[str], across: str | None, title: str) -> "Figure":
    """Return the figure of a metric along the key ``across``, or along the numeric key with the most values.

    A parameter of the qdiscs' lines (``bottleneck.qdisc.target``) is such a key, too. The lines are the values of
    ``by``. By default they are the qdiscs if these differ, or else the first other key that differs. Raises
    UserError.
    """
    if across:
        runs = selection.with_parameter(runs, across)
    x = selection.key_of(runs, across, "--x") if across else _longest(runs, by)
    lines_are = list(by) or _lines_of(runs, x)
    if x in lines_are:
        raise UserError("--by", f"found {x}, which goes across; accepted: {_others(runs, x)}")
    groups = selection.groups(runs, lines_are, [x])
    check("lines", runs, groups)
    (metric,) = numbers.find(list(keys) or [directed("delay_mean_ms", groups)])
    by_title: dict[str, dict[str, along.Estimates]] = {}
    at = {id(record): run.get(x, NONE) for record, run in zip(runs.records, runs.at, strict=True)}
    for group in groups:
        repeats: dict[str, list[Record]] = {}
        for record in group.records:
            repeats.setdefault(at[id(record)], []).append(record)
        estimates = {value: _estimate(records, metric) for value, records in repeats.items()}
        by_title.setdefault(group.panel, {})[group.label if lines_are else ""] = estimates
    if not any(estimate for panel in by_title.values() for line in panel.values() for estimate in line.values()):
        raise UserError("plot lines", f"no record has {metric.key}; accepted: records that have")
    called = words_of(metric, groups)
    names, word = labels.along(x, runs.values(x))
    return along.figure(by_title, names, wishes.written(word, x), metric, called, title)


def _estimate(records: Sequence[Record], metric: Metric) -> Estimate | None:
    """Return the estimate of ``metric`` over repeats. Identical repeats count as one run."""
    values = measured.of([metrics.numbers(record, [metric]) for record in records])
    return measured.estimate(values, metric.key, measured.is_nil(values))


def _longest(runs: Runs, by: Sequence[str]) -> str:
    """Return the default key to draw along: the numeric key with the most values."""
    numeric = [key for key in runs.differ if key not in by and quantities(runs.values(key)) is not None]
    if not numeric:
        accepted = f"--x with one of {runs.said()}" if runs.differ else "runs that differ in a key"
        raise UserError("plot lines", f"found no key with several numbers to go along; accepted: {accepted}")
    return max(numeric, key=lambda key: len(runs.values(key)))


def _lines_of(runs: Runs, x: str) -> list[str]:
    others = [key for key in runs.differ if key != x]
    return next(([key] for key in (*QDISCS, *others) if key in others), [])


def _others(runs: Runs, x: str) -> str:
    return ", ".join(key for key in runs.differ if key != x) or "no --by"
