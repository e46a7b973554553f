"""Writes a pass sheet as one HTML page to attach to a draft, with its figures and the data behind them."""

import json
from pathlib import Path

from goodqueue.errors import UserError, one_line
from goodqueue.files import inputs
from goodqueue.files.output import RESULTS
from goodqueue.run import Progress
from goodqueue.studies.notes import parts, text_in
from goodqueue.studies.reading import MOST_BYTES
from goodqueue.suites import show
from goodqueue.suites.sheet import RowResult, Sheet, as_json

Drawn = tuple[str, str, str]
"""The name, caption and SVG of a figure."""


def write(folder: Path, sheet: Sheet, command: str, progress: Progress = lambda _: None) -> UserError | None:
    """Write into ``folder``: report.html, each figure as SVG and PNG, and results.json.

    ``command`` is the command that repeats the suite. If the figures cannot be drawn, the error is returned, and
    neither the figures nor report.html are written. Raises OSError.
    """
    from goodqueue._goodqueue import VERSION

    trouble = None
    try:
        drawn = _draw(folder, sheet, progress)
        (folder / "report.html").write_text(page(sheet, drawn, command, VERSION), encoding="utf-8")
    except OSError:
        raise
    except Exception as error:  # noqa: BLE001 - a library may raise anything, or fail to be imported
        what = f"the figures cannot be drawn: {type(error).__name__}: {one_line(str(error))}"
        trouble = UserError("report.html", f"{what}; results.json is there")
        for file in folder.iterdir():
            file.unlink()
    results = as_json(sheet, VERSION) | {"command": command}
    results["files"] = sorted([RESULTS, *(file.name for file in folder.iterdir())])
    (folder / RESULTS).write_text(json.dumps(results, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return trouble


def _draw(folder: Path, sheet: Sheet, progress: Progress) -> dict[str, list[Drawn]]:
    """Write each figure into ``folder`` and return them by their row's heading."""
    from goodqueue.plot import style
    from goodqueue.suites import figures

    drawn: dict[str, list[Drawn]] = {}
    for index, found in enumerate(sheet.rows, 1):
        drawn[show.heading(found)] = [
            (name, caption, style.save(figure, folder, name)) for name, caption, figure in figures.of_row(sheet, found)
        ]
        progress(index / (len(sheet.rows) + 1))
    return drawn


def page(sheet: Sheet, drawn: dict[str, list[Drawn]], command: str, version: str) -> str:
    """Return the page as HTML."""
    from goodqueue.pages import render

    lead, *more = show.describe(sheet)
    return render(
        "suites/page.html.j2",
        title=lead,
        description=" ".join(more),
        suite=sheet.suite,
        overview=show.overview(sheet),
        findings=list(show.conclusion(sheet)),
        rows=[_row(sheet, found, drawn[show.heading(found)]) for found in sheet.rows],
        scenarios=_scenarios(sheet),
        lines=_lines(sheet),
        notes=parts(text_in(sheet.suite.folder)),
        command=command,
        version=version,
        engine=sheet.outcome.engine,
    )


def _row(sheet: Sheet, found: RowResult, drawn: list[Drawn]) -> dict[str, object]:
    """Return the content of the page on one row."""
    return {
        "heading": show.heading(found),
        "asked": found.row.asked,
        "tables": show.tables(sheet, found),
        "checks": list(show.checks(sheet, found)),
        "sources": list(dict.fromkeys(check.source for check in found.row.checks)),
        "figures": drawn,
    }


def _scenarios(sheet: Sheet) -> dict[str, str]:
    """Return the scenario files behind the rows, by name."""
    used = {id_ for found in sheet.rows for id_ in found.row.experiments}
    files = {trial.experiment.file for trial in sheet.suite.trials if trial.experiment.id in used}
    return {file.name: inputs.read_text(file, MOST_BYTES, "a scenario in TOML", pipes=False) for file in sorted(files)}


def _lines(sheet: Sheet) -> dict[str, list[str]]:
    """Return every qdisc line that was run, with every parameter, by its name in the sheet."""
    found: dict[str, list[str]] = {}
    for cell in sheet.outcome.cells:
        lines = found.setdefault(cell.cell.algorithm if sheet.suite.tests == "qdisc" else "at the bottleneck", [])
        if cell.qdisc not in lines:
            lines.append(cell.qdisc)
    return found
