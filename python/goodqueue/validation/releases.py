"""The disciplines by release of Linux: what changed in which release, and what proves our law there."""

import gzip
import json
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import TypedDict

from goodqueue import _goodqueue
from goodqueue.decisions.replay import GOLDEN
from goodqueue.show.table import Column, Table
from goodqueue.validation import cells

OF_6_12_TOO = {
    "cake/flows1-7.3",
    *(f"fq/{name}" for name in ("bands", "ce_threshold", "forwarded", "maxrate", "paced_edt", "paced_sk", "plimit")),
    *(f"fq/{name}" for name in ("sparse_bulk", "weights")),
}
"""Traces of 7.3 that Linux 6.12.117 made the same, byte for byte, except for the line with the kernel."""

TESTS = {
    "fq": {"6.1": "crates/netsim/tests/linux.rs: words_that_came_later_are_refused"},
    "sfb": dict.fromkeys(
        ("6.1", "6.12", "7.3"), "crates/qdisc/src/aqm/sfb/tests.rs: arrivals_are_marked_or_dropped_with_the_probability"
    ),
    "tbf": dict.fromkeys(("6.12", "7.3"), "crates/qdisc/src/sched/tbf/tests.rs: the_rate_is_kept_within_a_packet"),
    "netem": dict.fromkeys(
        ("6.1", "6.12", "7.3"), "crates/qdisc/src/sched/netem/tests.rs: correlated_numbers_are_means_in_fixed_point"
    ),
    "mac80211": dict.fromkeys(
        ("6.1", "6.12", "7.3"),
        "crates/qdisc/src/sched/mac80211.rs: codel_spares_the_last_packet_and_is_patient_with_slow_stations",
    ),
}
"""The tests of laws that no trace shows: the file and the function."""

TREES = "tc"
"""The folder of traces of trees, each named after the discipline at its root."""

KERNEL_ENGINE = "6.1"
"""The release beside which ``goodqueue validate`` runs its cells."""


class Cell(TypedDict):
    """A discipline in one release."""

    law: str
    """``absent`` (Linux does not have it yet), ``first``, ``changed``, or ``same`` as in the release before."""
    changes: list[str]
    traces: list[str]
    """The decision traces in ``golden`` that show this law."""
    test: str | None
    """The test that shows this law, if no trace does."""
    kernel_cells: int
    """Cells of ``goodqueue validate`` in which the discipline runs beside a kernel of this release."""


class Discipline(TypedDict):
    """A discipline in all releases."""

    name: str
    since: str
    releases: dict[str, Cell]


def disciplines() -> list[Discipline]:
    """Return each discipline that Linux has, in the registry's order."""
    linux = json.loads(_goodqueue.linux())
    names: list[str] = linux["releases"]
    beside = [cell.scenario["bottleneck"]["qdisc"].split()[0] for cell in cells.load().cells]
    all_disciplines = []
    for discipline in linux["disciplines"]:
        first, changed = names.index(discipline["since"]), {change["release"] for change in discipline["changes"]}
        # Releases with the same number have the same law.
        laws = [sum(name in changed for name in names[: at + 1]) for at in range(len(names))]
        releases = {}
        for at, name in enumerate(names):
            shows = [
                trace
                for trace, kernel in _traces(discipline["name"]).items()
                if at >= first
                and (
                    laws[names.index(kernel or discipline["since"])] == laws[at]
                    or (name == "6.12" and trace in OF_6_12_TOO)
                )
            ]
            new = "absent" if at < first else "first" if at == first else "changed" if name in changed else "same"
            changes = [change["what"] for change in discipline["changes"] if change["release"] == name]
            kernel_cells = beside.count(discipline["name"]) if name == KERNEL_ENGINE and at >= first else 0
            releases[name] = Cell(
                law=new,
                changes=changes,
                traces=shows,
                test=TESTS.get(discipline["name"], {}).get(name),
                kernel_cells=kernel_cells,
            )
        all_disciplines.append(Discipline(name=discipline["name"], since=discipline["since"], releases=releases))
    return all_disciplines


def table(disciplines: list[Discipline]) -> Table:
    """Return the table of ``disciplines``, with one line below it per change."""
    names = list(disciplines[0]["releases"])
    rows = [
        [discipline["name"], *(_text(discipline["releases"][name]) for name in names)] for discipline in disciplines
    ]
    notes = [
        f"{discipline['name']}, Linux {name}: {change}."
        for discipline in disciplines
        for name in names
        for change in discipline["releases"][name]["changes"]
    ]
    how = (
        "A trace is one of golden/ (goodqueue replay), and a cell one of goodqueue validate. [linux] release chooses "
        "the law; a discipline that is not in a release runs there with the law that it came with."
    )
    return Table(
        "Disciplines by release of Linux", [Column(name, False) for name in ("name", *names)], rows, [*notes, how]
    )


def _text(cell: Cell) -> str:
    if cell["law"] == "absent":
        return "not yet"
    counts = [(len(cell["traces"]), "trace"), (cell["kernel_cells"], "cell")]
    proof = ", ".join(f"{count} {what}{'s' * (count > 1)}" for count, what in counts if count)
    proof = proof or ("unit test" if cell["test"] else "no proof")
    return f"changed: {proof}" if cell["law"] == "changed" else proof


@cache
def _traces(name: str) -> dict[str, str | None]:
    """Return the discipline's traces in ``golden`` with the release of their kernel. None: no release."""
    files = [*sorted((GOLDEN / name).glob("*.csv.gz")), *sorted((GOLDEN / TREES).glob(f"{name}_*.csv.gz"))]
    return {f"{file.parent.name}/{file.name.removesuffix('.csv.gz')}": _kernel(file) for file in files}


def _kernel(file: Path) -> str | None:
    """Return the release in a trace's header: the version without its last number."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        header = dict(
            line[2:].rstrip("\n").partition("=")[::2] for line in takewhile(lambda line: line.startswith("# "), lines)
        )
    version = ".".join(header["kernel"].split(".")[:2])
    return version if version in json.loads(_goodqueue.linux())["releases"] else None
