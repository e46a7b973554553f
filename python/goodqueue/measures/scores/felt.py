"""What the scores need and no metric has: the round trips of a record, and the jitter of its pings.

A round trip of one direction is the base RTT with the queueing delay of that direction: what a flow sees whose other
direction is empty. Where a program measured at the ends of a path, the queues are unknown, and its pings are taken.
"""

from itertools import pairwise

from goodqueue.measures.base import base_ms
from goodqueue.measures.metrics import mean
from goodqueue.record import Record

PERCENTS = tuple(range(101))
"""The percentiles of a distribution, as `Queue.delay_percentiles_ms` has them."""


def round_trips_ms(record: Record, direction: str) -> list[float] | None:
    """Return the percentiles 0 to 100 of the round trips with the queue of ``direction``, or None."""
    base, queue = base_ms(record), record["queues"][direction]
    if base is None or not (percentiles := queue["delay_percentiles_ms"]):
        return None
    return [base + delay for delay in percentiles if delay is not None]


def jitter_ms(record: Record) -> float | None:
    """Return the mean difference of successive pings (those of the series), or None without them."""
    series = record.get("series")
    if series is None:
        return None
    pings = [ping["rtt_ms"] for ping in series["pings"]]
    return mean([mean([abs(b - a) for a, b in pairwise(ping)]) for ping in pings if len(ping) > 1])
