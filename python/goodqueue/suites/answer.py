"""The answer of a suite: a section per row of the sheet, the sheet itself, its page and its file for CI systems."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from goodqueue._goodqueue import VERSION
from goodqueue.show.answer import Answer, Part, Section
from goodqueue.suites import junit, pages, show
from goodqueue.suites.sheet import Sheet, as_json

if TYPE_CHECKING:
    from goodqueue.suites.question import Suite


def of(sheet: Sheet, question: "Suite") -> Answer:
    """Return the answer."""
    return Answer(
        sheet.suite.title,
        list(parts(sheet)),
        lambda: as_json(sheet, VERSION),
        sheet,
        write=lambda folder, command, progress: pages.write(folder, sheet, command, progress),
        also={"junit": junit.document(sheet)} if question.junit is not None else {},
        failures=list(failures(sheet)) if question.fail_on != "none" else [],
    )


def failures(sheet: Sheet) -> Iterator[str]:
    """Yield one sentence per tested line with rows that fail."""
    for subject, sections in sheet.failed().items():
        of = f"{len(sections)} of {len(sheet.rows)} row{'s' if len(sheet.rows) > 1 else ''}"
        yield f"{sheet.words.algorithm(subject)} fails {of}: {', '.join(sections)}"


def parts(sheet: Sheet) -> Iterator[Part]:
    """Yield what a person sees of a sheet."""
    yield from show.describe(sheet)
    for row in sheet.rows:
        yield Section(show.heading(row), [row.row.asked, *show.tables(sheet, row), *show.checks(sheet, row)])
    yield show.overview(sheet)
    yield from show.conclusion(sheet)
