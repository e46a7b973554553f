"""Compares several disciplines on one scenario, over common seeds, on one engine or on several side by side."""

import copy
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from goodqueue import engines, running
from goodqueue._goodqueue import VERSION
from goodqueue.measures import measured, metrics, stats, steady
from goodqueue.measures.metrics import DIRECTIONS, METRICS, Metric
from goodqueue.measures.ratios import Ratio
from goodqueue.measures.stats import Estimate, EstimateJson
from goodqueue.record import Record, Scenario
from goodqueue.scenario import seconds
from goodqueue.show import labels


@dataclass(frozen=True, slots=True)
class Entry:
    """One discipline of a comparison, on one engine."""

    qdisc: str
    """Its line as it was given."""
    engine: str
    name: str
    """The discipline's name for a person, the same on all engines."""
    label: str
    """The entry's name for a person: the discipline, and the engine too if the comparison has several."""
    resolved: str
    """Its line, or the lines of both directions, with every parameter."""
    values: dict[str, list[float | None]]
    """The values of each metric, one per seed."""
    is_nil: bool
    """Whether there are several seeds and every seed gave the same numbers."""
    estimates: dict[str, Estimate | None]
    differences: dict[str, Estimate | None]
    """The paired difference of each metric from the reference, or the first discipline, on the same engine."""
    engine_differences: dict[str, Estimate | None] | None
    """The paired difference of each metric from the same discipline on the first engine. None on the first engine."""
    delay_percentiles_ms: dict[str, list[float] | None]
    """By direction, the 101 percentiles of the queueing delay of all seeds pooled."""
    texts: list[str]
    """The records as the engine wrote them, one per seed."""
    records: list[Record]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Several disciplines side by side."""

    scenario: Scenario
    """The resolved scenario that all of them shared, without the qdisc and the seed."""
    seeds: list[int]
    engines: list[str]
    entries: list[Entry]
    """Sorted by discipline, then by engine."""

    metrics: Sequence[Metric]
    """The metrics that were asked for, or all metrics."""
    against: str = ""
    """The line from which the others differ. If empty, the first."""
    correct: str = ""
    """The correction of the stars for the number of comparisons: none, or ``holm``."""
    settled_s: Mapping[str, float] = field(default_factory=dict)
    """The time after which the simulator's runs of each line are stationary, in seconds. Empty: it was not judged."""

    @property
    def moving_s(self) -> dict[str, float]:
        """The lines whose start shows for more than half of the run, with the time for which it shows."""
        whole_s = seconds(self.scenario["duration"])
        return {line: after for line, after in self.settled_s.items() if steady.Start(after, whole_s).is_most}

    @property
    def reference(self) -> str:
        """The line of the discipline from which the others differ."""
        return self.against or self.entries[0].qdisc

    @property
    def is_asked(self) -> bool:
        """Whether somebody chose the metrics."""
        return metrics.are_asked(self.metrics)

    def loaded(self) -> tuple[str, ...]:
        """Return the loaded directions. Tables, figures and sentences are about them."""
        return metrics.loaded([entry.values for entry in self.entries])

    def shown(self) -> list[Metric]:
        """Return the metrics to show: those asked for, or those of the loaded directions and the applications."""
        return metrics.shown(self.metrics, [entry.values for entry in self.entries], self.loaded())

    def spread_is_nil(self) -> bool:
        """Return whether every seed gave the same numbers, so that the scenario draws nothing at random."""
        return all(entry.is_nil for entry in self.entries)


def scenarios(base: Scenario, qdiscs: Sequence[str], seeds: Sequence[int]) -> list[Scenario]:
    """Return a copy of ``base`` for each discipline and each seed: all seeds of the first, then of the second.

    A discipline is one line, or one line per direction: ``codel / fq_codel``.
    """
    result = []
    for line in qdiscs:
        for seed in seeds:
            scenario = copy.deepcopy(base)
            down, *up = labels.directions(line)
            scenario["bottleneck"]["qdisc"] = down
            if up:
                scenario["bottleneck"].setdefault("up", {})["qdisc"] = up[0]
            scenario["seed"] = seed
            result.append(scenario)
    return result


