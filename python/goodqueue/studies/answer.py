"""The answer of a study: how much of the paper holds, how far its numbers are off, then claims, values and figures."""

import csv
import io
from collections.abc import Iterator, Sequence
from functools import partial

from goodqueue import foreign
from goodqueue._goodqueue import VERSION
from goodqueue.errors import quoted
from goodqueue.show.answer import Answer, Findings, Gallery, Notes, Part, Picture, Section, Terms, Text
from goodqueue.studies import findings, inside, show, show_readings
from goodqueue.studies.figures import FILE, Draw, Drawn
from goodqueue.studies.notes import text_in
from goodqueue.studies.outcome import Outcome, as_json
from goodqueue.studies.own import blame

COLUMNS = (
    *("id", "scenario", "algorithm", "metric", "at", "unit"),
    *("published", "measured", "ci_low", "ci_high", "n", "verdict", "distance", "why"),
)

INFERRED = (
    "Choices that the paper does not state but that its numbers imply. The verdicts of claims and values are of what "
    "it states."
)


def of(outcome: Outcome, draw: Draw | None) -> Answer:
    """Return the answer. ``draw`` draws the study's own figures."""
    notes = text_in(outcome.study.folder)
    return Answer(
        findings.title(outcome),
        list(_parts(outcome, notes, draw)),
        lambda: as_json(outcome, VERSION),
        outcome,
        files={"measured.csv": as_csv(outcome), **({"NOTES.md": notes} if notes else {})},
        beside=("results.json", "measured.csv"),
    )


def _parts(outcome: Outcome, notes: str, draw: Draw | None) -> Iterator[Part]:
    stated, inferred = findings.counts(outcome), show_readings.counts(outcome)
    yield Findings([*inferred, *stated] if show_readings.is_fit(outcome) else [*stated, *inferred])
    yield Text(findings.describe(outcome), "lead")
    if readings := show_readings.tables(outcome):  # somebody asked for them
        yield Section("Inferred, not stated", [INFERRED, *readings])
    if outcome.summary:
        yield show.summary_table(outcome)
    yield from inside.tables(outcome)
    yield from show.claims(outcome)
    yield Section("Published beside measured", show.tables(outcome), is_detail=not outcome.only)
    yield Section("Figures", [Gallery(partial(_pictures, outcome, draw))])
    yield Section("What was seen", [Notes(notes)] if notes else [])
    yield Section("The experiment", list(_experiment(outcome)), is_detail=True)


def _pictures(outcome: Outcome, draw: Draw | None) -> Sequence[Picture]:
    from goodqueue.studies import drawing  # the import of matplotlib takes longer than a small study

    return [_picture(outcome, drawn) for drawn in drawing.all_figures(outcome, draw)]


def _picture(outcome: Outcome, drawn: Drawn) -> Picture:
    """Return a figure. matplotlib calls the formatters of the study's own code only when it is written."""
    what = f"figure {quoted(drawn.name)} cannot be drawn:"
    path = outcome.study.folder / FILE
    guard = partial(foreign.running, lambda error: blame(path, what, error))
    return Picture(drawn.name, drawn.caption, lambda: drawn.figure, drawn.title, guard)


def _experiment(outcome: Outcome) -> Iterator[Part]:
    """Yield what the paper is, what it leaves open, and how to do it again."""
    study = outcome.study
    if study.citation:
        yield f"{study.citation}{f', doi:{study.doi}' if study.doi else ''}."
    chosen = {decision.about: f"{decision.choice}. {decision.why}" for decision in study.decisions}
    yield Section("What the paper leaves open, and what was chosen", [Terms(chosen)] if chosen else [])
    yield Text(f"{made_by(outcome.engine)} Each compared value is in measured.csv.", "note")


def made_by(engine: str, exceptions: str = "") -> str:
    """Return sentences on the version and the engine. ``exceptions`` are numbers that another run does not repeat."""
    same = f" The same command gives the same numbers on any machine and any number of cores{exceptions}."
    repeats = same if engine == "sim" else ""
    return f"goodqueue {VERSION}, engine {engine}.{repeats} A report has each seed's number in results.json."


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
