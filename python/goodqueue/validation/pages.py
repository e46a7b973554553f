"""The folder of a validation: results.json, table.md and the figures, next to the store of its runs."""

import json
from pathlib import Path
from typing import Any

from goodqueue.files.output import RESULTS
from goodqueue.validation import result, show
from goodqueue.validation.judging import Judgement, judge
from goodqueue.validation.result import Validation

FOLDER = "store"
"""The folder of the store."""


def claim(folder: Path) -> None:
    """Mark ``folder`` as ours, so that a validation that is killed can continue in it. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / RESULTS).exists():
        text = json.dumps({"made_by": "goodqueue validate", "unfinished": True, "files": [RESULTS, FOLDER]})
        (folder / RESULTS).write_text(f"{text}\n", encoding="utf-8")


def is_unfinished(folder: Path) -> bool:
    """Return whether ``folder`` holds an interrupted validation, which can continue there."""
    try:
        about = json.loads((folder / RESULTS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(about, dict) and about.get("made_by") == "goodqueue validate" and bool(about.get("unfinished"))


def write(folder: Path, validation: Validation, judgement: Judgement) -> None:
    """Write everything except the runs into ``folder``, in place of earlier results. Raises OSError."""
    from goodqueue.files import output
    from goodqueue.plot import style
    from goodqueue.validation import figures as plots

    before = set(output.listed(folder))
    drawn = {
        "sim-against-kernel": plots.scatter(validation.results),
        "errors": plots.error_bars(validation.results, judgement),
        "cwnd": plots.windows(validation.results),
    }
    for name, figure in drawn.items():
        if figure is not None:
            style.save(figure, folder, name)
    (folder / "table.md").write_text(show.markdown(validation, judgement), encoding="utf-8")
    data = as_json(validation, judgement)
    figures = (f"{name}.{form}" for name, figure in drawn.items() if figure is not None for form in ("svg", "png"))
    data["files"] = sorted({RESULTS, FOLDER, "table.md", *figures})
    for name in before.difference(data["files"]):
        if (folder / name).is_file():
            (folder / name).unlink()
    (folder / RESULTS).write_text(json.dumps(data, ensure_ascii=False) + "\n", encoding="utf-8")


def as_json(validation: Validation, judgement: Judgement) -> dict[str, Any]:
    """Return the object that ``validate --json`` prints and ``results.json`` holds."""
    ids = [found.id for found in validation.results]
    head = {"schema": 1, "made_by": "goodqueue validate"}
    return head | result.as_json(validation) | show.as_json(judgement, ids)


def load(file: Path) -> tuple[Validation, Judgement]:
    """Return the validation that a ``results.json`` stores, judged again."""
    validation = result.from_json(json.loads(file.read_text(encoding="utf-8")))
    return validation, judge(validation.results)
