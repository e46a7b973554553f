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


def files(loose: Sequence[Loose]) -> list[File]:
    """Return one file per record in ``loose``. Raises UserError for a record without time series."""
    by_name: dict[str, File] = {}
    titles = labels([run.record for run in loose], [run.mix for run in loose])
    for run, title in zip(loose, titles, strict=True):
        name, content, choice = writing.data_file(run.record, title, run.place)
        if name in by_name:
            if by_name[name].content == content:
                continue  # the same run, found twice
            raise UserError(run.place, f"would be written as {name}, as another run is; accepted: one export each")
        by_name[name] = File(name, title, run.record["seed"], content, choice)
    return list(by_name.values())


def fill(folder: Path, written: Sequence[File]) -> None:
    """Write the files and a list of them into ``folder``. Raises OSError."""
    for file in written:
        (folder / file.name).write_bytes(file.content)
    (folder / RESULTS).write_text(json.dumps(as_json(written), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def as_json(written: Sequence[File]) -> dict[str, Any]:
    """Return the content of ``results.json``: for each file its test, its title, and the series of its flows."""
    return {
        "schema": 1,
        "made_by": "goodqueue export",
        "files": sorted([RESULTS, *(file.name for file in written)]),
        "runs": [
            {
                "file": file.name,
                "test": file.choice.test,
                "title": file.title,
                "seed": file.seed,
                "series": file.choice.series(),
                "left_out": file.choice.left_out,
            }
            for file in written
        ],
    }


def notes(written: Sequence[File]) -> list[str]:
    """Return a line for each thing that readers of the files will miss."""
    lines: dict[str, None] = {}
    for file in written:
        if left := file.choice.left_out:
            some = ", ".join(left[:5]) + (f" and {len(left) - 5} more" if len(left) > 5 else "")
            lines[f"left out: {some}; Flent's test {file.choice.test} has no series for them"] = None
        if not file.choice.pings:
            lines[
                f"no ping in {file.title}: Flent's plots of latency stay empty; a [[traffic]] of kind ping fills them"
            ] = None
    return list(lines)
