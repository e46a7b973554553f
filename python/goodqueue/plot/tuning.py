"""The figure of ``goodqueue tune``: the candidates by two goals, the front among them, and the untuned line."""

import math

from matplotlib.figure import Figure

from goodqueue.plot import panels, style
from goodqueue.search.tuning import Goal, Tuning

PALE, FULL, UNTUNED = "#a9cfe6", "#0072b2", "#d55e00"


def figure(found: Tuning) -> Figure:
    """Draw the first two goals as ratios to the untuned line."""
    across, along = found.plan.goals[:2]
    with style.look():
        drawn, places = panels.grid([""], 3.2, 3.2, is_shared=False)
        (ax,) = places
        good = [one for one in found.tried if not one.missed]
        ax.scatter([_x(one.gains[0], across) for one in good], [_x(one.gains[1], along) for one in good],
                   s=8, color=PALE, label="candidates")  # fmt: skip
        front = sorted((_x(one.candidate.gains[0], across), _x(one.candidate.gains[1], along)) for one in found.front)
        ax.plot([x for x, _ in front], [y for _, y in front], "o-", ms=4, lw=1, color=FULL, label="front")
        ax.plot([1], [1], "s", ms=5, color=UNTUNED, label=found.plan.line)
        ax.set_xscale("log")
        ax.set_xlabel(f"{across.metric.key}, times that of {found.plan.line}")
        ax.set_ylabel(f"{along.metric.key}, times")
        ax.legend()
    return drawn


def _x(gain: float, goal: Goal) -> float:
    return math.exp(gain if goal.is_large else -gain)
