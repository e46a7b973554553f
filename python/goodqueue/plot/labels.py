"""Direct labels: each curve carries its name, where it hides least."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg

BACKING = {"facecolor": "white", "alpha": 0.8, "linewidth": 0, "pad": 1}
"""What text stands on, where lines run below it."""

STEPS = 24
"""Places along a curve that are tried."""


@dataclass(frozen=True, slots=True)
class Curve:
    """A drawn curve and its name. ``x`` and ``y`` are in the units of the axes."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    colour: str


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in pixels."""

    left: float
    bottom: float
    right: float
    top: float

    def holds(self, x: float, y: float, margin: float = 3) -> bool:
        """Return whether a point lies inside, or within ``margin`` of it."""
        return self.left - margin <= x <= self.right + margin and self.bottom - margin <= y <= self.top + margin

    def meets(self, other: "Box") -> bool:
        """Return whether both share any place."""
        apart = self.right < other.left or other.right < self.left
        return not (apart or self.top < other.bottom or other.top < self.bottom)

    def within(self, other: "Box") -> bool:
        """Return whether all of it lies in ``other``."""
        across = other.left <= self.left and self.right <= other.right
        return across and other.bottom <= self.bottom and self.top <= other.top


def label_curves(ax: Axes, curves: Sequence[Curve]) -> None:
    """Write each curve's name beside it, where it covers the fewest points of curves and no other label.

    The axes' limits must be final. Of equal places the one nearest the curve's middle is taken, so the result is always
    the same.
    """
    figure = ax.figure.get_figure(root=True)
    assert figure is not None
    canvas = FigureCanvasAgg(figure)
    canvas.draw()  # type: ignore[no-untyped-call]  # settles the layout, which the positions depend on
    extent = ax.get_window_extent()
    frame = Box(extent.x0, extent.y0, extent.x1, extent.y1)
    paths = [ax.transData.transform(list(zip(curve.x, curve.y, strict=True))).tolist() for curve in curves]
    points = [(x, y) for path in paths for x, y in path]
    taken: list[Box] = []
    for curve, path in zip(curves, paths, strict=True):
        text = ax.text(
            0,
            0,
            curve.label,
            color=curve.colour,
            weight="bold",
            fontsize=9.5,
            bbox=BACKING,
            transform=None,
            va="bottom",
        )
        size = text.get_window_extent(
            canvas.get_renderer()  # type: ignore[no-untyped-call]
        )
        stride = max(1, len(path) // STEPS)
        places = [
            (_cost(box, frame, points, taken) + abs(index / len(path) - 0.5), index, turn, box)
            for index in range(0, len(path), stride)
            for turn, box in enumerate(_around(path[index][0], path[index][1], size.width, size.height))
        ]
        box = min(places, key=lambda place: place[:3])[-1]
        text.set_transform(ax.transData)
        x, y = ax.transData.inverted().transform((box.left, box.bottom)).tolist()
        text.set_position((x, y))
        taken.append(box)


def _around(x: float, y: float, width: float, height: float) -> list[Box]:
    """Return the places for a label beside a point, 7 pixels off, the best liked first."""
    right, left = x + 7, x - 7 - width
    above, below, level = y + 7, y - 7 - height, y - height / 2
    corners = [(right, below), (left, above), (right, above), (left, below), (right, level), (left, level)]
    return [Box(begin, bottom, begin + width, bottom + height) for begin, bottom in corners]


def _cost(box: Box, frame: Box, points: Sequence[tuple[float, float]], taken: Sequence[Box]) -> float:
    """Return how bad a place is: points of curves under it, labels under it, parts outside the axes."""
    hidden = sum(box.holds(x, y) for x, y in points)
    clashes = sum(box.meets(other) for other in taken)
    return 2.0 * hidden + 100.0 * clashes + 100.0 * (not box.within(frame))
