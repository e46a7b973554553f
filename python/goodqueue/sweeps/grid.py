"""The grid of a sweep: its axes, as ``--set KEY=V1,V2,…`` gives them, and one cell per combination of values."""

import copy
import itertools
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from goodqueue import engines
from goodqueue import scenario as scenarios
from goodqueue.ask.readers import plain
from goodqueue.engines import loads
from goodqueue.errors import Option, Place, UserError, quoted
from goodqueue.files import inputs
from goodqueue.record import Scenario
from goodqueue.scenario import sources
from goodqueue.scenario.lists import split
from goodqueue.show.labels import MIX

QDISC = "bottleneck.qdisc"
"""The axis along which cells are compared in pairs."""

MOST = 100_000
"""The largest number of cells in a sweep."""


@dataclass(frozen=True, slots=True)
class Axis:
    """A key of the scenario with its values as they were written."""

    key: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """One combination of values."""

    at: Mapping[str, str]
    """Values by key, for the axes that have several values."""
    scenario: Scenario | None
    """The resolved scenario. Each run sets its seed. None if it was refused."""
    error: str | None = None
    """Why it was refused, in one line."""

    @property
    def name(self) -> str:
        """The cell's name in messages."""
        return ", ".join(f"{key}={value}" for key, value in self.at.items()) or "the scenario"


def axes(sets: Sequence[str]) -> list[Axis]:
    """Return one axis per element of ``sets``, each ``KEY=V1,V2,…``. Raises UserError.

    A comma within quotes, brackets or braces belongs to a value, as in ``traffic.0.kind="a,b"``.
    """
    found_axes: list[tuple[Place, Axis]] = []
    for assignment in sets:
        key, equals, text = assignment.partition("=")
        key, origin = key.strip(), Option("set", assignment)
        if not equals or not all(key.split(".")):
            raise UserError(origin, "found no KEY=VALUE; accepted: a dotted key, as in bottleneck.rate=5mbit,10mbit")
        found_axes.append((origin, Axis(key, tuple(" ".join(value.split()) for value in split(text, origin)))))
    return checked(found_axes)


def checked(axes_with_origin: Sequence[tuple[Place, Axis]]) -> list[Axis]:
    """Return the axes of a grid, each given with its name in errors. Raises UserError."""
    keys: set[str] = set()
    for origin, axis in axes_with_origin:
        if axis.key in keys:
            raise UserError(Option("set", axis.key), "given twice; accepted: all values in one, as KEY=V1,V2")
        keys.add(axis.key)
        if axis.key == "seed":
            follow: list[Place] = ["the seeds of each cell follow from ", Option("seeds"), " and ", Option("seed")]
            raise UserError(origin, [*follow, "; accepted: these"])
        if "" in axis.values:
            raise UserError(origin, "found an empty value; accepted: KEY=V1,V2")
        if twice := next((value for value, times in Counter(axis.values).items() if times > 1), None):
            raise UserError(origin, f"found {quoted(twice)} twice; accepted: each value once")
    all_axes = [axis for _, axis in axes_with_origin]
    if (count := math.prod(len(axis.values) for axis in all_axes)) > MOST:
        raise UserError(Option("set"), f"the grid has {count} cells; accepted: at most {MOST}")
    return all_axes


@dataclass(frozen=True, slots=True)
class Mix:
    """A mix of traffic, which is a value of the axis `MIX`."""

    name: str
    said: str
    """What the user wrote: a list as ``--traffic`` takes it, or a scenario file."""
    traffic: Sequence[Any]
    """Its tables."""


def mixes(texts: Sequence[str]) -> list[Mix]:
    """Return the mixes of traffic ``NAME=LIST`` or ``NAME=FILE.toml``. Raises UserError."""
    named_mixes: list[Mix] = []
    for definition in texts:
        name, equals, text = (part.strip() for part in definition.partition("="))
        origin = Option("mix", definition)
        if not equals or not re.fullmatch(r"\w[\w-]*", name):
            raise UserError(origin, "found no NAME=LIST; accepted: as in calls=bulk:4,voip:10, or calls=FILE.toml")
        if name in {mix.name for mix in named_mixes}:
            raise UserError(origin, f"found {quoted(name)} twice; accepted: each name once")
        named_mixes.append(Mix(name, text, sources.mix(text)))
    return named_mixes


def with_mixes(along: Sequence[Axis], mixes: Sequence[Mix]) -> list[Axis]:
    """Return the axes, and one more of ``mixes`` if there are any. Raises UserError."""
    if not mixes:
        return list(along)
    if clash := next((axis.key for axis in along if axis.key.split(".")[0] == MIX), None):
        raise UserError(Option("mix"), ["found beside ", Option("set", clash), "; accepted: one of them"])
    if len(mixes) * math.prod(len(axis.values) for axis in along) > MOST:
        raise UserError(Option("mix"), f"the grid has more than {MOST} cells; accepted: fewer values")
    return [*along, Axis(MIX, tuple(mix.name for mix in mixes))]


