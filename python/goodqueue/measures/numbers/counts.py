"""Packets: how many a queue dropped or marked, when the first one was dropped, and how many are under way."""

from collections.abc import Iterator
from functools import partial
from statistics import fmean

from goodqueue.measures.metrics import DIRECTIONS, Metric
from goodqueue.measures.needs import SERIES, data, tcp
from goodqueue.record import FlowSeries, Record
from goodqueue.record.dotted import walk


def loss_percent(record: Record) -> float | None:
    """Return the share of packets that the queues of both directions dropped, one after the other."""
    dropped = [record["queues"][direction]["drop_percent"] for direction in ("down", "up")]
    if any(percent is None for percent in dropped):
        return None
    down, up = (1 - (percent or 0.0) / 100 for percent in dropped)
    return 100 * (1 - down * up)


def first_drop_time_ms(record: Record) -> float | None:
    """Return the start of the first interval in which a packet was dropped: a lower bound for the first drop."""
    series = record.get("series")
    if series is None:
        return None
    begins = [0.0, *series["time_s"]]
    drops = zip(*(flow["dropped_packets"] for flow in series["flows"]), strict=True)
    return next((1e3 * begin for begin, counts in zip(begins, drops, strict=False) if any(counts)), None)


def cwnd_mean_packets(record: Record) -> float | None:
    """Return the mean congestion window over time and over the TCP flows."""
    series = record.get("series")
    means = [
        fmean(windows) for flow in (series["flows"] if series else ()) if (windows := list(_windows_packets(flow)))
    ]
    return fmean(means) if means else None


def _windows_packets(flow: FlowSeries) -> Iterator[float]:
    return (value for value in flow["cwnd_packets"] if value is not None)


NUMBERS = (
    *(
        Metric(
            key, label, "packets", "", partial(walk, path=f"queues.down.packets.{key}"),
            direction="down",
        )
        for key, label in (("dropped", "drops"), ("marked", "marks"))
    ),
    Metric("loss_percent", "loss", "%", "low", loss_percent, decimals=2, note="loss: in both queues, down and up"),
    Metric(
        "first_drop_time_ms", "first drop", "ms", "", first_drop_time_ms, needs=(SERIES, data(*DIRECTIONS)),
        note="first drop: begin of the interval of the series in which it is",
    ),
    Metric(
        "cwnd_mean_packets", "cwnd", "packets", "", cwnd_mean_packets, needs=(SERIES, tcp(*DIRECTIONS)),
        note="cwnd: mean congestion window over time and over the TCP flows",
    ),
)  # fmt: skip
