"""The numbers by which ``goodqueue fit`` compares a measurement at the ends of a path with a simulation of it.

All of them come from the time series, which Flent's files, iperf3's and our own records have alike. So a file and a
run are measured by the same code.

They are no entries of `measures.numbers`. Those are of a whole run, and most of them of its queues, which a program at
the ends of a path does not see. These are of a window, which only the measurement gives: the time in which its flows
carried data. They have names of their own, so that no name has two meanings.
"""

import math
from collections.abc import Iterator
from itertools import pairwise

from goodqueue._goodqueue import jain
from goodqueue.record import Record
from goodqueue.search.fit.work import Observed
from goodqueue.traffic import BULK

Numbers = dict[str, float]

ERRORS = (
    ("_mbps", (0.02, 0.02)),
    ("jain_", (0.0, 0.1)),
    ("_percent", (0.3, 0.5)),
    ("ping_min", (0.01, 0.2)),
    ("ping_step", (0.15, 0.3)),
    ("ping_p10", (0.2, 0.5)),
    ("ping_p99", (0.08, 1.0)),
    ("_ms", (0.04, 0.4)),
)
"""The error of a number, one standard deviation, by a part of its name: a share of the number, and its own unit.

It covers what clocks and hosts add, and what differs between two runs of the same program on the same link.
"""

SETTLING_S = 1.0
"""The flows ran so long before the numbers begin."""

IDLE = 0.05
"""All flows together carry less than this share of their greatest rate before they begin and after they end."""

LEAST_PINGS = 20
"""With fewer samples nothing is said of the round trips of pings."""

LEAST_RTTS = 3
"""With fewer samples nothing is said of the RTT that TCP measured, which is a mean of many (RFC 6298)."""

SEGMENT_BITS = 8 * 1448
"""The data in a full frame with timestamps."""

PERCENTS = (10, 50, 90, 99)
"""The percentiles of the pings."""


def error(name: str, value: float) -> float:
    """Return the error of a number."""
    share, least = next(errors for part, errors in ERRORS if part in name)
    return share * abs(value) + least


def window(record: Record, begin_s: float, end_s: float) -> tuple[float, float]:
    """Return the part of a time in which the flows of ``record`` carried data: files may have zeros around it."""
    series = record.get("series")
    if series is None:
        return begin_s, end_s
    times = series["time_s"]
    rates = [math.fsum(flow["goodput_mbps"][at] or 0.0 for flow in series["flows"]) for at in range(len(times))]
    least = IDLE * max(rates, default=0.0)
    busy = [at for at, rate in zip(times, rates, strict=True) if rate > least and begin_s <= at <= end_s]
    return (busy[0], busy[-1]) if busy else (begin_s, end_s)


def numbers(record: Record, begin_s: float, end_s: float) -> Numbers:
    """Return the numbers of ``record`` between two times, in which all of its flows ran."""
    return dict(_all(record, begin_s + SETTLING_S, end_s))


def _all(record: Record, begin_s: float, end_s: float) -> Iterator[tuple[str, float]]:
    import numpy as np

    series = record.get("series")
    if series is None:
        return
    directions = {flow["name"]: flow["direction"] for flow in record["flows"] if flow["kind"] == BULK}
    rows = [at for at, time in enumerate(series["time_s"]) if begin_s < time <= end_s]
    for direction in ("down", "up"):
        of_direction = [flow for flow in series["flows"] if directions.get(flow["name"]) == direction]
        if of_direction and rows:
            means = [math.fsum(flow["goodput_mbps"][at] or 0.0 for at in rows) / len(rows) for flow in of_direction]
            yield f"goodput_{direction}_mbps", math.fsum(means)
            sent_again = [
                flow["retransmitted"] for flow in record["flows"] if directions.get(flow["name"]) == direction
            ]
            lost = [count for count in sent_again if count is not None]
            if len(lost) == len(sent_again):  # since the flows began
                came = 1e6 * math.fsum(means) * (end_s - begin_s + SETTLING_S) / SEGMENT_BITS
                yield f"retransmitted_{direction}_percent", 100 * sum(lost) / max(1.0, came + sum(lost))
            if len(of_direction) > 1 and (index := jain(means)) is not None:
                yield f"jain_{direction}", index
        rtts = [
            rtt
            for flow in of_direction
            if "tcp" in flow
            for at in rows
            if (rtt := flow["tcp"]["rtt_ms"][at]) is not None
        ]
        if len(rtts) >= LEAST_RTTS:
            yield f"tcp_rtt_{direction}_p50_ms", float(np.median(rtts))
    yield from _pings(record, begin_s, end_s)


def _pings(record: Record, begin_s: float, end_s: float) -> Iterator[tuple[str, float]]:
    import numpy as np

    series = record["series"]
    assert series is not None
    pings = series.get("pings", ())
    every = [rtt for ping in pings for rtt in ping["rtt_ms"]]
    if len(every) < LEAST_PINGS:
        return
    yield "ping_min_ms", min(every)
    loaded, steps, lost, sent = [], [], 0, 0
    for ping in pings:
        rows = [at for at, time in enumerate(ping["sent_s"]) if begin_s <= time <= end_s]
        rtts = [ping["rtt_ms"][at] for at in rows]
        loaded += rtts
        steps += [abs(rtt - other) for rtt, other in pairwise(rtts)]
        if rows:
            span = ping["seq"][rows[-1]] - ping["seq"][rows[0]] + 1
            sent, lost = sent + span, lost + span - len(rows)
    if len(loaded) < LEAST_PINGS:
        return
    for percent, quantile in zip(PERCENTS, np.percentile(loaded, PERCENTS), strict=True):
        yield f"ping_p{percent}_ms", float(quantile)
    yield "ping_step_ms", math.fsum(steps) / max(1, len(steps))
    yield "ping_loss_percent", 100 * lost / sent


def observations(numbers: Numbers) -> list[Observed]:
    """Return ``numbers`` with the error of each number."""
    return [Observed(name, value, error(name, value)) for name, value in numbers.items()]
