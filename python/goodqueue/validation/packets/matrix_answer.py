"""The answer of ``validate same-packets`` without a scenario: how far each cell of the matrix agrees."""

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from goodqueue.record import Scenario
from goodqueue.running import Progress
from goodqueue.show.answer import Answer, Findings
from goodqueue.show.table import Column, Table
from goodqueue.validation.packets import kept, many
from goodqueue.validation.packets.kept import Blocks
from goodqueue.validation.packets.many import Row
from goodqueue.validation.packets.matrix import Cell
from goodqueue.validation.packets.reading import SENT
from goodqueue.validation.packets.runs import Pair

TABLE, LINUX = "matrix.csv", "linux.csv.gz"
"""The files beside the report: the table, and Linux's packets in short, with which a test compares later runs."""

Done = tuple[Row, Mapping[str, Blocks]]


def of(
    cells: Sequence[Cell],
    release: str | None,
    on: Sequence[str],
    progress: Progress,
    folder: Path | None,
    workers: int | None,
) -> Answer:
    """Compare ``cells`` and return the answer. Raises UserError and OSError."""
    done = many.compare(cells, release, on, _one, progress, folder, workers)
    rows = [row for row, _ in done]
    equal = sum(row.is_equal for row in rows)
    listed = many.as_rows(rows)
    return Answer(
        "The same packets",
        [Findings([f"{equal} of {len(rows)} runs are equal to the end."]), table(rows)],
        lambda: {"engines": list(on), "equal": equal, "cells": listed},
        rows,
        made_files=lambda: {
            TABLE: many.text(listed),
            LINUX: kept.write({row.cell: blocks for row, blocks in done}),
        },
        beside=(TABLE, LINUX),
        status=int(equal < len(rows)),
    )


def _one(cell: Cell, _: Scenario, both: Pair, __: threading.Event) -> Done:
    return many.row(cell.name, both), {point: kept.blocks(both.seen[1][point]) for point in SENT}


def table(rows: Sequence[Row]) -> Table:
    """Return the table of the cells."""
    texts = {"cell", "at", "differs in"}
    headings = ("cell", "agree", "of", "at s", "at", "packet", "differs in")
    listed = [
        [
            row.cell,
            str(row.agreeing),
            str(row.packets),
            *(["–", "–", "–", "equal"] if row.at_s is None else [f"{row.at_s:.6f}", row.point or "", str(row.packet)]),
            *([] if row.at_s is None else [row.what or ""]),
        ]
        for row in rows
    ]
    note = (
        "Packets that the hosts of both directions sent before the first difference, and all that they sent on Linux."
    )
    return Table("Packets that agree", [Column(name, name not in texts) for name in headings], listed, [note])
