"""Carries out a sweep: executes the missing runs, adds seeds until the goal is reached, and returns all measurements.

The runs of a cell depend only on the cell's own values, so a sweep that is killed and started again ends the same.
"""

import bisect
import itertools
import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from goodqueue import executors, running
from goodqueue.engines import identity
from goodqueue.engines.identity import Maker, Run
from goodqueue.errors import one_line
from goodqueue.measures import measured, metrics, stats
from goodqueue.measures.metrics import DIRECTIONS, Metric
from goodqueue.record import Record, Scenario
from goodqueue.store import Store, completing
from goodqueue.sweeps import compact
from goodqueue.sweeps.compact import Numbers
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


class _Measured(NamedTuple):
    """The numbers that are kept of a record."""

    qdisc: str
    values: Numbers
    """The numbers of all metrics, not only of those asked for. They decide whether all seeds are equal."""
    delay_percentiles_ms: Mapping[str, Sequence[float | None] | None]
    """By direction, the percentiles of the queueing delay."""


@dataclass(slots=True)
class _Cell:
    """A cell in progress."""

    keys: list[str]
    """The keys of its runs, one per seed."""
    made_by: Maker | None = None
    scenario_hash: str = ""
    measured: dict[int, _Measured] = field(default_factory=dict)
    """The measurements by the number of the seed, until all are there."""
    values: Values | None = None
    """What the cell has in the end."""


@dataclass(slots=True)
class _State:
    """The state of a sweep in progress."""

    cells: list[_Cell]
    places: dict[str, int] = field(default_factory=dict)
    """The cell of each run, by the run's key."""
    twins: dict[str, list[int]] = field(default_factory=dict)
    """Further cells of a run: two values may mean the same, as 10ms and 0.01s do."""
    errors: dict[str, str] = field(default_factory=dict)
    """The errors by the key of the failed run."""
    computed: int = 0


class _Runs(Sequence[Run]):
    """The runs of some cells from a seed on. Each is made when it is asked for: there may be a million."""

    def __init__(self, plan: Plan, state: _State, positions: Sequence[int], firsts: Sequence[int]) -> None:
        """``firsts`` are the numbers of the first seeds of the cells at ``positions``."""
        self._plan, self._state, self._positions, self._firsts = plan, state, positions, firsts
        counts = (len(state.cells[at].keys) - first for at, first in zip(positions, firsts, strict=True))
        self._ends = list(itertools.accumulate(counts))

    def __len__(self) -> int:
        """Return the number of runs."""
        return self._ends[-1] if self._ends else 0

    def __getitem__(self, place: Any) -> Any:
        """Return the run at ``place``."""
        index = bisect.bisect_right(self._ends, place)
        begin = self._ends[index - 1] if index else 0
        return self._run(self._positions[index], self._firsts[index] + place - begin)

    def __iter__(self) -> Iterator[Run]:
        """Yield the runs, cell by cell."""
        for position, first in zip(self._positions, self._firsts, strict=True):
            for number in range(first, len(self._state.cells[position].keys)):
                yield self._run(position, number)

    def _run(self, position: int, number: int) -> Run:
        cell, plan = self._state.cells[position], self._plan
        assert cell.made_by is not None
        scenario: Scenario = {**(plan.cells[position].scenario or {}), "seed": plan.first_seed + number}
        return Run(plan.engine, scenario, cell.made_by, cell.keys[number], cell.scenario_hash)


def carry_out(
    plan: Plan, store: Store | None, execute: executors.Executor, show: Show, warn: Callable[[str], None]
) -> tuple[Sweep, int]:
    """Execute the runs of ``plan`` that ``store`` lacks. Return all measurements, and the number of new runs.

    A failed run leaves its cell with an error, and the others continue. Raises OSError if a record cannot be written,
    UserError if the executor is lost.
    """
    from goodqueue._goodqueue import VERSION

    state = _State([_Cell([]) for _ in plan.cells])
    growing = [position for position, cell in enumerate(plan.cells) if cell.scenario]
    firsts = [0] * len(growing)
    counts = [plan.seeds] * len(growing)
    while growing:
        for position, count in zip(growing, counts, strict=True):
            _add_seeds(plan, state, position, count)
        _do(plan, _Runs(plan, state, growing, firsts), state, store, execute, show, warn)
        grown = [(position, count) for position in growing if (count := _grown(plan, state, position))]
        growing, counts = [position for position, _ in grown], [count for _, count in grown]
        firsts = [len(state.cells[position].keys) for position in growing]
    state.places.clear()
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
        cells=[_values(plan, state, position) for position in range(len(plan.cells))],
        against=plan.against,
        correct=plan.correct,
        mixes=plan.mixes,
    )
    return sweep, state.computed - len(state.errors)


