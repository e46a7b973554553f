"""What stored records give a figure: groups of repeats, and their samples, values and series."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from goodqueue import stats
from goodqueue.metrics import Metric
from goodqueue.record import Record, statistic

DISTRIBUTIONS = {"delay_ms": "queueing delay", "ping_rtt_ms": "round-trip time of pings"}
"""What there is a distribution of within a run, both in ms."""

SERIES = {
    "delay_ms": ("queueing delay", "ms"),
    "ping_rtt_ms": ("round-trip time of pings", "ms"),
    "goodput_mbps": ("goodput of all flows", "Mbit/s"),
    "cwnd_packets": ("mean congestion window", "packets"),
}
"""What there is a time series of, and its unit."""

Values = list[float | None]


@dataclass(frozen=True, slots=True)
class Group:
    """Repeats of one thing."""

    label: str
    records: list[Record]

    def values(self, metric: Metric) -> list[float]:
        """Return a number of each run that has one."""
        return [value for one in self.records if (value := metric.pick(one)) is not None]


def groups(records: Sequence[Record], labels: Sequence[str]) -> list[Group]:
    """Return the records that are called the same together, in the order in which they came."""
    found: dict[str, list[Record]] = {}
    for one, label in zip(records, labels, strict=True):
        found.setdefault(label, []).append(one)
    return [Group(label, own) for label, own in found.items()]


def repeats(found: Sequence[Group]) -> str:
    """Return how many runs there are of each group."""
    counts = sorted({len(group.records) for group in found})
    few = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"n = {few} run{'s' if counts[-1] > 1 else ''} each"


def percentiles(group: Group, what: str) -> list[float] | None:
    """Return the 0th to the 100th percentile of all runs' distributions, each run with the same weight, or None."""
    if what == "delay_ms":
        return stats.pool_percentiles([one["queues"]["down"]["delay_percentiles_ms"] for one in group.records])
    return stats.pool_percentiles([_ping_percentiles(one) for one in group.records])


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
    """Return begin and end of the time that the record's statistics are of, in seconds of the run."""
    from goodqueue.scenario import seconds

    if flent := record.get("flent"):
        begin, end = flent["measured_s"]
        return begin, end
    scenario = record["scenario"]
    return seconds(scenario.get("warmup", "0s")), seconds(scenario["duration"])


def latency(found: Sequence[Group]) -> Metric | None:
    """Return the latency that all runs have: the mean round trip of pings or, failing that, the mean queueing delay."""
    ping = Metric("ping_rtt_mean_ms", "mean round-trip time of pings", "ms", "low", _mean_ping)
    queue = Metric("delay_mean_ms", "mean queueing delay", "ms", "low", _mean_delay)
    for metric in (ping, queue):
        if all(metric.pick(one) is not None for group in found for one in group.records):
            return metric
    return None


def _mean_ping(record: Record) -> float | None:
    means = [statistic(app.get("rtt_ms"), "mean") for app in record["apps"] if app["kind"] == "ping"]
    known = [mean for mean in means if mean is not None]
    return sum(known) / len(known) if known else None


def _mean_delay(record: Record) -> float | None:
    delay = record["queues"]["down"]["delay_ms"]
    return delay["mean"] if delay else None


def goodput(found: Sequence[Group]) -> Metric:
    """Return the goodput of all flows in the direction that has any: down, else up."""
    ways = {flow["direction"] for group in found for one in group.records for flow in one["flows"]}
    way = "down" if "down" in ways else "up"

    def pick(record: Record) -> float | None:
        flows = [flow["goodput_mbps"] for flow in record["flows"] if flow["direction"] == way]
        return sum(flows) if flows else None

    return Metric("goodput_mbps", f"goodput {way}", "Mbit/s", "high", pick)


def series(record: Record, what: str) -> tuple[list[float], Values] | None:
    """Return times in s and values of one of `SERIES`; None where the record has none."""
    found = record.get("series")
    if found is None or not found["time_s"]:
        return None
    names = {flow["name"] for flow in record["flows"]}  # a ping has a series as a flow has, and is none
    flows = [flow for flow in found["flows"] if flow["name"] in names]
    pick: dict[str, Callable[[], Values]] = {
        "delay_ms": lambda: list(found["queues"]["down"]["delay_ms"]),
        "ping_rtt_ms": lambda: _ping_means(record, found["time_s"]),
        "goodput_mbps": lambda: _over([flow["goodput_mbps"] for flow in flows], False),
        "cwnd_packets": lambda: _over([flow["cwnd_packets"] for flow in flows], True),
    }
    values = pick[what]()
    return (found["time_s"], values) if any(value is not None for value in values) else None


def _over(flows: Sequence[Sequence[float | None]], mean: bool) -> Values:
    """Return the sum, or the mean, of what the flows have at each time."""
    points = ([value for value in point if value is not None] for point in zip(*flows, strict=True))
    return [sum(point) / (len(point) if mean else 1) if point else None for point in points]


def _ping_means(record: Record, ends: Sequence[float]) -> Values:
    """Return the mean of the round trips that ended within each interval."""
    import numpy as np

    pings = record.get("series", {}).get("pings", [])
    home = [(sent + rtt / 1e3, rtt) for ping in pings for sent, rtt in zip(ping["sent_s"], ping["rtt_ms"], strict=True)]
    places = np.searchsorted(np.asarray(ends), [at for at, _ in home])
    sums, counts = np.zeros(len(ends) + 1), np.zeros(len(ends) + 1)
    np.add.at(sums, places, [rtt for _, rtt in home])
    np.add.at(counts, places, 1)
    return [float(total / count) if count else None for total, count in zip(sums[:-1], counts[:-1], strict=True)]