def compare(
    base: Scenario,
    qdiscs: Sequence[str],
    seeds: Sequence[int],
    workers: int | None = None,
    progress: running.Progress | None = None,
    on: Sequence[str] = ("sim",),
    shown: Sequence[Metric] = METRICS,
    against: str = "",
    correct: str = "",
) -> Comparison:
    """Run ``base`` with each of ``qdiscs`` on each of ``seeds``, on each of the engines ``on``, and compare them.

    ``shown`` are the metrics that somebody asked for, if any. ``against`` and ``correct`` are those of `Comparison`.

    Raises goodqueue._goodqueue.ScenarioError if a scenario is refused, and UserError if an engine refuses or fails.
    """
    runs = scenarios(base, qdiscs, seeds)
    texts: dict[str, list[str]] = {}
    settled_s: dict[str, float] = {}
    for engine in on:

        def note(share: float, done: int = len(texts)) -> None:
            if progress:
                progress((done + share) / len(on))

        is_judged = engine == "sim" and steady.is_constant(base)
        is_asked = "series" in base
        recorded = [steady.with_series(run) if is_judged and not is_asked else run for run in runs]
        texts[engine] = engines.run_many(engine, recorded, workers, note)
        if is_judged:
            for at, line in enumerate(qdiscs):
                of_line = texts[engine][at * len(seeds) : (at + 1) * len(seeds)]
                settled_s[line] = steady.settled_s([json.loads(text) for text in of_line])
            if not is_asked:
                texts[engine] = [steady.without_series(text) for text in texts[engine]]
    return replace(summarise(base, qdiscs, seeds, texts, shown, against, correct), settled_s=settled_s)


def summarise(
    base: Scenario,
    qdiscs: Sequence[str],
    seeds: Sequence[int],
    texts: Mapping[str, Sequence[str]],
    shown: Sequence[Metric] = METRICS,
    against: str = "",
    correct: str = "",
) -> Comparison:
    """Return the comparison of the records ``texts`` of each engine, which have the order of `scenarios`."""
    n, names = len(seeds), labels.called(qdiscs)
    entries: list[Entry] = []
    for position, line in enumerate(qdiscs):
        for engine, engine_texts in texts.items():
            own_texts = list(engine_texts[position * n : (position + 1) * n])
            label = names[line] if len(texts) == 1 else f"{names[line]} ({engine})"
            entries.append(_entry(line, engine, names[line], label, own_texts, entries, shown))
    if against:
        references = {entry.engine: entry for entry in entries if entry.qdisc == against}
        entries = [replace(entry, differences=_paired(entry, references[entry.engine])) for entry in entries]
    shared = _shared(base, entries[0].records[0]["scenario"])
    return Comparison(shared, list(seeds), list(texts), entries, shown, against, correct)


def _paired(entry: Entry, reference: Entry) -> dict[str, Estimate | None]:
    """Return the paired difference of each metric of ``entry`` from ``reference``."""
    both = entry.is_nil and reference.is_nil
    return {key: measured.difference(entry.values, reference.values, key, both) for key in entry.values}


def _entry(
    qdisc: str, engine: str, name: str, label: str, texts: list[str], before: Sequence[Entry], shown: Sequence[Metric]
) -> Entry:
    """Return the entry of the records ``texts``, with its differences from the entries ``before`` it, if any."""
    records: list[Record] = [json.loads(text) for text in texts]
    values = measured.of([metrics.numbers(record, shown) for record in records])
    nil = measured.is_nil(values)

    def differences(reference: Entry | None) -> dict[str, Estimate | None]:
        other = reference.values if reference else values
        both = nil and (reference is None or reference.is_nil)
        return {key: measured.difference(values, other, key, both) for key in values}

    on_first = [entry for entry in before if entry.engine == before[0].engine != engine]
    return Entry(
        qdisc=qdisc,
        engine=engine,
        name=name,
        label=label,
        resolved=labels.BOTH.join(
            records[0]["queues"][direction]["qdisc"] for direction in DIRECTIONS[: len(labels.directions(qdisc))]
        ),
        values=values,
        is_nil=nil,
        estimates={key: measured.estimate(values, key, nil) for key in values},
        differences=differences(next((entry for entry in before if entry.engine == engine), None)),
        engine_differences=differences(on_first[-1]) if on_first else None,
        delay_percentiles_ms={
            direction: stats.pool_percentiles(
                [record["queues"][direction]["delay_percentiles_ms"] for record in records]
            )
            for direction in DIRECTIONS
        },
        texts=texts,
        records=records,
    )


