"""One run as the article that introduced CoDel draws it: the queue's delay on a linear axis, its target, and each drop.

After K. Nichols and V. Jacobson, "Controlling Queue Delay", ACM Queue 10 (5), 2012. Below the delay stands what the law
counts, if the record has it.
"""

import math
from collections.abc import Collection, Sequence
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from goodqueue.measures import metrics
from goodqueue.plot import clock, panels, style, wishes
from goodqueue.plot.series import described, series
from goodqueue.plot.stored import Group, directed
from goodqueue.record import Record
from goodqueue.scenario.quantity import quantity

COUNTS = ("count", "drop_probability")
"""The variables of laws of which the first that a record has is drawn below the delay."""

RUNS = 4
"""The maximum number of runs below each other."""

DROP = "#b2182b"

Window = tuple[float | None, float | None]
"""Begin and end of what is drawn, in seconds of the run."""


def has(groups: Sequence[Group]) -> bool:
    """Return whether the first run of each group has the delay over time."""
    return bool(groups) and all(_delays(group.records[0], directed("delay_ms", groups)) for group in groups)


def figure(groups: Sequence[Group], window: Window, title: str = "") -> Figure | None:
    """Draw the first run of each group. Returns None if one has no time series of its queue."""
    if not has(groups):
        return None
    what = directed("delay_ms", groups)
    direction = metrics.split(what)[0]
    rows = [(group, name) for group in groups for name in (what, *_count(group.records[0], direction))]
    looks = style.looks([group.label for group in groups])
    with style.look():
        drawn = style.new_figure(0.9 + 1.45 * len(rows))
        axes = drawn.subplots(len(rows), 1, sharex=True, squeeze=False)[:, 0].tolist()
        handles, names = _legend({target_ms(group.records[0], direction) for group in groups} - {None})
        for ax, (group, name) in zip(axes, rows, strict=True):
            look = looks[groups.index(group)]
            if name == what:
                _delay(ax, group.records[0], what, look.colour, window)
                ax.set_title(wishes.written(group.label) if len(groups) > 1 else "", fontsize=style.size(9))
            else:
                at, values = _within(series(group.records[0], name), window)
                ax.step(at, values, where="post", color=look.colour, lw=1.2)
                ax.set_ylim(bottom=0)
            words, unit = described(name, [group])
            words = wishes.written(words, name)
            ax.set_ylabel(f"{words} ({unit})" if unit else words)
        axes[0].set_xlim(*_ends(groups, what, window))
        axes[-1].set_xlabel(clock.name(axes[-1], [group.records[0] for group in groups]))
        seeds = sorted({group.records[0]["seed"] for group in groups})
        style.note(drawn, f"A single run, seed {', '.join(map(str, seeds))}. {_marks(groups[0].records[0])}")
        panels.legend(drawn, handles, names, title)
        panels.settle(drawn)
    return drawn


def _count(record: Record, direction: str) -> list[str]:
    """Return the series of the law that stands below the delay, if the record has one."""
    names = [metrics.of_direction(name, direction) for name in COUNTS]
    return next(([name] for name in names if series(record, name)), [])


def _delays(record: Record, what: str) -> tuple[list[float], list[float | None]] | None:
    """Return the delay of each packet if the record has them, or else the mean of each interval."""
    packets = record.get("series", {}).get("packets", {}).get(metrics.split(what)[0])
    if packets and packets["time_s"]:
        return packets["time_s"], list(packets["delay_ms"])
    return series(record, what)


def _within(samples: tuple[list[float], list[float | None]] | None, window: Window) -> tuple[list[float], list[float]]:
    """Return times and values within ``window``. A missing value is nan, which leaves a gap."""
    begin, end = window
    points = [
        (at, float("nan") if value is None else value)
        for at, value in zip(*(samples or ([], [])), strict=True)
        if (begin is None or at >= begin) and (end is None or at <= end)
    ]
    return [at for at, _ in points], [value for _, value in points]


def drops(record: Record, direction: str, window: Window) -> list[float]:
    """Return the ends of the intervals in which a packet of a flow in direction `direction` was dropped or lost."""
    series = record.get("series")
    if series is None:
        return []
    directions = {flow["name"]: flow["direction"] for flow in record["flows"]}
    dropped = [flow.get("dropped_packets", []) for flow in series["flows"] if directions.get(flow["name"]) == direction]
    counts: list[float | None] = [float(sum(some)) for some in zip(*dropped, strict=True)]
    at, values = _within((series["time_s"], counts) if counts else None, window)
    return [time for time, value in zip(at, values, strict=True) if value]


def target_ms(record: Record, direction: str) -> float | None:
    """Return the target in the queue's line, or None if its law has none."""
    words = record["queues"][direction]["qdisc"].split()
    target = next((quantity(value) for word, value in pairwise(words) if word == "target"), None)
    return target[0] if target and target[1] == "ms" else None


def _delay(ax: Axes, record: Record, what: str, colour: str, window: Window) -> None:
    direction = metrics.split(what)[0]
    at, values = _within(_delays(record, what), window)
    ax.plot(at, values, color=colour, lw=1.1)
    high = max([value for value in values if not math.isnan(value)], default=1.0)
    target = target_ms(record, direction)
    if target is not None:
        ax.axhline(target, color="#333333", lw=1.0, ls=style.DASHED)
    times = drops(record, direction, window)
    top = 1.15 * max(high, (target or 0) * 1.2, 0.1)
    if times:
        points = [(time, value) for time, value in zip(at, values, strict=True) if not math.isnan(value)] or [
            (0.0, 0.0)
        ]
        heights = np.interp(times, [time for time, _ in points], [value for _, value in points])
        ax.plot(times, heights, ls="", marker="v", ms=4.5, color=DROP, mew=0)
    ax.set_ylim(0, top)


def _legend(targets: Collection[float | None]) -> tuple[list[Line2D], list[str]]:
    handles = [Line2D([], [], ls="", marker="v", ms=5, color=DROP, mew=0)]
    names = ["a packet is dropped"]
    if targets:
        handles.insert(0, Line2D([], [], color="#333333", lw=1.0, ls=style.DASHED))
        names.insert(0, f"target {next(iter(targets)):g} ms" if len(targets) == 1 else "target")
    return handles, names


def _marks(record: Record) -> str:
    step = record.get("series", {}).get("interval_s")
    return f"Drops are marked at the end of their {step * 1e3:g} ms." if step else ""


def _ends(groups: Sequence[Group], what: str, window: Window) -> tuple[float, float]:
    """Return the ends of the axis of time: the window, or the ends of the series."""
    times = [at for group in groups for at in (_delays(group.records[0], what) or ([0.0, 1.0], []))[0]]
    begin, end = window
    return (min(times) if begin is None else begin), (max(times) if end is None else end)
