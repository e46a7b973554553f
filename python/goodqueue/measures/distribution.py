"""Computes numbers of a record that the simulator did not measure: summaries of delays, quantiles, jitter, shares.

All are rounded to six decimals, as the simulator rounds.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from goodqueue.measures import stats
from goodqueue.record import Delay


def rounded(value: float) -> float:
    """Return ``value`` with six decimals."""
    return math.floor(value * 1e6 + 0.5) / 1e6


def nanoseconds(seconds: float) -> int:
    """Return a run's time ``seconds`` in whole nanoseconds, the unit of captures."""
    return round(seconds * 1e9)


def percent(part: int, whole: int) -> float:
    """Return ``part`` of ``whole`` in percent, or 0 if ``whole`` is 0."""
    return rounded(100 * part / whole) if whole else 0.0


def percentiles_ms(ns: NDArray[np.int64], percents: Sequence[int]) -> list[float | None] | None:
    """Return percentiles of delays in ms by the nearest rank, or None if there is no delay."""
    if not len(ns):
        return None
    ordered = np.sort(ns)
    ranks = [max(1, -(-percent * len(ns) // 100)) for percent in percents]
    return [rounded(float(ordered[rank - 1]) / 1e6) for rank in ranks]


def summary(ns: NDArray[np.int64]) -> Delay | None:
    """Return the distribution of delays, or None if there is none."""
    found = percentiles_ms(ns, (0, 10, 50, 90, 95, 99, 100))
    if found is None:
        return None
    least, p10, p50, p90, p95, p99, most = found
    mean, stddev = rounded(float(np.mean(ns)) / 1e6), rounded(float(np.std(ns)) / 1e6)
    return Delay(mean=mean, stddev=stddev, min=least, p10=p10, p50=p50, p90=p90, p95=p95, p99=p99, max=most)


def jitter_ms(ns: NDArray[np.int64]) -> tuple[float | None, float | None]:
    """Return the mean difference between successive delays, and RFC 3550's jitter (6.4.1). None for fewer than two."""
    differences = np.abs(np.diff(ns)) / 1e6
    if not len(differences):
        return None, None
    smoothed = 0.0
    for difference in differences:
        smoothed += (float(difference) - smoothed) / 16
    return rounded(float(np.mean(differences))), rounded(smoothed)


def jain(shares: Sequence[float]) -> float | None:
    """Return Jain's index, or None if all shares are 0."""
    index = stats.jain(shares)
    return None if index is None else rounded(index)