def _shared(base: Scenario, resolved: Scenario) -> Scenario:
    """Return ``resolved`` without the keys that differ between runs: seed, qdiscs, limits computed from a buffer."""
    shared = {key: value for key, value in copy.deepcopy(resolved).items() if key != "seed"}
    bottleneck = base["bottleneck"]
    for table, asked_table in (
        (shared["bottleneck"], bottleneck),
        (shared["bottleneck"].get("up", {}), bottleneck.get("up") or {}),
    ):
        if table is shared["bottleneck"] or "qdisc" not in asked_table:
            table.pop("qdisc", None)
        if "buffer" in asked_table:
            table["buffer"] = copy.deepcopy(asked_table["buffer"])
    return shared


def as_json(comparison: Comparison) -> dict[str, Any]:
    """Return ``comparison`` as the object that ``compare --json`` prints and that ``results.json`` holds."""
    return {
        "schema": 1,
        "made_by": "goodqueue compare",
        "version": VERSION,
        "scenario": comparison.scenario,
        "engines": comparison.engines,
        "seeds": comparison.seeds,
        "confidence": stats.CONFIDENCE,
        "loaded": list(comparison.loaded()),
        **({"against": comparison.against} if comparison.against else {}),
        **({"correct": comparison.correct} if comparison.correct else {}),
        **({"not_stationary_s": comparison.moving_s} if comparison.moving_s else {}),
        "qdiscs": [
            {
                "qdisc": entry.qdisc,
                "engine": entry.engine,
                "resolved": entry.resolved,
                "metrics": {
                    key: estimate_json(estimate) | {"values": entry.values[key]}
                    for key, estimate in entry.estimates.items()
                },
                "difference_from_against" if comparison.against else "difference_from_first": _differences_json(
                    entry.differences
                ),
                "difference_from_first_engine": _differences_json(entry.engine_differences),
                "delay_percentiles_ms": entry.delay_percentiles_ms["down"],
                "up_delay_percentiles_ms": entry.delay_percentiles_ms["up"],
            }
            for entry in comparison.entries
        ],
    }


def _differences_json(differences: Mapping[str, Estimate | None] | None) -> dict[str, Any] | None:
    if differences is None:
        return None
    return {key: difference_json(estimate) for key, estimate in differences.items()}


def difference_json(estimate: Estimate | None) -> dict[str, Any]:
    """Return a paired difference in the format of results.json: with ``p`` and the effect size ``d_z``, too."""
    data: dict[str, Any] = {**estimate_json(estimate)}
    return data | {"p": estimate.p, "d_z": estimate.effect} if estimate else data


def estimate_json(estimate: Estimate | None) -> EstimateJson:
    """Return an estimate in the format of results.json: ``mean``, the ends of the interval (``ci``) and ``n``."""
    if estimate is None:
        return {"mean": None, "ci": None, "n": 0}
    ci = None if estimate.half_width is None else [estimate.low, estimate.high]
    return {"mean": estimate.mean, "ci": ci, "n": estimate.n}


def ratio_json(ratio: Ratio | None) -> dict[str, Any] | None:
    """Return a ratio in the format of results.json: ``value``, the ends of its interval (``ci``) and ``n``."""
    if ratio is None:
        return None
    return {"value": ratio.value, "ci": None if ratio.low is None else [ratio.low, ratio.high], "n": ratio.n}
