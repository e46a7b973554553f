"""The answer of a suite: the verdict, the sheet, a section per row with its figures, and its file for CI systems."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from goodqueue._goodqueue import VERSION
from goodqueue.scenario.toml import to_toml
from goodqueue.show.answer import Answer, Code, Findings, Notes, Part, Section, Terms, Text
from goodqueue.studies.answer import made_by
from goodqueue.studies.notes import text_in
from goodqueue.suites import figures, junit, show
from goodqueue.suites.sheet import RowResult, Sheet, as_json

if TYPE_CHECKING:
    from goodqueue.suites.question import Suite


def of(sheet: Sheet, question: "Suite") -> Answer:
    """Return the answer."""
    return Answer(
        show.title(sheet),
        list(parts(sheet)),
        lambda: as_json(sheet, VERSION),
        sheet,
        also={"junit": junit.document(sheet)} if question.junit is not None else {},
        failures=list(failures(sheet)) if question.fail_on != "none" else [],
    )


def failures(sheet: Sheet) -> Iterator[str]:
    """Yield one sentence per tested line with rows that fail."""
    for subject, sections in sheet.failed().items():
        of = f"{len(sections)} of {len(sheet.rows)} row{'s' if len(sheet.rows) > 1 else ''}"
        yield f"{sheet.words.algorithm(subject)} fails {of}: {', '.join(sections)}"


def parts(sheet: Sheet) -> Iterator[Part]:
    """Yield what a person sees of a sheet: the verdict, the sheet, what decided it, then each row."""
    yield Findings(list(show.headline(sheet)))
    yield Text(show.describe(sheet), "lead")
    yield show.overview(sheet)
    yield from (Text(sentence, "note") for sentence in show.moving(sheet))
    if (undecided := show.undecided(sheet)).rows:
        yield undecided
    rows = [Section(show.heading(result), list(_row(sheet, result))) for result in sheet.rows]
    yield Section("Each row", rows, is_detail=len(sheet.rows) == len(sheet.suite.rows))
    yield Section("What was seen", [Notes(notes)] if (notes := text_in(sheet.suite.folder)) else [])
    yield Section("The experiment", list(_experiment(sheet)), is_detail=True)


def _row(sheet: Sheet, result: RowResult) -> Iterator[Part]:
    """Yield the parts of the section on one row."""
    yield result.row.asked
    yield from show.tables(sheet, result)
    yield from show.checks(sheet, result)
    yield from show.starts(sheet, result)
    if sources := dict.fromkeys(check.source for check in result.row.checks):
        yield Text(f"Source of the checks: {'; '.join(sources)}.", "note")
    yield from figures.of_row(sheet, result)


def _experiment(sheet: Sheet) -> Iterator[Part]:
    """Yield what another person needs to repeat the tests."""
    yield f"{sheet.suite.citation}."
    yield Section("The lines, with every parameter", [Terms(_lines(sheet), are_code=True)])
    scenarios = [Section(name, [Code(text)]) for name, text in _scenarios(sheet).items()]
    yield Section("The scenarios", scenarios)
    yield Text(made_by(sheet.outcome.engine, ", except times of this machine"), "note")


def _scenarios(sheet: Sheet) -> dict[str, str]:
    """Return the scenarios behind the rows, by the name of the file."""
    used = {id_ for result in sheet.rows for id_ in result.row.experiments}
    experiments = [trial.experiment for trial in sheet.suite.trials if trial.experiment.id in used]
    return {one.file.name: to_toml(one.scenario) for one in sorted(experiments, key=lambda one: one.file)}


def _lines(sheet: Sheet) -> dict[str, str]:
    """Return every qdisc line that was run, with every parameter, by its name in the sheet."""
    lines_of: dict[str, list[str]] = {}
    for cell in sheet.outcome.cells:
        lines = lines_of.setdefault(cell.cell.algorithm if sheet.suite.tests == "qdisc" else "at the bottleneck", [])
        if cell.qdisc not in lines:
            lines.append(cell.qdisc)
    return {name: "; ".join(lines) for name, lines in lines_of.items()}
