"""Round trips: without a queue, as pings see them, and as packets through both queues have them."""

from collections.abc import Callable
from statistics import fmean

from goodqueue import traffic
from goodqueue.measures.base import base_ms
from goodqueue.measures.metrics import Metric
from goodqueue.measures.needs import application, packets
from goodqueue.record import Record
from goodqueue.record.reading import statistic, times_of


def latency_mean_ms(record: Record) -> float | None:
    """Return the mean of the pings' mean round trips, less the base RTT. None without pings."""
    means = [times_of(app).get("mean") for app in record["apps"] if app["kind"] == traffic.probe().name]
    known_means, base = [mean for mean in means if mean is not None], base_ms(record)
    return fmean(known_means) - base if known_means and base is not None else None


def round_trip(name: str) -> Callable[[Record], float | None]:
    """Return the function that picks a round trip: base RTT, the statistic ``name`` of the queue down, the mean up.

    The way up carries acknowledgements, so its queue adds little.
    """

    def pick(record: Record) -> float | None:
        base, down = base_ms(record), statistic(record["queues"]["down"]["delay_ms"], name)
        if base is None or down is None:
            return None
        return base + down + (statistic(record["queues"]["up"]["delay_ms"], "mean") or 0.0)

    return pick


def round_trips_per_minute(record: Record) -> float | None:
    """Return how many round trips a minute has, by the median delay of packets in the queue down."""
    trip_ms = round_trip("p50")(record)
    return 60_000 / trip_ms if trip_ms else None


_TRIP = "RTT: the base RTT, the delay in the queue down, and the mean delay in the queue up"
_QUEUE = (packets("down"),)

NUMBERS = (
    Metric("base_rtt_ms", "base RTT", "ms", "low", base_ms, note="base RTT: of the path without queues"),
    Metric(
        "latency_mean_ms", "latency", "ms", "low", latency_mean_ms, needs=(application(traffic.probe().name),),
        note="latency: the mean round trip of the pings, less the base RTT",
    ),
    *(
        Metric(f"round_trip_{name}_ms", f"RTT {name}", "ms", "low", round_trip(name), note=_TRIP, needs=_QUEUE)
        for name in ("mean", "p50", "p95", "max")
    ),
    Metric(
        "round_trips_per_minute", "round trips", "per min", "high", round_trips_per_minute,
        note="round trips: 60 s over the median RTT", needs=_QUEUE,
    ),
)  # fmt: skip
