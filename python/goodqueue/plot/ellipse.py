"""Latency against goodput, a run a point and an ellipse a group, with better up and to the right."""

import math
import statistics
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from goodqueue.plot import style
from goodqueue.plot.labels import Curve, label_curves
from goodqueue.plot.stored import Group, goodput, latency, repeats

Cloud = Sequence[tuple[float, float]]
"""Runs: latency and goodput."""

LOGARITHMIC = 5.0
"""From this ratio of the largest to the smallest latency on, the axis is logarithmic."""


def figure(found: Sequence[Group], title: str = "") -> Figure | None:
    """Draw the figure of Winstein and Balakrishnan (2013); None where no run has both.

    The ellipse is one standard deviation of the two-dimensional normal distribution that is likeliest for the runs;
    where latency is logarithmic, of its logarithm.
    """
    across, up = latency(found), goodput(found)
    if across is None:
        return None
    points = [
        [(x, y) for one in group.records if (x := across.pick(one)) and (y := up.pick(one)) is not None]
        for group in found
    ]
    if not any(points):
        return None
    with style.look():
        drawn = style.new_figure(3.8)
        ax = drawn.subplots()
        curves = clouds(ax, list(zip([group.label for group in found], points, strict=True)))
        ax.set_xlabel(f"{across.label} ({across.unit}), less to the right")
        ax.set_ylabel(f"{up.label} ({up.unit})")
        ax.set_title(title)
        better(ax)
        style.note(
            drawn,
            f"Small marks: runs; large: their mean; ellipse: 1 standard deviation (3 runs or more). {repeats(found)}.",
        )
        label_curves(ax, curves)
    return drawn


def better(ax: Axes) -> None:
    """Say which way is better, in the corner of ``ax`` where nothing good or bad is likely to lie."""
    ax.text(0.995, 0.02, "better ↗", transform=ax.transAxes, va="bottom", ha="right", color="#777777", fontsize=9.5)


def clouds(ax: Axes, named: Sequence[tuple[str, Cloud]], medians: bool = False) -> list[Curve]:
    """Draw a cloud of runs with its ellipse for each name; return what `label_curves` labels.

    The large mark is the mean, or with ``medians`` the median of either axis. A cloud without runs takes a colour and
    is not drawn; one must have some.
    """
    latencies = [x for _, own in named for x, _ in own]
    logarithmic = max(latencies) / min(latencies) > LOGARITHMIC
    outlines = [outline(own, logarithmic) for _, own in named]
    _limits(ax, [point for (_, own), edge in zip(named, outlines, strict=True) for point in [*own, *edge]], logarithmic)
    curves = []
    for index, ((label, own), edge) in enumerate(zip(named, outlines, strict=True)):
        if not own:
            continue
        colour, marker = style.colour(index), style.MARKERS[index % len(style.MARKERS)]
        if edge:
            ax.add_patch(Polygon(edge, closed=True, facecolor=f"{colour}2e", edgecolor=colour, lw=1.2))
        ax.plot(*zip(*own, strict=True), marker, color=colour, ms=3.5, alpha=0.5, mew=0)
        middle = _medians(own) if medians else _centre(own, logarithmic)
        (mark,) = ax.plot(*middle, marker, color=colour, ms=6, mec="white", mew=0.8)
        around = edge or [middle]
        curves.append(Curve(label, [x for x, _ in around], [y for _, y in around], style.ink(index), mark))
    return curves


def _medians(points: Cloud) -> tuple[float, float]:
    return statistics.median(x for x, _ in points), statistics.median(y for _, y in points)


def _centre(points: Sequence[tuple[float, float]], logarithmic: bool) -> tuple[float, float]:
    xs = [math.log(x) if logarithmic else x for x, _ in points]
    middle = math.fsum(xs) / len(xs)
    return (math.exp(middle) if logarithmic else middle), math.fsum(y for _, y in points) / len(points)


def outline(points: Sequence[tuple[float, float]], logarithmic: bool = False) -> list[tuple[float, float]]:
    """Return the ellipse of one standard deviation as a polygon of 72 points; none for fewer than three points.

    Its half-axes are the square roots of the covariance matrix' eigenvalues, along its eigenvectors. The covariance
    is the likeliest one, with n in the denominator.
    """
    import numpy as np

    if len(points) < 3:
        return []
    cloud = np.array([(math.log(x) if logarithmic else x, y) for x, y in points])
    sizes, axes = np.linalg.eigh(np.cov(cloud, rowvar=False, bias=True))
    turn = np.linspace(0, 2 * math.pi, 72, endpoint=False)
    circle = np.stack([np.cos(turn), np.sin(turn)])
    edge = cloud.mean(axis=0)[:, None] + axes @ (np.sqrt(np.maximum(sizes, 0))[:, None] * circle)
    return [(math.exp(x) if logarithmic else float(x), float(y)) for x, y in edge.T]


def _limits(ax: Axes, points: Sequence[tuple[float, float]], logarithmic: bool) -> None:
    """Set the limits so that all ``points`` and their names fit; latency runs from right to left."""
    xs, ys = [x for x, _ in points], [y for _, y in points]
    low, high = min(xs), max(xs)
    if logarithmic:
        style.log_ms(ax, "x", low / 1.35, high * 1.35)
    else:
        margin = max(0.15 * (high - low), 0.02 * high)
        ax.set_xlim(max(0.0, low - margin), high + margin)
    ax.xaxis.set_inverted(True)
    margin = max(0.15 * (max(ys) - min(ys)), 0.01 * max(ys))
    ax.set_ylim(min(ys) - margin, max(ys) + margin)
