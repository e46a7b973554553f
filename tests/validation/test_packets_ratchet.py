"""The ratchet: in no scenario fewer of the simulator's packets agree with Linux's than it says in the stored results.

Linux's packets are kept in short (`packets.kept`), so no kernel is needed. `experiments/same_packets` says how the
files are made.
"""

import csv
import threading
from functools import cache
from pathlib import Path

import pytest

from goodqueue.engines.releases import RELEASES
from goodqueue.scenario import seconds
from goodqueue.validation.packets import captured, drawing, kept, matrix, runs
from goodqueue.validation.packets.kept import Blocks
from goodqueue.validation.packets.matrix import Cell
from goodqueue.validation.packets.reading import Flows

FOLDER = Path(__file__).parents[2] / "experiments" / "same_packets"
SECONDS, END_S = 2.0, 60.0
"""How much of each run is compared on each change, and a time that is later than all."""
ROUNDED_NS = 1_000
"""The times in the stored results are whole microseconds."""


@cache
def linux(name: str) -> dict[str, dict[str, Blocks]]:
    """Return Linux's packets in short, by cell."""
    return kept.read(FOLDER / name)


@cache
def parted(name: str) -> dict[str, float]:
    """Return when each cell's runs part, by the stored results."""
    with (FOLDER / name).open(encoding="utf-8", newline="") as file:
        return {row["cell"]: float(row["at_s"] or END_S) for row in csv.DictReader(file)}


def check(cell: Cell, release: str, blocks: dict[str, Blocks], parted_s: float, most_s: float) -> None:
    until_s = min(parted_s, most_s, seconds(cell.scenario["duration"]))
    scenario = runs.until(cell.scenario, release, until_s)
    run = captured.run("sim", scenario, Flows(), lambda _: None, threading.Event())
    agreement = kept.agreement(run.seen, blocks)
    least = kept.before(blocks, round(until_s * 1e9) - ROUNDED_NS)
    assert agreement.packets >= least, f"{cell.name}: {agreement.packets} packets agree, and {least} did"


STORED = {
    release: parted(f"matrix-{release}.csv") for release in RELEASES if (FOLDER / f"matrix-{release}.csv").exists()
}
MATRIX = {
    release: {cell.name: cell for cell in matrix.cells(release) if cell.name in cells}
    for release, cells in STORED.items()
}


def test_every_cell_of_7_3_has_a_stored_result() -> None:
    assert [cell.name for cell in matrix.cells("7.3")] == list(STORED["7.3"])


@pytest.mark.parametrize("name", MATRIX["7.3"])
def test_no_fewer_packets_agree_with_7_3(name: str) -> None:
    check(MATRIX["7.3"][name], "7.3", linux("linux-7.3.csv.gz")[name], STORED["7.3"][name], SECONDS)


@pytest.mark.long
@pytest.mark.parametrize(("release", "name"), [(release, name) for release, cells in MATRIX.items() for name in cells])
def test_no_fewer_packets_agree_in_the_whole_run(release: str, name: str) -> None:
    check(MATRIX[release][name], release, linux(f"linux-{release}.csv.gz")[name], STORED[release][name], END_S)


DRAWN = 20
"""The runs of the first draw on 7.3 that are compared on each change."""


@cache
def drawn() -> list[Cell]:
    """Return the runs."""
    return drawing.cells(DRAWN, 1, "7.3", ("sim", "kernel-7.3-process"))


@pytest.mark.parametrize("number", range(DRAWN))
def test_no_fewer_packets_agree_in_what_was_drawn(number: int) -> None:
    cell = drawn()[number]
    check(cell, "7.3", linux("drawn-linux-7.3.csv.gz")[cell.name], parted("drawn-7.3.csv")[cell.name], END_S)