def _add_seeds(plan: Plan, state: _State, position: int, count: int) -> None:
    """Plan the runs of a cell up to ``count``. Every cell has the same seeds, and so the same random draws."""
    scenario, cell = plan.cells[position].scenario, state.cells[position]
    assert scenario is not None
    seeds = range(plan.first_seed + len(cell.keys), plan.first_seed + count)
    for run in identity.of_seeds(plan.engine, scenario, seeds):
        cell.made_by, cell.scenario_hash = run.made_by, run.scenario_hash
        cell.keys.append(run.key)
        if (first := state.places.setdefault(run.key, position)) != position:
            state.twins.setdefault(run.key, [first]).append(position)


def _do(
    plan: Plan,
    wanted: _Runs,
    state: _State,
    store: Store | None,
    execute: executors.Executor,
    show: Show,
    warn: Callable[[str], None],
) -> None:
    def seen(run: Run, text: str) -> None:
        record: Record = json.loads(text)
        delays = {
            direction: compact.percentiles(record["queues"][direction]["delay_percentiles_ms"])
            for direction in DIRECTIONS
        }
        values = Numbers({key: (value,) for key, value in metrics.numbers(record, plan.metrics).items()})
        measured_run = _Measured(sys.intern(record["queues"]["down"]["qdisc"]), values, delays)
        for position in state.twins.get(run.key) or (state.places[run.key],):
            cell = state.cells[position]
            cell.measured[run.seed - plan.first_seed] = measured_run
            if plan.goal is None and len(cell.measured) == len(cell.keys):  # with a goal it may have more seeds
                cell.values = _values(plan, state, position)
                cell.measured.clear()

    def failed(run: Run, error: BaseException) -> None:
        text = str(error) if isinstance(error, ValueError) or type(error).__name__ == "UserError" else repr(error)
        state.errors[run.key] = one_line(f"seed {run.seed}: {text}")

    def missing(count: int) -> AbstractContextManager[running.Progress]:
        return show(f"{count} of {len(wanted)} runs")

    state.computed += completing.complete(store, wanted, execute, seen, missing, failed, warn)


def _grown(plan: Plan, state: _State, position: int) -> int:
    """Return how many seeds a cell needs that has not reached the goal and may have more, or 0."""
    goal, cell = plan.goal, state.cells[position]
    count = len(cell.keys)
    if goal is None or not state.errors.keys().isdisjoint(cell.keys) or count >= goal.most:
        return 0
    estimate = _estimate(goal, cell)
    if estimate is None or estimate.half_width is None or reached(goal, estimate):
        return 0
    aim = abs(estimate.mean) * goal.percent / 100
    # The half-width shrinks about as 1 / sqrt(n). An early guess may be far off, so the number at most doubles.
    needed = math.ceil(min(2.0 * count, count * (estimate.half_width / aim) ** 2)) if aim else 2 * count
    return min(goal.most, max(count + 1, needed))


def _estimate(goal: Goal, cell: _Cell) -> stats.Estimate | None:
    values = [cell.measured[number].values[goal.metric][0] for number in range(len(cell.keys))]
    return stats.estimate([value for value in values if value is not None])


def reached(goal: Goal, estimate: stats.Estimate | None) -> bool:
    """Return whether an estimate is as precise as ``goal`` requires."""
    if estimate is None or estimate.half_width is None:
        return False
    return estimate.half_width <= abs(estimate.mean) * goal.percent / 100


def _values(plan: Plan, state: _State, position: int) -> Values:
    """Return what a cell has in the end. The measurements of its runs may be gone afterwards."""
    cell, runs = plan.cells[position], state.cells[position]
    if runs.values is not None:
        return runs.values
    error = cell.error or next((state.errors[key] for key in runs.keys if key in state.errors), None)
    if error is not None:
        return Values(cell, None, (), {}, {}, False, error, False if plan.goal else None)
    measured_runs = [runs.measured[number] for number in range(len(runs.keys))]
    every = Numbers.joined([run_values.values for run_values in measured_runs])
    chosen = [metric.key for metric in plan.metrics]
    return Values(
        cell=cell,
        qdisc=measured_runs[0].qdisc,
        keys=tuple(runs.keys),
        values=every if [*every] == chosen else Numbers({key: every[key] for key in chosen}),
        delay_percentiles_ms={
            direction: compact.percentiles(
                stats.pool_percentiles([run_values.delay_percentiles_ms[direction] for run_values in measured_runs])
            )
            for direction in DIRECTIONS
        },
        is_nil=measured.is_nil(every),
        error=None,
        reached=reached(plan.goal, _estimate(plan.goal, runs)) if plan.goal else None,
    )
