"""The delay of a queue in multiples of its target, and how often it swings."""

from functools import cache, partial
from itertools import pairwise

from goodqueue import _goodqueue
from goodqueue.measures.metrics import Metric
from goodqueue.measures.needs import SERIES
from goodqueue.record import Record
from goodqueue.record.reading import statistic
from goodqueue.scenario import seconds

USUAL_TARGET_MS = 5.0
"""CoDel's target (RFC 8289, section 4.4). A line without a target is compared with it."""


@cache
def target_ms(line: str) -> float | None:
    """Return the target of the discipline of a canonical ``line`` in milliseconds, or None if it has none."""
    words = line.split()
    if "target" not in words[:-1]:
        return None
    return _goodqueue.time_ns(words[words.index("target") + 1]) / 1e6


def target_of(record: Record) -> float:
    """Return the target of the queue down, or the usual one."""
    return target_ms(record["queues"]["down"]["qdisc"] or "") or USUAL_TARGET_MS


def _in_targets(key: str, record: Record) -> float | None:
    delay = statistic(record["queues"]["down"]["delay_ms"], key)
    return None if delay is None else delay / target_of(record)


def delays(record: Record) -> list[tuple[float, float | None]]:
    """Return the end (s) and the mean delay (ms) of each interval of the series, down. Empty without a series.

    The delay is None in an interval in which no packet left.
    """
    series = record.get("series")
    queue = series["queues"].get("down") if series else None
    return list(zip(series["time_s"], queue["delay_ms"], strict=True)) if series and queue else []


def oscillation(record: Record) -> float | None:
    """Return how often the delay crosses its own mean by half of it or more, per second, after the warm-up."""
    begin = seconds(record["scenario"]["warmup"])
    values = [delay or 0.0 for time, delay in delays(record) if time >= begin]
    if len(values) < 2 or not (mean := sum(values) / len(values)):
        return None
    sides = [1 if delay > 1.5 * mean else -1 for delay in values if not 0.5 * mean <= delay <= 1.5 * mean]
    crossings = sum(1 for side, other in pairwise(sides) if side != other)
    return crossings / (seconds(record["scenario"]["duration"]) - begin)


_TARGETS = "targets: the delay down as a multiple of the line's target, or of 5 ms if it has none"

NUMBERS = (
    Metric("delay_targets", "delay mean", "targets", "low", partial(_in_targets, "mean"), note=_TARGETS),
    Metric("delay_p95_targets", "delay p95", "targets", "low", partial(_in_targets, "p95"), note=_TARGETS),
    Metric(
        "oscillation",
        "swings",
        "per s",
        "low",
        oscillation,
        note="swings: how often the delay down crosses its mean by half of it. A study's window_oscillation_percent "
        "is about a flow's goodput instead",
        needs=(SERIES,),
    ),
)
