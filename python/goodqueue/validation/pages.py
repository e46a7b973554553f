"""The folder of a validation: results.json, table.md and the figures, next to the store of its runs."""

import json
from pathlib import Path
from typing import Any

from goodqueue import store
from goodqueue.errors import UserError
from goodqueue.files import output
from goodqueue.files.output import RESULTS
from goodqueue.store import results
from goodqueue.validation import result, show
from goodqueue.validation.judging import Judgement, judge
from goodqueue.validation.result import Validation

TABLE, FOLDER = "table.md", "store"
"""The tables, and the folder of the store."""

FIGURES = ("sim-against-kernel", "errors", "cwnd")

FILES = (RESULTS, FOLDER, TABLE, *(f"{name}.{form}" for name in FIGURES for form in ("svg", "png")))
"""Everything that may be in the folder."""

ACCEPTED = "a folder that `goodqueue validate --out` made"


def claim(folder: Path) -> None:
    """Mark ``folder`` as ours, so that a validation that is killed can continue in it. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    if not output.about(folder):
        text = json.dumps({"made_by": "goodqueue validate", "unfinished": True, "files": list(FILES)})
        output.write_file(folder / RESULTS, True, f"{text}\n".encode())


def check(folder: Path, force: bool) -> None:
    """Raise UserError if `write` must not write into ``folder``, as `output.check` does.

    With ``force`` it would replace files of others that have one of our names.
    """
    is_ours = is_unfinished(folder)
    output.check(folder, force or is_ours)
    ours = FILES if is_ours else output.listed(folder)
    for name in FILES:
        found = folder / name
        if found.exists() and (name not in ours or not (found.is_file() or found.is_dir())):
            raise UserError(f"--out {folder}", f"holds {name}, which is not ours; accepted: another name")


def is_unfinished(folder: Path) -> bool:
    """Return whether ``folder`` holds an interrupted validation, which can continue there.

    One whose results were removed or damaged is known by its store.
    """
    about = output.about(folder)
    if not about:
        return store.is_one(folder / FOLDER)
    return about.get("made_by") == "goodqueue validate" and bool(about.get("unfinished"))


def write(folder: Path, validation: Validation, judgement: Judgement) -> None:
    """Write everything except the runs into ``folder``, in place of earlier results. Raises OSError, and UserError."""
    from goodqueue.plot import style
    from goodqueue.validation import figures as plots

    before = set(output.listed(folder))
    made = plots.scatter(validation.results), plots.error_bars(validation.results, judgement)
    drawn = dict(zip(FIGURES, (*made, plots.windows(validation.results)), strict=True))
    for name, figure in drawn.items():
        if figure is not None:
            style.save(figure, folder, name)
    output.write_file(folder / TABLE, True, show.markdown(validation, judgement).encode())
    data = as_json(validation, judgement)
    figures = (f"{name}.{form}" for name, figure in drawn.items() if figure is not None for form in ("svg", "png"))
    data["files"] = sorted({RESULTS, FOLDER, TABLE, *figures})
    for name in before.difference(data["files"]):
        if (folder / name).is_file():
            (folder / name).unlink()
    output.write_file(folder / RESULTS, True, (json.dumps(data, ensure_ascii=False) + "\n").encode())


def as_json(validation: Validation, judgement: Judgement) -> dict[str, Any]:
    """Return the object that ``validate --json`` prints and ``results.json`` holds."""
    ids = [found.id for found in validation.results]
    head = {"schema": 1, "made_by": "goodqueue validate"}
    return head | result.as_json(validation) | show.as_json(judgement, ids)


def load(file: Path) -> tuple[Validation, Judgement]:
    """Return the validation that a ``results.json`` stores, judged again."""
    validation = result.from_json(results.parse(results.text(file, ACCEPTED, pipes=False), str(file), ACCEPTED))
    return validation, judge(validation.results)
