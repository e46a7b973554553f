"""The figure of ``goodqueue tune``: the candidates by two goals, the front among them, and the untuned line."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from goodqueue.plot import panels, style

PALE, FULL, UNTUNED = "#a9cfe6", "#0072b2", "#d55e00"

Point = tuple[float, float]
"""Two metrics, as ratios to those of the untuned line."""


def figure(candidates: Sequence[Point], front: Sequence[Point], metrics: tuple[str, str], line: str) -> Figure:
    """Draw the points. ``metrics`` are the axes, ``line`` is the untuned line, at (1, 1)."""
    with style.look():
        drawn, places = panels.grid([""], 3.2, 3.2, is_shared=False)
        (ax,) = places
        ax.scatter([x for x, _ in candidates], [y for _, y in candidates], s=8, color=PALE, label="candidates")
        joined = sorted(front)
        ax.plot([x for x, _ in joined], [y for _, y in joined], "o-", ms=4, lw=1, color=FULL, label="front")
        ax.plot([1], [1], "s", ms=5, color=UNTUNED, label=line)
        ax.set_xscale("log")
        ax.set_xlabel(f"{metrics[0]}, times that of {line}")
        ax.set_ylabel(f"{metrics[1]}, times")
        ax.legend()
    return drawn
