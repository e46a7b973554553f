"""The grid of a sweep: its axes, as ``--set KEY=V1,V2,…`` gives them, and one cell per combination of values."""

import copy
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from goodqueue import engines
from goodqueue import scenario as scenarios
from goodqueue.errors import UserError, quoted
from goodqueue.record import Scenario

QDISC = "bottleneck.qdisc"
"""The axis along which cells are compared in pairs."""

MOST = 10_000
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
    found: list[Axis] = []
    for assignment in sets:
        key, equals, text = assignment.partition("=")
        key, origin = key.strip(), f"--set {assignment}"
        if not equals or not all(key.split(".")):
            raise UserError(origin, "found no KEY=VALUE; accepted: a dotted key, as in bottleneck.rate=5mbit,10mbit")
        if key in {axis.key for axis in found}:
            raise UserError(f"--set {key}", "given twice; accepted: all values in one, as KEY=V1,V2")
        if key == "seed":
            raise UserError(origin, "the seeds of each cell follow from --seeds and --seed; accepted: these")
        values = tuple(" ".join(value.split()) for value in split(text, origin))
        if "" in values:
            raise UserError(origin, "found an empty value; accepted: KEY=V1,V2")
        if twice := [value for value in values if values.count(value) > 1]:
            raise UserError(origin, f"found {quoted(twice[0])} twice; accepted: each value once")
        found.append(Axis(key, values))
    if (count := math.prod(len(axis.values) for axis in found)) > MOST:
        raise UserError("--set", f"the grid has {count} cells; accepted: at most {MOST}")
    return found


def split(text: str, origin: str) -> list[str]:
    """Split ``text`` at its commas, except those within quotes, brackets or braces.

    Raises UserError if one of these is not closed.
    """
    parts, depth, quote = [""], 0, ""
    for char in text:
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char in "[{(":
            depth += 1
        elif char in "]})":
            depth -= 1
        if char == "," and not quote and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
        if depth < 0:
            break
    if quote or depth:
        found = f"the quote {quote}" if quote else "a bracket"
        raise UserError(origin, f"found {found} that has no partner; accepted: V1,V2, or a TOML value")
    return parts


def cells(base: Scenario, along: Sequence[Axis], origin: str, engine: str) -> list[Cell]:
    """Return one cell per combination of the values of ``along``. The last axis varies fastest.

    ``base`` is an unresolved scenario, ``origin`` its file. A cell that the core or ``engine`` refuses has the reason.
    Raises UserError if all cells are refused.
    """
    found = []
    refused: list[UserError] = []
    for values in itertools.product(*(axis.values for axis in along)):
        at = {axis.key: value for axis, value in zip(along, values, strict=True) if len(axis.values) > 1}
        try:
            scenario = _resolved(base, list(zip(along, values, strict=True)), origin, engine)
            found.append(Cell(at, scenario))
        except UserError as error:
            refused.append(error)
            found.append(Cell(at, None, str(error)))
    if len(refused) == len(found):
        raise refused[0]
    return found


def _resolved(base: Scenario, values: Sequence[tuple[Axis, str]], origin: str, engine: str) -> Scenario:
    scenario = copy.deepcopy(base)
    origins = {}
    # Parameters of a qdisc line are set after the lines, since another axis may set the line.
    for axis, value in sorted(values, key=lambda pair: ".qdisc." in pair[0].key):
        scenarios.apply_set(scenario, f"{axis.key}={value}")
        origins[axis.key] = f"--set {axis.key}"
    resolved = scenarios.resolve(scenario, origin, origins)
    engines.check(engine, resolved)
    return resolved


def value_of(text: str) -> Any:
    """Return a value as a number if it is one, otherwise as it was written."""
    value = scenarios.parse_value(text)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else text
