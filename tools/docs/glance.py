"""Trust at a glance: one table and one figure of all sources of truth, from the stored results.

Each row says how many cells a source has, in how many the simulator is near it, how far off it is, and how much of that
chance gives: the simulator beside itself under other seeds, or the runs' own spread.
"""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import raw_cells
from matplotlib.figure import Figure
from page import RESULTS, ROOT

from goodqueue.claims import result
from goodqueue.plot import style
from goodqueue.show import markdown as markdowns
from goodqueue.show.table import Column, Table, number
from goodqueue.studies import inside, libraries, loading

KERNELS = (
    ("Linux 6.1: fixed set", "validation"),
    ("Linux 6.1: drawn at random", "validation/drawn"),
    ("Linux 6.12: one line each", "releases/6.12"),
    ("Linux 7.3: drawn at random", "validation/drawn-7.3"),
    ("Linux 7.3: fixed set", "validation/fixed-7.3"),
    ("Linux 7.3 as a process: fixed set", "validation/process/fixed-7.3"),
    ("Linux 7.3 as a process: drawn at random", "validation/process/drawn-7.3"),
    ("Linux 6.1 as a process: fixed set", "validation/process/fixed-6.1"),
    ("Linux 6.1 as a process: drawn at random", "validation/process/drawn-6.1"),
)
PROGRAMS = (
    ("irtt beside the link", "irtt", "rtt_mean_ms"),
    ("iperf3 beside the link", "iperf3", "goodput_mbps"),
)
BESIDE_MACH = re.compile(r"^\| \S+ \| `.*` \| (\d+) \| (\d+) \|", re.MULTILINE)
NEAR = 10.0
"""Per cent."""


@dataclass(frozen=True, slots=True)
class Source:
    """A source of truth beside the simulator."""

    name: str
    what: str
    """The number that is compared."""
    cells: int
    near: int
    """The cells in which the simulator is near it."""
    rule: str
    """When it is near."""
    off: float | None
    """The median distance, in per cent. None: the cells have different units."""
    chance: float | None = None
    """The same of the simulator beside itself."""


EXPERIMENTS = ROOT / "experiments"


def sources() -> list[Source]:
    """Return all sources whose results are stored."""
    return [*_kernels(), *_papers(), *_raw(), *_programs()]


def _kernels() -> Iterator[Source]:
    for name, folder in KERNELS:
        file = EXPERIMENTS / folder / "results.json"
        if not file.exists():
            continue
        stored = json.loads(file.read_text(encoding="utf-8"))
        off = [error for one in stored["errors"].values() if (error := _of_error(one)) is not None]
        near = sum(abs(error) <= NEAR for error in off)
        yield Source(
            name, "mean delay", len(off), near, "10 %",
            _percent(stored["overall"]["delay_mean_ln"]), _percent((stored["chance"] or {}).get("delay_mean_ln")),
        )  # fmt: skip


def _of_error(one: dict[str, Any]) -> float | None:
    error = one.get("delay_mean_ln")
    return _percent(error["mean"]) if error else None


def _percent(logarithm: float | None) -> float | None:
    return None if logarithm is None else 100 * math.expm1(logarithm)


def _newest(folder: Path) -> list[result.Part]:
    stored = [one for _, one in result.stored(folder)] if folder.is_dir() else []
    return list(stored[0].parts) if stored else []


def _papers() -> Iterator[Source]:
    for part in _newest(EXPERIMENTS / "claims"):
        claims = [claim["verdict"] for claim in part.claims.values() if claim["verdict"] != "not_run"]
        yield Source(f"paper: {part.study}", "claims", len(claims), claims.count("holds"), "holds", None)


def _raw() -> Iterator[Source]:
    for part in _newest(EXPERIMENTS / "raw"):
        study = loading.load(libraries.STUDIES.find(part.study))
        near, cells = inside.first(raw_cells.cells_of(part, study))
        yield Source(f"raw data: {part.study}", "cells", cells, near, "the runs' spread", None)


def _programs() -> Iterator[Source]:
    page = RESULTS / "rpm-beside-mach.md"
    pairs = [tuple(map(float, row)) for row in BESIDE_MACH.findall(page.read_text(encoding="utf-8"))]
    off = sorted(100 * (ours / theirs - 1) for theirs, ours in pairs)
    if off:
        near = sum(abs(one) <= NEAR for one in off)
        yield Source("mach beside the simulator", "RPM", len(off), near, "10 %", sorted(map(abs, off))[len(off) // 2])
    file = EXPERIMENTS / "calibration" / "results.json"
    figures = json.loads(file.read_text(encoding="utf-8"))["figures"] if file.exists() else []
    for name, program, key in PROGRAMS:
        for one in figures:
            if (one["program"], one["key"], one["line"]) == (program, key, ""):
                near = round(one["runs"] * one["near_percent"] / 100)
                yield Source(name, key.replace("_", " "), one["runs"], near, "10 %", abs(one["bias"]["value"]))


def markdown(found: list[Source]) -> str:
    """Return the table."""
    texts = ("source of truth", "compared", "near is")
    columns = [Column(texts[0], numeric=False), Column(texts[1], numeric=False), Column("cells"), Column("near")]
    columns += [Column("%"), Column(texts[2], numeric=False), Column("median off by"), Column("by chance")]
    rows = [
        [
            *(
                one.name,
                one.what,
                str(one.cells),
                str(one.near),
                number(100 * one.near / max(1, one.cells), 0),
                one.rule,
            ),
            *("–" if value is None else f"{number(value, 1)} %" for value in (one.off, one.chance)),
        ]
        for one in found
    ]
    return markdowns.table(Table("", columns, rows, [], names=2))


def figure(found: list[Source]) -> Figure:
    """Return the figure: the share of cells that are near, a bar a source."""
    with style.look():
        drawn = style.new_figure(0.6 + 0.2 * len(found))
        ax = drawn.subplots()
        places = range(len(found), 0, -1)
        ax.barh(places, [100 * one.near / max(1, one.cells) for one in found], height=0.6, color="#0072b2")
        ax.set_yticks(places, [f"{one.name} ({one.cells})" for one in found], fontsize=7)
        ax.set_xlim(0, 100)
        ax.set_xlabel("cells or claims in which the simulator is near (%)")
        ax.grid(axis="y", visible=False)
    return drawn


if __name__ == "__main__":
    style.save(figure(sources()), EXPERIMENTS, "glance")
