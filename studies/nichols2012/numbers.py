"""Queues over time, on a link that changes or a pipe that is too small.

Times are seconds of the run. Functions over time need `[series] interval`, functions on single packets need `[series]
packets`.
"""

import math
from collections.abc import Iterator
from itertools import pairwise
from statistics import fmean

from goodqueue.record import Record
from goodqueue.scenario import paths, seconds
from goodqueue.studies.computing import NUMBER, PACKETS, TEXT, TIME, WINDOW, Computation, Option, Options
from goodqueue.studies.varying import delays, falls

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
    found = {"mean": fmean(waits), "min": min(waits), "max": max(waits)}[str(options["statistic"])]
    return found / packet_ms + 1 if found > 0 else 0.0


def wait_ms(record: Record, options: Options) -> float | None:
    """Return the waiting time in ms of packet ``number`` of the series, counted from 1."""
    waits = [wait for _, wait in _waits(record)]
    number = int(options["number"])
    return waits[number - 1] if number <= len(waits) else None


def _waits(record: Record) -> Iterator[tuple[float, float]]:
    packets = record["series"]["packets"]["down"]
    return zip(packets["time_s"], packets["delay_ms"], strict=True)


def delay_peak_ms(record: Record, options: Options) -> float | None:
    """Return the largest mean delay of an interval, in the ``for_s`` seconds after ``at_s``."""
    begin = float(options["at_s"])
    found = [delay for _, delay in delays(record, begin, begin + float(options["for_s"]))]
    return max(found, default=None)


def adapt_ms(record: Record, _: Options) -> float | None:
    """Return the time in ms from a fall of the rate to the end of the first interval with a drop, mean over falls."""
    series = record["series"]
    drops = [sum(one) for one in zip(*(flow["dropped_packets"] for flow in series["flows"]), strict=True)]
    found = []
    for begin, end in falls(record):
        times = (time for time, count in zip(series["time_s"], drops, strict=True) if count and begin < time <= end)
        found.append(1e3 * (next(times, end) - begin))
    return fmean(found) if found else None


def transferred_kb(record: Record, options: Options) -> float | None:
    """Return the data that the flows received in ``phase``: after a rise of the rate (``jump``), or at other times."""
    series = record["series"]
    changes = [one for one in record["scenario"].get("change", []) if "rate" in one]
    rates = [paths.rate_bps(record["scenario"]["bottleneck"]), *(paths.rate_bps(one) for one in changes)]
    begins = [0.0, *(seconds(one["at"]) for one in changes)]
    risen = [False, *(after > before for before, after in pairwise(rates))]
    kilobytes, before = 0.0, 0.0
    for time, *goodputs in zip(series["time_s"], *(flow["goodput_mbps"] for flow in series["flows"]), strict=True):
        phase = max(at for at, begin in enumerate(begins) if begin < time)
        if risen[phase] == (options["phase"] == "jump"):
            kilobytes += math.fsum(one for one in goodputs if one is not None) * (time - before) * 125
        before = time
    return kilobytes


NUMBERS = {
    "drop_share_jain_index": Computation(
        {"direction": TEXT}, drop_share_jain_index, "of lost over sent packets, flow by flow"
    ),
    "queue_packets": Computation(
        {"statistic": Option("text", words=OF_QUEUES), **WINDOW},
        queue_packets,
        "the mean, min or max that a packet finds, the one on the wire among them",
        needs=PACKETS,
    ),
    "wait_ms": Computation({"number": NUMBER}, wait_ms, "of one packet, by its number from 1", needs=PACKETS),
    "delay_peak_ms": Computation(
        {"at_s": NUMBER, "for_s": NUMBER}, delay_peak_ms, "the largest of an interval", needs=TIME
    ),
    "adapt_ms": Computation({}, adapt_ms, "from a fall of the rate to the first drop", needs=TIME),
    "transferred_kb": Computation(
        {"phase": TEXT},
        transferred_kb,
        "goodput while the rate is a risen one (jump), or else (other)",
        needs=TIME,
    ),
}
"""The computations by name, as `compute` takes them."""
