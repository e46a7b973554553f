"""Writes a study's report: one self-contained HTML page, its figures, and the data behind them."""

import csv
import io
import json
from pathlib import Path

from goodqueue.errors import UserError
from goodqueue.files.output import RESULTS
from goodqueue.run import Progress
from goodqueue.studies import show, show_readings
from goodqueue.studies.figures import Draw, all_figures, save
from goodqueue.studies.notes import parts, text_in
from goodqueue.studies.outcome import Outcome, as_json

COLUMNS = (
    *("id", "scenario", "algorithm", "metric", "at", "unit"),
    *("published", "measured", "ci_low", "ci_high", "n", "verdict", "distance", "why"),
)


def write(
    folder: Path, outcome: Outcome, command: str, draw: Draw | None = None, progress: Progress = lambda _: None
) -> UserError | None:
    """Write into ``folder``: report.html, each figure as SVG and PNG, results.json, measured.csv, and the notes.

    ``command`` is the command that repeats the study; ``draw`` draws its own figures. The same outcome gives the same
    bytes. If the study's figures cannot be drawn, the error is returned, and neither figures nor report.html are
    written. Raises OSError.
    """
    from goodqueue._goodqueue import VERSION

    notes, trouble = "", None
    try:
        notes = text_in(outcome.study.folder)
        figures = all_figures(outcome, draw)
        drawn = []
        for figure in figures:
            drawn.append((figure.name, figure.title, figure.caption, save(figure, outcome, folder)))
            progress(len(drawn) / (len(figures) + 1))
        (folder / "report.html").write_text(page(outcome, drawn, notes, command, VERSION), encoding="utf-8")
    except UserError as error:
        trouble = error
        for file in folder.iterdir():
            file.unlink()
    (folder / "measured.csv").write_text(as_csv(outcome), encoding="utf-8", newline="")
    if notes:
        (folder / "NOTES.md").write_text(notes, encoding="utf-8")
    results = as_json(outcome, VERSION) | {"command": command}
    results["files"] = sorted([RESULTS, *(file.name for file in folder.iterdir())])
    (folder / RESULTS).write_text(json.dumps(results, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return trouble


def as_csv(outcome: Outcome) -> str:
    """Return the values that were compared, one per line. The point is ``name=value``, separated by spaces."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(COLUMNS)
    for value in as_json(outcome, "")["values"]:
        if value["measured"] is not None:
            low, high = value["ci"] or ("", "")
            at = " ".join(f"{name}={place}" for name, place in value["at"].items())
            writer.writerow([{**value, "at": at, "ci_low": low, "ci_high": high}[column] for column in COLUMNS])
    return buffer.getvalue()


def page(outcome: Outcome, drawn: list[tuple[str, str, str, str]], notes: str, command: str, version: str) -> str:
    """Return the report as HTML. ``drawn`` holds name, title, caption and SVG of each figure; ``notes`` is Markdown."""
    from goodqueue.pages import render

    lead, *more = show.describe(outcome)
    return render(
        "studies/page.html.j2",
        title=lead,
        description=" ".join(more),
        study=outcome.study,
        findings=[*show.counts(outcome), *show_readings.counts(outcome)],
        summary=show.summary_table(outcome) if outcome.summary else None,
        tables=show.tables(outcome),
        readings=show_readings.tables(outcome),
        claims=show.tested(outcome),
        untested=show.untested(outcome),
        unsure=show.UNSURE,
        figures=drawn,
        notes=parts(notes),
        command=command,
        version=version,
        engine=outcome.engine,
    )
