"""Comparisons: several disciplines on one scenario, over common seeds, on one engine or on several side by side."""

import copy
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from goodqueue import engines, run, stats
from goodqueue.record import Record, Scenario, statistic, times_of
from goodqueue.scenario import seconds
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
        return statistic(record["queues"]["down"]["delay_ms"], key)

    return pick


def _goodput(record: Record) -> float | None:
    flows = [flow["goodput_mbps"] for flow in record["flows"] if flow["direction"] == "down"]
    return sum(flows) if flows else None


def _apps(kind: str, name: str) -> Callable[[Record], float | None]:
    """Return what picks the number ``name`` of the times of applications of ``kind``: of several, their mean."""

    def pick(record: Record) -> float | None:
        values = [times_of(app).get(name) for app in record["apps"] if app["kind"] == kind]
        known = [value for value in values if value is not None]
        return sum(known) / len(known) if known else None

    return pick


def _calls(key: str) -> Callable[[Record], float | None]:
    """Return what picks the number ``key`` of calls: of several, their mean."""

    def pick(record: Record) -> float | None:
        found: list[Any] = [app.get(key) for app in record["apps"] if app["kind"] == "voip"]
        known = [value for value in found if value is not None]
        return sum(known) / len(known) if known else None

    return pick


def _stalled(record: Record) -> float | None:
    """Return how long streams stalled, of the measured time."""
    waits = [app["stalled_ms"] for app in record["apps"] if app["kind"] == "stream"]
    scenario = record["scenario"]
    measured_s = seconds(scenario["duration"]) - seconds(scenario["warmup"])
    return sum(waits) / len(waits) / measured_s / 10 if waits else None


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
    Metric("ping_rtt_p95_ms", "ping p95", "ms", "low", _apps("ping", "p95")),
    Metric("completion_p50_ms", "transfer p50", "ms", "low", _apps("transfer", "p50")),
    Metric("completion_p95_ms", "transfer p95", "ms", "low", _apps("transfer", "p95")),
    Metric("response_p95_ms", "rr p95", "ms", "low", _apps("rr", "p95")),
    Metric("chunk_delay_p95_ms", "stream p95", "ms", "low", _apps("stream", "p95")),
    Metric("voip_delay_p95_ms", "voip p95", "ms", "low", _apps("voip", "p95")),
    Metric("voip_loss_percent", "voip loss", "%", "low", _calls("loss_percent")),
    Metric("voip_mos", "MOS", "", "high", _calls("mos")),
    Metric("page_load_mean_ms", "page mean", "ms", "low", _apps("page", "mean")),
    Metric("page_load_p95_ms", "page p95", "ms", "low", _apps("page", "p95")),
    Metric("stalled_percent", "stalled", "%", "low", _stalled),
    Metric("jain_goodput", "Jain", "", "high", _jain),
)
"""What is compared. Delay, utilisation, drops and marks are those of the ``down`` queue; goodput is the sum of the
flows in that direction, Jain's index that of its bulk flows. Applications' times are means over those of a kind."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One discipline of a comparison, on one engine."""

    qdisc: str
    """Its line as it was asked for."""
    engine: str
    label: str
    """What a person calls it: the line, and the engine too where the comparison has several."""
    resolved: str
    """Its line with every parameter."""
    values: dict[str, list[float | None]]
    """Metric to its value for each seed."""
    estimates: dict[str, Estimate | None]
    differences: dict[str, Estimate | None]
    """Metric to the paired difference from the first discipline on the same engine."""
    engine_differences: dict[str, Estimate | None] | None
    """Metric to the paired difference from the same discipline on the first engine; None on the first engine."""
    delay_percentiles_ms: list[float] | None
    """Queueing delay of all seeds pooled: 101 numbers."""
    texts: list[str]
    """The records as the engine wrote them, one a seed."""
    records: list[Record]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Disciplines side by side."""

    scenario: Scenario
    """What all of them shared, as resolved; without the qdisc and the seed."""
    seeds: list[int]
    engines: list[str]
    entries: list[Entry]
    """By discipline, then by engine."""

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
    on: Sequence[str] = ("sim",),
) -> Comparison:
    """Run ``base`` with each of ``qdiscs`` on each of ``seeds``, on each of the engines ``on``, and compare them.

    Raises goodqueue._goodqueue.ScenarioError where a scenario is refused, UserError where an engine refuses or fails.
    """
    runs = scenarios(base, qdiscs, seeds)
    texts: dict[str, list[str]] = {}
    for engine in on:

        def note(share: float, done: int = len(texts)) -> None:
            if progress:
                progress((done + share) / len(on))

        texts[engine] = engines.run_many(engine, runs, workers, note)
    return summarise(base, qdiscs, seeds, texts)


def summarise(
    base: Scenario, qdiscs: Sequence[str], seeds: Sequence[int], texts: Mapping[str, Sequence[str]]
) -> Comparison:
    """Return the comparison of the records ``texts`` of each engine, which are in the order of `scenarios`."""
    n = len(seeds)
    entries: list[Entry] = []
    for position, line in enumerate(qdiscs):
        for engine, found in texts.items():
            own = list(found[position * n : (position + 1) * n])
            label = line if len(texts) == 1 else f"{line} ({engine})"
            entries.append(_entry(line, engine, label, own, entries))
    return Comparison(_shared(base, entries[0].records[0]["scenario"]), list(seeds), list(texts), entries)


def _entry(qdisc: str, engine: str, label: str, texts: list[str], before: Sequence[Entry]) -> Entry:
    """Return the entry of the records ``texts``; it differs from those ``before`` it, of which it may be the first."""
    records: list[Record] = [json.loads(text) for text in texts]
    values = {metric.key: [metric.pick(record) for record in records] for metric in METRICS}
    queues = [record["queues"]["down"] for record in records]

    def differences(reference: Entry | None) -> dict[str, Estimate | None]:
        other = reference.values if reference else values
        return {key: stats.paired(got, other[key]) for key, got in values.items()}

    on_first = [entry for entry in before if entry.engine == before[0].engine != engine]
    return Entry(
        qdisc=qdisc,
        engine=engine,
        label=label,
        resolved=queues[0]["qdisc"],
        values=values,
        estimates={key: stats.estimate([v for v in got if v is not None]) for key, got in values.items()},
        differences=differences(next((entry for entry in before if entry.engine == engine), None)),
        engine_differences=differences(on_first[-1]) if on_first else None,
        delay_percentiles_ms=stats.pool_percentiles([queue["delay_percentiles_ms"] for queue in queues]),
        texts=texts,
        records=records,
    )


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
        "engines": comparison.engines,
        "seeds": comparison.seeds,
        "confidence": stats.CONFIDENCE,
        "qdiscs": [
            {
                "qdisc": entry.qdisc,
                "engine": entry.engine,
                "resolved": entry.resolved,
                "metrics": {
                    key: estimate_json(estimate) | {"values": entry.values[key]}
                    for key, estimate in entry.estimates.items()
                },
                "difference_from_first": _differences_json(entry.differences),
                "difference_from_first_engine": _differences_json(entry.engine_differences),
                "delay_percentiles_ms": entry.delay_percentiles_ms,
            }
            for entry in comparison.entries
        ],
    }


def _differences_json(differences: Mapping[str, Estimate | None] | None) -> dict[str, Any] | None:
    if differences is None:
        return None
    return {key: estimate_json(estimate) for key, estimate in differences.items()}


def estimate_json(estimate: Estimate | None) -> dict[str, Any]:
    """Return an estimate as results.json holds it: mean, ends of the interval (``ci``) and ``n``."""
    if estimate is None:
        return {"mean": None, "ci": None, "n": 0}
    ci = None if estimate.half_width is None else [estimate.low, estimate.high]
    return {"mean": estimate.mean, "ci": ci, "n": estimate.n}
