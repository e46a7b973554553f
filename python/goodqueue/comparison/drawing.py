"""Figures of disciplines side by side: the delay and the goodput of each."""

import math
import statistics
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from goodqueue import traffic
from goodqueue.comparison.comparing import Comparison, Entry
from goodqueue.measures import metrics
from goodqueue.measures.metrics import DIRECTIONS, Metric
from goodqueue.plot import ellipse, panels, style
from goodqueue.plot.labels import label_curves
from goodqueue.plot.style import Look
from goodqueue.record import Record
from goodqueue.show.picture import LEAST_MS
from goodqueue.show.table import decimals, number

ACROSS = 4
"""The maximum number of panels in a row."""


def delay_against_goodput(comparison: Comparison, title: str = "", direction: str = "") -> Figure:
    """Draw RFC 7928's figure (2.7): one point per run, mean delay (ms) decreasing to the right, goodput (Mbit/s) up.

    Both are for ``direction``, or for the loaded one. The large mark is the median, the ellipse one standard deviation
    of the runs.
    """
    directions = comparison.loaded()
    direction = direction or directions[0]
    flows = next(
        (candidate for candidate in (direction, *DIRECTIONS) if _has_goodput(comparison, candidate)), direction
    )
    clouds = [(entry.label, _points(entry, direction, flows)) for entry in comparison.entries]
    with style.look():
        figure = style.new_figure(3.8)
        ax = figure.subplots()
        ax.set_xlabel(f"mean queueing delay{metrics.said(direction, directions)} (ms), less to the right")
        ax.set_ylabel(f"goodput{metrics.said(flows, directions)} (Mbit/s)")
        ax.set_title(title)
        ellipse.better(ax)
        if any(cloud for _, cloud in clouds):
            looks = style.looks([label for label, _ in clouds])
            label_curves(ax, ellipse.clouds(ax, clouds, medians=True, looks=looks))
    return figure


def _has_goodput(comparison: Comparison, direction: str) -> bool:
    values = (value for entry in comparison.entries for value in _of(entry, direction, "goodput_mbps"))
    return any(value is not None for value in values)


def _of(entry: Entry, direction: str, key: str) -> Sequence[float | None]:
    return entry.values[metrics.of_direction(key, direction)]


def _points(entry: Entry, direction: str, flows: str) -> list[tuple[float, float]]:
    """Return mean delay and goodput of each run that has both."""
    pairs = zip(_of(entry, direction, "delay_mean_ms"), _of(entry, flows, "goodput_mbps"), strict=True)
    return [(max(delay, LEAST_MS), goodput) for delay, goodput in pairs if delay is not None and goodput is not None]


def estimates(comparison: Comparison, chosen: Sequence[Metric], title: str = "") -> Figure:
    """Draw mean and 95 % confidence interval of each metric in ``chosen``, one panel each. Small marks are single runs.

    A metric without any number has an empty panel.
    """
    labels = [entry.label for entry in comparison.entries]
    names, looks = panels.row_names(labels), style.looks(labels)
    columns = max(1, min(ACROSS, len(chosen)))
    rows = max(1, math.ceil(len(chosen) / columns))
    with style.look():
        figure = style.new_figure(0.3 * bool(title) + rows * (0.85 + panels.row_height(names) * len(names)))
        places = figure.subplots(rows, columns, sharey=True, squeeze=False).flatten().tolist()
        for ax in places[len(chosen) :]:
            ax.set_visible(False)
        for ax, metric in zip(places, chosen, strict=False):
            _panel(ax, comparison, metric, looks)
            ax.set_title(
                panels.wrapped(metrics.label(metric, metrics.directions_of(chosen)), 12), fontsize=style.size(9.5)
            )
        panels.name_rows(places[0], labels, names)
        for ax in places[columns : len(chosen) : columns]:
            panels.name_rows(ax, labels, names)
        figure.suptitle(title, x=0.01, ha="left", weight="bold", fontsize=style.size(10.5))
        panels.thin_ticks(figure, places[: len(chosen)])
    return figure


def _panel(ax: Axes, comparison: Comparison, metric: Metric, looks: Sequence[Look]) -> None:
    means = [estimate.mean for entry in comparison.entries if (estimate := entry.estimates[metric.key])]
    digits = decimals(means) if metric.decimals is None else metric.decimals
    spread = max(means) / min(means) if means and min(means) > 0 else 1.0
    if metric.unit == "ms" and spread > 5:
        style.log_ms(ax, "x", min(means) / 3, max(means) * 3)
    for index, (entry, look) in enumerate(zip(comparison.entries, looks, strict=True)):
        estimate = entry.estimates[metric.key]
        if estimate is None:
            continue
        runs = [value for value in entry.values[metric.key] if value is not None]
        ax.plot(runs, [index] * len(runs), "|", color=look.colour, ms=7, alpha=0.5, mew=0.8)
        if estimate.half_width is not None:
            reach = [estimate.mean - estimate.half_width, estimate.mean + estimate.half_width]
            ax.plot(reach, [index, index], color=look.colour, lw=2.2)
        ax.plot(estimate.mean, index, color=look.colour, **look.marks(5.5))
        ax.annotate(
            number(estimate.mean, digits), (estimate.mean, index), (0, 5), textcoords="offset points",
            ha="center", fontsize=style.size(8), color=look.ink,
        )  # fmt: skip
    if metric.scale is not None:
        ax.set_xlim(*metric.scale)
    elif ax.get_xscale() == "linear":
        ax.margins(x=0.35)
    if ax.get_xscale() == "linear":
        ax.xaxis.set_major_locator(MaxNLocator(3, integer=metric.scale is not None))
    ax.set_xlabel(metric.unit)
    ax.grid(axis="y", visible=False)
    ax.tick_params(axis="y", length=0)


def goodput_by_flow(comparison: Comparison, title: str = "", direction: str = "down") -> Figure:
    """Draw the goodput (Mbit/s) of each bulk flow in ``direction``, one row per discipline, for all seeds.

    The vertical line is the equal share of the total goodput of the row's flows.
    """
    labels = [entry.label for entry in comparison.entries]
    names = panels.row_names(labels)
    with style.look():
        figure = style.new_figure(0.9 + max(0.42, panels.row_height(names)) * len(labels))
        ax = figure.subplots()
        for index, (entry, look) in enumerate(zip(comparison.entries, style.looks(labels), strict=True)):
            runs = [_goodputs(record, direction) for record in entry.records]
            for seed, goodputs in enumerate(runs):
                lift = 0.5 * ((seed + 0.5) / len(runs) - 0.5)
                heights = [index + lift] * len(goodputs)
                ax.plot(goodputs, heights, ls="", marker=look.marker, color=look.colour, ms=4, alpha=0.55, mew=0)
            every = [goodput for goodputs in runs for goodput in goodputs]
            share = statistics.fmean(every)
            ax.plot([share, share], [index - 0.36, index + 0.36], color=look.colour, lw=1.2)
        panels.name_rows(ax, labels, names)
        ax.set_xlim(left=0)
        ax.set_xlabel("goodput of a flow (Mbit/s)")
        ax.set_title(title)
    return figure


def _goodputs(record: Record, direction: str) -> list[float]:
    """Return the goodput of the flows that compete for the link: the bulk flows in one direction."""
    flows = record["flows"]
    return [flow["goodput_mbps"] for flow in flows if (flow["kind"], flow["direction"]) == (traffic.BULK, direction)]
