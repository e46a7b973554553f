"""Figures with one row per group: boxes, bars with deviation, and Jain's index."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.cbook import boxplot_stats
from matplotlib.figure import Figure

from goodqueue.measures import stats
from goodqueue.measures.metrics import Metric
from goodqueue.plot import panels, style, wishes
from goodqueue.plot.stored import Group, distribution, labels_of, percentiles, repeats, words_of
from goodqueue.plot.style import Look
from goodqueue.show.table import decimals, number

WHISKERS = (5, 95)
"""Percentiles at which the whiskers of a distribution end."""


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a group in the figure."""

    ax: Axes
    row: int
    look: Look


def _begin(groups: Sequence[Group], across: str, title: str) -> tuple[Figure, list[Axes], list[Place]]:
    """Return a figure with one row per label in each panel, the first on top, and the place of each group."""
    labels, titles = labels_of(groups), panels.titles([group.panel for group in groups])
    names = panels.row_names(labels)
    height = max(0.42 if len(titles) == 1 else 0.3, panels.row_height(names) if len(titles) == 1 else 0.0)
    drawn, axes = panels.grid(titles, 0.75 + height * len(names), 1.15 + height * len(names))
    looks = style.looks(labels)
    panels.name_rows(axes[0], labels, names)
    for ax in axes:
        if len(titles) == 1:
            ax.set_title(title)
        elif ax.get_subplotspec().is_first_col():  # type: ignore[union-attr]
            panels.name_rows(ax, labels, names)
        ax.grid(axis="y", visible=False)
        ax.tick_params(axis="y", length=0)
    panels.label_axes(axes, across, "")
    if len(titles) > 1:
        panels.heading(drawn, title)
    rows = [labels.index(group.label) for group in groups]
    return (
        drawn,
        axes,
        [Place(axes[titles.index(group.panel)], row, looks[row]) for group, row in zip(groups, rows, strict=True)],
    )


def _scale(ax: Axes, values: Sequence[float], unit: str) -> None:
    """Make the axis of times logarithmic if the values are far apart."""
    if unit == "ms" and values and min(values) > 0 and max(values) / min(values) > 5:
        style.log_ms(ax, "x", min(values) / 1.4, max(values) * 1.4)


def boxes(groups: Sequence[Group], metric: Metric, title: str = "") -> Figure | None:
    """Draw a box for each group's runs by ``metric``: median, quartiles, Tukey's whiskers. None without values."""
    values = [group.values(metric) for group in groups]
    if not any(values):
        return None
    with style.look():
        drawn, axes, places = _begin(groups, _axis_label(metric, groups), title)
        _scale(axes[0], [value for sample in values for value in sample], metric.unit)
        for mark, sample in zip(places, values, strict=True):
            if sample:
                (box,) = boxplot_stats(sample, whis=1.5)
                _box(mark, box)
        whiskers = "whiskers: the furthest runs within 1.5 box widths; circles: runs beyond"
        style.note(drawn, f"Line: median of the runs; box: quartiles; {whiskers}. {repeats(groups)}.")
        panels.settle(drawn)
    return drawn


def _axis_label(metric: Metric, groups: Sequence[Group]) -> str:
    words = wishes.written(words_of(metric, groups), metric.key)
    return f"{words} ({metric.unit})" if metric.unit else words


def distribution_boxes(groups: Sequence[Group], what: str, title: str = "") -> Figure | None:
    """Draw a box for each group's distribution (a key of `DISTRIBUTIONS`), all runs pooled. None without one."""
    pooled = [percentiles(group, what) for group in groups]
    if not any(pooled):
        return None
    low, high = WHISKERS
    with style.look():
        drawn, axes, places = _begin(groups, f"{wishes.written(distribution(what, groups), what)} (ms)", title)
        _scale(axes[0], [max(p[at], 0.1) for p in pooled if p for at in WHISKERS], "ms")
        for mark, p in zip(places, pooled, strict=True):
            if p:
                box = {"med": p[50], "q1": p[25], "q3": p[75], "whislo": p[low], "whishi": p[high]}
                _box(mark, {**box, "fliers": []})
        style.note(
            drawn, f"Line: median; box: quartiles; whiskers: p{low} and p{high}; runs pooled. {repeats(groups)}."
        )
        panels.settle(drawn)
    return drawn


