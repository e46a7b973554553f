"""Direct labels: each curve carries its name, where it hides least."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.patheffects import withStroke
from matplotlib.transforms import Bbox

HALO = [withStroke(linewidth=3, foreground="white")]


@dataclass(frozen=True, slots=True)
class Curve:
    """A drawn curve and its name. ``x`` and ``y`` are in the units of the axes."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    colour: str


def label_curves(ax: Axes, curves: Sequence[Curve]) -> None:
    """Write each curve's name beside it, where it covers the fewest points of curves and no other label.

    The axes' limits must be final. Ties go to the place nearest the curve's middle, so the result is always the same.
    """
    figure = ax.figure.get_figure(root=True)
    assert figure is not None
    canvas = FigureCanvasAgg(figure)
    canvas.draw()  # settles the layout, which the positions depend on
    frame = ax.get_window_extent()
    points = [ax.transData.transform(list(zip(curve.x, curve.y, strict=True))) for curve in curves]
    taken: list[Bbox] = []
    for curve, own in zip(curves, points, strict=True):
        text = ax.annotate(
            curve.label, (0, 0), color=curve.colour, weight="bold", fontsize=9.5, path_effects=HALO, annotation_clip=False
        )
        extent = text.get_window_extent(canvas.get_renderer())
        best: tuple[float, Bbox] | None = None
        for step, (x, y) in enumerate(own):
            for right, up in ((1, -1), (-1, 1), (1, 1), (-1, -1), (1, 0), (-1, 0)):
                box = _beside(x, y, right, up, extent.width, extent.height)
                cost = _cost(box, frame, points, taken) + abs(step / len(own) - 0.5)
                if best is None or cost < best[0]:
                    best = cost, box
        assert best is not None
        place = best[1]
        text.xy = ax.transData.inverted().transform((place.x0, place.y0))
        text.set_verticalalignment("bottom")
        taken.append(place)


def _beside(x: float, y: float, right: int, up: int, width: float, height: float) -> Bbox:
    """Return the box of a label that stands beside a point, 6 pixels off."""
    left = x + 6 if right > 0 else x - 6 - width
    bottom = y + 6 if up > 0 else y - 6 - height if up < 0 else y - height / 2
    return Bbox.from_bounds(left, bottom, width, height)


def _cost(box: Bbox, frame: Bbox, points: Sequence[Sequence[Sequence[float]]], taken: Sequence[Bbox]) -> float:
    """Return how bad a place is: points of curves under it, labels under it, parts outside the axes."""
    wide = Bbox.from_extents(box.x0 - 3, box.y0 - 3, box.x1 + 3, box.y1 + 3)
    hidden = sum(wide.contains(x, y) for curve in points for x, y in curve)
    clashes = sum(wide.overlaps(other) for other in taken)
    outside = box.x0 < frame.x0 or box.x1 > frame.x1 or box.y0 < frame.y0 or box.y1 > frame.y1
    return 2.0 * hidden + 100.0 * clashes + 100.0 * outside
