"""Disciplines side by side: what each costs and what it gives."""

import math
import statistics
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse
from matplotlib.ticker import MaxNLocator

from goodqueue.compare import Comparison, Entry
from goodqueue.metrics import Metric
from goodqueue.plot import style
from goodqueue.plot.labels import Curve, label_curves
from goodqueue.tables import decimals, number


def delay_against_goodput(comparison: Comparison, title: str = "") -> Figure:
    """Draw RFC 7928's figure (2.7): a point a run, mean delay (ms) across, goodput (Mbit/s) up.

    A circle marks the medians, an ellipse one standard deviation of the runs about their mean.
    """
    with style.look():
        figure = style.new_figure(3.6)
        ax = figure.subplots()
        points = [_points(entry) for entry in comparison.entries]
        delays = [x for group in points for x, _ in group]
        goodputs = [y for group in points for _, y in group]
        if delays:
            style.log_ms(ax, "x", min(delays) / 1.7, max(delays) * 1.7)
            margin = max(0.12 * (max(goodputs) - min(goodputs)), 0.01 * max(goodputs))
            ax.set_ylim(min(goodputs) - margin, max(goodputs) + margin)
        curves = []
        for index, (entry, group) in enumerate(zip(comparison.entries, points, strict=True)):
            if not group:
                continue
            colour, marker = style.colour(index), style.MARKERS[index % len(style.MARKERS)]
            middle = statistics.median(x for x, _ in group), statistics.median(y for _, y in group)
            ax.plot(*zip(*group, strict=True), marker, color=colour, ms=4, alpha=0.45, mew=0)
            _ellipse(ax, group, colour)
            (mark,) = ax.plot(*middle, marker, color=colour, ms=8, mec="white", mew=1)
            curves.append(Curve(entry.label, [middle[0]], [middle[1]], style.ink(index), mark))
        ax.set_xlabel("mean queueing delay (ms)")
        ax.set_ylabel("goodput (Mbit/s)")
        ax.set_title(title)
        ax.text(0.01, 0.98, "↖ better", transform=ax.transAxes, va="top", color="#888888", fontsize=9.5)
        label_curves(ax, curves)
    return figure


def _points(entry: Entry) -> list[tuple[float, float]]:
    """Return mean delay and goodput of each run that has both."""
    pairs = zip(entry.values["delay_mean_ms"], entry.values["goodput_mbps"], strict=True)
    return [(max(delay, 1e-3), goodput) for delay, goodput in pairs if delay is not None and goodput is not None]


def _ellipse(ax: Axes, group: Sequence[tuple[float, float]], colour: str) -> None:
    """Draw one standard deviation of ``group``; the axis of delay is logarithmic, so delay counts by its logarithm."""
    if len(group) < 3:
        return
    across, up = [math.log10(x) for x, _ in group], [y for _, y in group]
    width, height = ax.transLimits.transform((statistics.stdev(across), 0)), statistics.stdev(up)
    origin = ax.transLimits.transform((0, 0))
    low, high = ax.get_ylim()
    centre = ax.transLimits.transform((statistics.fmean(across), statistics.fmean(up)))
    size = 2 * (width[0] - origin[0]), 2 * height / (high - low)
    ax.add_patch(Ellipse(tuple(centre), *size, transform=ax.transAxes, color=colour, alpha=0.15, lw=0))


def estimates(comparison: Comparison, title: str = "") -> Figure:
    """Draw mean and 95 % confidence interval of the main metrics, a panel each; small marks are the single runs."""
    keys = ("delay_p95_ms", "ping_rtt_p95_ms", "utilisation_percent", "drop_percent")
    metrics = [metric for metric in comparison.shown() if metric.key in keys]
    with style.look():
        figure = style.new_figure(1.1 + 0.34 * len(comparison.entries))
        panels = figure.subplots(1, len(metrics), sharey=True, squeeze=False)[0]
        for ax, metric in zip(panels, metrics, strict=True):
            _panel(ax, comparison, metric)
        panels[0].set_yticks(range(len(comparison.entries)), [_short(entry.label) for entry in comparison.entries])
        panels[0].set_ylim(len(comparison.entries) - 0.5, -0.5)
        for index, label in enumerate(panels[0].get_yticklabels()):
            label.set_color(style.ink(index))
            label.set_fontweight("bold")
        figure.suptitle(title, x=0.01, ha="left", weight="bold", fontsize=10.5)
    return figure


