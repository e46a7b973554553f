"""Executes the runs of a study on all cores, and keeps of each record only the numbers that the study needs."""

import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace

from goodqueue import executors, running
from goodqueue.engines import identity
from goodqueue.engines.identity import Run
from goodqueue.measures import steady
from goodqueue.record import Record
from goodqueue.record.dotted import walk
from goodqueue.store import Store, completing
from goodqueue.studies import measuring
from goodqueue.studies.computing import Course
from goodqueue.studies.measuring import Measurement
from goodqueue.studies.model import Cell, Experiment, Metric
from goodqueue.studies.planning import Plan, batches, cost
from goodqueue.studies.published import At

Numbers = Mapping[tuple[str, str], Mapping[str, float | Course | None]]
"""The numbers by metric, by the key of the run and the id of the experiment."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A cell with its measurements."""

    cell: Cell
    seeds: tuple[int, ...]
    qdisc: str
    """The line with every parameter."""
    numbers: Mapping[str, Measurement]
    """By the experiment's name of the metric."""
    start: steady.Start | None
    """How long the start of its runs shows, and None if they have no series that say so."""
    packed: tuple[bytes, ...]
    """The compressed texts of the records, one per seed, if the experiment keeps them. Parsed, hundreds of records with
    time series would take gigabytes."""

    def placed(self) -> Iterator[tuple[Metric, At, Measurement]]:
        """Yield each number with its metric and its point."""
        for name, number in self.numbers.items():
            metric = self.cell.experiment.metrics[name]
            if not set(metric.pooled) & metric.at.keys() & self.cell.at.keys():  # else a part of the pooled number
                yield metric, {**self.cell.at, **metric.at}, number

    @property
    def records(self) -> Iterator[Record]:
        """The records, one per seed, if the experiment keeps them. Each is parsed when it is needed."""
        for text in self.packed:
            record: Record = json.loads(zlib.decompress(text))
            yield record


def execute(
    plan: Plan,
    workers: int | None = None,
    progress: running.Progress | None = None,
    store: Store | None = None,
    warn: Callable[[str], None] = lambda _: None,
) -> list[Measured]:
    """Run ``plan`` and return its cells with their numbers, in the plan's order. Pooled cells come after them.

    The result does not depend on the number of ``workers``. A ``store`` keeps each run as soon as it ends, and a run
    that it holds already is not repeated. ``warn`` is called for broken files. On Ctrl-C the current runs stop and
    KeyboardInterrupt is raised. Raises OSError if a record cannot be stored.
    """
    readers: dict[str, list[Experiment]] = {}
    for position, cell in enumerate(plan.cells):
        others = [key for (at, _), keys in plan.beside.items() if at == position for key in keys]
        for key in (*plan.runs[position], *others):
            users = readers.setdefault(key, [])
            if cell.experiment not in users:
                users.append(cell.experiment)
    numbers: dict[tuple[str, str], dict[str, float | Course | None]] = {}
    lines: dict[str, str] = {}
    courses: dict[str, steady.Course] = {}
    packed: dict[str, bytes] = {}

    def seen(key: str, text: str) -> None:
        record: Record = json.loads(text)
        lines[key] = record["queues"]["down"]["qdisc"]
        if "series" in record and steady.is_constant(record["scenario"]):
            courses[key] = steady.course(record)
        for experiment in readers[key]:
            of_run = {name: measuring.of_record(metric, record) for name, metric in experiment.metrics.items()}
            others = {name: metric.to_record for name, metric in experiment.metrics.items() if metric.to_record}
            numbers[key, experiment.id] = of_run | {_other(name): walk(record, path) for name, path in others.items()}
            if experiment.keep_records:
                packed[key] = zlib.compress(text.encode(), level=1)

    _do(plan, workers, progress, store, warn, seen)
    cells = [_measured_cell(plan, position, numbers, lines, courses, packed) for position in range(len(plan.cells))]
    return [*(_without_spreads(cell) for cell in cells), *_pooled(cells)]


def _other(name: str) -> str:
    """Return the key of the number with which the metric ``name`` is compared, if that is another number."""
    return f"{name}, to"


