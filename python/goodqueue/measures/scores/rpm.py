"""Round trips per minute (draft-ietf-ippm-responsiveness-09): the formula, from the times of the probes.

A foreign probe opens a connection of its own: its handshake, TLS's round trip, and a request of one byte. A self probe
is a request within a connection that carries the load.
"""

import math
from collections.abc import Sequence

TRIMMED = 0.95
"""The share of the samples that counts: the longest 5 % are dropped (TMP)."""

BANDS = ((6000.0, "excellent"), (1000.0, "good"), (300.0, "fair"), (0.0, "poor"))
"""The least RPM of each word."""


def trimmed_mean(values: Sequence[float]) -> float | None:
    """Return the mean of the shortest 95 %, or None for no values."""
    kept = sorted(values)[: max(1, math.floor(len(values) * TRIMMED))]
    return math.fsum(kept) / len(kept) if kept else None


def rpm(foreign_ms: Sequence[Sequence[float]], self_ms: Sequence[float]) -> float | None:
    """Return the RPM: the mean of that of foreign probes and that of self probes.

    ``foreign_ms`` has the times of each part of a foreign probe: TCP, TLS (left out without TLS), HTTP.
    """
    parts = [trimmed_mean(part) for part in foreign_ms]
    loaded = trimmed_mean(self_ms)
    known = [part for part in parts if part is not None]
    if loaded is None or not known or len(known) < len(parts):
        return None
    return (60_000 / (math.fsum(known) / len(known)) + 60_000 / loaded) / 2


def word(value: float) -> str:
    """Return the draft's word for a value."""
    return next(name for least, name in BANDS if value >= least)
