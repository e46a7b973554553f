"""Latency under load, from pings and calls of a run.

Latency is a ping's round-trip time minus the base RTT, or the mean over several pings. Times are seconds of the run.
The load starts at 0 s.
"""

import math
from statistics import fmean

from goodqueue.measures.base import path_ms
from goodqueue.record import Record
from goodqueue.studies.computing import ABOVE, NUMBER, SINCE, TEXT, TIME, Computation, Options

SPAN_S = 0.2
"""Flent's pings leave every 200 ms. In a shorter interval only some of the pings have an echo."""


def latencies(record: Record) -> tuple[list[float], list[float]]:
    """Return the end of each span of `SPAN_S`, and the pings' mean latency in it. Spans without echo are left out.

    If the interval of the series is longer, each interval is a span.
    """
    series = record["series"]
    pings = [flow["rtt_ms"] for flow in series["flows"] if "rtt_ms" in flow]
    if not pings:
        return [], []
    spans: dict[int, list[float]] = {}
    for time, values in zip(series["time_s"], zip(*pings, strict=True), strict=True):
        spans.setdefault(math.ceil(time / SPAN_S - 1e-6), []).extend(value for value in values if value is not None)
    base = path_ms(record["scenario"])
    known = {number: echoes for number, echoes in spans.items() if echoes}
    return [round(number * SPAN_S, 6) for number in known], [fmean(echoes) - base for echoes in known.values()]


def course(record: Record, until_s: float) -> tuple[float, ...] | None:
    """Return the latency at the end of each span up to ``until_s``. Spans without echo are interpolated."""
    times, values = latencies(record)
    if not times:
        return None
    import numpy as np

    ends = [SPAN_S * step for step in range(1, round(until_s / SPAN_S) + 1)]
    return tuple(np.interp(ends, times, values).tolist())


def peak_ms(record: Record, options: Options) -> tuple[float, ...] | None:
    """Return the latency's course up to ``until_s``. The peak is that of the seeds' mean, as in the paper's figure."""
    return course(record, float(options["until_s"]))


def steady_ms(record: Record, options: Options) -> float | None:
    """Return the mean latency after ``from_s``."""
    since = float(options["from_s"])
    later = [value for time, value in zip(*latencies(record), strict=True) if time > since]
    return fmean(later) if later else None


def settle_s(record: Record, options: Options) -> float | None:
    """Return the end of the first second after the peak whose mean latency is at most ``factor`` times the steady one.

    The peak is sought up to ``from_s``; the steady latency is the mean after it. Returns None if that never happens.
    """
    since, steady = float(options["from_s"]), steady_ms(record, options)
    times, values = latencies(record)
    early = [(value, time) for time, value in zip(times, values, strict=True) if time <= since]
    if steady is None or not early:
        return None
    begin = max(early)[1]
    for second in range(math.ceil(begin), math.ceil(times[-1])):
        within = [value for time, value in zip(times, values, strict=True) if second < time <= second + 1]
        if within and fmean(within) <= float(options["factor"]) * steady:
            return second + 1.0
    return None


def drop_probability_percent(record: Record, options: Options) -> float | None:
    """Return the mean of the law's drop probability at ``down`` after ``from_s``, in percent."""
    series = record["series"]
    since = float(options["from_s"])
    later = zip(series["time_s"], series["queues"]["down"]["drop_probability"], strict=True)
    known = [value for time, value in later if time > since and value is not None]
    return 100 * fmean(known) if known else None


def burstiness_index(record: Record, options: Options) -> float | None:
    """Return variance over mean of the packets that ``flow`` loses per interval. None if it loses none."""
    drops = next((one["dropped_packets"] for one in record["series"]["flows"] if one["name"] == options["flow"]), [])
    if not any(drops):
        return None
    mean = fmean(drops)
    return fmean((count - mean) ** 2 for count in drops) / mean


def call_delay_ms(record: Record, options: Options) -> float | None:
    """Return a ``percentile`` of a call's one-way delay, minus percentile ``above`` or the delay without queueing."""
    found = next((app["delay_percentiles_ms"] for app in record["apps"] if "delay_percentiles_ms" in app), None)
    if not found:
        return None
    above = int(options["above"])
    value, less = found[int(options["percentile"])], found[above] if above >= 0 else path_ms(record["scenario"]) / 2
    return None if value is None or less is None else value - less


NUMBERS = {
    "latency_peak_ms": Computation({"until_s": NUMBER}, peak_ms, "the largest of the seeds' mean course", needs=TIME),
    "latency_steady_ms": Computation(SINCE, steady_ms, "mean after `from_s`", needs=TIME),
    "settle_time_s": Computation(
        {**SINCE, "factor": NUMBER},
        settle_s,
        "until a second is within `factor` of the steady latency",
        needs=TIME,
    ),
    "drop_probability_percent": Computation(
        SINCE, drop_probability_percent, "the law's mean after `from_s`", needs=TIME
    ),
    "loss_burstiness_index": Computation(
        {"flow": TEXT}, burstiness_index, "variance over mean of what `flow` loses in an interval", needs=TIME
    ),
    "call_delay_ms": Computation(
        ABOVE, call_delay_ms, "of a call, above another percentile, or above the way without queueing"
    ),
}
"""The computations by name, as `compute` takes them."""
