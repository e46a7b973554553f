"""The folder of a validation: results.json, table.md and the figures."""

import json
from pathlib import Path
from typing import Any

from goodqueue.errors import UserError
from goodqueue.files import output
from goodqueue.files.output import RESULTS
from goodqueue.pages import without_figures
from goodqueue.store import results
from goodqueue.validation import result, show
from goodqueue.validation.judging import Judgement, judge
from goodqueue.validation.result import Validation

TABLE = "table.md"

FIGURES = ("sim-against-kernel", "errors", "cwnd")

MADE_BY = "goodqueue validate"

ACCEPTED = "results.json of a folder that `goodqueue validate --out` made"


def write(folder: Path, validation: Validation, judgement: Judgement) -> None:
    """Write the tables, the figures and all numbers into ``folder``. Raises OSError, and UserError."""
    if not without_figures():
        _draw(folder, validation, judgement)
    output.write_file(folder / TABLE, True, show.markdown(validation, judgement).encode())
    data = as_json(validation, judgement)
    data["files"] = sorted([RESULTS, *(file.name for file in folder.iterdir())])
    output.write_file(folder / RESULTS, True, (json.dumps(data, ensure_ascii=False) + "\n").encode())


def _draw(folder: Path, validation: Validation, judgement: Judgement) -> None:
    from goodqueue.plot import style
    from goodqueue.validation import figures as plots

    figures = plots.scatter(validation.results), plots.error_bars(validation.results, judgement)
    drawn = dict(zip(FIGURES, (*figures, plots.windows(validation.results)), strict=True))
    for name, figure in drawn.items():
        if figure is not None:
            style.save(figure, folder, name)


def as_json(validation: Validation, judgement: Judgement) -> dict[str, Any]:
    """Return the object that ``validate --json`` prints and ``results.json`` holds."""
    ids = [result.id for result in validation.results]
    head = {"schema": 1, "made_by": MADE_BY}
    return head | result.as_json(validation) | show.as_json(judgement, ids)


def load(file: Path) -> tuple[Validation, Judgement]:
    """Return the validation that a ``results.json`` stores, judged again. Raises UserError."""
    data = results.parse(results.text(file, ACCEPTED, pipes=False), str(file), ACCEPTED)
    if not isinstance(data, dict) or data.get("made_by") != MADE_BY:
        raise UserError(str(file), f"not a validation; accepted: {ACCEPTED}")
    validation = result.from_json(data)
    return validation, judge(validation.results)