def cells(
    base: Scenario,
    along: Sequence[Axis],
    origin: str,
    engine: str,
    mixed: Sequence[Mix] = (),
    workers: int | None = None,
) -> list[Cell]:
    """Return one cell per combination of the values of ``along``. The last axis varies fastest.

    ``base`` is an unresolved scenario, ``origin`` its file. ``mixed`` are the values of `MIX`. A cell that the core or
    ``engine`` refuses has the reason. The users of all loads are counted at the same time, on all cores or on
    ``workers`` threads.
    Raises UserError if all cells are refused.
    """

    def settings() -> Iterator[list[tuple[Axis, str]]]:
        combined = itertools.product(*(axis.values for axis in along))
        return (list(zip(along, values, strict=True)) for values in combined)

    with suppress(UserError):  # its own cell is refused below
        loads.count(_loads((_cell_scenario(base, values, mixed) for values in settings()), origin), workers)
    accepted_cells = []
    refused: list[UserError] = []
    shared: dict[str, Any] = {}
    for values in settings():
        at = {axis.key: value for axis, value in values if len(axis.values) > 1}
        outcome = _cell_scenario(base, values, mixed)
        try:
            if isinstance(outcome, UserError):
                raise outcome
            scenario = loads.resolve(outcome[0], origin, outcome[1])
            engines.check(engine, scenario)
            accepted_cells.append(Cell(at, _shared(scenario, shared)))
        except UserError as error:
            refused.append(error)
            accepted_cells.append(Cell(at, None, str(error)))
    if len(refused) == len(accepted_cells):
        raise refused[0]
    return accepted_cells


def _shared(scenario: Scenario, known: dict[str, Any]) -> Scenario:
    """Return ``scenario`` with the tables of earlier cells, where they are equal: 100,000 cells differ in few."""
    return {key: known.setdefault(json.dumps([key, value]), value) for key, value in scenario.items()}


def _cell_scenario(
    base: Scenario, settings: Sequence[tuple[Axis, str]], mixed: Sequence[Mix]
) -> tuple[Scenario, dict[str, Place]] | UserError:
    """Return the unresolved scenario of a cell and where its keys come from, or why there is none."""
    scenario = copy.deepcopy(base)
    origins: dict[str, Place] = {}
    traffic = {mix.name: mix for mix in mixed}
    try:
        # Parameters of a qdisc line are set after the lines, since another axis may set the line.
        for axis, value in sorted(settings, key=lambda pair: ".qdisc." in pair[0].key):
            if axis.key == MIX and value in traffic:
                scenario["traffic"] = copy.deepcopy(list(traffic[value].traffic))
                origins[MIX] = Option("mix", value)
                continue
            origins[scenarios.apply_set(scenario, f"{axis.key}={value}")] = Option("set", axis.key)
    except UserError as error:
        return error
    return scenario, origins


def _loads(
    cell_scenarios: Iterable[tuple[Scenario, dict[str, Place]] | UserError], origin: str
) -> Iterator[loads.Probe]:
    """Yield the loads of the cells that are not refused for them."""
    for outcome in cell_scenarios:
        if not isinstance(outcome, UserError):
            with suppress(UserError):
                yield from loads.probes(outcome[0], origin, outcome[1])


def value_of(text: str) -> Any:
    """Return a value as a number if it is one, otherwise as it was written."""
    value = inputs.parse_value(text)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else text


def axis(key: str, values: Sequence[Any]) -> tuple[Place, Axis]:
    """Return an axis, and its name in errors. Raises UserError."""
    place = f"grid {key}"
    if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
        raise UserError(place, f"found {quoted(values)}; accepted: a list of values")
    texts = [written(place, value) for value in values]
    if not texts:
        raise UserError(place, "found no values; accepted: a list of them")
    joined = ",".join(texts)
    if split(joined, place) != texts:
        raise UserError(place, f"found {quoted(joined)}, with a comma within a value; accepted: values without")
    return Option("set", key), Axis(key, tuple(" ".join(text.split()) for text in texts))


def written(place: str, value: object) -> str:
    """Return a value as it is written in a grid, where it names cells. Raises UserError."""
    given = plain(value)
    if isinstance(given, str):
        return given
    try:
        if isinstance(given, bool | int | float | list | tuple) and "{" not in str(given):
            return json.dumps(given, allow_nan=False)
    except (TypeError, ValueError):
        pass
    accepted = "text, a finite number, True or False, or a list of these; tables stand in the scenario's dict"
    raise UserError(place, f"found {quoted(given)}; accepted: {accepted}")
