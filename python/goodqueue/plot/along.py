"""A metric along an axis: one line per series, one panel per combination of the other differences."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullLocator

from goodqueue.measures.metrics import Metric
from goodqueue.measures.stats import Estimate
from goodqueue.plot import panels, style, wishes
from goodqueue.plot.style import Look
from goodqueue.scenario.quantity import order, quantities

DECADE = 10.0
"""A numeric axis is logarithmic if the ratio of the largest to the smallest value is above this."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The axis of a figure: its values, from left to right, and their places."""

    values: Sequence[str]
    places: Sequence[float]
    is_numeric: bool
    is_log: bool

    def shifted(self, index: int, count: int) -> list[float]:
        """Return the places of the marks of line ``index`` of ``count``: side by side, so that none covers another."""
        steps = (index - (count - 1) / 2) * min(0.08, 0.5 / count)
        if not self.is_numeric:
            return [x + steps for x in self.places]
        seats = [math.log(x) for x in self.places] if self.is_log else list(self.places)
        gap = min(right - left for left, right in pairwise(seats))
        width = min(gap, 0.15 * (seats[-1] - seats[0]))
        moved = [seat + steps * width for seat in seats]
        return [math.exp(seat) for seat in moved] if self.is_log else moved


def scale_of(values: Sequence[str]) -> Scale:
    """Return the axis of ``values``. Numbers of one kind stand to scale, logarithmic above a ratio of `DECADE`.

    Other values stand at equal distances, as categories.
    """
    quantity = quantities(values)
    if quantity is None or len(set(quantity[0])) < len(values) or len(values) < 2:
        return Scale(values, [float(index) for index in range(len(values))], False, False)
    numbers = sorted(quantity[0])
    is_log = numbers[0] > 0 and numbers[-1] / numbers[0] > DECADE
    return Scale(order(values), numbers, True, is_log)


Estimates = Mapping[str, Estimate | None]
"""The estimates of a line, by the value on the axis."""

Lines = Mapping[str, Estimates]
"""The lines of a panel, by label."""


def figure(
    by_title: Mapping[str, Lines],
    value_names: Mapping[str, str],
    axis: str,
    metric: Metric,
    called: str,
    title: str = "",
) -> Figure:
    """Draw the mean of ``metric`` with its 95 % confidence interval along the values, in one panel per title.

    ``value_names`` has the values with their names. ``axis`` is the label of the axis, or empty if the names explain
    themselves. ``called`` is the label of the metric.
    """
    scale = scale_of(list(value_names))
    labels = list(dict.fromkeys(label for lines in by_title.values() for label in lines))
    looks = style.looks(labels)
    with style.look():
        drawn, places = panels.grid(list(by_title), 2.2, 3.3)
        every = [estimates for lines in by_title.values() for estimates in lines.values()]
        _heights(places[0], [estimate for estimates in every for estimate in estimates.values() if estimate], metric)
        for ax, lines in zip(places, by_title.values(), strict=True):
            for index, (label, look) in enumerate(zip(labels, looks, strict=True)):
                if label in lines:
                    _line(ax, lines[label], scale, scale.shifted(index, len(labels)), look)
        _ticks(places, scale, [value_names[value] for value in scale.values])
        joined = scale.is_numeric
        words = wishes.written(called, metric.key)
        panels.label_axes(places, axis, f"{words} ({metric.unit})" if metric.unit else words)
        if labels == [""]:
            panels.heading(drawn, title)
        else:
            handles = [
                Line2D([], [], color=look.colour, ls=look.line if joined else "", lw=1.4, **look.marks(5.5))
                for look in looks
            ]
            panels.legend(drawn, handles, labels, title)
        panels.settle(drawn)
    return drawn


def _heights(ax: Axes, estimates: Sequence[Estimate], metric: Metric) -> None:
    """Set the limits of the metric's axis, the same for all panels."""
    means = [estimate.mean for estimate in estimates] or [0.0]
    ends = [end for estimate in estimates for end in (estimate.low, estimate.high) if end is not None]
    least, most = min(means), max(means)
    if metric.unit == "ms" and least > 0 and most / least > 5:
        style.log_ms(ax, "y", max(min([least, *ends]), least / 3) / 1.3, max([most, *ends]) * 1.3)
        return
    low, high = min([least, *ends]), max([most, *ends])
    margin = 0.1 * (high - low) or 0.1 * abs(high) or 1.0
    ax.set_ylim(0.0 if 0 <= low - margin < 0.25 * high or low >= 0 > low - margin else low - margin, high + margin)


def _line(ax: Axes, estimates: Estimates, scale: Scale, across: Sequence[float], look: Look) -> None:
    """Draw one line. Its marks are joined only on a numeric axis, where there is something between them."""
    points = [(x, mean) for x, value in zip(across, scale.values, strict=True) if (mean := estimates.get(value))]
    if points:
        _, _, bars = ax.errorbar(
            [x for x, _ in points],
            [mean.mean for _, mean in points],
            [mean.half_width or 0.0 for _, mean in points],
            color=look.colour,
            linestyle=look.line if scale.is_numeric else "",
            linewidth=1.4,
            elinewidth=1.6,
            capsize=3,
            **look.marks(5.5),
        )
        for bar in bars:
            bar.set_linestyle("-")


def _ticks(places: Sequence[Axes], scale: Scale, called: Sequence[str]) -> None:
    """Write the values below the axis. On a numeric axis, only those that have room."""
    ax = places[0]
    columns = len({axes.get_subplotspec().colspan.start for axes in places})  # type: ignore[union-attr]
    room = style.characters(0.89 * style.width() / columns, 9.5)  # more are slanted
    if not scale.is_numeric:
        names = panels.row_names(called)
        slanted = sum(max(map(len, name.split("\n"))) + 2 for name in names) > room
        for axes in places:
            axes.set_xlim(-0.5, len(scale.values) - 0.5)
            axes.set_xticks(
                range(len(names)), names, rotation=30 if slanted else 0, ha="right" if slanted else "center",
                rotation_mode="anchor" if slanted else "default",
            )  # fmt: skip
        return
    if scale.is_log:
        ax.set_xscale("log")
        ratio = scale.places[-1] / scale.places[0]
        ax.set_xlim(scale.places[0] / ratio**0.08, scale.places[-1] * ratio**0.08)
    else:
        span = scale.places[-1] - scale.places[0]
        ax.set_xlim(scale.places[0] - 0.08 * span, scale.places[-1] + 0.08 * span)
    low, high = ax.transScale.transform([(ax.get_xlim()[0], 1.0), (ax.get_xlim()[1], 1.0)])[:, 0].tolist()
    end, shown, names = float("-inf"), [], []
    for x, value in zip(scale.places, map(wishes.written, called), strict=True):
        at = (ax.transScale.transform((x, 1.0))[0] - low) / (high - low) * room
        if at - len(value) / 2 > end + 1:
            shown.append(x)
            names.append(value)
            end = at + len(value) / 2
    for axes in places:
        axes.xaxis.set_major_locator(FixedLocator(shown))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xticks(shown, names)
