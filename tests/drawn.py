"""Helpers for tests of figures: groups of runs that differ, and the positions of things in a figure."""

import copy
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from goodqueue.plot import style
from goodqueue.plot.stored import Group
from goodqueue.record import Record

CODEL = style.looks(["codel"])[0].colour


def made(record: Record, label: str, factor: float = 1.0, panel: str = "", count: int = 3) -> Group:
    """Return a group whose delays are ``factor`` times those of ``record``, and slightly different in each run."""
    found = []
    for run in range(count):
        one: Any = copy.deepcopy(record)
        by = factor * (1 + 0.1 * run)
        queue, line = one["queues"]["down"], one["series"]["queues"]["down"]
        queue["delay_percentiles_ms"] = [value * by for value in queue["delay_percentiles_ms"]]
        queue["delay_ms"] = {key: value * by for key, value in queue["delay_ms"].items()}
        line["delay_ms"] = [None if value is None else value * by for value in line["delay_ms"]]
        for app in one["apps"]:
            app["rtt_ms"] = {key: value * by for key, value in app["rtt_ms"].items()}
        for flow in one["flows"]:
            flow["goodput_mbps"] *= 1 + 0.03 * run * factor
        found.append(one)
    return Group(label, found, panel)


def many(record: Record, count: int, places: int, words: str = "") -> list[Group]:
    names = ["codel", "pie", "fq_codel", "sfq", "red", "cake", "pfifo", "dualpi2"]
    labels = [f"{names[at % 8]} {'' if at < 8 else f'limit {at}'} {words}".strip() for at in range(count)]
    titles = [f"rtt {place} ms" if places > 1 else "" for place in range(places)]
    return [made(record, name, 1.4**at, title) for title in titles for at, name in enumerate(labels)]


def boxes(figure: Figure) -> tuple[Any, Bbox, list[Axes]]:
    canvas = FigureCanvasAgg(figure)
    canvas.draw()  # type: ignore[no-untyped-call]
    return canvas.get_renderer(), figure.bbox, [ax for ax in figure.axes if ax.get_visible()]  # type: ignore[no-untyped-call]


def check_layout(figure: Figure) -> None:
    """Check that nothing except the axes stands on the axes, that nothing is cut off, and that no numbers touch."""
    renderer, whole, places = boxes(figure)
    within = Bbox.from_extents(whole.x0 - 1, whole.y0 - 1, whole.x1 + 1, whole.y1 + 1)
    beside = [legend.get_window_extent(renderer) for legend in figure.legends]
    beside += [text.get_window_extent(renderer) for text in figure.texts if text.get_text()]
    for at, box in enumerate(beside):
        assert within.x0 <= box.x0 <= box.x1 <= within.x1, "cut off at a side"
        assert within.y0 <= box.y0 <= box.y1 <= within.y1, "cut off above or below"
        for ax in places:
            assert not box.overlaps(ax.get_window_extent(renderer)), "over the data"
        for other in beside[:at]:
            assert not box.overlaps(other), "over each other"
    for ax in places:
        tight = ax.get_window_extent(renderer)
        assert min(tight.width, tight.height) > 60, "too small to see anything"
    numbers = [
        label.get_window_extent(renderer)
        for ax in places
        for tick in ax.xaxis.get_major_ticks()
        if (label := tick.label1).get_visible() and label.get_text() and abs(label.get_rotation()) < 1
        if tick.get_loc() >= min(ax.get_xlim()) and tick.get_loc() <= max(ax.get_xlim())
    ]
    for at, box in enumerate(numbers):
        assert not any(box.overlaps(other) for other in numbers[:at]), "numbers below the axes meet"


def colours(figure: Figure) -> set[str]:
    lines = [line.get_color() for ax in figure.axes for line in ax.lines]
    return {
        to_hex(colour) for colour in [*lines, *(patch.get_edgecolor() for ax in figure.axes for patch in ax.patches)]
    }
