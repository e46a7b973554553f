"""AIM (Cloudflare's speed test): points for what was measured, and their sum by use, as a class.

Source: the speed test's library, version b387f42. Points are by "value at or above a breakpoint".
"""

from bisect import bisect_right
from collections.abc import Mapping
from typing import NamedTuple

DELAYS = ((10, 20, 50, 100, 500), (20, 10, 5, 0, -10, -20))

POINTS: Mapping[str, tuple[tuple[float, ...], tuple[int, ...]]] = {
    "loss": ((0.01, 0.05, 0.25, 0.5), (10, 5, 0, -10, -20)),
    "latency": DELAYS,
    "increase": DELAYS,
    "jitter": ((10, 20, 100, 500), (10, 5, 0, -10, -20)),
    "download": ((1, 10, 50, 100), (0, 5, 10, 20, 30)),
}
"""By quantity: the breakpoints, and the points below the first and from each on."""

USES: Mapping[str, tuple[tuple[str, ...], tuple[int, ...]]] = {
    "streaming": (("latency", "loss", "download", "increase"), (15, 20, 40, 60)),
    "gaming": (("latency", "loss", "increase"), (5, 15, 25, 30)),
    "rtc": (("latency", "jitter", "loss", "increase"), (5, 15, 25, 40)),
}
"""By use: the quantities that count, and the least points for poor, average, good and great."""

CLASSES = ("bad", "poor", "average", "good", "great")


class Measured(NamedTuple):
    """What a speed test measures. None: not measured."""

    latency: float | None
    """The median round trip of the idle link, in ms."""
    increase: float | None
    """How much longer it is under load, in the worse direction, in ms."""
    jitter: float | None
    """The mean difference of successive round trips, in ms."""
    loss: float | None
    """The share of lost packets, from 0 to 1. It gives no points if it is not measured."""
    download: float | None
    """In Mbit/s."""


def points(quantity: str, value: float) -> int:
    """Return the points of a value."""
    breakpoints, scores = POINTS[quantity]
    return scores[bisect_right(breakpoints, value)]


def total(use: str, path: Measured) -> int | None:
    """Return the points of a use, at least 0, or None if something that counts was not measured."""
    score = 0
    for quantity in USES[use][0]:
        value = getattr(path, quantity)
        if value is None and quantity != "loss":
            return None
        score += 0 if value is None else points(quantity, value)
    return max(0, score)


def class_of(use: str, total_points: int) -> str:
    """Return the class of a sum: bad, poor, average, good or great."""
    return CLASSES[bisect_right(USES[use][1], total_points)]
