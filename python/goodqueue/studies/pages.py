"""Writes a study's report: one self-contained HTML page, its figures, and the data behind them."""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from markupsafe import Markup

from goodqueue.errors import UserError
from goodqueue.files import output
from goodqueue.pages import Figure, draw, render, without_figures
from goodqueue.running import Progress
from goodqueue.show.answer import Code, Findings, Section, Text
from goodqueue.show.table import Table
from goodqueue.studies import show, show_readings
from goodqueue.studies.figures import Draw
from goodqueue.studies.model import Study
from goodqueue.studies.notes import parts, text_in
from goodqueue.studies.outcome import Outcome, as_json

COLUMNS = (
    *("id", "scenario", "algorithm", "metric", "at", "unit"),
    *("published", "measured", "ci_low", "ci_high", "n", "verdict", "distance", "why"),
)


def write(
    folder: Path, outcome: Outcome, command: str, draw_own: Draw | None = None, progress: Progress = lambda _: None
) -> UserError | None:
    """Write into ``folder``: report.html, each figure as SVG and PNG, results.json, measured.csv, and the notes.

    ``command`` is the command that repeats the study; ``draw_own`` draws its own figures. The same outcome gives the
    same bytes. If the study's figures cannot be drawn, the error is returned, and neither figures nor report.html are
    written. Raises OSError.
    """
    from goodqueue._goodqueue import VERSION

    notes = text_in(outcome.study.folder)

    def drawn() -> Iterator[Figure]:
        from goodqueue.studies import drawing

        figures = drawing.all_figures(outcome, draw_own)
        for index, figure in enumerate(figures, 1):
            yield Figure(figure.title, figure.caption, drawing.save(figure, outcome, folder), figure.name)
            progress(index / (len(figures) + 1))

    trouble = draw(folder, "results.json is", lambda: page(outcome, without_figures() or list(drawn()), notes, command))
    (folder / "measured.csv").write_text(as_csv(outcome), encoding="utf-8", newline="")
    if notes:
        (folder / "NOTES.md").write_text(notes, encoding="utf-8")
    output.write_results(folder, as_json(outcome, VERSION), command)
    return trouble


def as_csv(outcome: Outcome) -> str:
    """Return the values that were compared, one per line. The point is ``name=value``, separated by spaces."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(COLUMNS)
    for value in as_json(outcome, "")["values"]:
        if value["measured"] is not None:
            low, high = value["ci"] or ("", "")
            at = " ".join(f"{name}={setting}" for name, setting in value["at"].items())
            writer.writerow([{**value, "at": at, "ci_low": low, "ci_high": high}[column] for column in COLUMNS])
    return buffer.getvalue()


def page(outcome: Outcome, drawn: Sequence[Figure | Text], notes: str, command: str) -> str:
    """Return the report as HTML with the figures ``drawn``, or a note in their place. ``notes`` is Markdown."""
    lead, *more = show.describe(outcome)
    inferred = (
        "Choices that the paper does not state but that its numbers imply, each by itself. The verdicts above are of "
        "what it states."
    )
    readings = show_readings.tables(outcome)
    return render(
        lead,
        [
            Text(" ".join(more), "lead"),
            Findings([*show.counts(outcome), *show_readings.counts(outcome)]),
            *([show.summary_table(outcome)] if outcome.summary else []),
            Section("Published beside measured", show.tables(outcome)),
            Section("Claims", _claims(outcome)),
            Section("Inferred, not stated", [inferred, *readings] if readings else []),
            Section("Figures", drawn),
            Section("What was seen", parts(notes)),
            Section("The experiment", list(_experiment(outcome.study, command, outcome.engine))),
        ],
    )


def _claims(outcome: Outcome) -> list[Table]:
    """Return the claims as the terminal shows them, under the page's own heading."""
    return [replace(table, title="") if table.title == show.CLAIMS else table for table in show.claims_tables(outcome)]


def _experiment(study: Study, command: str, engine: str) -> Iterator[str | Text | Section]:
    if study.citation:
        yield f"{study.citation}{f', doi:{study.doi}' if study.doi else ''}."
    decided = [
        Markup("<p><strong>{}</strong>: {}. {}</p>").format(decision.about, decision.choice, decision.why)
        for decision in study.decisions
    ]
    yield Section("What the paper leaves open, and what was chosen", decided)
    beside = Markup(", each compared value in <code>measured.csv</code>")
    yield Section("Do it again", [Code(command), made_by(engine, "", beside)])


def made_by(engine: str, exceptions: str, beside: str) -> Text:
    """Return the note on the version and the engine. ``exceptions`` are numbers that differ if the command is repeated.

    ``beside`` names further files.
    """
    from goodqueue._goodqueue import VERSION

    same = f" The same command gives the same numbers on any machine and any number of cores{exceptions}."
    sentence = Markup("goodqueue {}, engine {}.{} Each seed's number stands in <code>results.json</code>{}.")
    return Text(sentence.format(VERSION, engine, same if engine == "sim" else "", beside), "note")
