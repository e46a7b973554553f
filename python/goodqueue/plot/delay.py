"""Queueing delay: as a distribution, and over time."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from goodqueue.picture import axis_for
from goodqueue.plot import style
from goodqueue.plot.labels import BACKING, Curve, label_curves
from goodqueue.record import Record


def cdf(
    runs: Sequence[tuple[str, Sequence[float]]],
    title: str = "",
    what: str = "queueing delay",
    of: str = "packets with at most this delay",
) -> Figure:
    """Draw the cumulative distribution of delay (ms, logarithmic) of each of ``runs``: a label and 101 percentiles."""
    with style.look():
        figure = style.new_figure(3.6)
        ax = figure.subplots()
        axis = axis_for([percentiles for _, percentiles in runs], 100)
        style.log_ms(ax, "x", axis.low, axis.high)
        ax.set_ylim(0, 101)
        ax.set_xlabel(f"{what} (ms)")
        ax.set_ylabel(f"{of} (%)")
        ax.set_title(title)
        curves = []
        for index, (label, percentiles) in enumerate(runs):
            colour = style.colour(index)
            delays = [max(value, axis.low) for value in percentiles]
            marker = style.MARKERS[index % len(style.MARKERS)]
            (line,) = ax.plot(delays, range(101), color=colour, marker=marker, markevery=[50, 95], ms=5.5)
            curves.append(Curve(label, delays[4:97], list(range(4, 97)), style.ink(index), line))
        label_curves(ax, curves)
    return figure


def over_time(runs: Sequence[tuple[str, Record]], title: str = "", queue: str = "down") -> Figure:
    """Draw the delay of one queue over time, a panel a run, all on the same axes. The records must hold a series.

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
        for index, (ax, (label, run)) in enumerate(zip(rows, runs, strict=True)):
            series = run["series"]
            delays = [low if value is None else max(value, low) for value in series["queues"][queue]["delay_ms"]]
            style.log_ms(ax, "y", low, high)
            ax.fill_between(series["time_s"], low, delays, color=style.colour(index), alpha=0.25, linewidth=0)
            ax.plot(series["time_s"], delays, color=style.colour(index), linewidth=1.0)
            ax.text(
                0.008, 0.95, label, transform=ax.transAxes, va="top", weight="bold", fontsize=9.5,
                color=style.ink(index), bbox=BACKING,
            )  # fmt: skip
            ax.margins(x=0)
        rows[0].set_title(title)
        rows[-1].set_xlabel("time (s)")
        figure.supylabel("queueing delay (ms)", fontsize=10.5, color="#444444")
    return figure
