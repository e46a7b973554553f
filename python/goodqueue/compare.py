"""Comparisons: several disciplines on one scenario, over common seeds."""

import copy
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from goodqueue import run, stats
from goodqueue.record import Record, Scenario, delay_of
from goodqueue.stats import Estimate


@dataclass(frozen=True, slots=True)
class Metric:
    """One number of a record that disciplines are compared by."""

    key: str
    """Its name in JSON, with the unit."""
    label: str
    unit: str
    better: str
    """``low``, ``high``, or empty where neither is better in itself."""
    pick: Callable[[Record], float | None]


def _delay(key: str) -> Callable[[Record], float | None]:
    def pick(record: Record) -> float | None:
        return delay_of(record["queues"]["down"], key)

    return pick


def _goodput(record: Record) -> float | None:
    flows = [flow["goodput_mbps"] for flow in record["flows"] if flow["direction"] == "down"]
    return sum(flows) if flows else None


def _ping(record: Record) -> float | None:
    values = [(app.get("rtt_ms") or {}).get("p95") for app in record["apps"] if app["kind"] == "ping"]
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _jain(record: Record) -> float | None:
    """Return Jain's index of the flows that compete for the link: bulk, on the way down."""
    shares = [flow["goodput_mbps"] for flow in record["flows"] if (flow["kind"], flow["direction"]) == ("bulk", "down")]
    return stats.jain(shares)


