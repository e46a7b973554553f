"""A metric along an axis of a sweep: a line a qdisc, a panel for each combination of the other axes."""

import itertools
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from goodqueue.metrics import Metric
from goodqueue.plot import style
from goodqueue.sweep.grid import QDISC, Axis
from goodqueue.sweep.result import Sweep, Values

PANELS = 6
"""More than that are not drawn; the table has everything."""


def panels(sweep: Sweep) -> tuple[Axis, Axis | None, list[dict[str, str]]]:
    """Return the axis to draw along, the one whose values are lines, and where each panel is on the others.

    The lines are the qdiscs where these are swept. Along goes the longest of the other axes. Raises ValueError for a
    sweep with no axis.
    """
    swept = sorted(sweep.swept(), key=lambda axis: -len(axis.values))
    along = max(swept, key=lambda axis: (axis.key != QDISC, len(axis.values)))
    others = [axis for axis in swept if axis is not along]
    lines = next((axis for axis in others if axis.key == QDISC), others[0] if others else None)
    rest = [axis for axis in others if axis is not lines]
    places = [
        dict(zip((axis.key for axis in rest), values, strict=True))
        for values in itertools.product(*(axis.values for axis in rest))
    ]
    return along, lines, places


def along_axis(sweep: Sweep, metric: Metric, title: str = "") -> Figure:
    """Draw the mean of ``metric`` and its 95 % confidence interval. The values stand at equal distances."""
    along, lines, places = panels(sweep)
    places = places[:PANELS]
    with style.look():
        figure = style.new_figure(0.9 + 2.3 * len(places))
        rows = figure.subplots(len(places), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
        found = [one for cell in sweep.cells if (one := cell.estimate(metric.key))]
        least, most = min((one.mean for one in found), default=0.0), max((one.mean for one in found), default=0.0)
        if metric.unit == "ms" and least > 0 and most / least > 5:
            ends = [end for one in found if (half := one.half_width) for end in (one.mean - half, one.mean + half)]
            style.log_ms(rows[0], "y", max(min([least, *ends]), least / 3) / 1.3, max([most, *ends]) * 1.3)
        names = lines.values if lines else ("",)
        for ax, at in zip(rows, places, strict=True):
            for index, name in enumerate(names):
                own = {**at, **({lines.key: name} if lines else {})}
                offset = (index - (len(names) - 1) / 2) * min(0.08, 0.5 / len(names))
                cells = [_cell(sweep, {**own, along.key: value}) for value in along.values]
                _line(ax, cells, metric, index, offset, not along.key.endswith("qdisc"))
            ax.set_title(", ".join(f"{key.rpartition('.')[2]} {value}" for key, value in at.items()))
            ax.set_xlim(-0.5, len(along.values) - 0.5)
            if rows[0].get_yscale() == "linear":
                ax.margins(y=0.15)
        if title:
            rows[0].set_title(title)
        slanted = sum(map(len, along.values)) > 55
        rows[-1].set_xticks(
            range(len(along.values)),
            [value if len(value) <= 24 else f"{value[:23]}…" for value in along.values],
            rotation=25 if slanted else 0,
            ha="right" if slanted else "center",
        )
        rows[-1].set_xlabel(along.key.rpartition(".")[2] if along.key != QDISC else "")
        figure.supylabel(f"{metric.label} ({metric.unit})" if metric.unit else metric.label, fontsize=10.5)
        if lines:
            handles = [
                rows[0].plot([], [], style.MARKERS[i % len(style.MARKERS)] + "-", color=style.colour(i))[0]
                for i in range(len(names))
            ]
            what = "" if lines.key == QDISC else f"{lines.key.rpartition('.')[2]} "
            labels = [f"{what}{name}" for name in names]
            figure.legend(handles, labels, loc="outside upper left", ncols=2, frameon=False, fontsize=9.5)
    return figure


def _cell(sweep: Sweep, at: dict[str, str]) -> Values:
    return next(cell for cell in sweep.cells if cell.cell.at == at)


def _line(ax: Axes, cells: Sequence[Values], metric: Metric, index: int, offset: float, joined: bool) -> None:
    """Draw one series; its marks are ``joined`` where there is something between them."""
    points = [(x + offset, found) for x, cell in enumerate(cells) if (found := cell.estimate(metric.key))]
    if not points:
        return
    ax.errorbar(
        [x for x, _ in points],
        [found.mean for _, found in points],
        [found.half_width or 0.0 for _, found in points],
        color=style.colour(index),
        marker=style.MARKERS[index % len(style.MARKERS)],
        linewidth=1.4 if joined else 0,
        elinewidth=1.6,
        capsize=3,
        ms=5.5,
    )
