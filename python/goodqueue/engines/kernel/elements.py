"""The record's entry of a queue or a wire, as in the simulator's record, from the packets in the captures.

``measured`` is the begin and the end of the measured time, in nanoseconds.
"""

from itertools import pairwise
from typing import Any

import numpy as np

from goodqueue._goodqueue import percent, percentiles_ms, rounded, summary
from goodqueue.engines.kernel.lab.clock import nanoseconds
from goodqueue.engines.kernel.lab.plan import Hop as Planned
from goodqueue.engines.kernel.lab.plan import Shaper
from goodqueue.engines.kernel.sightings import Packets
from goodqueue.record import Hop, PacketSeries, Queue, QueueSeries, Scenario, Wire, WirePackets


def queue(packets: Packets, link: Shaper, table: Scenario, span: tuple[int, int]) -> Queue:
    """Return the entry of the queue of ``link``. ``table`` is the scenario's table of that link."""
    begin, end = span
    offered, forwarded = packets.arrived(begin, end), packets.departed(begin, end)
    dropped, marked = int(np.sum(offered & ~packets.left)), int(np.sum(forwarded & packets.marked))
    delays = (packets.departure - packets.arrival)[forwarded]
    count, seconds_measured = int(np.sum(offered)), (end - begin) / 1e9
    return Queue(
        qdisc=table["qdisc"],
        utilisation_percent=rounded(_used_percent(packets, link, span)),
        throughput_mbps=rounded(float(np.sum(packets.length[forwarded])) * 8e-6 / seconds_measured),
        delay_ms=summary(delays),
        delay_percentiles_ms=percentiles_ms(delays),
        packets={
            "offered": count,
            "forwarded": int(np.sum(forwarded)),
            "dropped": dropped,
            "marked": marked,
            "queued_at_start": int(np.sum(packets.left & (packets.arrival < begin) & (packets.departure >= begin))),
            "queued_at_end": int(np.sum(packets.left & (packets.arrival <= end) & (packets.departure > end))),
        },
        drop_percent=percent(dropped, count),
        mark_percent=percent(marked, count),
        drops_by_reason=None,
        marks_by_reason=None,
    )


def hop(packets: Packets, planned: Planned, table: Scenario, span: tuple[int, int]) -> Hop:
    """Return the entry of a hop. ``table`` is the scenario's table of that hop."""
    about: dict[str, Any] = {"name": planned.name, "kind": table["kind"], "direction": planned.direction}
    part: Wire | Queue
    if planned.link is not None:
        part = queue(packets, planned.link, table, span)
    else:
        counts = _counts(packets, planned.limit, span)
        part = Wire(packets=counts, loss_percent=percent(counts["lost"], counts["offered"]))
    entry: Hop = about | part  # type: ignore[assignment]
    return entry


def _used_percent(packets: Packets, link: Shaper, span: tuple[int, int]) -> float:
    """Return the share of the time in which the link was sending. A packet leaves when its transmission begins.

    For a link whose rate changes, the result is the share of the bits that the link could have sent.
    """
    begin, end = span
    rates = link.rates()
    since = np.array([nanoseconds(at_s) for at_s, _ in rates], dtype=np.int64)
    bps = np.array([rate for _, rate in rates], dtype=np.float64)
    if len(rates) > 1:
        until = np.append(since[1:], max(end, since[-1]))
        spans = np.maximum(0, np.minimum(until, end) - np.maximum(since, begin))
        bits = float(np.sum(packets.length[packets.departed(begin, end)])) * 8e9
        return 100 * bits / float(np.sum(spans * bps))
    starts = packets.departure[packets.left].astype(np.float64)
    ends = starts + packets.length[packets.left] * 8e9 / link.rate_bps
    return 100 * float(np.sum(np.maximum(0.0, np.minimum(ends, end) - np.maximum(starts, begin)))) / (end - begin)


def _counts(packets: Packets, limit: int, span: tuple[int, int]) -> WirePackets:
    """Return what became of the packets of a wire that holds at most ``limit`` packets.

    netem counts packets over the limit as lost. They are the lost packets that found ``limit`` packets in the wire.
    """
    begin, end = span
    arrival = np.concatenate([packets.arrival[packets.left], packets.copy_arrival])
    departure = np.concatenate([packets.departure[packets.left], packets.copy_departure])
    offered = packets.arrived(begin, end)
    lost = packets.arrival[offered & ~packets.left]
    came, went = np.sort(arrival), np.sort(departure)
    held = np.searchsorted(came, lost, side="left") - np.searchsorted(went, lost, side="right")
    return {
        "offered": int(np.sum(offered)),
        "delivered": int(np.sum((departure >= begin) & (departure <= end))),
        "lost": len(lost),
        "over_limit": int(np.sum(held >= limit)),
        "duplicated": int(np.sum((packets.copy_arrival >= begin) & (packets.copy_arrival <= end))),
        "held_at_start": int(np.sum((arrival < begin) & (departure >= begin))),
        "held_at_end": int(np.sum((arrival <= end) & (departure > end))),
    }


def queue_series(packets: Packets, ends: list[int]) -> QueueSeries:
    """Return a queue over time. The backlog omits dropped packets, since the captures do not show when they dropped."""
    departures, arrivals = packets.departure[packets.left], packets.arrival[packets.left]
    order = np.argsort(departures, kind="stable")
    sums = np.concatenate([[0], np.cumsum((departures - arrivals)[order])])
    gone = [int(count) for count in np.searchsorted(departures[order], ends, side="left")]
    come = [int(count) for count in np.searchsorted(arrivals, ends, side="left")]
    means = [
        rounded(float(sums[after] - sums[before]) / (after - before) / 1e6) if after > before else None
        for before, after in pairwise([0, *gone])
    ]
    return QueueSeries(
        delay_ms=means,
        backlog_packets=[before - after for before, after in zip(come, gone, strict=True)],
        drop_probability=[None] * len(ends),
    )


def packet_series(packets: Packets, begin: int, end: int) -> PacketSeries:
    """Return the delay of each packet that left between ``begin``, included, and ``end``, excluded."""
    chosen = np.flatnonzero(packets.departed(begin, end - 1))
    chosen = chosen[np.argsort(packets.departure[chosen], kind="stable")]
    delays = packets.departure[chosen] - packets.arrival[chosen]
    return PacketSeries(time_s=(packets.departure[chosen] / 1e9).tolist(), delay_ms=(delays / 1e6).tolist())