METRICS = (
    Metric("delay_mean_ms", "delay mean", "ms", "low", _delay("mean")),
    Metric("delay_p50_ms", "delay p50", "ms", "low", _delay("p50")),
    Metric("delay_p95_ms", "delay p95", "ms", "low", _delay("p95")),
    Metric("delay_p99_ms", "delay p99", "ms", "low", _delay("p99")),
    Metric("utilisation_percent", "utilisation", "%", "high", lambda r: r["queues"]["down"]["utilisation_percent"]),
    Metric("goodput_mbps", "goodput", "Mbit/s", "high", _goodput),
    Metric("drop_percent", "drops", "%", "", lambda r: r["queues"]["down"]["drop_percent"]),
    Metric("mark_percent", "marks", "%", "", lambda r: r["queues"]["down"]["mark_percent"]),
    Metric("ping_rtt_p95_ms", "ping p95", "ms", "low", _ping),
    Metric("jain_goodput", "Jain", "", "high", _jain),
)
"""What is compared. Delay, utilisation, drops and marks are those of the ``down`` queue; goodput is the sum of the
flows in that direction, Jain's index that of its bulk flows."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One discipline of a comparison."""

    qdisc: str
    """Its line as it was asked for."""
    resolved: str
    """Its line with every parameter."""
    values: dict[str, list[float | None]]
    """Metric to its value for each seed."""
    estimates: dict[str, Estimate | None]
    differences: dict[str, Estimate | None]
    """Metric to the paired difference from the first discipline."""
    delay_percentiles_ms: list[float] | None
    """Queueing delay of all seeds pooled: 101 numbers."""
    texts: list[str]
    """The records as the core wrote them, one a seed."""
    records: list[Record]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Disciplines side by side."""

    scenario: Scenario
    """What all of them shared, as resolved; without the qdisc and the seed."""
    seeds: list[int]
    entries: list[Entry]

    def seen(self) -> list[Metric]:
        """Return the metrics that at least one discipline has, and marks only where there are any."""
        shown = []
        for metric in METRICS:
            values = [value for entry in self.entries for value in entry.values[metric.key] if value is not None]
            if values and (metric.key != "mark_percent" or any(values)):
                shown.append(metric)
        return shown

    def spread_is_nil(self) -> bool:
        """Whether every seed gave the same numbers: then the scenario draws nothing at random."""
        runs = [values for entry in self.entries for values in entry.values.values()]
        return len(self.seeds) > 1 and all(len(set(values)) == 1 for values in runs)


def scenarios(base: Scenario, qdiscs: Sequence[str], seeds: Sequence[int]) -> list[Scenario]:
    """Return a copy of ``base`` for each discipline and each seed: all seeds of the first, then of the second."""
    result = []
    for line in qdiscs:
        for seed in seeds:
            scenario = copy.deepcopy(base)
            scenario["bottleneck"]["qdisc"] = line
            scenario["seed"] = seed
            result.append(scenario)
    return result


def compare(
    base: Scenario,
    qdiscs: Sequence[str],
    seeds: Sequence[int],
    workers: int | None = None,
    progress: run.Progress | None = None,
) -> Comparison:
    """Run ``base`` with each of ``qdiscs`` on each of ``seeds`` and compare them.

    Raises goodqueue._goodqueue.ScenarioError where a scenario is refused.
    """
    texts = run.many(scenarios(base, qdiscs, seeds), workers, progress)
    return summarise(base, qdiscs, seeds, texts)


def summarise(base: Scenario, qdiscs: Sequence[str], seeds: Sequence[int], texts: Sequence[str]) -> Comparison:
    """Return the comparison of the records ``texts``, which are in the order of `scenarios` of ``base``."""
    n = len(seeds)
    entries: list[Entry] = []
    for position, line in enumerate(qdiscs):
        own = list(texts[position * n : (position + 1) * n])
        records: list[Record] = [json.loads(text) for text in own]
        values = {metric.key: [metric.pick(record) for record in records] for metric in METRICS}
        reference = entries[0].values if entries else values
        queues = [record["queues"]["down"] for record in records]
        entries.append(
            Entry(
                qdisc=line,
                resolved=queues[0]["qdisc"],
                values=values,
                estimates={key: stats.estimate([v for v in got if v is not None]) for key, got in values.items()},
                differences={key: stats.paired(got, reference[key]) for key, got in values.items()},
                delay_percentiles_ms=stats.pool_percentiles([queue["delay_percentiles_ms"] for queue in queues]),
                texts=own,
                records=records,
            )
        )
    return Comparison(_shared(base, entries[0].records[0]["scenario"]), list(seeds), entries)


def _shared(base: Scenario, resolved: Scenario) -> Scenario:
    """Return ``resolved`` without what differs from run to run: the seed, the qdiscs, and limits made from a buffer."""
    shared = {key: value for key, value in copy.deepcopy(resolved).items() if key != "seed"}
    wanted = base["bottleneck"]
    for table, asked in ((shared["bottleneck"], wanted), (shared["bottleneck"].get("up", {}), wanted.get("up") or {})):
        if table is shared["bottleneck"] or "qdisc" not in asked:
            table.pop("qdisc", None)
        if "buffer" in asked:
            table["buffer"] = copy.deepcopy(asked["buffer"])
    return shared


def as_json(comparison: Comparison, version: str) -> dict[str, Any]:
    """Return ``comparison`` as the object that ``compare --json`` prints and ``results.json`` holds."""
    return {
        "schema": 1,
        "made_by": "goodqueue compare",
        "version": version,
        "scenario": comparison.scenario,
        "seeds": comparison.seeds,
        "confidence": stats.CONFIDENCE,
        "qdiscs": [
            {
                "qdisc": entry.qdisc,
                "resolved": entry.resolved,
                "metrics": {
                    key: _estimate_json(estimate) | {"values": entry.values[key]}
                    for key, estimate in entry.estimates.items()
                },
                "difference_from_first": {key: _estimate_json(estimate) for key, estimate in entry.differences.items()},
                "delay_percentiles_ms": entry.delay_percentiles_ms,
            }
            for entry in comparison.entries
        ],
    }


def _estimate_json(estimate: Estimate | None) -> dict[str, Any]:
    if estimate is None:
        return {"mean": None, "ci": None, "n": 0}
    ci = None if estimate.half_width is None else [estimate.low, estimate.high]
    return {"mean": estimate.mean, "ci": ci, "n": estimate.n}
