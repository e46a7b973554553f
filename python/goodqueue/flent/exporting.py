"""A folder of Flent's files, one per record."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from goodqueue.errors import UserError
from goodqueue.files.output import RESULTS
from goodqueue.flent import writing
from goodqueue.flent.choice import Choice
from goodqueue.store.results import Loose, labels


@dataclass(frozen=True, slots=True)
class File:
    """A data file to be written."""

    name: str
    title: str
    seed: int
    content: bytes
    choice: Choice


def files(found: Sequence[Loose]) -> list[File]:
    """Return one file per record in ``found``. Raises UserError for a record without time series."""
    made: dict[str, File] = {}
    for one, title in zip(found, labels([one.record for one in found]), strict=True):
        name, content, choice = writing.data_file(one.record, title, one.place)
        if name in made:
            if made[name].content == content:
                continue  # the same run, found twice
            raise UserError(one.place, f"would be written as {name}, as another run is; accepted: one export each")
        made[name] = File(name, title, one.record["seed"], content, choice)
    return list(made.values())


def fill(folder: Path, made: Sequence[File]) -> None:
    """Write the files and a list of them into ``folder``. Raises OSError."""
    for one in made:
        (folder / one.name).write_bytes(one.content)
    (folder / RESULTS).write_text(json.dumps(as_json(made), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def as_json(made: Sequence[File]) -> dict[str, Any]:
    """Return the content of ``results.json``: for each file its test, its title, and the series of its flows."""
    return {
        "schema": 1,
        "made_by": "goodqueue export",
        "files": sorted([RESULTS, *(one.name for one in made)]),
        "runs": [
            {
                "file": one.name,
                "test": one.choice.test,
                "title": one.title,
                "seed": one.seed,
                "series": one.choice.series(),
                "left_out": one.choice.left_out,
            }
            for one in made
        ],
    }


def notes(made: Sequence[File]) -> list[str]:
    """Return a line for each thing that readers of the files will miss."""
    lines: dict[str, None] = {}
    for one in made:
        if left := one.choice.left_out:
            some = ", ".join(left[:5]) + (f" and {len(left) - 5} more" if len(left) > 5 else "")
            lines[f"left out: {some}; Flent's test {one.choice.test} has no series for them"] = None
        if not one.choice.pings:
            lines[
                f"no ping in {one.title}: Flent's plots of latency stay empty; a [[traffic]] of kind ping fills them"
            ] = None
    return list(lines)
