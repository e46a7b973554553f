"""The numbers of a record that conditions are about: every metric, and a few that are made for conditions."""

from collections.abc import Callable
from itertools import pairwise

from goodqueue import traffic
from goodqueue.errors import Place, UserError, quoted
from goodqueue.measures import metrics
from goodqueue.record import Record
from goodqueue.record.dotted import check_path
from goodqueue.record.reading import statistic
from goodqueue.scenario import seconds
from goodqueue.search import lines, worlds

Pick = Callable[[Record], float | None]

USUAL_TARGET_MS = 5.0
"""CoDel's target (RFC 8289, section 4.4). A line without a target is compared with it."""


def delay_targets(record: Record) -> float | None:
    """Return the mean delay of the queue, in multiples of its target."""
    return _in_targets(record, "mean")


def delay_p95_targets(record: Record) -> float | None:
    """Return the 95th percentile of the delay, in multiples of the target."""
    return _in_targets(record, "p95")


def _in_targets(record: Record, key: str) -> float | None:
    queue = record["queues"]["down"]
    delay = statistic(queue["delay_ms"], key)
    return None if delay is None else delay / (lines.target_ms(queue["qdisc"]) or USUAL_TARGET_MS)


def _bulk(record: Record) -> list[float]:
    flows = [flow for flow in record["flows"] if flow["kind"] == traffic.BULK and flow["direction"] == "down"]
    return [flow["goodput_mbps"] for flow in flows]


def share(record: Record) -> float | None:
    """Return the smallest goodput of a bulk flow, divided by the largest one. None with fewer than two flows."""
    found = _bulk(record)
    return min(found) / max(found) if len(found) > 1 and max(found) > 0 else None


def responsive_percent(record: Record) -> float | None:
    """Return the goodput of all bulk flows in percent of the link's rate."""
    found = _bulk(record)
    return 100 * sum(found) / _rate_mbps(record) if found else None


def _rate_mbps(record: Record) -> float:
    return lines.rate_mbps(str(record["scenario"]["bottleneck"]["rate"]))


def offered_percent(record: Record) -> float | None:
    """Return the rate of all datagrams that are sent at a constant rate, in percent of the link's rate."""
    rates = [
        lines.rate_mbps(str(one["rate"])) for one in record["scenario"]["traffic"] if one["kind"] == worlds.CONSTANT
    ]
    return 100 * sum(rates) / _rate_mbps(record)


def recovery_ms(record: Record) -> float | None:
    """Return how long the queue's delay stays above the target after the last change of the load.

    The load changes when traffic starts or stops, and at each ``[[change]]``. None without a series of the delay.
    """
    series, last = record.get("series"), _last_change_s(record)
    if series is None:
        return None
    target = lines.target_ms(record["queues"]["down"]["qdisc"]) or USUAL_TARGET_MS
    at = [(time, delay or 0.0) for time, delay in _delays(record) if time >= last]
    above = next((time for time, delay in at if delay > target), None)
    if above is None:
        return 0.0
    below = next((time for time, delay in at if time > above and delay <= target), None)
    return 1000 * ((below if below is not None else at[-1][0]) - last)


def _last_change_s(record: Record) -> float:
    scenario = record["scenario"]
    times = [one.get(key) for one in scenario["traffic"] for key in ("start", "stop")]
    times += [one["at"] for one in scenario.get("change") or ()]
    end = seconds(scenario["duration"])
    return max((at for text in times if text is not None and (at := seconds(text)) < end), default=0.0)


def _delays(record: Record) -> list[tuple[float, float | None]]:
    series = record["series"]
    assert series is not None
    delays = series["queues"]["down"]["delay_ms"]
    return list(zip(series["time_s"], delays, strict=True))


def after_percent(record: Record) -> float | None:
    """Return the goodput of the bulk flows from 2 to 12 s after the last change of the load, in percent of the rate.

    None without a series, or if the run ends before.
    """
    series, begin = record.get("series"), _last_change_s(record) + 2
    if series is None or seconds(record["scenario"]["duration"]) < begin + 10:
        return None
    flows = [one["goodput_mbps"] for one in series["flows"] if one["name"].startswith(f"{traffic.BULK}/")]
    at = [n for n, time in enumerate(series["time_s"]) if begin < time <= begin + 10]
    rates = [lines.rate_mbps(str(one["rate"])) for one in record["scenario"].get("change") or () if one.get("rate")]
    goodput = sum(flow[n] or 0.0 for flow in flows for n in at) / len(at)
    return 100 * goodput / (rates[-1] if rates else _rate_mbps(record))


def oscillation(record: Record) -> float | None:
    """Return how often the delay crosses its own mean by half of it or more, per second, after the warm-up."""
    if record.get("series") is None:
        return None
    begin = seconds(record["scenario"]["warmup"])
    found = [delay or 0.0 for time, delay in _delays(record) if time >= begin]
    if len(found) < 2 or not (mean := sum(found) / len(found)):
        return None
    sides = [1 if delay > 1.5 * mean else -1 for delay in found if not 0.5 * mean <= delay <= 1.5 * mean]
    crossings = sum(1 for one, other in pairwise(sides) if one != other)
    return crossings / (seconds(record["scenario"]["duration"]) - begin)


OWN: dict[str, Pick] = {
    pick.__name__: pick
    for pick in (
        delay_targets,
        delay_p95_targets,
        share,
        responsive_percent,
        offered_percent,
        recovery_ms,
        after_percent,
        oscillation,
    )
}
"""The numbers that are made for conditions, by name."""

OF_SERIES = ("recovery_ms", "after_percent", "oscillation")
"""Those that need series."""


def find(name: str, place: Place = "") -> Pick:
    """Return the function that picks the number ``name`` of a record.

    The name is one of `OWN`, a metric, or a path in the record. Raises UserError with ``place``.
    """
    if name in OWN:
        return OWN[name]
    if (known := metrics.by_key().get(name)) is not None:
        return known.pick
    if "." not in name:
        accepted = f"{', '.join(OWN)}, a metric as delay_p95_ms, or a path in the record as flows.0.goodput_mbps"
        raise UserError(place, f"found the number {quoted(name)}; accepted: {accepted}")
    if why := check_path(name):
        raise UserError(place, f"found the number {quoted(name)}: {why}")
    return metrics.find([name])[0].pick
