"""Reads Flent's measurements of the real link: its rates, its base RTT, and the length of its present queue."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from goodqueue.errors import UserError
from goodqueue.measures.frames import carried
from goodqueue.record import Record
from goodqueue.record.reading import times_of


@dataclass(frozen=True, slots=True)
class Found:
    """The link as several files together show it."""

    files: tuple[str, ...]
    down_bps: int | None
    up_bps: int | None
    rtt_s: float
    ping_p95_ms: float
    """The 95th percentile of the pings while all flows ran."""
    buffer_s: float | None
    """The queueing delay of each loaded direction. None if only the line's own delay was seen."""


def found(files: Sequence[str]) -> Found:
    """Return the link in Flent's data files. Raises UserError if a file is not Flent's, or has no ping.

    The rate is TCP's goodput in both directions, with its headers and the ACKs of the other direction. The base RTT is
    the shortest ping. The additional delay of pings while the flows ran is the queue's. If both directions were loaded,
    each gets half of it.
    """
    from goodqueue.flent import importing, reading

    records = [importing.record(reading.read(file), None, 1) for file in files]
    rates = [_rates_bps(record) for record in records]
    base, loaded = [], []
    for file, record in zip(files, records, strict=True):
        pings = [ping for ping in record["series"]["pings"] if ping["rtt_ms"]]
        slow = [p95 for app in record["apps"] if app["name"] in {ping["name"] for ping in pings}
                and (p95 := times_of(app).get("p95")) is not None]  # fmt: skip
        if not pings or not slow:
            raise UserError(file, "found no ping; accepted: a test of Flent's that has one, such as rrul_be")
        base.append(min(rtt for ping in pings for rtt in ping["rtt_ms"]))
        loaded.append(fmean(slow))
    directions = max(sum(rate > 0 for rate in at_time) for at_time in rates)
    rtt_ms, p95_ms = min(base), fmean(loaded)
    queue_s = (p95_ms - rtt_ms) / 1e3 / directions if directions else 0.0
    return Found(
        tuple(files),
        _mean([at_time[0] for at_time in rates]),
        _mean([at_time[1] for at_time in rates]),
        max(rtt_ms / 1e3, 0.001),
        p95_ms,
        queue_s if queue_s >= 0.001 else None,
    )


def _rates_bps(record: Record) -> tuple[float, float]:
    """Return the rates down and up while all flows ran, in frames."""
    goodput = {direction: 1e6 * sum(flow["goodput_mbps"] for flow in record["flows"] if flow["direction"] == direction)
               for direction in ("down", "up")}  # fmt: skip
    return tuple(  # type: ignore[return-value]
        carried(goodput[direction], goodput[other]) if goodput[direction] else 0.0
        for direction, other in (("down", "up"), ("up", "down"))
    )


def _mean(rates: Sequence[float]) -> int | None:
    positive = [rate for rate in rates if rate > 0]
    return round(fmean(positive)) if positive else None
