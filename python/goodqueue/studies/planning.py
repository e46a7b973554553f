"""Plans the runs of a study: the cells of its tables, and the runs behind them, each once.

A run is identified by its content: the resolved scenario with its seed. Cells that need the same run share it: if two
tables print the same default cell, it is computed once.
"""

import copy
import hashlib
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from zlib import crc32

from goodqueue import engines
from goodqueue import scenario as scenarios
from goodqueue.engines import loads
from goodqueue.errors import UserError, quoted
from goodqueue.measures import steady
from goodqueue.record import Scenario
from goodqueue.scenario import paths
from goodqueue.studies import templates
from goodqueue.studies.model import ALONE, EACH, Cell, Experiment, Lines, Study
from goodqueue.studies.published import At, Value
from goodqueue.studies.reconstructing import changed
from goodqueue.studies.selection import Selection


@dataclass(frozen=True, slots=True)
class Plan:
    """The runs of a study."""

    study: Study
    engine: str
    quick: bool
    cells: tuple[Cell, ...]
    runs: Mapping[int, tuple[str, ...]]
    """The keys of each cell's runs, one per seed, by position in ``cells``."""
    beside: Mapping[tuple[int, str], tuple[str, ...]]
    """The keys of the runs to compare with, one per seed, by position in ``cells`` and `Metric.beside`."""
    scenarios: Mapping[str, Scenario]
    """The scenario of each run, by key."""
    seeds: Mapping[str, tuple[int, ...]]
    """The seeds of each experiment, by id."""
    reconstructed: bool = False
    """Whether ``cells`` has the cells of the study's reconstructions too."""


def plan(
    study: Study,
    selection: Selection,
    quick: bool = False,
    seeds: int | None = None,
    engine: str = "sim",
    reconstructed: bool = False,
    workers: int | None = None,
    judges_starts: bool = False,
) -> Plan:
    """Plan the runs of ``study`` for the cells of ``selection`` on ``engine``.

    ``seeds`` overrides the study's number. If ``judges_starts`` is set, the runs in which nothing changes have the
    series that say whether their start still shows; those of the kernel have not. If ``reconstructed`` is set, the
    cells of the study's reconstructions come last. The users of all loads are counted at the same time, on all cores or
    on ``workers`` threads. Raises UserError before any run: with the study's file and the key if a scenario is refused,
    with the cell if the engine refuses it.
    """
    readings = [study, *(changed(study, reconstruction) for reconstruction in study.reconstructions if reconstructed)]
    cells = tuple(cell for reading in readings for cell in all_cells(reading) if selection.takes(cell))
    runs: dict[int, tuple[str, ...]] = {}
    beside: dict[tuple[int, str], tuple[str, ...]] = {}
    needed: dict[str, Scenario] = {}
    numbers: dict[str, tuple[int, ...]] = {}

    def check(cell: Cell, resolved: Scenario) -> None:
        _check_needs(cell, resolved)
        try:
            engines.check(engine, resolved)
        except UserError as error:
            raise UserError(f"--engine {engine}", str(cell.experiment.file), cell.name, str(error)) from None

    unresolved = [_unresolved(cell, quick) for cell in cells]

    def probes() -> Iterator[loads.Probe]:
        for cell, (scenario, file, origins) in zip(cells, unresolved, strict=True):
            if own := loads.probes(scenario, file, origins):
                # A count takes seconds. What is refused anyway is refused before.
                check(cell, scenarios.resolve(loads.uncounted(scenario), file, origins))
                yield from own

    def add(cell: Cell, resolved: Scenario, seeds: Iterable[int]) -> tuple[str, ...]:
        check(cell, resolved)
        if judges_starts and engine == "sim" and "series" not in resolved and steady.is_constant(resolved):
            resolved = steady.with_series(resolved)
        # Measured runs are independent of each other. With the same seeds all cells have the same accident, as two
        # flows in one queue of fq_codel.
        apart = crc32(cell.name.encode()) if cell.experiment.seeds_apart else 0
        seeded = [{**resolved, "seed": apart + seed} for seed in seeds]
        keys = [key_of(scenario) for scenario in seeded]
        needed.update(zip(keys, seeded, strict=True))
        return tuple(keys)

    loads.count(probes(), workers)
    for position, (cell, own_scenario) in enumerate(zip(cells, unresolved, strict=True)):
        experiment = cell.experiment
        count = seeds or (experiment.quick.seeds if quick else experiment.seeds)
        numbers[experiment.id] = own_seeds = tuple(range(1, count + 1))
        runs[position] = add(cell, loads.resolve(*own_scenario), own_seeds)
        for name, other in {metric.beside: metric.to for metric in experiment.metrics.values() if metric.to}.items():
            if other == ALONE:
                first = replace(cell, algorithm=next(iter(experiment.qdiscs)))
                beside[position, name] = add(first, scenario_of(first, quick, alone=True), own_seeds[:1]) * count
            else:
                twin = replace(cell, algorithm=other) if isinstance(other, str) else _moved(cell, other)
                beside[position, name] = add(twin, scenario_of(twin, quick), own_seeds)
    return Plan(study, engine, quick, cells, runs, beside, needed, numbers, reconstructed)