def _measured_cell(
    plan: Plan,
    position: int,
    numbers: Numbers,
    lines: Mapping[str, str],
    courses: Mapping[str, steady.Course],
    packed: Mapping[str, bytes],
) -> Measured:
    cell, keys = plan.cells[position], plan.runs[position]
    id_ = cell.experiment.id

    def runs(name: str, metric: Metric) -> list[float | None]:
        values = measuring.at_peak([numbers[key, id_][name] for key in keys])
        if metric.beside:
            there = _other(name) if metric.to_record else name
            others = measuring.at_peak([numbers[key, id_][there] for key in plan.beside[position, metric.beside]])
            values = [measuring.set_against(metric, value, other) for value, other in zip(values, others, strict=True)]
        if metric.distance_from:
            reference = cell.point.get(metric.distance_from)
            values = [
                abs(value - reference) if isinstance(reference, int | float) and value is not None else None
                for value in values
            ]
        return values

    return Measured(
        cell=cell,
        seeds=plan.seeds[id_],
        qdisc=lines[keys[0]],
        numbers={
            name: measuring.over_seeds(metric, runs(name, metric)) for name, metric in cell.experiment.metrics.items()
        },
        start=steady.start([courses[key] for key in keys]) if keys[0] in courses else None,
        packed=tuple(packed[key] for key in keys) if cell.experiment.keep_records else (),
    )


def _without_spreads(measured: Measured) -> Measured:
    """Return ``measured`` without the metrics that have no meaning at a single point."""
    declared = measured.cell.experiment.metrics
    return replace(
        measured, numbers={name: number for name, number in measured.numbers.items() if not declared[name].spread}
    )


def _pooled(cells: Sequence[Measured]) -> Iterator[Measured]:
    """Yield one cell per group that differs only in parameters that a metric joins: one number for all their points."""
    for experiment in {id(cell.cell.experiment): cell.cell.experiment for cell in cells}.values():
        of_experiment = [cell for cell in cells if cell.cell.experiment is experiment]
        for name, metric in experiment.metrics.items():
            if not metric.joined:
                continue
            pooled_cells = [
                cell
                for cell in of_experiment
                if all(cell.cell.at.get(key) in at for key, at in metric.pooled_at.items())
            ]
            if metric.pooled:
                pooled_cells = list(_joined(pooled_cells, name, metric.pooled, metric.pooled_as))
            yield from _joined(pooled_cells, name, metric.spread, "range") if metric.spread else pooled_cells


def _joined(cells: Sequence[Measured], name: str, parameters: Sequence[str], how: str) -> Iterator[Measured]:
    """Yield the metric ``name`` of ``cells`` over the points of ``parameters``, joined by the method ``how``."""
    groups: dict[tuple[str, str, str], list[Measured]] = {}
    for cell in cells:
        if set(parameters) <= cell.cell.at.keys():
            rest = sorted((key, str(value)) for key, value in cell.cell.at.items() if key not in parameters)
            groups.setdefault((cell.cell.scenario, cell.cell.algorithm, str(rest)), []).append(cell)
    for group in groups.values():
        first = group[0].cell
        places = [cell.cell.at[parameters[0]] for cell in group]
        runs = measuring.pool(how, [cell.numbers[name].runs for cell in group], places)
        at = {key: value for key, value in first.at.items() if key not in parameters}
        number = measuring.over_seeds(first.experiment.metrics[name], runs)
        start = max((cell.start for cell in group if cell.start), default=None)
        yield replace(group[0], cell=replace(first, at=at), numbers={name: number}, start=start, packed=())


def _do(
    plan: Plan,
    workers: int | None,
    progress: running.Progress | None,
    store: Store | None,
    warn: Callable[[str], None],
    seen: Callable[[str, str], None],
) -> None:
    """Call ``seen`` with each run's key and record, one batch at a time."""
    whole = sum(map(cost, plan.scenarios.values())) or 1.0
    done = 0.0
    local = executors.local(workers)
    for batch in batches(plan, list(plan.scenarios)):
        weight = sum(cost(plan.scenarios[key]) for key in batch)

        def note(share: float, done: float = done, weight: float = weight) -> None:
            if progress:
                progress((done + share * weight) / whole)

        def shown(_: int, note: running.Progress = note) -> AbstractContextManager[running.Progress]:
            return nullcontext(note)

        runs = [identity.of(plan.engine, plan.scenarios[key]) for key in batch]
        of_run = {run.key: key for run, key in zip(runs, batch, strict=True)}

        def took(run: Run, text: str, of_run: Mapping[str, str] = of_run) -> None:
            seen(of_run[run.key], text)

        completing.complete(store, runs, local, took, shown, warn=warn)
        done += weight
