"""What happens after a change: of the load, of the rate, or by a burst that makes a flow lose many packets."""

from itertools import dropwhile
from statistics import fmean

from goodqueue import traffic
from goodqueue.measures.metrics import Metric
from goodqueue.measures.needs import RATE, SERIES, bulk_flows
from goodqueue.measures.numbers.queues import delays, target_of
from goodqueue.measures.numbers.shares import CONSTANT, link_mbps
from goodqueue.record import Record
from goodqueue.scenario import paths, seconds

SETTLING_S, MEASURED_S = 2.0, 10.0
"""`after_percent` begins so long after the change, and covers so long."""


def recovery_ms(record: Record) -> float | None:
    """Return how long the queue's delay stays above the target after the last change of the load.

    The load changes when traffic starts or stops, and at each ``[[change]]``. None without a series of the delay.
    """
    every = delays(record)
    if not every:
        return None
    last, target = _last_change_s(record), target_of(record)
    at = [(time, delay or 0.0) for time, delay in every if time >= last]
    above = next((time for time, delay in at if delay > target), None)
    if above is None:
        return 0.0
    below = next((time for time, delay in at if time > above and delay <= target), None)
    return 1000 * ((below if below is not None else at[-1][0]) - last)


def _last_change_s(record: Record) -> float:
    scenario = record["scenario"]
    times = [source.get(key) for source in scenario["traffic"] for key in ("start", "stop")]
    times += [change["at"] for change in scenario.get("change") or ()]
    end = seconds(scenario["duration"])
    return max((at for text in times if text is not None and (at := seconds(text)) < end), default=0.0)


def after_percent(record: Record) -> float | None:
    """Return the goodput of the bulk flows from 2 to 12 s after the last change of the load, in percent of the rate.

    None without a series, or if the run ends before.
    """
    series, begin = record.get("series"), _last_change_s(record) + SETTLING_S
    rates = [change for change in record["scenario"].get("change") or () if change.get("rate")]
    rate = paths.rate_bps(rates[-1]) / 1e6 if rates else link_mbps(record)
    if series is None or seconds(record["scenario"]["duration"]) < begin + MEASURED_S or not rate:
        return None
    flows = [flow["goodput_mbps"] for flow in series["flows"] if flow["name"].startswith(f"{traffic.BULK}/")]
    at = [n for n, time in enumerate(series["time_s"]) if begin < time <= begin + MEASURED_S]
    goodput = sum(flow[n] or 0.0 for flow in flows for n in at) / len(at) if at else None
    return None if goodput is None else 100 * goodput / rate


def window_recovery_s(record: Record) -> float | None:
    """Return the time from the start of a burst until the congestion window of a single flow is back at its old value.

    The old value is its mean from the warm-up to the burst. The window must have been below it. Returns None if there
    is no burst, or if the window does not come back.
    """
    sources = record["scenario"]["traffic"]
    bursts = [seconds(source["start"]) for source in sources if source["kind"] == CONSTANT]
    flows = [flow["name"] for flow in record["flows"] if flow["kind"] == traffic.BULK]
    if len(bursts) != 1 or len(flows) != 1 or "series" not in record:
        return None
    burst, warmup = bursts[0], seconds(record["scenario"]["warmup"])
    samples = zip(*window(record, flows[0]), strict=True)
    present = [(time, packets) for time, packets in samples if packets is not None]
    before = [packets for time, packets in present if warmup <= time <= burst]
    if not before:
        return None
    usual = fmean(before)
    after = dropwhile(lambda sample: sample[1] >= usual, (sample for sample in present if sample[0] > burst))
    return next((time - burst for time, packets in after if packets >= usual), None)


def window(record: Record, flow: str) -> tuple[list[float], list[float | None]]:
    """Return times (s) and the congestion window (packets) of ``flow``, as the record's series has them."""
    series = record["series"]
    return series["time_s"], next(of_flow["cwnd_packets"] for of_flow in series["flows"] if of_flow["name"] == flow)


NUMBERS = (
    Metric(
        "recovery_ms", "recovery", "ms", "low", recovery_ms, direction="down", needs=(SERIES,),
        note="recovery: from the last change of the load until the delay down is at the target again",
    ),
    Metric(
        "after_percent", "after", "%", "high", after_percent, direction="down", needs=(SERIES, RATE, bulk_flows(1)),
        note="after: goodput of the bulk flows from 2 to 12 s after the last change of the load, in % of the rate",
    ),
    Metric(
        "window_recovery_s", "recovery", "s", "low", window_recovery_s, needs=(SERIES, bulk_flows(1, 1)),
        note="recovery: from a burst of constant rate until the congestion window of the only bulk flow is back. It is "
        "about a flow, and recovery_ms about the queue",
    ),
)  # fmt: skip
