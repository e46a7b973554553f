"""Queues over time, on a link that changes or a pipe that is too small, as Nichols and Jacobson 2012 measure them.

Times are seconds of the run. Functions over time need `[series] interval`, functions on single packets need `[series]
packets`.
"""

import math
from collections.abc import Iterator, Mapping
from itertools import pairwise
from statistics import fmean

from goodqueue.record import Record
from goodqueue.scenario import paths, seconds

Options = Mapping[str, str | float]

FRAME_BITS = 1514 * 8

OF_QUEUES = ("mean", "min", "max")


def drop_share_jain_index(record: Record, options: Options) -> float | None:
    """Return Jain's index of the shares of lost packets, over all flows that send in ``direction``.

    A flow that sent nothing within the measured time does not count. Returns None if no flow loses a packet.
    """
    sources = [flow for flow in record["flows"] if flow["direction"] == options["direction"]]
    shares = [flow["loss_percent"] or 0.0 for flow in sources if flow["goodput_mbps"] or flow["loss_percent"]]
    squares = math.fsum(share * share for share in shares)
    return math.fsum(shares) ** 2 / (len(shares) * squares) if squares else None


def queue_packets(record: Record, options: Options) -> float | None:
    """Return the ``statistic`` (mean, min, max) of the queue that a packet finds, in packets, with the one on the wire.

    It covers packets that leave from ``from_s`` to ``to_s``. All packets are assumed to be full frames.
    """
    packet_ms = 1e3 * FRAME_BITS / paths.rate_bps(record["scenario"]["bottleneck"])
    waits = [wait for time, wait in _waits(record) if float(options["from_s"]) <= time < float(options["to_s"])]
    if not waits:
        return None
    wait_ms = {"mean": fmean(waits), "min": min(waits), "max": max(waits)}[str(options["statistic"])]
    return wait_ms / packet_ms + 1 if wait_ms > 0 else 0.0


def wait_ms(record: Record, options: Options) -> float | None:
    """Return the waiting time in ms of packet ``number`` of the series, counted from 1."""
    waits = [wait for _, wait in _waits(record)]
    number = int(options["number"])
    return waits[number - 1] if number <= len(waits) else None


def _waits(record: Record) -> Iterator[tuple[float, float]]:
    packets = record["series"]["packets"]["down"]
    return zip(packets["time_s"], packets["delay_ms"], strict=True)


def _delays(record: Record, from_s: float, to_s: float) -> list[tuple[float, float]]:
    """Return the end of each interval in a period and its mean delay, without intervals in which no packet left."""
    series = record["series"]
    every = zip(series["time_s"], series["queues"]["down"]["delay_ms"], strict=True)
    return [(time, delay) for time, delay in every if delay is not None and from_s < time <= to_s]


def delay_peak_ms(record: Record, options: Options) -> float | None:
    """Return the largest mean delay of an interval, in the ``for_s`` seconds after ``at_s``."""
    begin = float(options["at_s"])
    delays = [delay for _, delay in _delays(record, begin, begin + float(options["for_s"]))]
    return max(delays, default=None)


def _falls(record: Record) -> list[tuple[float, float]]:
    """Return for each fall of the link's rate down its time, and the time of the next change."""
    changes = [
        change for change in record["scenario"].get("change", []) if "rate" in change and change["direction"] == "down"
    ]
    rates = [paths.rate_bps(record["scenario"]["bottleneck"]), *(paths.rate_bps(change) for change in changes)]
    times = [*(seconds(change["at"]) for change in changes), seconds(record["scenario"]["duration"])]
    return [(times[at], times[at + 1]) for at in range(len(changes)) if rates[at + 1] < rates[at]]


def recovery_time_s(record: Record, options: Options) -> float | None:
    """Return the time from a fall of the rate to the first whole second with a mean delay below ``below_ms``.

    If no second has that before the rate changes again, it is the time until that change. Returns the mean over falls.
    """
    times = []
    for begin, end in _falls(record):
        delays = _delays(record, begin, end)
        whole = range(int(end - begin))
        spans = ([delay for time, delay in delays if second < time - begin <= second + 1] for second in whole)
        settled = (
            second + 1.0 for second, span in enumerate(spans) if span and fmean(span) < float(options["below_ms"])
        )
        times.append(next(settled, end - begin))
    return fmean(times) if times else None


def adapt_ms(record: Record, _: Options) -> float | None:
    """Return the time in ms from a fall of the rate to the end of the first interval with a drop, mean over falls."""
    series = record["series"]
    drops = [sum(counts) for counts in zip(*(flow["dropped_packets"] for flow in series["flows"]), strict=True)]
    delays_ms = []
    for begin, end in _falls(record):
        times = (time for time, count in zip(series["time_s"], drops, strict=True) if count and begin < time <= end)
        delays_ms.append(1e3 * (next(times, end) - begin))
    return fmean(delays_ms) if delays_ms else None


def transferred_kb(record: Record, options: Options) -> float | None:
    """Return the data that the flows received in ``phase``: after a rise of the rate (``jump``), or at other times."""
    series = record["series"]
    changes = [change for change in record["scenario"].get("change", []) if "rate" in change]
    rates = [paths.rate_bps(record["scenario"]["bottleneck"]), *(paths.rate_bps(change) for change in changes)]
    begins = [0.0, *(seconds(change["at"]) for change in changes)]
    risen = [False, *(after > before for before, after in pairwise(rates))]
    kilobytes, before = 0.0, 0.0
    for time, *goodputs in zip(series["time_s"], *(flow["goodput_mbps"] for flow in series["flows"]), strict=True):
        phase = max(at for at, begin in enumerate(begins) if begin < time)
        if risen[phase] == (options["phase"] == "jump"):
            kilobytes += math.fsum(goodput for goodput in goodputs if goodput is not None) * (time - before) * 125
        before = time
    return kilobytes