def _check_needs(cell: Cell, resolved: Scenario) -> None:
    """Refuse a number of ``cell`` that no run of its ``resolved`` scenario shows, and say what the scenario lacks."""
    for metric in cell.experiment.metrics.values():
        needs = metric.computation.needs if metric.computation else ()
        missing = next((need for need in needs if not need.is_met(resolved)), None)
        if missing is not None and missing.key:
            accepted = f"one, as {metric.name} is computed from it (compute = {quoted(metric.compute)})"
            raise UserError(str(cell.experiment.file), missing.key, f"missing; accepted: {accepted}")
        if missing is not None:
            shows = f"no run of it shows {metric.name} (compute = {quoted(metric.compute)})"
            raise UserError(str(cell.experiment.file), f"{shows}; accepted: with {missing.words}")


def _moved(cell: Cell, to: At) -> Cell:
    """Return ``cell`` at another point: ``to`` has the parameters that differ."""
    fixed = {name: value for name, value in cell.fixed.items() if name not in to}
    return replace(cell, at={**cell.at, **to}, fixed=fixed)


def all_cells(study: Study) -> Iterator[Cell]:
    """Yield every cell of ``study``: by published scenario, then by point, then by algorithm.

    Of a scenario with measured cells, these are the measured ones.
    """
    measured = {_place_of(value) for value in study.published.values if value.band is not None}
    with_cells = {scenario for scenario, _, _ in measured}
    for experiment in study.experiments:
        for scenario in experiment.published:
            values = experiment.points.get(scenario, {})
            fixed = {name: value for name, value in values.items() if value != EACH}
            for at in points(study, experiment, scenario):
                for algorithm in experiment.qdiscs:
                    cell = Cell(experiment, scenario, algorithm, {**experiment.at, **at}, fixed)
                    if scenario not in with_cells or _place_of(cell) in measured:
                        yield cell


def _place_of(one: Cell | Value) -> tuple[str, str, frozenset[tuple[str, object]]]:
    return one.scenario, one.algorithm, frozenset(one.at.items())


def points(study: Study, experiment: Experiment, scenario: str) -> list[At]:
    """Return the points at which ``experiment`` runs the published ``scenario``.

    They are the grid of the swept values (the study's own, otherwise those of the published scenario), and also the
    points of printed values. A parameter that neither sweeps keeps its value in the scenario file.
    """
    swept = study.published.scenarios[scenario].sweep
    given = experiment.points.get(scenario)
    open_ones = {
        name: parameter for name, parameter in experiment.sweep.items() if given is None or given.get(name) == EACH
    }
    axes = {}
    for name, parameter in open_ones.items():
        if values := parameter.values if parameter.values is not None else swept.get(name):
            axes[name] = values
    points: list[At] = [dict(zip(axes, point, strict=True)) for point in itertools.product(*axes.values()) if axes]
    metrics = experiment.metrics.values()
    for value in study.published.values:
        printed = value.scenario == scenario and any(metric.name == value.metric for metric in metrics)
        pooled = any(metric.name == value.metric and metric.pools(value.at) for metric in metrics)
        if printed and not pooled and value.at.keys() <= open_ones.keys() and value.at not in points:
            points.append(dict(value.at))
    return points or [{}]


