"""Groups of repeats for figures of stored records, with their samples and values."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from goodqueue import traffic
from goodqueue.measures import metrics, numbers, stats
from goodqueue.measures.metrics import DIRECTIONS, METRICS, Metric
from goodqueue.record import Record
from goodqueue.record.reading import source_of, statistic

DISTRIBUTIONS = {
    "delay_ms": "queueing delay",
    "up_delay_ms": "queueing delay, up",
    "ping_rtt_ms": "round-trip time of pings",
}
"""The distributions within a run, all in ms."""


@dataclass(frozen=True, slots=True)
class Group:
    """Repeats of the same run."""

    label: str
    records: list[Record]
    panel: str = ""
    """The title of the panel in which the group is drawn, if a figure has several."""

    def values(self, metric: Metric) -> list[float]:
        """Return the values of all runs that have one."""
        return [value for record in self.records if (value := metric.pick(record)) is not None]


def groups(records: Sequence[Record], labels: Sequence[str]) -> list[Group]:
    """Return the records grouped by label, in the order in which the labels first occur."""
    by_label: dict[str, list[Record]] = {}
    for record, label in zip(records, labels, strict=True):
        by_label.setdefault(label, []).append(record)
    return [Group(label, repeats) for label, repeats in by_label.items()]


def labels_of(groups: Sequence[Group]) -> list[str]:
    """Return the labels of ``groups`` without repetitions."""
    return list(dict.fromkeys(group.label for group in groups))


def loaded(groups: Sequence[Group]) -> tuple[str, ...]:
    """Return the directions that are loaded in at least one group, which a figure shows by default."""
    keys = {
        metrics.of_direction(name, direction)
        for direction in DIRECTIONS
        for name in ("utilisation_percent", "delay_p95_ms")
    }
    needed = [metric for metric in METRICS if metric.key in keys]
    return metrics.loaded([{metric.key: group.values(metric) for metric in needed} for group in groups])


def distribution(what: str, groups: Sequence[Group]) -> str:
    """Return the axis label for one of `DISTRIBUTIONS`."""
    if what == "ping_rtt_ms":
        return DISTRIBUTIONS[what]
    return f"queueing delay{metrics.said(metrics.split(what)[0], loaded(groups))}"


def words_of(metric: Metric, groups: Sequence[Group]) -> str:
    """Return the words for ``metric`` at an axis: ``goodput of mine`` for a path to a part that has that name."""
    part, _, rest = metric.key.partition(".")
    at, _, number = rest.partition(".")
    if metric.label != metric.key or not at.isdecimal():
        return metrics.label(metric, loaded(groups))
    names = {_name(record, part, int(at)) for group in groups for record in group.records}
    name = names.pop() if len(names) == 1 else None
    words = re.sub(r"_(ms|s|mbps|percent)\b", "", number).replace("_", " ").replace(".", " ")
    return f"{words} of {name}" if name else metric.label


def _name(record: Record, part: str, at: int) -> str | None:
    """Return the name of a flow or an application, without its number if it has no others of that name beside it."""
    listed: Any = record.get(part)
    names = [entry.get("name") for entry in listed or []]
    if at >= len(names) or not names[at]:
        return None
    first, _, number = str(names[at]).rpartition("/")
    return first if number == "0" and f"{first}/1" not in names else names[at]


def directed(key: str, groups: Sequence[Group]) -> str:
    """Return ``key``, of a metric, a series or a distribution of the down queue, for the loaded direction."""
    return metrics.of_direction(key, loaded(groups)[0])


def repeats(groups: Sequence[Group]) -> str:
    """Return the number of runs per group, in words."""
    counts = sorted({len(group.records) for group in groups})
    few = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"n = {few} run{'s' if counts[-1] > 1 else ''} each"


def percentiles(group: Group, what: str) -> list[float] | None:
    """Return the 0th to the 100th percentile of all runs' distributions, each run with the same weight, or None.

    ``what`` is a key of `DISTRIBUTIONS`.
    """
    if what == "ping_rtt_ms":
        return stats.pool_percentiles([_ping_percentiles(record) for record in group.records])
    direction, _ = metrics.split(what)
    return stats.pool_percentiles([record["queues"][direction]["delay_percentiles_ms"] for record in group.records])


def _ping_percentiles(record: Record) -> list[float | None] | None:
    import numpy as np

    begin, end = measured_s(record)
    rtts = [
        rtt
        for ping in record.get("series", {}).get("pings", [])
        for sent, rtt in zip(ping["sent_s"], ping["rtt_ms"], strict=True)
        if begin <= sent <= end
    ]
    return [float(value) for value in np.percentile(rtts, range(101))] if rtts else None


def measured_s(record: Record) -> tuple[float, float]:
    """Return begin and end of the time that the record's statistics cover, in seconds of the run."""
    from goodqueue.scenario import seconds

    if source := source_of(record):
        begin, end = source["measured_s"]
        return begin, end
    scenario = record["scenario"]
    return seconds(scenario.get("warmup", "0s")), seconds(scenario["duration"])


def axes(groups: Sequence[Group]) -> tuple[Metric, Metric] | None:
    """Return the latency and the goodput that most runs have, or None if no run has both.

    The latency is the mean round trip of pings, or else the mean queueing delay of the loaded direction, or else the
    mean round trip that TCP measured, which is all that iperf3 has. The goodput is that of all flows in the loaded
    direction, or else of the other one.
    """
    pairs = [(across, up) for across in _latencies(groups) for up in _goodputs(groups)]
    records = [record for group in groups for record in group.records]
    counts = [sum(both(across, up, record) is not None for record in records) for across, up in pairs]
    return pairs[counts.index(max(counts))] if any(counts) else None


def both(across: Metric, up: Metric, record: Record) -> tuple[float, float] | None:
    """Return the two numbers of a record, or None if it has not both. A latency of 0 has no place on a logarithm."""
    latency, goodput = across.pick(record), up.pick(record)
    return (latency, goodput) if latency and goodput is not None else None


def _latencies(groups: Sequence[Group]) -> list[Metric]:
    probe = traffic.probe().name
    pick = metrics.times(probe, "mean")
    (queue,) = numbers.find([directed("delay_mean_ms", groups)])
    words = f"mean queueing delay{metrics.said(queue.direction, loaded(groups))}"
    return [
        Metric("ping_rtt_mean_ms", "mean round-trip time of pings", "ms", "low", pick, app=probe),
        Metric(queue.key, words, "ms", "low", queue.pick, direction=queue.direction),
        Metric("tcp_rtt_mean_ms", "mean round-trip time of TCP", "ms", "low", _tcp_rtt_ms),
    ]


def _tcp_rtt_ms(record: Record) -> float | None:
    return metrics.mean(statistic(flow["rtt_ms"], "mean") for flow in record["flows"])


def _goodputs(groups: Sequence[Group]) -> list[Metric]:
    """Return the goodput of each direction, the loaded ones first. The label names one, unless all flows go down."""
    directions = {flow["direction"] for group in groups for record in group.records for flow in record["flows"]}
    places = [direction for direction in dict.fromkeys((*loaded(groups), *DIRECTIONS)) if direction in directions]
    of_directions = numbers.find([metrics.of_direction("goodput_mbps", direction) for direction in places])
    return [
        Metric(
            metric.key,
            f"goodput{metrics.said(direction, directions)}",
            metric.unit,
            metric.better,
            metric.pick,
            direction=direction,
        )
        for direction, metric in zip(places, of_directions, strict=True)
    ]
