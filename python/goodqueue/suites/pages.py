"""Writes a pass sheet as one HTML page to attach to a draft, with its figures and the data behind them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from markupsafe import Markup

from goodqueue.errors import UserError
from goodqueue.files import inputs, output
from goodqueue.pages import Figure, draw, render, without_figures
from goodqueue.running import Progress
from goodqueue.show.answer import Code, Findings, Section, Text
from goodqueue.show.table import Table
from goodqueue.studies.keys import MOST_BYTES
from goodqueue.studies.notes import parts, text_in
from goodqueue.studies.pages import made_by
from goodqueue.suites import show
from goodqueue.suites.sheet import RowResult, Sheet, as_json


def write(folder: Path, sheet: Sheet, command: str, progress: Progress = lambda _: None) -> UserError | None:
    """Write into ``folder``: report.html, each figure as SVG and PNG, and results.json.

    ``command`` is the command that repeats the suite. If the figures cannot be drawn, the error is returned, and
    neither the figures nor report.html are written. Raises OSError.
    """
    from goodqueue._goodqueue import VERSION

    def made() -> str:
        missing = without_figures()
        drawn = [[] for _ in sheet.rows] if missing else _draw(folder, sheet, progress)
        return page(sheet, drawn, command, missing)

    trouble = draw(folder, "results.json is", made)
    output.write_results(folder, as_json(sheet, VERSION), command)
    return trouble


def _draw(folder: Path, sheet: Sheet, progress: Progress) -> list[list[Figure]]:
    """Write each figure into ``folder`` and return those of each row."""
    from goodqueue.plot import style
    from goodqueue.suites import figures

    drawn = []
    for index, result in enumerate(sheet.rows, 1):
        drawings = figures.of_row(sheet, result)
        drawn.append(
            [Figure("", caption, style.save(figure, folder, name), name) for name, caption, figure in drawings]
        )
        progress(index / (len(sheet.rows) + 1))
    return drawn


def page(sheet: Sheet, drawn: list[list[Figure]], command: str, notes: Sequence[Text] = ()) -> str:
    """Return the page as HTML, with the figures ``drawn`` of each row, and with ``notes`` below the sheet."""
    lead, *more = show.describe(sheet)
    rows = zip(sheet.rows, drawn, strict=True)
    return render(
        lead,
        [
            Text(" ".join(more), "lead"),
            Findings(list(show.conclusion(sheet))),
            show.overview(sheet),
            *notes,
            *(Section(show.heading(result), list(_row(sheet, result, figures))) for result, figures in rows),
            Section("What was seen", parts(text_in(sheet.suite.folder))),
            Section("The experiment", _experiment(sheet, command)),
        ],
    )


def _row(sheet: Sheet, result: RowResult, drawn: list[Figure]) -> Iterator[str | Text | Table | Figure]:
    """Yield the parts of the section on one row."""
    yield result.row.asked
    yield from (replace(table, title="") for table in show.tables(sheet, result))
    yield from show.checks(sheet, result)
    if sources := dict.fromkeys(check.source for check in result.row.checks):
        yield Text(f"Source of the checks: {'; '.join(sources)}.", "note")
    yield from drawn


def _experiment(sheet: Sheet, command: str) -> list[str | Section]:
    def named(form: Markup, texts: dict[str, str]) -> list[Markup | Code]:
        return [part for name, text in texts.items() for part in (form.format(name), Code(text))]

    return [
        f"{sheet.suite.citation}.",
        Section("The lines, with every parameter", named(Markup("<p><strong>{}</strong></p>"), _lines(sheet))),
        Section("The scenarios", named(Markup("<p><code>{}</code></p>"), _scenarios(sheet))),
        Section("Do it again", [Code(command), made_by(sheet.outcome.engine, ", except times of this machine", "")]),
    ]


def _scenarios(sheet: Sheet) -> dict[str, str]:
    """Return the scenario files behind the rows, by name."""
    used = {id_ for result in sheet.rows for id_ in result.row.experiments}
    files = {trial.experiment.file for trial in sheet.suite.trials if trial.experiment.id in used}
    return {file.name: inputs.read_text(file, MOST_BYTES, "a scenario in TOML", pipes=False) for file in sorted(files)}


def _lines(sheet: Sheet) -> dict[str, str]:
    """Return every qdisc line that was run, with every parameter, by its name in the sheet."""
    lines_of: dict[str, list[str]] = {}
    for cell in sheet.outcome.cells:
        lines = lines_of.setdefault(cell.cell.algorithm if sheet.suite.tests == "qdisc" else "at the bottleneck", [])
        if cell.qdisc not in lines:
            lines.append(cell.qdisc)
    return {name: "\n".join(lines) for name, lines in lines_of.items()}
