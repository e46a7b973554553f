"""Direct labels: each curve has its name beside it, where the name hides least."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from goodqueue.plot import panels, style, wishes

BACKING = {"facecolor": "white", "alpha": 0.8, "linewidth": 0, "pad": 1}
"""The background of text above lines."""

STEPS = 24
"""The number of places along a curve that are tried."""

LONG = 24
"""The maximum number of characters of a name in a legend beside the axes. Longer names would leave the axes no room."""

DIRECT = 8
"""The maximum number of names beside their curves. With more names, a reader cannot match names and curves."""

BESIDE = 0.3
"""The maximum share of the figure's width for a legend beside the axes."""

UNCLEAR = 2.5
"""A label with a cost above this hides more than one point."""


@dataclass(frozen=True, slots=True)
class Curve:
    """A drawn curve and its name. ``x`` and ``y`` are in the units of the axes."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    colour: str
    """The colour of the name."""
    line: Line2D
    """The drawn line, for a legend."""


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in pixels."""

    left: float
    bottom: float
    right: float
    top: float

    def holds(self, x: float, y: float, margin: float = 3) -> bool:
        """Return whether a point lies inside the box, or within ``margin`` of it."""
        return self.left - margin <= x <= self.right + margin and self.bottom - margin <= y <= self.top + margin

    def meets(self, other: "Box") -> bool:
        """Return whether both boxes overlap."""
        apart = self.right < other.left or other.right < self.left
        return not (apart or self.top < other.bottom or other.top < self.bottom)

    def within(self, other: "Box") -> bool:
        """Return whether the whole box lies in ``other``."""
        across = other.left <= self.left and self.right <= other.right
        return across and other.bottom <= self.bottom and self.top <= other.top


def name_curves(
    figure: Figure, places: Sequence[Axes], curves: Sequence[Curve], labels: Sequence[str], title: str
) -> None:
    """Name the ``curves`` in the panels ``places`` and write the ``title``.

    In a single panel each name stands beside its curve. Several panels have one legend, in the order of ``labels``.
    """
    if len(places) == 1:
        places[0].set_title(title)
        label_curves(places[0], curves)
        return
    first = {curve.label: curve.line for curve in reversed(curves)}
    shown = [label for label in labels if label in first]
    panels.legend(figure, [first[label] for label in shown], shown, title)
    panels.settle(figure)


def label_curves(ax: Axes, curves: Sequence[Curve]) -> None:
    """Write each curve's name beside it, where it covers the fewest points of curves and no other label.

    If a name has no clear place, all names stand in a legend beside the axes, or above them if that leaves the axes
    too little room. The axes' limits must be final. Among equal places the one nearest to the curve's middle is
    taken, so the result is always the same.
    """
    figure = ax.figure.get_figure(root=True)
    assert figure is not None
    panels.settle(figure)
    renderer = panels.drawn(figure)
    if len(curves) <= DIRECT and _write(ax, curves, renderer):
        return
    lines, names = [curve.line for curve in curves], [curve.label for curve in curves]
    shown = [wishes.written(name) for name in names]
    if max(map(len, shown), default=0) <= LONG:
        height = ax.get_window_extent().height
        beside = figure.legend(lines, shown, loc="outside right upper", frameon=False, fontsize=style.size(9))
        needed = beside.get_window_extent(renderer)
        if needed.height <= height and needed.width <= BESIDE * figure.bbox.width:
            panels.settle(figure)
            return
        beside.remove()
    panels.legend(figure, lines, names)
    panels.settle(figure)


def _write(ax: Axes, curves: Sequence[Curve], renderer: Any) -> bool:
    """Write each name beside its curve. If a name has no clear place, writes none and returns False."""
    extent = ax.get_window_extent()
    frame = Box(extent.x0, extent.y0, extent.x1, extent.y1)
    paths = [ax.transData.transform(list(zip(curve.x, curve.y, strict=True))).tolist() for curve in curves]
    written = (text.get_window_extent(renderer) for text in ax.texts)
    taken = [Box(box.x0, box.y0, box.x1, box.y1) for box in written]
    looks: dict[str, Any] = {"weight": "bold", "fontsize": style.size(9.5), "bbox": BACKING, "va": "bottom"}
    texts = [
        ax.text(0, 0, wishes.written(curve.label), color=curve.colour, transform=None, **looks) for curve in curves
    ]
    for index, text in enumerate(texts):
        size = text.get_window_extent(renderer)
        cost, box = _best(paths, index, size.width, size.height, frame, taken)
        if cost > UNCLEAR:
            for drawn in texts:
                drawn.remove()
            return False
        x, y = ax.transData.inverted().transform((box.left, box.bottom)).tolist()
        text.set_transform(ax.transData)
        text.set_position((x, y))
        taken.append(box)
    return True


def _best(
    paths: Sequence[Sequence[list[float]]], index: int, width: float, height: float, frame: Box, taken: Sequence[Box]
) -> tuple[float, Box]:
    """Return the best place for the label of the path ``index``, and its cost."""
    path = paths[index]
    others = [(x, y) for position, other in enumerate(paths) if position != index for x, y in other]
    places = [
        (_cost(box, frame, path, others, taken) + abs(step / len(path) - 0.5), step, turn, box)
        for step in range(0, len(path), max(1, len(path) // STEPS))
        for turn, box in enumerate(_around(path[step][0], path[step][1], width, height))
    ]
    cost, _, _, box = min(places, key=lambda place: place[:3])
    return cost, box


def _around(x: float, y: float, width: float, height: float) -> list[Box]:
    """Return the places for a label beside a point, at a distance of 7 pixels, in the order of preference."""
    right, left = x + 7, x - 7 - width
    above, below, level = y + 7, y - 7 - height, y - height / 2
    corners = [(right, below), (left, above), (right, above), (left, below), (right, level), (left, level)]
    return [Box(begin, bottom, begin + width, bottom + height) for begin, bottom in corners]


def _cost(
    box: Box, frame: Box, points: Sequence[list[float]], others: Sequence[tuple[float, float]], taken: Sequence[Box]
) -> float:
    """Return the cost of a place: covered points and labels, parts outside the axes, and another curve nearby."""
    hidden = sum(box.holds(x, y) for x, y in points) + sum(box.holds(x, y) for x, y in others)
    clashes = sum(box.meets(other) for other in taken)
    doubtful = any(box.holds(x, y, margin=12) for x, y in others)
    return 2.0 * hidden + 100.0 * clashes + 100.0 * (not box.within(frame)) + doubtful
