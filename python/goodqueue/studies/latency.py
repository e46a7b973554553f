"""Latency under load, from pings, calls and TCP flows of a run, as Høiland-Jørgensen et al. 2015 compute it.

Latency is a ping's round-trip time minus the base RTT, or the mean over several pings. Times are seconds of the run.
The load starts at 0 s.
"""

import math
from collections.abc import Mapping
from statistics import fmean, median
from typing import cast

from goodqueue.measures.base import path_ms
from goodqueue.record import Flow, Record

Options = Mapping[str, str | float]

SPAN_S = 0.2
"""Flent's pings leave every 200 ms. In a shorter interval only some of the pings have an echo."""


def goodput_sum_mbps(record: Record, options: Options) -> float | None:
    """Return the total goodput of all flows that the scenario calls ``name``, or None if there are none."""
    goodputs = [flow["goodput_mbps"] for flow in _flows_named(record, options["name"])]
    return math.fsum(goodputs) if goodputs else None


def least_goodput_mbps(record: Record, options: Options) -> float | None:
    """Return the smallest goodput of the flows that the scenario calls ``name``, or None if there are none."""
    return min((flow["goodput_mbps"] for flow in _flows_named(record, options["name"])), default=None)


def loss_ratio(record: Record, options: Options) -> float | None:
    """Return the mean loss share of flows called ``name``, divided by that of flows called ``to_name``.

    Returns None if there are no such flows, or if the latter lose nothing.
    """
    losses, other = (
        [flow["loss_percent"] or 0.0 for flow in _flows_named(record, options[key])] for key in ("name", "to_name")
    )
    return fmean(losses) / fmean(other) if losses and any(other) else None


def _flows_named(record: Record, name: str | float) -> list[Flow]:
    return [flow for flow in record["flows"] if flow["name"].rpartition("/")[0] == name]


def goodput_ratio(record: Record, options: Options) -> float | None:
    """Return the goodput of flow ``flow`` divided by that of flow ``to_flow``. None if the latter is 0."""
    goodput, other = (record["flows"][int(options[name])]["goodput_mbps"] for name in ("flow", "to_flow"))
    return goodput / other if other else None


def spans_mbps(record: Record, direction: str) -> list[float]:
    """Return the total goodput of all TCP flows in one direction, for each interval of the series."""
    of_flows = [flow["direction"] if flow["cc"] else "" for flow in record["flows"]]
    if "series" not in record:
        return []
    series = [flow["goodput_mbps"] for flow in record["series"]["flows"] if "rtt_ms" not in flow]  # leaves out pings
    of_direction = [values for values, of_flow in zip(series, of_flows, strict=True) if of_flow == direction]
    return [math.fsum(value or 0.0 for value in span) for span in zip(*of_direction, strict=True)]


def goodput_spans_mbps(record: Record, options: Options) -> float | None:
    """Return a ``percentile`` of `spans_mbps`."""
    import numpy as np

    spans = spans_mbps(record, str(options["direction"]))
    return float(np.percentile(spans, float(options["percentile"]))) if spans else None


def flow_rtts_ms(record: Record, options: Options) -> float | None:
    """Return the ``percentile`` (10, 50 or 90) of the round-trip times that a sender measured: the flows' median.

    Only TCP flows in one ``direction`` count. A flow without a measurement, since it never connected, is left out.
    """
    key = f"p{options['percentile']:g}"
    flows = [flow for flow in record["flows"] if flow["cc"] and flow["direction"] == options["direction"]]
    rtts = [times[key] for flow in flows if (times := cast("dict[str, float | None] | None", flow["rtt_ms"]))]
    numbers = [value for value in rtts if value is not None]
    return median(numbers) if numbers else None


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
    filled = {number: echoes for number, echoes in spans.items() if echoes}
    return [round(number * SPAN_S, 6) for number in filled], [fmean(echoes) - base for echoes in filled.values()]


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
    values = [value for time, value in later if time > since and value is not None]
    return 100 * fmean(values) if values else None


def burstiness_index(record: Record, options: Options) -> float | None:
    """Return variance over mean of the packets that ``flow`` loses per interval. None if it loses none."""
    drops = next((flow["dropped_packets"] for flow in record["series"]["flows"] if flow["name"] == options["flow"]), [])
    if not any(drops):
        return None
    mean = fmean(drops)
    return fmean((count - mean) ** 2 for count in drops) / mean


def call_delay_ms(record: Record, options: Options) -> float | None:
    """Return a ``percentile`` of a call's one-way delay, minus percentile ``above`` or the delay without queueing."""
    percentiles = next((app["delay_percentiles_ms"] for app in record["apps"] if "delay_percentiles_ms" in app), None)
    if not percentiles:
        return None
    above = int(options["above"])
    value, less = (
        percentiles[int(options["percentile"])],
        percentiles[above] if above >= 0 else path_ms(record["scenario"]) / 2,
    )
    return None if value is None or less is None else value - less
