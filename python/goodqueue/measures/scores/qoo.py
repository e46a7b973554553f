"""Quality of Outcome (draft-ietf-ippm-qoo-11): how near a path is to what an application needs, from 0 to 100.

A requirement has two ends for each number: perfection (ROP), and unacceptability (CPUP). The score of a number falls
in a straight line from 100 to 0 between them, and the score of a path is the smallest one. Nothing is averaged.
"""

import math
import pathlib
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

Ends = tuple[float, float]
"""Perfection and unacceptability."""


class Requirement(NamedTuple):
    """What an application needs."""

    latency_ms: Mapping[float, Ends]
    """Per percentile of the latency its two ends."""
    loss_percent: Ends | None = None
    throughput_mbps: float | None = None
    """The least throughput. It is met or not: there is nothing between."""


class Path(NamedTuple):
    """What was measured. Latency is one way or a round trip, as in the requirement."""

    latency_ms: Mapping[float, float]
    """The latency by percentile."""
    loss_percent: float | None = None
    throughput_mbps: float | None = None


def between(value: float, ends: Ends) -> float:
    """Return the score of one number, from 0 to 100. If both ends are equal, it is a step."""
    perfect, unacceptable = ends
    if perfect == unacceptable:
        return 100.0 if value <= perfect else 0.0
    return 100 * min(1.0, max(0.0, 1 - (value - perfect) / (unacceptable - perfect)))


def score(needed: Requirement, path: Path) -> float | None:
    """Return the score of ``path``, or None if a number that is needed was not measured."""
    shares = []
    for percentile, ends in needed.latency_ms.items():
        if percentile not in path.latency_ms:
            return None
        shares.append(between(path.latency_ms[percentile], ends))
    if needed.loss_percent is not None:
        if path.loss_percent is None:
            return None
        shares.append(between(path.loss_percent, needed.loss_percent))
    if needed.throughput_mbps is not None:
        if path.throughput_mbps is None:
            return None
        shares.append(100.0 if path.throughput_mbps >= needed.throughput_mbps else 0.0)
    return min(shares, default=None)


Distribution = Mapping[float, float]
"""The probability of each latency in ms."""


def in_a_row(hops: Sequence[Distribution]) -> dict[float, float]:
    """Return the distribution of the sum of independent latencies. Percentiles alone do not compose; these do."""
    total = {0.0: 1.0}
    for hop in hops:
        longer: dict[float, float] = {}
        for latency, chance in total.items():
            for more, p in hop.items():
                longer[latency + more] = longer.get(latency + more, 0.0) + chance * p
        total = longer
    return total


def percentile(of: Distribution, percent: float) -> float:
    """Return the least latency that at least ``percent`` of the packets do not exceed."""
    reached = 0.0
    for latency in sorted(of):
        reached += 100 * of[latency]
        if reached >= percent - 1e-9:
            return latency
    return max(of)


def losses_in_a_row(percents: Sequence[float]) -> float:
    """Return the loss of independent losses in a row, in percent."""
    return 100 * (1 - math.prod(1 - percent / 100 for percent in percents))


@cache
def profiles() -> Mapping[str, Requirement]:
    """Return the profiles of profiles.toml by name."""
    text = pathlib.Path(__file__).with_name("profiles.toml").read_text(encoding="utf-8")
    return {
        name: Requirement(
            {float(percent): (ends[0], ends[1]) for percent, ends in profile["latency_ms"].items()},
            (profile["loss_percent"][0], profile["loss_percent"][1]),
        )
        for name, profile in tomllib.loads(text).items()
    }
