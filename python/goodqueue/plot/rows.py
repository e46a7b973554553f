"""A row a group: boxes, bars with deviation, and Jain's index."""

import statistics
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.cbook import boxplot_stats
from matplotlib.figure import Figure

from goodqueue import stats
from goodqueue.metrics import Metric
from goodqueue.plot import style
from goodqueue.plot.stored import DISTRIBUTIONS, Group, percentiles, repeats
from goodqueue.tables import decimals, number

NAME = 26
"""Characters of a name at the axis, at most; the whole name is in the tables."""

WHISKERS = (5, 95)
"""Percentiles at which the whiskers of a distribution end."""


def _begin(found: Sequence[Group]) -> tuple[Figure, Axes]:
    """Return a figure with a row a group, the first on top."""
    drawn = style.new_figure(1.15 + 0.42 * len(found))
    ax = drawn.subplots()
    names = [group.label if len(group.label) <= NAME else f"{group.label[: NAME - 1]}…" for group in found]
    ax.set_yticks(range(len(found)), names)
    for index, name in enumerate(ax.get_yticklabels()):
        name.set_color(style.ink(index))
        name.set_fontweight("bold")
    ax.set_ylim(len(found) - 0.5, -0.5)
    ax.grid(axis="y", visible=False)
    ax.tick_params(axis="y", length=0)
    return drawn, ax


def _scale(ax: Axes, values: Sequence[float], unit: str) -> None:
    """Make the axis of times logarithmic where they are far apart."""
    if unit == "ms" and values and min(values) > 0 and max(values) / min(values) > 5:
        style.log_ms(ax, "x", min(values) / 1.4, max(values) * 1.4)


def boxes(found: Sequence[Group], metric: Metric, title: str = "") -> Figure | None:
    """Draw a box of each group's runs by ``metric``: median, quartiles, whiskers after Tukey. None without a value."""
    values = [group.values(metric) for group in found]
    if not any(values):
        return None
    with style.look():
        drawn, ax = _begin(found)
        _scale(ax, [value for own in values for value in own], metric.unit)
        for index, own in enumerate(values):
            if own:
                (box,) = boxplot_stats(own, whis=1.5)
                _box(ax, index, box)
        ax.set_xlabel(f"{metric.label} ({metric.unit})" if metric.unit else metric.label)
        ax.set_title(title)
        whiskers = "whiskers: the furthest runs within 1.5 box widths; circles: runs beyond"
        style.note(drawn, f"Line: median of the runs; box: quartiles; {whiskers}. {repeats(found)}.")
    return drawn


def distribution_boxes(found: Sequence[Group], what: str, title: str = "") -> Figure | None:
    """Draw a box of each group's distribution (a key of `DISTRIBUTIONS`), all runs pooled. None without one."""
    pooled = [percentiles(group, what) for group in found]
    if not any(pooled):
        return None
    low, high = WHISKERS
    with style.look():
        drawn, ax = _begin(found)
        _scale(ax, [max(own[at], 0.1) for own in pooled if own for at in WHISKERS], "ms")
        for index, own in enumerate(pooled):
            if own:
                box = {"med": own[50], "q1": own[25], "q3": own[75], "whislo": own[low], "whishi": own[high]}
                _box(ax, index, {**box, "fliers": []})
        ax.set_xlabel(f"{DISTRIBUTIONS[what]} (ms)")
        ax.set_title(title)
        style.note(drawn, f"Line: median; box: quartiles; whiskers: p{low} and p{high}; runs pooled. {repeats(found)}.")
    return drawn


def _box(ax: Axes, index: int, box: dict[str, object]) -> None:
    colour = style.colour(index)
    ax.bxp(
        [box],
        positions=[index],
        orientation="horizontal",
        widths=0.5,
        patch_artist=True,
        manage_ticks=False,
        boxprops={"facecolor": f"{colour}2e", "edgecolor": colour, "linewidth": 1.2},
        medianprops={"color": colour, "linewidth": 2.4},
        whiskerprops={"color": colour, "linewidth": 1.2},
        capprops={"color": colour, "linewidth": 1.2},
        flierprops={"marker": "o", "markeredgecolor": colour, "markerfacecolor": "none", "markersize": 4},
    )


def bars(found: Sequence[Group], metric: Metric, title: str = "") -> Figure | None:
    """Draw the mean of ``metric`` over each group's runs as a bar, with its deviation. None without a value."""
    values = [group.values(metric) for group in found]
    if not any(values):
        return None
    with style.look():
        drawn, ax = _begin(found)
        digits = decimals(statistics.fmean(own) for own in values if own)
        for index, own in enumerate(values):
            if not own:
                continue
            mean, deviation = statistics.fmean(own), statistics.stdev(own) if len(own) > 1 else 0.0
            colour = style.colour(index)
            ax.barh(index, mean, 0.56, color=f"{colour}66", edgecolor=colour, linewidth=1.0)
            ax.errorbar(mean, index, xerr=deviation, color=style.ink(index), capsize=3.5, elinewidth=1.4)
            ax.annotate(
                number(mean, 3 if metric.key == "jain_goodput" else digits),
                (mean + deviation, index), (6, 0), textcoords="offset points", va="center", fontsize=8.5,
                color=style.ink(index),
            )  # fmt: skip
        ax.set_xlim(left=0)
        ax.margins(x=0.13)
        ax.set_xlabel(f"{metric.label} ({metric.unit})" if metric.unit else metric.label)
        ax.set_title(title)
        style.note(drawn, f"Bar: mean of the runs; line: ± 1 standard deviation. {repeats(found)}.")
    return drawn


def jain(found: Sequence[Group], title: str = "") -> Figure | None:
    """Draw Jain's index of the flows' goodput: mean and 95 % confidence interval. None without a value."""
    values = [[v for one in group.records if (v := one["fairness"]["jain_goodput"]) is not None] for group in found]
    if not any(values):
        return None
    estimates = [stats.estimate(own) for own in values]
    with style.look():
        drawn, ax = _begin(found)
        for index, (own, one) in enumerate(zip(values, estimates, strict=True)):
            if one is None:
                continue
            colour = style.colour(index)
            ax.plot(own, [index] * len(own), "|", color=colour, ms=8, alpha=0.6, mew=0.9)
            ends = [max(0.0, one.mean - (one.half_width or 0)), min(1.0, one.mean + (one.half_width or 0))]
            ax.plot(ends, [index, index], color=colour, lw=2.2)
            ax.plot(one.mean, index, style.MARKERS[index % len(style.MARKERS)], color=colour, ms=6.5)
            ax.annotate(
                number(one.mean, 3), (one.mean, index), (0, 6), textcoords="offset points", ha="center", fontsize=8.5,
                color=style.ink(index),
            )  # fmt: skip
        least = min(min(own) for own in values if own)
        ax.set_xlim(max(0.0, 1 - 1.25 * max(1 - least, 0.04)), 1.0 + 0.06 * max(1 - least, 0.04))
        ax.axvline(1, color="#999999", lw=0.9, zorder=0)
        ax.set_xlabel("Jain's index of the flows' goodput (1: equal shares)")
        ax.set_title(title)
        style.note(drawn, f"Mark: mean; bar: its 95 % confidence interval; strokes: runs. {repeats(found)}.")
    return drawn
