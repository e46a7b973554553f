"""The matrix of scenarios in which packets are compared: controls, flows and disciplines, and one case of each kind."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from goodqueue.engines.releases import RELEASES
from goodqueue.record import Scenario
from goodqueue.traffic import BULK

FILE = Path(__file__).with_name("matrix.toml")
START = "1s"
"""When the first flow of a cell starts, unless its case says it."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One scenario of the matrix, which is not resolved."""

    name: str
    scenario: Scenario


def cells(release: str | None) -> list[Cell]:
    """Return the cells that Linux ``release`` can run, in the order of the file."""
    table = tomllib.loads(FILE.read_text(encoding="utf-8"))
    base = table["base"]
    return [
        *_grid(base, table["grid"]),
        *_datagrams(base, table["datagrams"]),
        *_cases(base, table["case"], release),
    ]


def _grid(base: Mapping[str, Any], grid: Mapping[str, Any]) -> Iterator[Cell]:
    for cc in grid["cc"]:
        for count in grid["flows"]:
            for line in grid["lines"]:
                flows = {"kind": BULK, "cc": cc, "count": count, "stagger": grid["stagger"], "start": START}
                flows["ecn"] = "ecn" in line.split()
                bottleneck = {**base["bottleneck"], "qdisc": line}
                yield Cell(f"{count} {cc}, {line}", {**base, "bottleneck": bottleneck, "traffic": [flows]})


def _datagrams(base: Mapping[str, Any], datagrams: Mapping[str, Any]) -> Iterator[Cell]:
    traffic = [{"start": START, **flows} for flows in datagrams["traffic"]]
    for line in datagrams["lines"]:
        bottleneck = {**base["bottleneck"], "qdisc": line}
        yield Cell(f"datagrams, {line}", {**base, "bottleneck": bottleneck, "traffic": traffic})


def _cases(base: Mapping[str, Any], cases: list[dict[str, Any]], release: str | None) -> Iterator[Cell]:
    order = list(RELEASES)
    place = order.index(release) if release is not None else 0
    for case in cases:
        if order.index(case.get("since", order[0])) > place:
            continue
        traffic = [{"start": START, **flows} for flows in case["scenario"]["traffic"]]
        yield Cell(case["name"], {**base, **case["scenario"], "traffic": traffic})
