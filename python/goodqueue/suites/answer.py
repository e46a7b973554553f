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
    )


def parts(sheet: Sheet) -> Iterator[Part]:
    """Yield what a person sees of a sheet."""
    yield from show.describe(sheet)
    for row in sheet.rows:
        yield Section(show.heading(row), [row.row.asked, *show.tables(sheet, row), *show.checks(sheet, row)])
    yield show.overview(sheet)
    yield from show.conclusion(sheet)