def scenario_of(cell: Cell, quick: bool, alone: bool = False) -> Scenario:
    """Return the resolved scenario of ``cell``, or with ``alone`` the one without load.

    Raises UserError naming the study's file and key.
    """
    return loads.resolve(*_unresolved(cell, quick, alone))


def _unresolved(cell: Cell, quick: bool, alone: bool = False) -> tuple[Scenario, str, scenarios.Origins]:
    """Return the scenario of ``cell``, the study's file, and where its keys come from."""
    experiment = cell.experiment
    scenario = copy.deepcopy(experiment.alone if alone and experiment.alone else experiment.scenario)
    origins = {f"{table}.qdisc": f"qdiscs.{cell.algorithm}" for table in ("bottleneck", "bottleneck.up")}
    for name, value in cell.point.items():
        if name not in experiment.sweep:
            continue
        for key, text in experiment.sweep[name].assignments(value).items():
            if alone and _of_load(key, scenario):
                continue
            scenarios.apply_set(scenario, f"{key}={templates.filled(text, cell.point)}")
            origins[key] = f"experiment[{experiment.id}].sweep.{name}.set.{key}"
    if quick:
        for key, text in experiment.quick.set.items():
            if not alone:
                scenarios.apply_set(scenario, f"{key}={text}")
                origins[key] = f"experiment[{experiment.id}].quick.set.{key}"
    bottleneck = scenario.get("bottleneck")
    if not isinstance(bottleneck, dict):
        raise UserError(str(experiment.file), "bottleneck", "missing; accepted: a table with a rate")
    origin = f"{experiment.origin}: qdiscs.{cell.algorithm}"
    hops = [hop for hop in scenario.get("hop", ()) if hop.get("name") in experiment.hops]
    _place(bottleneck, hops, experiment.qdiscs[cell.algorithm], cell.point, origin)
    where = {key: f"{experiment.origin}: {path}" for key, path in origins.items()}
    return scenario, str(experiment.file), where


def _of_load(key: str, alone: Scenario) -> bool:
    """Return whether ``key`` sets traffic that the scenario without load, ``alone``, does not have."""
    table, _, rest = key.partition(".")
    number = rest.partition(".")[0]
    return table == "traffic" and number.isdecimal() and int(number) >= len(alone.get("traffic", ()))


def _place(bottleneck: dict[str, Any], hops: Sequence[dict[str, Any]], lines: Lines, point: At, origin: str) -> None:
    """Set the line at the ``bottleneck`` and at ``hops``: the only one, or the line of the ``point`` or of the rate.

    The ends of a Wi-Fi cell have no rate. They get the first of the lines by rate. Raises UserError.
    """
    if isinstance(lines, str):
        for table in (bottleneck, *hops):
            table["qdisc"] = lines
        return
    if all("=" in key for key in lines):
        here = [f"{name}={value}".lower() for name, value in point.items()]
        fitting = [line for key, line in lines.items() if key in here]
        if len(fitting) != 1:
            raise UserError(origin, f"{len(fitting)} lines for {', '.join(here)}; accepted: one of {', '.join(lines)}")
        for table in (bottleneck, *hops):
            table["qdisc"] = fitting[0]
        return
    ends = (bottleneck, bottleneck.setdefault("up", {}))
    for table in (*ends, *hops):
        rate = str(table.get("rate", bottleneck.get("rate")))
        if "wifi" in bottleneck and "rate" not in table:
            rate = next(iter(lines))
        if rate not in lines:
            raise UserError(origin, f"no line for a rate of {quoted(rate)}; accepted: {', '.join(lines)}")
        table["qdisc"] = lines[rate]


def key_of(scenario: Scenario) -> str:
    """Return the content key of a resolved ``scenario`` with its seed: 16 hexadecimal digits."""
    text = json.dumps(scenario, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def cost(scenario: Scenario) -> float:
    """Return about how many packets a resolved ``scenario`` forwards, for sharing out the work evenly."""
    bits = sum(paths.busiest_bps(link) for _, link in paths.links(scenario))
    return scenarios.seconds(scenario["duration"]) * bits / 12_112


def batches(plan: Plan, sequence: Sequence[str]) -> list[list[str]]:
    """Return the runs of ``sequence``, longest first, in groups of about a fifth of the work but at most 64 runs."""
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
