"""Flows and queues within a part of a run, from ``from_s`` to ``to_s``, as RFC 8867, 4.1 requires.

All functions need `[series] interval`. ``name`` is a flow (``video/0``) or a group of flows (``video``); the flows of a
group are added up. Rates are averaged over whole seconds, as in RFC 8867, 4.3.
"""

import math
from statistics import fmean, pstdev

from goodqueue.record import Record
from goodqueue.studies.computing import Options

STEADY_S = 10.0
"""The last part of a window. Its mean is the rate to which a flow settles."""

NEAR = 0.2
"""The largest relative difference from that mean of a second in which the flow has settled."""


def goodput_mbps(record: Record, options: Options) -> float | None:
    """Return the mean goodput, or None if there is no such flow."""
    seconds = _seconds(record, options)
    return fmean(seconds) if seconds else None


def oscillation_percent(record: Record, options: Options) -> float | None:
    """Return the standard deviation of the goodput per second, divided by its mean. None if nothing arrives."""
    seconds = _seconds(record, options)
    mean = fmean(seconds) if seconds else 0.0
    return 100 * pstdev(seconds) / mean if mean else None


def settle_s(record: Record, options: Options) -> float | None:
    """Return the start of the first second near the mean of the window's last ten seconds. None if nothing arrives."""
    seconds = _seconds(record, options)
    steady = fmean(seconds[-int(STEADY_S) :]) if seconds else 0.0
    near = (at for at, second in enumerate(seconds) if steady and abs(second / steady - 1) <= NEAR)
    return next((float(at) for at in near), None)


def least_share(record: Record, options: Options) -> float | None:
    """Return the least mean goodput divided by the greatest, of the flows whose names begin with ``name``."""
    names = [flow["name"] for flow in record["flows"] if flow["name"].startswith(str(options["name"]))]
    goodputs = [goodput_mbps(record, {**options, "name": name}) or 0.0 for name in names]
    return min(goodputs) / max(goodputs) if any(goodputs) else None


def delay_ms(record: Record, options: Options) -> float | None:
    """Return the mean of the intervals' mean delays down, or None if no packet left."""
    begin, end = float(options["from_s"]), float(options["to_s"])
    series = record["series"]
    every = zip(series["time_s"], series["queues"]["down"]["delay_ms"], strict=True)
    delays = [delay for time, delay in every if delay is not None and begin < time <= end]
    return fmean(delays) if delays else None


def _seconds(record: Record, options: Options) -> list[float]:
    """Return the goodput in each whole second of the window."""
    begin, end, name = float(options["from_s"]), float(options["to_s"]), options["name"]
    chosen = [name in (flow["name"], flow["name"].rpartition("/")[0]) for flow in record["flows"]]
    flows = [flow for flow, is_chosen in zip(record["series"]["flows"], chosen, strict=True) if is_chosen]
    sums: dict[int, list[float]] = {}
    for index, time in enumerate(record["series"]["time_s"]):
        if flows and begin < time <= end + 1e-9:
            rate = math.fsum(flow["goodput_mbps"][index] or 0.0 for flow in flows)
            sums.setdefault(math.ceil(time - begin - 1e-9), []).append(rate)
    return [fmean(rates) for _, rates in sorted(sums.items())]
