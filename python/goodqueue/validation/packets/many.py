"""Compares many scenarios, several at a time, and keeps one line of each."""

import csv
import io
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

from goodqueue import running, threads
from goodqueue.record import Scenario
from goodqueue.running import Progress
from goodqueue.validation.packets import runs
from goodqueue.validation.packets.matrix import Cell
from goodqueue.validation.packets.runs import Pair

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Row:
    """How far the runs of a cell agree: a line of the CSV file."""

    cell: str
    agreeing: int
    """Packets of both directions before the first difference."""
    packets: int
    """All packets that the hosts sent on Linux."""
    at_s: float | None
    """The time of the first difference. None: the runs are equal to the end."""
    point: str | None
    packet: int | None
    """The number of the packet that differs, among those at its point."""
    what: str | None

    @property
    def is_equal(self) -> bool:
        """Whether the runs are equal to the end."""
        return self.at_s is None


def row(name: str, both: Pair) -> Row:
    """Return the line of a cell."""
    comparison = both.comparison
    difference = comparison.difference
    packets = comparison.packets[1]
    if difference is None:
        return Row(name, comparison.agreeing, packets, None, None, None, None)
    at_s = round(difference.time_ns / 1e9, 6)
    return Row(name, comparison.agreeing, packets, at_s, difference.point, difference.place + 1, difference.what)


def compare(
    cells: Sequence[Cell],
    release: str | None,
    on: Sequence[str],
    of: Callable[[Cell, Scenario, Pair, threading.Event], Result],
    progress: Progress,
    folder: Path | None,
    workers: int | None,
) -> list[Result]:
    """Return what ``of`` makes of each cell's runs, in the order of the cells. Raises UserError and OSError."""
    stop, shares = threading.Event(), [0.0] * len(cells)
    results: dict[int, Result] = {}

    def work(place: int) -> Result:
        def note(share: float) -> None:
            shares[place] = share

        scenario = runs.resolved(cells[place].scenario, release)
        return of(cells[place], scenario, runs.pair(scenario, on, note, folder, stop), stop)

    def fail(_: int, error: BaseException) -> None:
        raise error

    threads.share(
        len(cells),
        work,
        results.__setitem__,
        fail,
        number=workers or running.cores(),
        stop=stop,
        look=lambda: progress(sum(shares) / len(shares)),
    )
    return [results[place] for place in range(len(cells))]


def text(rows: Sequence[Mapping[str, object]]) -> bytes:
    """Return ``rows`` as a CSV file."""
    file = io.StringIO()
    writer = csv.DictWriter(file, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue().encode()


def as_rows(rows: Sequence[Row]) -> list[dict[str, object]]:
    """Return ``rows`` as the CSV file and JSON have them."""
    return [asdict(row) for row in rows]
