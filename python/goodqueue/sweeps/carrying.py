"""Carries out a sweep: executes the missing runs, adds seeds until the goal is reached, and returns all measurements.

The runs of a cell depend only on the cell's own values, so a sweep that is killed and started again ends the same.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from goodqueue import executors, running
from goodqueue.engines import identity
from goodqueue.engines.identity import Run
from goodqueue.errors import one_line
from goodqueue.measures import measured, metrics, stats
from goodqueue.measures.metrics import DIRECTIONS, Metric
from goodqueue.record import Record, Scenario
from goodqueue.store import Store, completing
from goodqueue.sweeps.grid import Axis, Cell, Mix
from goodqueue.sweeps.result import Goal, Sweep, Values

Show = Callable[[str], AbstractContextManager[running.Progress]]
"""Called with a description of some work. Returns the display of its progress."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The runs to make."""

    name: str
    """The scenario's file."""
    base: Scenario
    """The scenario as in the file, unresolved."""
    axes: Sequence[Axis]
    cells: Sequence[Cell]
    engine: str
    metrics: Sequence[Metric]
    first_seed: int
    seeds: int
    """The number of seeds per cell. With a goal, the first number."""
    goal: Goal | None
    against: tuple[str, str] | None = None
    """The baseline of the differences: a key and its value."""
    correct: str = ""
    mixes: Sequence[Mix] = ()
    """The mixes of traffic that are an axis."""


@dataclass(frozen=True, slots=True)
class _Measured:
    """The numbers that are kept of a record."""

    qdisc: str
    values: Mapping[str, float | None]
    """The numbers of all metrics, not only of those asked for. They decide whether all seeds are equal."""
    delay_percentiles_ms: Mapping[str, Sequence[float | None] | None]
    """By direction, the percentiles of the queueing delay."""


@dataclass(slots=True)
class _State:
    """The state of a sweep in progress."""

    counts: list[int]
    """The number of seeds of each cell."""
    measured: dict[str, _Measured] = field(default_factory=dict)
    """The measurements by the key of the run."""
    errors: dict[str, str] = field(default_factory=dict)
    """The errors by the key of the failed run."""
    computed: int = 0


def carry_out(
    plan: Plan, store: Store | None, execute: executors.Executor, show: Show, warn: Callable[[str], None]
) -> tuple[Sweep, int]:
    """Execute the runs of ``plan`` that ``store`` lacks. Return all measurements, and the number of new runs.

    A failed run leaves its cell with an error, and the others continue. Raises OSError if a record cannot be written,
    UserError if the executor is lost.
    """
    from goodqueue._goodqueue import VERSION

    state = _State([plan.seeds if cell.scenario else 0 for cell in plan.cells])
    runs: list[list[Run]] = [[] for _ in plan.cells]
    growing = list(range(len(plan.cells)))
    while growing:
        for position in growing:
            runs[position] = _runs(plan, position, state.counts[position])
        missing_runs = [
            planned for position in growing for planned in runs[position] if planned.key not in state.measured
        ]
        _do(plan, missing_runs, state, store, execute, show, warn)
        growing = [position for position in growing if _grow(plan, runs[position], position, state)]
    build = identity.build() if plan.engine == "sim" else None
    sweep = Sweep(
        name=plan.name,
        scenario=plan.base,
        engine=plan.engine,
        version=VERSION,
        build=build,
        axes=plan.axes,
        metrics=plan.metrics,
        first_seed=plan.first_seed,
        seeds=plan.seeds,
        goal=plan.goal,
        cells=[_values(plan, cell, run, state) for cell, run in zip(plan.cells, runs, strict=True)],
        against=plan.against,
        correct=plan.correct,
        mixes=plan.mixes,
    )
    return sweep, state.computed - len(state.errors)


def _runs(plan: Plan, position: int, count: int) -> list[Run]:
    """Return the first ``count`` runs of a cell. Every cell has the same seeds, and so the same random draws."""
    scenario = plan.cells[position].scenario
    seeds = range(plan.first_seed, plan.first_seed + count)
    return [identity.of(plan.engine, {**scenario, "seed": seed}) for seed in seeds] if scenario else []


def _do(
    plan: Plan,
    runs: Sequence[Run],
    state: _State,
    store: Store | None,
    execute: executors.Executor,
    show: Show,
    warn: Callable[[str], None],
) -> None:
    def seen(run: Run, text: str) -> None:
        record: Record = json.loads(text)
        delays = {direction: record["queues"][direction]["delay_percentiles_ms"] for direction in DIRECTIONS}
        values = metrics.numbers(record, plan.metrics)
        state.measured[run.key] = _Measured(record["queues"]["down"]["qdisc"], values, delays)

    def failed(run: Run, error: BaseException) -> None:
        text = str(error) if isinstance(error, ValueError) or type(error).__name__ == "UserError" else repr(error)
        state.errors[run.key] = one_line(f"seed {run.seed}: {text}")

    def missing(count: int) -> AbstractContextManager[running.Progress]:
        return show(f"{count} of {len(runs)} runs")

    state.computed += completing.complete(store, runs, execute, seen, missing, failed, warn)


def _grow(plan: Plan, runs: Sequence[Run], position: int, state: _State) -> bool:
    """Add seeds to a cell that has not reached the goal and may have more. Return whether any were added."""
    goal, count = plan.goal, len(runs)
    if goal is None or not runs or any(run.key in state.errors for run in runs) or count >= goal.most:
        return False
    estimate = _estimate(goal, runs, state)
    if estimate is None or estimate.half_width is None or reached(goal, estimate):
        return False
    aim = abs(estimate.mean) * goal.percent / 100
    # The half-width shrinks about as 1 / sqrt(n). An early guess may be far off, so the number at most doubles.
    needed = math.ceil(min(2.0 * count, count * (estimate.half_width / aim) ** 2)) if aim else 2 * count
    state.counts[position] = min(goal.most, max(count + 1, needed))
    return True


def _estimate(goal: Goal, runs: Sequence[Run], state: _State) -> stats.Estimate | None:
    values = [state.measured[run.key].values[goal.metric] for run in runs]
    return stats.estimate([value for value in values if value is not None])


def reached(goal: Goal, estimate: stats.Estimate | None) -> bool:
    """Return whether an estimate is as precise as ``goal`` requires."""
    if estimate is None or estimate.half_width is None:
        return False
    return estimate.half_width <= abs(estimate.mean) * goal.percent / 100


def _values(plan: Plan, cell: Cell, runs: Sequence[Run], state: _State) -> Values:
    error = cell.error or next((state.errors[run.key] for run in runs if run.key in state.errors), None)
    if error is not None:
        return Values(cell, None, (), {}, {}, False, error, False if plan.goal else None)
    measured_runs = [state.measured[run.key] for run in runs]
    every = measured.of([run_values.values for run_values in measured_runs])
    return Values(
        cell=cell,
        qdisc=measured_runs[0].qdisc,
        keys=tuple(run.key for run in runs),
        values={metric.key: every[metric.key] for metric in plan.metrics},
        delay_percentiles_ms={
            direction: stats.pool_percentiles(
                [run_values.delay_percentiles_ms[direction] for run_values in measured_runs]
            )
            for direction in DIRECTIONS
        },
        is_nil=measured.is_nil(every),
        error=None,
        reached=reached(plan.goal, _estimate(plan.goal, runs, state)) if plan.goal else None,
    )
