"""Which runs a study needs: the cells of its tables, and the runs behind them, each once.

A run is known by its content, the resolved scenario with its seed. Cells that mean the same run share it: where two
tables print the same default cell, it is computed once.
"""

import copy
import hashlib
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from goodqueue import engines
from goodqueue import scenario as scenarios
from goodqueue.errors import UserError
from goodqueue.record import Scenario
from goodqueue.studies.model import Cell, Experiment, Study
from goodqueue.studies.published import At
from goodqueue.studies.selection import Selection


@dataclass(frozen=True, slots=True)
class Plan:
    """What is run."""

    study: Study
    engine: str
    quick: bool
    cells: tuple[Cell, ...]
    runs: Mapping[int, tuple[str, ...]]
    """Position in ``cells`` to its runs' keys, one a seed."""
    scenarios: Mapping[str, Scenario]
    """Key of a run to its scenario."""
    seeds: Mapping[str, tuple[int, ...]]
    """Experiment id to its seeds."""


def plan(
    study: Study, selection: Selection, quick: bool = False, seeds: int | None = None, engine: str = "sim"
) -> Plan:
    """Lay out the runs of ``study`` for the cells of ``selection`` on ``engine``.

    ``seeds`` overrides the number that the study states. Raises UserError, naming the study's file and the key, where a
    scenario is refused, and naming the cell where it is the engine that refuses; nothing has run by then.
    """
    cells = tuple(cell for cell in all_cells(study) if selection.takes(cell))
    runs: dict[int, tuple[str, ...]] = {}
    needed: dict[str, Scenario] = {}
    numbers: dict[str, tuple[int, ...]] = {}
    for position, cell in enumerate(cells):
        experiment = cell.experiment
        count = seeds or (experiment.quick.seeds if quick else experiment.seeds)
        numbers[experiment.id] = tuple(range(1, count + 1))
        resolved = scenario_of(cell, quick)
        try:
            engines.check(engine, resolved)
        except UserError as error:
            raise UserError(f"--engine {engine}", str(experiment.file), cell.name, str(error)) from None
        keys = []
        for seed in numbers[experiment.id]:
            scenario = {**resolved, "seed": seed}
            keys.append(key_of(scenario))
            needed[keys[-1]] = scenario
        runs[position] = tuple(keys)
    return Plan(study, engine, quick, cells, runs, needed, numbers)


def all_cells(study: Study) -> Iterator[Cell]:
    """Yield every cell of ``study``: by published scenario, then by point, then by algorithm."""
    for experiment in study.experiments:
        for scenario in experiment.published:
            for at in points(study, experiment, scenario):
                for algorithm in experiment.qdiscs:
                    yield Cell(experiment, scenario, algorithm, at)


def points(study: Study, experiment: Experiment, scenario: str) -> list[At]:
    """Return the points at which ``experiment`` runs the published ``scenario``.

    They are the grid of the swept values (the study's own, else those of the published scenario), and beside it those
    at which a value is printed. A parameter that neither sweeps stays as the scenario file has it.
    """
    swept = study.published.scenarios[scenario].sweep
    axes = {}
    for name, parameter in experiment.sweep.items():
        if values := parameter.values if parameter.values is not None else swept.get(name):
            axes[name] = values
    found: list[At] = [dict(zip(axes, point, strict=True)) for point in itertools.product(*axes.values()) if axes]
    for value in study.published.values:
        printed = value.scenario == scenario and value.metric in experiment.metrics
        if printed and value.at.keys() <= experiment.sweep.keys() and value.at not in found:
            found.append(dict(value.at))
    return found or [{}]


def scenario_of(cell: Cell, quick: bool) -> Scenario:
    """Return the resolved scenario of ``cell``. Raises UserError naming the study's file and key."""
    experiment = cell.experiment
    scenario = copy.deepcopy(experiment.scenario)
    origins = {"bottleneck.qdisc": f"qdiscs.{cell.algorithm}"}
    for name, value in cell.at.items():
        for key, template in experiment.sweep[name].set.items():
            scenarios.apply_set(scenario, f"{key}={template.replace('{}', str(value))}")
            origins[key] = f"experiment[{experiment.id}].sweep.{name}.set.{key}"
    if quick:
        for key, text in experiment.quick.set.items():
            scenarios.apply_set(scenario, f"{key}={text}")
            origins[key] = f"experiment[{experiment.id}].quick.set.{key}"
    bottleneck = scenario.get("bottleneck")
    if not isinstance(bottleneck, dict):
        raise UserError(str(experiment.file), "bottleneck", "missing; accepted: a table with a rate")
    bottleneck["qdisc"] = experiment.qdiscs[cell.algorithm]
    named = {key: f"{experiment.origin}: {place}" for key, place in origins.items()}
    return scenarios.resolve(scenario, str(experiment.file), named)


def key_of(scenario: Scenario) -> str:
    """Return the content key of a resolved ``scenario`` with its seed: 16 hexadecimal digits."""
    text = json.dumps(scenario, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def cost(scenario: Scenario) -> float:
    """Return about how many packets a resolved ``scenario`` moves, to share the work out evenly."""
    return scenarios.seconds(scenario["duration"]) * bits_per_second(scenario["bottleneck"]["rate"]) / 12_112


def bits_per_second(text: str) -> float:
    """Return the rate that a resolved scenario writes as ``25mbit``."""
    for unit, factor in (("gbit", 1e9), ("mbit", 1e6), ("kbit", 1e3), ("bit", 1.0)):
        if text.endswith(unit):
            return float(text.removesuffix(unit)) * factor
    raise ValueError(f"not a resolved rate: {text}")


def batches(plan: Plan, sequence: Sequence[str]) -> list[list[str]]:
    """Return the runs of ``sequence``, dearest first, in groups of about a fifth of the work but at most 64 runs."""
    ordered = sorted(sequence, key=lambda key: (-cost(plan.scenarios[key]), key))
    whole = sum(cost(plan.scenarios[key]) for key in ordered)
    groups: list[list[str]] = []
    room = 0.0
    for key in ordered:
        weight = cost(plan.scenarios[key])
        if not groups or weight > room or len(groups[-1]) >= 64:
            groups.append([])
            room = whole / 5
        groups[-1].append(key)
        room -= weight
    return groups