def _box(mark: Place, box: dict[str, object]) -> None:
    colour = mark.look.colour
    mark.ax.bxp(
        [box],
        positions=[mark.row],
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


def bars(groups: Sequence[Group], metric: Metric, title: str = "") -> Figure | None:
    """Draw the mean of ``metric`` over each group's runs as a bar, with its deviation. Returns None without values."""
    values = [group.values(metric) for group in groups]
    if not any(values):
        return None
    with style.look():
        drawn, axes, places = _begin(groups, _axis_label(metric, groups), title)
        shown = decimals(statistics.fmean(sample) for sample in values if sample)
        digits = shown if metric.decimals is None else metric.decimals
        for mark, sample in zip(places, values, strict=True):
            if not sample:
                continue
            mean, deviation = statistics.fmean(sample), statistics.stdev(sample) if len(sample) > 1 else 0.0
            colour, ink = mark.look.colour, mark.look.ink
            mark.ax.barh(mark.row, mean, 0.56, color=f"{colour}66", edgecolor=colour, linewidth=1.0)
            mark.ax.errorbar(mean, mark.row, xerr=deviation, color=ink, capsize=3.5, elinewidth=1.4)
            mark.ax.annotate(
                number(mean, digits), (mean + deviation, mark.row), (6, 0), textcoords="offset points",
                va="center", fontsize=style.size(8.5), color=ink,
            )  # fmt: skip
        reach = max(
            statistics.fmean(sample) + (statistics.stdev(sample) if len(sample) > 1 else 0.0)
            for sample in values
            if sample
        )
        axes[0].set_xlim(0, reach * (1.13 if len(axes) == 1 else 1.35) or 1.0)  # the numbers stand beyond the bars
        style.note(drawn, f"Bar: mean of the runs; line: ± 1 standard deviation. {repeats(groups)}.")
        panels.settle(drawn)
        _make_room(drawn, axes)
    return drawn


def _make_room(figure: Figure, axes: Sequence[Axes]) -> None:
    """Move the right end of the axes, which all panels share, until no number reaches beyond its panel."""
    for _ in range(3):
        renderer = panels.drawn(figure)
        beyond = 0.0
        for ax in axes:
            frame = ax.get_window_extent(renderer)
            ends = [text.get_window_extent(renderer).x1 for text in ax.texts]
            beyond = max([beyond, *((end - frame.x1) / frame.width for end in ends)])
        if beyond <= 0:
            return
        low, high = axes[0].get_xlim()
        axes[0].set_xlim(low, high + (high - low) * (beyond + 0.02))


def jain(groups: Sequence[Group], title: str = "") -> Figure | None:
    """Draw Jain's index of the flows' goodput: mean and 95 % confidence interval. Returns None without values."""
    values = [
        [v for record in group.records if (v := record["fairness"]["jain_goodput"]) is not None] for group in groups
    ]
    if not any(values):
        return None
    estimates = [stats.estimate(sample) for sample in values]
    with style.look():
        words = wishes.written("Jain's index of the flows' goodput", "jain_goodput")
        drawn, axes, places = _begin(groups, f"{words} (1: equal shares)", title)
        for mark, sample, estimate in zip(places, values, estimates, strict=True):
            if estimate is None:
                continue
            ax, colour, row = mark.ax, mark.look.colour, mark.row
            ax.plot(sample, [row] * len(sample), "|", color=colour, ms=8, alpha=0.6, mew=0.9)
            ends = [
                max(0.0, estimate.mean - (estimate.half_width or 0)),
                min(1.0, estimate.mean + (estimate.half_width or 0)),
            ]
            ax.plot(ends, [row, row], color=colour, lw=2.2)
            ax.plot(estimate.mean, row, color=colour, **mark.look.marks(6.5))
            ax.annotate(
                number(estimate.mean, 3), (estimate.mean, row), (0, 6), textcoords="offset points", ha="center",
                fontsize=style.size(8.5), color=mark.look.ink,
            )  # fmt: skip
        least = min(min(sample) for sample in values if sample)
        axes[0].set_xlim(max(0.0, 1 - 1.25 * max(1 - least, 0.04)), 1.0 + 0.06 * max(1 - least, 0.04))
        for ax in axes:
            ax.axvline(1, color="#999999", lw=0.9, zorder=0)
        style.note(drawn, f"Mark: mean; bar: its 95 % confidence interval; strokes: runs. {repeats(groups)}.")
        panels.settle(drawn)
        _make_room(drawn, axes)
    return drawn
