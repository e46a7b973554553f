"""Latency against goodput: one point per run and one ellipse per group. Better is up and to the right."""

import math
import statistics
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from goodqueue.measures.metrics import Metric
from goodqueue.plot import panels, stored, style, wishes
from goodqueue.plot.labels import Curve, name_curves
from goodqueue.plot.stored import Group, labels_of, repeats
from goodqueue.plot.style import Look

Cloud = Sequence[tuple[float, float]]
"""Latency and goodput of each run."""

LOGARITHMIC = 5.0
"""The axis of latency is logarithmic if the ratio of the largest to the smallest latency is above this."""


def figure(groups: Sequence[Group], title: str = "") -> Figure | None:
    """Draw the figure of Winstein and Balakrishnan (2013). Returns None if no run has both latency and goodput.

    The ellipse is one standard deviation of the two-dimensional normal distribution that is likeliest for the runs.
    If the axis of latency is logarithmic, the distribution is of the logarithm. Groups with a panel of their own
    stand in panels, each with its own axes: an ellipse at 10 ms and one at 200 ms would both be points on the same.
    """
    chosen = stored.axes(groups)
    if chosen is None:
        return None
    across, up = chosen
    points = [
        [point for record in group.records if (point := stored.both(across, up, record)) is not None]
        for group in groups
    ]
    by_title: dict[str, list[tuple[str, Cloud]]] = {}
    for group, cloud in zip(groups, points, strict=True):
        by_title.setdefault(group.panel, []).append((group.label, cloud))
    labels = labels_of(groups)
    looks = style.looks_by_label(labels)
    with style.look():
        drawn, places = panels.grid(list(by_title), 2.3, 3.8, is_shared=False)
        curves: list[Curve] = []
        for ax, own_named in zip(places, by_title.values(), strict=True):
            if any(cloud for _, cloud in own_named):
                curves += clouds(ax, own_named, looks=[looks[label] for label, _ in own_named])
        words = wishes.written(across.label if len(places) == 1 else _brief(across), across.key)
        words += f" ({across.unit})" + (", less to the right" if len(places) == 1 else "")
        panels.label_axes(places, words, f"{wishes.written(up.label, up.key)} ({up.unit})")
        better(places[0])
        own_axes = " Each panel has its own axes." if len(places) > 1 else ""
        marks = "Small marks: runs; large: their mean; ellipse: 1 standard deviation (3 runs or more)"
        count, drawn_count = sum(len(group.records) for group in groups), sum(map(len, points))
        lacking = f" {drawn_count} of {count} runs have both." if drawn_count < count else ""
        style.note(drawn, f"{marks}. {repeats(groups)}.{own_axes}{lacking}")
        name_curves(drawn, places, curves, labels, title)
    return drawn


def _brief(latency: Metric) -> str:
    """Return the label of the axis of latency below a narrow panel."""
    return f"mean {latency.app}" if latency.is_felt else latency.label


def better(ax: Axes) -> None:
    """Mark the better direction, in the corner of ``ax`` that is least likely to have data."""
    corner: dict[str, Any] = {"va": "bottom", "ha": "right", "transform": ax.transAxes}
    ax.text(0.995, 0.02, "better ↗", color="#777777", fontsize=style.size(9.5), **corner)


def clouds(
    ax: Axes,
    clouds: Sequence[tuple[str, Cloud]],
    medians: bool = False,
    looks: Sequence[Look] | None = None,
) -> list[Curve]:
    """Draw a cloud of runs with its ellipse for each name. Returns the curves for `label_curves`.

    The large mark is the mean, or with ``medians`` the median of either axis. A cloud without runs is not drawn, but
    at least one must have some.
    """
    every = [point for _, cloud in clouds for point in cloud]
    logarithmic = _is_logarithmic(every)
    outlines = [outline(cloud, logarithmic) for _, cloud in clouds]
    _limits(ax, [*every, *(point for edge in outlines for point in edge)], logarithmic)
    curves = []
    drawn_looks = looks or style.looks([label for label, _ in clouds])
    for (label, cloud), edge, look in zip(clouds, outlines, drawn_looks, strict=True):
        if not cloud:
            continue
        if edge:
            ax.add_patch(
                Polygon(edge, closed=True, facecolor=f"{look.colour}2e", edgecolor=look.colour, lw=1.2, ls=look.line)
            )
        runs, mean = look.marks(3.5), look.marks(6.5)
        ax.plot(*zip(*cloud, strict=True), ls="", color=look.colour, alpha=0.5, **{**runs, "markeredgewidth": 0})
        middle = _medians(cloud) if medians else _centre(cloud, logarithmic)
        rim = "white" if look.filled else look.colour
        (mark,) = ax.plot(*middle, ls="", color=look.colour, **{**mean, "markeredgecolor": rim, "markeredgewidth": 0.8})
        around = edge or [middle]
        curves.append(Curve(label, [x for x, _ in around], [y for _, y in around], look.ink, mark))
    return curves


def _is_logarithmic(points: Cloud) -> bool:
    return max(x for x, _ in points) / min(x for x, _ in points) > LOGARITHMIC


def _medians(points: Cloud) -> tuple[float, float]:
    return statistics.median(x for x, _ in points), statistics.median(y for _, y in points)


def _centre(points: Sequence[tuple[float, float]], logarithmic: bool) -> tuple[float, float]:
    xs = [math.log(x) if logarithmic else x for x, _ in points]
    middle = math.fsum(xs) / len(xs)
    return (math.exp(middle) if logarithmic else middle), math.fsum(y for _, y in points) / len(points)


def outline(points: Sequence[tuple[float, float]], logarithmic: bool = False) -> list[tuple[float, float]]:
    """Return the ellipse of one standard deviation as a polygon of 72 points, or nothing for fewer than three points.

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
    """Set the limits so that all ``points`` and their names fit. Latency increases from right to left."""
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
