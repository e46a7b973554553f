"""Queueing delay: as a distribution, and over time."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from goodqueue.measures.stats import share_below
from goodqueue.plot import clock, panels, style
from goodqueue.plot.labels import BACKING, Curve, name_curves
from goodqueue.plot.style import Look
from goodqueue.record import Record
from goodqueue.show.picture import Axis, axis_for

Named = Sequence[tuple[str, Sequence[float]]]
"""Labels, each with the 0th to the 100th percentile."""

OF = "packets with at most this delay"


def cdf(distributions: Named, title: str = "", what: str = "queueing delay", of: str = OF) -> Figure:
    """Draw the cumulative distributions of delay (ms, logarithmic). Each is a label and 101 percentiles.

    A run without any value on the axis is named below the figure.
    """
    return cdfs({"": distributions}, title, what, of)


def cdfs(by_title: Mapping[str, Named], title: str = "", what: str = "queueing delay", of: str = OF) -> Figure:
    """Draw distributions as `cdf` does, in one panel per title of ``by_title``."""
    labels = list(dict.fromkeys(label for distributions in by_title.values() for label, _ in distributions))
    looks = style.looks_by_label(labels)
    with style.look():
        figure, places = panels.grid(list(by_title), 2.1, 3.6)
        axis = axis_for([percentiles for distributions in by_title.values() for _, percentiles in distributions], 100)
        style.log_ms(places[0], "x", axis.low, axis.high, fine=len(places) == 1)
        places[0].set_ylim(0, 101)
        panels.label_axes(places, f"{what} (ms)", panels.wrapped(f"{of} (%)", 60 if len(places) == 1 else 20))
        below: list[str] = []
        curves = []
        for ax, (panel, distributions) in zip(places, by_title.items(), strict=True):
            for label, percentiles in distributions:
                if percentiles[-1] < axis.low:
                    below.append(f"{label}{f' ({panel})' if panel else ''}")
                else:
                    curves.append(_curve(ax, label, percentiles, axis, looks[label]))
        if below:
            style.note(figure, f"{', '.join(below)}: no packet waits {axis.low:g} ms.")
        name_curves(figure, places, curves, labels, title)
    return figure


def _curve(ax: Axes, label: str, percentiles: Sequence[float], axis: Axis, look: Look) -> Curve:
    """Draw one distribution. It begins at the axis' left edge, at the share of the values below the axis."""
    share = 100 * share_below(percentiles, axis.low)
    within = [(value, percent) for percent, value in enumerate(percentiles) if value > axis.low]
    x, y = [axis.low, *(value for value, _ in within)], [share, *(float(percent) for _, percent in within)]
    (line,) = ax.plot(x, y, color=look.colour, linestyle=look.line, lw=1.7)
    points = [(percentiles[at], at) for at in (50, 95) if percentiles[at] > axis.low]
    ax.plot([value for value, _ in points], [at for _, at in points], color=look.colour, ls="", **look.marks(5.5))
    middle = [(value, percent) for value, percent in zip(x, y, strict=True) if 4 <= percent <= 96] or [(x[0], y[0])]
    handle = Line2D([], [], color=look.colour, linestyle=look.line, lw=line.get_linewidth(), **look.marks(5.5))
    return Curve(label, [value for value, _ in middle], [percent for _, percent in middle], look.ink, handle)


def over_time(
    runs: Sequence[tuple[str, Record]], title: str = "", queue: str = "down", what: str = "queueing delay"
) -> Figure:
    """Draw the delay of one queue over time, one panel per run, all on the same axes. The records must hold a series.

    Raises KeyError for a record without a series.
    """
    with style.look():
        figure = style.new_figure(0.55 + 0.9 * len(runs))
        rows = figure.subplots(len(runs), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
        everything = [
            value
            for _, run in runs
            for value in run["series"]["queues"][queue]["delay_ms"]
            if value is not None and value > 0
        ]
        ordered = sorted(everything) or [1.0]
        low = max(0.1, ordered[len(ordered) // 50])
        high = max(ordered[-1] * 1.3, low * 10)
        for ax, (label, run), look in zip(rows, runs, style.looks([label for label, _ in runs]), strict=True):
            series = run["series"]
            delays = [low if value is None else max(value, low) for value in series["queues"][queue]["delay_ms"]]
            style.log_ms(ax, "y", low, high)
            ax.fill_between(series["time_s"], low, delays, color=look.colour, alpha=0.25, linewidth=0)
            ax.plot(series["time_s"], delays, color=look.colour, linewidth=1.0)
            ax.text(
                0.008, 0.95, label, transform=ax.transAxes, va="top", weight="bold", fontsize=style.size(9.5),
                color=look.ink, bbox=BACKING,
            )  # fmt: skip
            ax.margins(x=0)
        rows[0].set_title(title)
        rows[-1].set_xlabel(clock.name(rows[-1], [run for _, run in runs]))
        figure.supylabel(f"{what} (ms)", fontsize=style.size(10.5), color="#444444")
        panels.settle(figure)
    return figure
