"""Doing the runs, on all cores, and keeping of each record only the numbers that the study asks for."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from goodqueue import engines, run
from goodqueue.record import Record
from goodqueue.studies import metrics
from goodqueue.studies.metrics import Measurement
from goodqueue.studies.model import Cell, Experiment
from goodqueue.studies.planning import Plan, batches, cost


@dataclass(frozen=True, slots=True)
class Measured:
    """A cell with what it measured."""

    cell: Cell
    seeds: tuple[int, ...]
    qdisc: str
    """The line with every parameter."""
    numbers: Mapping[str, Measurement]
    """By metric."""
    records: tuple[Record, ...]
    """One a seed, where the experiment keeps them."""


def execute(plan: Plan, workers: int | None = None, progress: run.Progress | None = None) -> list[Measured]:
    """Run ``plan`` and return its cells with their numbers, in the plan's order.

    The result is the same with any number of ``workers``. On Ctrl-C the runs under way stop and KeyboardInterrupt is
    raised.
    """
    readers: dict[str, list[Experiment]] = {}
    for position, cell in enumerate(plan.cells):
        for key in plan.runs[position]:
            users = readers.setdefault(key, [])
            if cell.experiment not in users:
                users.append(cell.experiment)
    numbers: dict[tuple[str, str], dict[str, float | None]] = {}
    lines: dict[str, str] = {}
    kept: dict[str, Record] = {}
    for key, record in _records(plan, workers, progress):
        lines[key] = record["queues"]["down"]["qdisc"]
        for experiment in readers[key]:
            found = {name: metrics.of_record(metric, record) for name, metric in experiment.metrics.items()}
            numbers[key, experiment.id] = found
            if experiment.keep_records:
                kept[key] = record
    return [_measured(plan, position, numbers, lines, kept) for position in range(len(plan.cells))]


def _measured(
    plan: Plan,
    position: int,
    numbers: Mapping[tuple[str, str], Mapping[str, float | None]],
    lines: Mapping[str, str],
    kept: Mapping[str, Record],
) -> Measured:
    cell, keys = plan.cells[position], plan.runs[position]
    own = [numbers[key, cell.experiment.id] for key in keys]
    return Measured(
        cell=cell,
        seeds=plan.seeds[cell.experiment.id],
        qdisc=lines[keys[0]],
        numbers={
            name: metrics.over_seeds(metric, [one[name] for one in own])
            for name, metric in cell.experiment.metrics.items()
        },
        records=tuple(kept[key] for key in keys) if cell.experiment.keep_records else (),
    )


def _records(plan: Plan, workers: int | None, progress: run.Progress | None) -> Iterator[tuple[str, Record]]:
    """Yield each run's key and record, a batch at a time: records with single packets are large."""
    whole = sum(map(cost, plan.scenarios.values())) or 1.0
    done = 0.0
    for batch in batches(plan, list(plan.scenarios)):
        weight = sum(cost(plan.scenarios[key]) for key in batch)

        def note(share: float, done: float = done, weight: float = weight) -> None:
            if progress:
                progress((done + share * weight) / whole)

        texts = engines.run_many(plan.engine, [plan.scenarios[key] for key in batch], workers, note)
        done += weight
        for key, text in zip(batch, texts, strict=True):
            yield key, json.loads(text)
