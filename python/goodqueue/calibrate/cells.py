"""Reads the set of cells from ``cells.toml``: each path with each line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from goodqueue.errors import UserError
from goodqueue.studies.keys import Table, load_toml, unknown

FILE = Path(__file__).parent / "cells.toml"


@dataclass(frozen=True, slots=True)
class Cell:
    """One path with one line, both ways."""

    path: str
    """The name of the path: ``10mbit-20ms``."""
    line: str
    """The name of the line."""
    rate: str
    up_rate: str
    rtt: str
    bottleneck: Mapping[str, str]
    """Values by key of the scenario's ``[bottleneck]``, as text."""

    @property
    def id(self) -> str:
        """The cell's name for ``--only``."""
        return f"{self.path}/{self.line}"

    @property
    def options(self) -> list[str]:
        """The options of `goodqueue link` and `goodqueue run` that describe the path."""
        words = ["--rate", self.rate, "--up-rate", self.up_rate, "--rtt", self.rtt]
        for key, value in self.bottleneck.items():
            words += ["--set", f"bottleneck.{key}={value}"]
        return words


@dataclass(frozen=True, slots=True)
class Plan:
    """The cells, and how they are measured."""

    cells: Sequence[Cell]
    seconds: float
    """How long a program measures that is told how long."""
    late_ms: float
    """A run whose packets left later than this (p99) is repeated."""
    tries: int
    congestion_control: str
    few: Sequence[str]
    """The programs that run on ``few_paths`` only."""
    few_paths: Sequence[str]
    names: Sequence[str]
    """All names of paths and lines, for ``--only``."""


def load(quick: bool = False, file: Path = FILE) -> Plan:
    """Read the set. ``quick`` takes four cells, for a look. Raises UserError with the file and the key."""
    table = Table(load_toml(file, "a set of cells"), file)
    short, ten, grid = table.table("quick"), table.table("ten"), table.table("paths")
    lines = {name: _texts(table.table("lines").table(name)) for name in table.mapping("lines")}
    rates, ups, rtts = (grid.texts(key) for key in ("rates", "up", "rtts"))
    if len(ups) != len(rates):
        grid.refuse("up", f"found {len(ups)} rates; accepted: one per rate down, {len(rates)}")
    cells = [
        Cell(f"{rate}-{rtt}", name, rate, up, rtt, line)
        for rate, up in zip(rates, ups, strict=True)
        for rtt in rtts
        for name, line in lines.items()
    ]
    names = list(dict.fromkeys([*(cell.path for cell in cells), *lines]))
    few = short.texts("paths"), short.texts("lines")
    return Plan(
        cells=[cell for cell in cells if not quick or (cell.path in few[0] and cell.line in few[1])],
        seconds=short.number("seconds", least=1.0) if quick else table.number("seconds", least=1.0),
        late_ms=table.number("late_ms", least=0.0),
        tries=table.count("tries"),
        congestion_control=table.text("congestion_control"),
        few=ten.texts("programs"),
        few_paths=ten.texts("paths"),
        names=names,
    )


def pick(plan: Plan, only: Sequence[str], programs: Sequence[str]) -> tuple[list[Cell], list[str]]:
    """Return the cells and the programs that ``only`` names: a path, a line, a PATH/LINE or a program.

    Words of one kind add up, and words of different kinds narrow each other down. Raises UserError.
    """
    paths, lines = {cell.path for cell in plan.cells}, {cell.line for cell in plan.cells}
    ids = {cell.id for cell in plan.cells}
    for word in only:
        if word not in {*paths, *lines, *ids, *programs}:
            known = [*paths, *lines, *sorted(ids), *programs]  # of this set: `plan.names` has those of others, too
            near = unknown(word, sorted(known)).partition("accepted: ")[0]
            raise UserError("--only", f"{near}accepted: a program, a line, a path or PATH/LINE of this set")
    chosen = [name for name in programs if name in only] or list(programs)

    def wanted(cell: Cell) -> bool:
        by_path = not paths & set(only) or cell.path in only
        by_line = not lines & set(only) or cell.line in only
        return by_path and by_line and (not ids & set(only) or cell.id in only)

    cells = [cell for cell in plan.cells if wanted(cell)]
    if not cells:
        raise UserError("--only", f"found no cell that has all of {', '.join(only)}; accepted: words that go together")
    return cells, chosen


def _texts(table: Table) -> dict[str, str]:
    return {key: table.text(key) for key in table.content}
