"""Helpers for tests of figures: groups of runs that differ, and the positions of things in a figure."""

import copy
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.text import Text
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


def check_texts(figure: Figure) -> None:
    """Check that no text that is drawn overlaps another one, or is cut off at the figure's edge.

    Slanted texts are left out: their rectangles overlap where they do not.
    """
    renderer, whole, places = boxes(figure)
    shown = [text for text in _texts(figure) if text.get_text().strip() and text.get_visible()]
    outside = {id(label) for ax in places for label in _beyond(ax)}
    found = [
        (text.get_text(), text.get_window_extent(renderer))
        for text in shown
        if id(text) not in outside and text.get_rotation() in (0, 90)
    ]
    for at, (words, box) in enumerate(found):
        assert whole.x0 - 1 <= box.x0 <= box.x1 <= whole.x1 + 1, f"cut off at a side: {words}"
        assert whole.y0 - 1 <= box.y0 <= box.y1 <= whole.y1 + 1, f"cut off above or below: {words}"
        for other, there in found[:at]:
            assert not _overlap(box, there), f"{words!r} is over {other!r}"


def _overlap(one: Bbox, other: Bbox) -> bool:
    """Return whether two boxes overlap by more than a pixel, which a rectangle around letters may be too large."""
    across = min(one.x1, other.x1) - max(one.x0, other.x0)
    up = min(one.y1, other.y1) - max(one.y0, other.y0)
    return across > 1 and up > 1


def _texts(figure: Figure) -> list[Text]:
    hidden = {id(text) for ax in figure.axes if not ax.get_visible() for text in ax.findobj(Text)}  # type: ignore[arg-type]
    return [text for text in figure.findobj(Text) if id(text) not in hidden]  # type: ignore[arg-type, misc]


def _beyond(ax: Axes) -> list[Text]:
    """Return the numbers of an axis that are not drawn, since they lie beyond its ends."""
    found: list[Text] = []
    for axis, (low, high) in ((ax.xaxis, sorted(ax.get_xlim())), (ax.yaxis, sorted(ax.get_ylim()))):
        margin = 1e-9 * (high - low)
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
            if not low - margin <= tick.get_loc() <= high + margin:
                found += [tick.label1, tick.label2]
    return found
