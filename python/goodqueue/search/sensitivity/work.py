"""Which keys of a scenario matter: Sobol's indices (Saltelli et al., 2010), or Morris's effects (Campolongo, 2007).

SALib draws the points and computes the indices. Each point is run with the same seeds, so that what differs between
two points is what their keys do.
"""

import copy
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from goodqueue import executors, extras
from goodqueue.engines import identity, loads
from goodqueue.engines.identity import Run
from goodqueue.errors import Option, UserError, quoted
from goodqueue.measures import numbers
from goodqueue.measures.metrics import Metric
from goodqueue.record import Record, Scenario
from goodqueue.search import ranges
from goodqueue.search.ranges import Range
from goodqueue.store import Store, completing

METHODS = ("sobol", "morris")

SAMPLES = {"sobol": 128, "morris": 20}
"""The default of ``--samples``: Sobol's base sample, and Morris's trajectories."""

LEVELS = 4
"""The levels of Morris's grid."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The points to run."""

    name: str
    base: Scenario
    """The scenario as in the file."""
    ranges: Sequence[Range]
    metrics: Sequence[Metric]
    method: str
    samples: int
    seeds: Sequence[int]
    points: Any
    """SALib's sample: one row per point, one column per key, from 0 to 1."""
    problem: dict[str, Any]
    values: Sequence[Sequence[float]]
    """The value of each key at each point."""


@dataclass(frozen=True, slots=True)
class Index:
    """How much a key matters for a metric."""

    key: str
    first: float
    """Sobol: the share of the variance that the key explains alone. Morris: the mean of its absolute effects."""
    first_half: float
    """The half-width of the 95 % interval."""
    total: float
    """Sobol: that share with all interactions. Morris: the standard deviation of its effects."""
    total_half: float | None


@dataclass(frozen=True, slots=True)
class Indices:
    """The result."""

    plan: Plan
    runs: int
    indices: Mapping[str, Sequence[Index]]
    """By the key of the metric, in the order of the ranges."""
    spread: dict[str, tuple[float, float, float]]
    """By the key of the metric: the least, the mean and the greatest value over all points."""


def plan(
    name: str, base: Scenario, varied: Sequence[Range], metrics: Sequence[Metric], method: str, samples: int | None,
    seeds: int, seed: int,
) -> Plan:  # fmt: skip
    """Return the plan. Raises UserError if a value at an end of a range is refused."""
    extras.needed("SALib", "sensitivity")
    if method not in METHODS:
        raise UserError(Option("method", method), f"accepted: {', '.join(METHODS)}")
    if len(varied) < 2:
        raise UserError(Option("vary"), f"found {len(varied)}; accepted: two ranges at least, {ranges.ACCEPTED}")
    count = samples if samples is not None else SAMPLES[method]
    if method == "sobol" and count & (count - 1):
        raise UserError(Option("samples", str(count)), f"found {quoted(count)}; accepted: a power of 2, for sobol")
    keys = [range_.key for range_ in varied]
    problem = {"num_vars": len(keys), "names": keys, "bounds": [[0.0, 1.0]] * len(keys)}
    points = _points(problem, method, count, seed)
    values = [[range_.at(float(share)) for range_, share in zip(varied, row, strict=True)] for row in points]
    planned = Plan(name, base, varied, metrics, method, count, range(seed, seed + seeds), points, problem, values)
    numbers.check(metrics, [_scenario(planned, [range_.at(end) for range_ in varied]) for end in (0.0, 1.0)])
    return planned


def _points(problem: dict[str, Any], method: str, count: int, seed: int) -> Any:
    if method == "sobol":
        from SALib.sample import sobol

        return sobol.sample(problem, count, calc_second_order=False, seed=seed)
    from SALib.sample import morris

    return morris.sample(problem, count, num_levels=LEVELS, seed=seed)


def _scenario(planned: Plan, values: Sequence[float]) -> Scenario:
    scenario = copy.deepcopy(planned.base)
    ranges.put(scenario, planned.ranges, values)
    return loads.resolve(scenario, planned.name, {range_.key: Option("vary", range_.said) for range_ in planned.ranges})


def carry_out(
    planned: Plan, store: Store | None, execute: executors.Executor, progress: Callable[[float], None]
) -> Indices:
    """Run all points and compute the indices. Raises UserError if a point is refused, or has no number."""
    runs_of = [
        [identity.of("sim", {**_scenario(planned, row), "seed": seed}) for seed in planned.seeds]
        for row in planned.values
    ]
    numbers: dict[str, Sequence[float | None]] = {}

    def seen(run: Run, text: str) -> None:
        record: Record = json.loads(text)
        numbers[run.key] = [metric.pick(record) for metric in planned.metrics]

    completing.complete(
        store, [run for row in runs_of for run in row], execute, seen, lambda _count: nullcontext(progress)
    )
    indices, spread = {}, {}
    for column, metric in enumerate(planned.metrics):
        means = [
            _mean([numbers[run.key][column] for run in row], metric, planned, at) for at, row in enumerate(runs_of)
        ]
        indices[metric.key] = _indices(planned, means)
        spread[metric.key] = (min(means), sum(means) / len(means), max(means))
    return Indices(planned, len(numbers), indices, spread)


def _mean(values: Sequence[float | None], metric: Metric, planned: Plan, at: int) -> float:
    present = [value for value in values if value is not None]
    if len(present) < len(values):
        pairs = zip(planned.ranges, planned.values[at], strict=True)
        where = ", ".join(f"{range_.key}={range_.text(value)}" for range_, value in pairs)
        raise UserError(Option("metric", metric.key), f"has no value at {where}; accepted: a metric that every run has")
    return sum(present) / len(present)


def _indices(planned: Plan, means: Sequence[float]) -> list[Index]:
    import numpy as np

    outcome = np.asarray(means)
    keys = [range_.key for range_ in planned.ranges]
    if float(np.ptp(outcome)) == 0.0:  # no key changes it
        return [Index(key, 0.0, 0.0, 0.0, 0.0) for key in keys]
    if planned.method == "sobol":
        from SALib.analyze import sobol

        analysis = sobol.analyze(planned.problem, outcome, calc_second_order=False, seed=planned.seeds[0])
        rows = zip(keys, analysis["S1"], analysis["S1_conf"], analysis["ST"], analysis["ST_conf"], strict=True)
        return [Index(key, *map(float, row)) for key, *row in rows]
    from SALib.analyze import morris

    analysis = morris.analyze(planned.problem, planned.points, outcome, num_levels=LEVELS, seed=planned.seeds[0])
    effects = zip(keys, analysis["mu_star"], analysis["mu_star_conf"], analysis["sigma"], strict=True)
    return [Index(key, float(mean), float(half), float(sigma), None) for key, mean, half, sigma in effects]
