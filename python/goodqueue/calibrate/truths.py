"""The truth of a run: what the link's own record says of the queue that the programs measured through."""

from collections.abc import Callable
from typing import cast

from goodqueue.measures.scores.felt import base_ms
from goodqueue.record import Record

Truth = Callable[[Record], float | None]


def round_trip(statistic: str) -> Truth:
    """Return the truth of a round trip: the base RTT, the ``statistic`` of the queue down, and the mean of that up.

    The way up carries acknowledgements, so its queue adds little.
    """

    def truth(record: Record) -> float | None:
        down, up = (record["queues"][way]["delay_ms"] for way in ("down", "up"))
        base = base_ms(record)
        if down is None or base is None:
            return None
        found = cast("dict[str, float | None]", down)[statistic]
        above = 0.0 if up is None else up["mean"] or 0.0
        return None if found is None else base + found + above

    return truth


def base(record: Record) -> float | None:
    """Return the base RTT in ms."""
    return base_ms(record)


def goodput(direction: str) -> Truth:
    """Return the truth of goodput: what the path saw acknowledged of the flows in ``direction``, each in its time."""

    def truth(record: Record) -> float | None:
        found = [flow["goodput_mbps"] for flow in record["flows"] if flow["direction"] == direction]
        return sum(found) or None

    return truth


def dropped(record: Record) -> float | None:
    """Return the number of packets that the queue down dropped."""
    packets = record["queues"]["down"]["packets"]
    return None if packets is None else float(packets["dropped"])


def loss_percent(record: Record) -> float | None:
    """Return the share of packets that the queues of both ways dropped, one after the other."""
    kept = [record["queues"][way]["drop_percent"] for way in ("down", "up")]
    if any(one is None for one in kept):
        return None
    down, up = (1 - (one or 0.0) / 100 for one in kept)
    return 100 * (1 - down * up)


def per_minute(record: Record) -> float | None:
    """Return how many round trips a minute has, by the median delay of packets in the queue down."""
    trip_ms = round_trip("p50")(record)
    return 60_000 / trip_ms if trip_ms else None
