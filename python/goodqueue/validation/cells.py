"""Reads the set of scenarios from ``cells.toml``: a base with each qdisc, and changes to it, one thing at a time."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from goodqueue import scenario as scenarios
from goodqueue.errors import UserError
from goodqueue.record import Scenario
from goodqueue.scenario import paths
from goodqueue.studies.keys import Table, load_toml, unknown

FILE = Path(__file__).parent / "cells.toml"

THE_SAME = "the cell's"
"""The discipline of a hop that has the same discipline as the bottleneck."""

BASE = "base"
"""The name of the change that changes nothing."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One scenario under one qdisc, which runs on both engines with several seeds."""

    qdisc: str
    """Its name in the set."""
    change: str
    """The difference from the base scenario, such as ``rtt=10ms``, or ``base``."""
    scenario: Scenario
    """The resolved scenario. Each run sets its seed."""
    measured: str | None = None
    """The hop whose queue is compared instead of the bottleneck's."""

    @property
    def id(self) -> str:
        """The cell's name for ``--only``."""
        return f"{self.qdisc}/{self.change}"


@dataclass(frozen=True, slots=True)
class Draw:
    """How a set was drawn: the number of cells, and the seed."""

    cells: int
    seed: int


@dataclass(frozen=True, slots=True)
class Set:
    """The cells to run, and their seeds."""

    cells: Sequence[Cell]
    seeds: Sequence[int]
    quick: bool
    drawn: Draw | None = None
    """None for the fixed set."""

    @property
    def other_seeds(self) -> Sequence[int]:
        """The same number of other seeds, with which the simulator is compared with itself."""
        return tuple(seed + len(self.seeds) for seed in self.seeds)


def on_release(cell_set: Set, release: str) -> Set:
    """Return ``cell_set`` with the simulator's TCP and disciplines as Linux ``release`` has them."""
    return replace(
        cell_set, cells=[replace(cell, scenario=of_release(cell.scenario, release)) for cell in cell_set.cells]
    )


def of_release(scenario: Scenario, release: str) -> Scenario:
    """Return the resolved ``scenario`` with TCP and disciplines as Linux ``release`` has them."""
    traffic = [source | ({"stack": f"linux-{release}"} if "stack" in source else {}) for source in scenario["traffic"]]
    return scenarios.resolve(scenario | {"traffic": traffic, "linux": {"release": release}})


def load(quick: bool = False, only: Sequence[str] = (), seeds: int | None = None, file: Path = FILE) -> Set:
    """Read the set and return the cells that ``only`` names by id, qdisc or change. If it is empty, return all cells.

    ``quick`` takes a few cells, shorter, with fewer seeds. ``seeds`` overrides their number. Raises UserError with the
    file and the key if the file is wrong, or with ``--only`` if it names no cell.
    """
    table = Table(load_toml(file, "a set of validation scenarios"), file)
    count, short = table.count("seeds"), table.table("quick")
    lines = {name: table.table("qdiscs").text(name) for name in table.mapping("qdiscs")}
    base, changes = table.mapping("base"), [_Change(BASE, {}, (), (), tuple(lines), {}, None)]
    changes += [_change(inner, tuple(lines)) for inner in table.tables("change")]
    shorter = _texts(short.table("set"))
    chosen = short.texts("cells")
    quick_seeds = short.count("seeds")
    for part in (short, table):
        part.finish()
    cells = []
    for change in changes:
        for name in change.qdiscs:
            if quick and f"{name}/{change.id}" not in chosen:
                continue
            tables_of = {"traffic": change.traffic, "hop": change.hops}
            scenario = copy.deepcopy(base | {key: tables for key, tables in tables_of.items() if tables})
            for key, text in {**change.set, **(shorter if quick else {})}.items():
                scenarios.apply_set(scenario, f"{key}={text}")
            scenarios.apply_set(scenario, f"bottleneck.qdisc={change.lines.get(name, lines[name])}")
            if "trace" in scenario["bottleneck"]:
                scenario["bottleneck"].pop("rate", None)
            for hop in scenario.get("hop", []):
                if hop.get("qdisc") == THE_SAME:
                    hop["qdisc"] = scenario["bottleneck"]["qdisc"]
            paths.rebase(scenario, file.parent)
            origin = f"{file}: {name}/{change.id}"
            cells.append(Cell(name, change.id, scenarios.resolve(scenario, origin), change.measured))
    if quick and (missing := set(chosen) - {cell.id for cell in cells}):
        short.refuse("cells", unknown(min(missing), [cell.id for cell in cells]))
    numbers = range(1, (seeds or (quick_seeds if quick else count)) + 1)
    return Set(pick(cells, only), tuple(numbers), quick)


@dataclass(frozen=True, slots=True)
class _Change:
    id: str
    set: Mapping[str, str]
    """Values by scenario key."""
    traffic: Sequence[Mapping[str, Any]]
    """The traffic that replaces the base's. Empty: the base's."""
    hops: Sequence[Mapping[str, Any]]
    """The hops of the path beside the bottleneck."""
    qdiscs: Sequence[str]
    lines: Mapping[str, str]
    """The change's own lines, by name."""
    measured: str | None


def _change(table: Table, names: tuple[str, ...]) -> _Change:
    change = _Change(
        table.text("id"),
        _texts(table.table("set")),
        [dict(traffic.content) for traffic in table.tables("traffic")],
        [dict(hop.content) for hop in table.tables("hop")],
        table.texts("qdiscs", names),
        _texts(table.table("lines")),
        table.text("measured") if "measured" in table.content else None,
    )
    for key, unknown_names in (("qdiscs", change.qdiscs), ("lines", change.lines)):
        for name in unknown_names:
            if name not in names:
                table.refuse(key, unknown(name, names))
    table.finish()
    return change


def _texts(table: Table) -> dict[str, str]:
    return {key: table.text(key) for key in table.content}


def pick(cells: Sequence[Cell], only: Sequence[str]) -> list[Cell]:
    """Return the cells that ``only`` names by id, qdisc or change. If it is empty, return all. Raises UserError."""
    names = [name for cell in cells for name in (cell.id, cell.qdisc, cell.change)]
    for word in only:
        if word not in names:
            words = dict.fromkeys([cell.qdisc for cell in cells] + [cell.change for cell in cells])
            near = unknown(word, dict.fromkeys([*words, *(cell.id for cell in cells)])).partition("accepted: ")[0]
            raise UserError("--only", f"{near}accepted: QDISC, CHANGE or QDISC/CHANGE of {', '.join(words)}")
    return [cell for cell in cells if not only or {cell.id, cell.qdisc, cell.change} & set(only)]