def _short(label: str) -> str:
    return label if len(label) <= 18 else f"{label[:17]}…"


def _panel(ax: Axes, comparison: Comparison, metric: Metric) -> None:
    means = [estimate.mean for entry in comparison.entries if (estimate := entry.estimates[metric.key])]
    digits = decimals(means)
    spread = max(means) / min(means) if min(means) > 0 else 1.0
    if metric.unit == "ms" and spread > 5:
        style.log_ms(ax, "x", min(means) / 3, max(means) * 3, fine=False)
    for index, entry in enumerate(comparison.entries):
        estimate = entry.estimates[metric.key]
        if estimate is None:
            continue
        colour = style.colour(index)
        runs = [value for value in entry.values[metric.key] if value is not None]
        ax.plot(runs, [index] * len(runs), "|", color=colour, ms=7, alpha=0.5, mew=0.8)
        if estimate.half_width is not None:
            reach = [estimate.mean - estimate.half_width, estimate.mean + estimate.half_width]
            ax.plot(reach, [index, index], color=colour, lw=2.2)
        ax.plot(estimate.mean, index, style.MARKERS[index % len(style.MARKERS)], color=colour, ms=5.5)
        ax.annotate(
            number(estimate.mean, digits), (estimate.mean, index), (0, 5), textcoords="offset points",
            ha="center", fontsize=8, color=style.ink(index),
        )  # fmt: skip
    if ax.get_xscale() == "linear":
        ax.margins(x=0.35)
        ax.xaxis.set_major_locator(MaxNLocator(3))
    ax.set_title(metric.label, fontsize=9.5)
    ax.set_xlabel(metric.unit)
    ax.grid(axis="y", visible=False)
    ax.tick_params(axis="y", length=0)


def goodput_by_flow(comparison: Comparison, title: str = "") -> Figure | None:
    """Draw each flow's goodput (Mbit/s), a row a discipline, all seeds; None where there is one flow or none.

    The vertical line is the equal share of what all flows of the row got.
    """
    if len(comparison.entries[0].records[0]["flows"]) < 2:
        return None
    with style.look():
        figure = style.new_figure(0.9 + 0.42 * len(comparison.entries))
        ax = figure.subplots()
        for index, entry in enumerate(comparison.entries):
            colour, marker = style.colour(index), style.MARKERS[index % len(style.MARKERS)]
            runs = [[flow["goodput_mbps"] for flow in record["flows"]] for record in entry.records]
            for seed, goodputs in enumerate(runs):
                lift = 0.5 * ((seed + 0.5) / len(runs) - 0.5)
                ax.plot(goodputs, [index + lift] * len(goodputs), marker, color=colour, ms=4, alpha=0.55, mew=0)
            every = [goodput for goodputs in runs for goodput in goodputs]
            share = statistics.fmean(every)
            ax.plot([share, share], [index - 0.36, index + 0.36], color=colour, lw=1.2)
        ax.set_yticks(range(len(comparison.entries)), [_short(entry.label) for entry in comparison.entries])
        for index, label in enumerate(ax.get_yticklabels()):
            label.set_color(style.ink(index))
            label.set_fontweight("bold")
        ax.set_ylim(len(comparison.entries) - 0.5, -0.5)
        ax.set_xlim(left=0)
        ax.set_xlabel("goodput of a flow (Mbit/s)")
        ax.grid(axis="y", visible=False)
        ax.tick_params(axis="y", length=0)
        ax.set_title(title)
    return figure
