"""``gq.suite``: runs the tests that a standard asks for."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodqueue.api import asking, frames, showing
from goodqueue.ask.question import Question
from goodqueue.errors import UserError, quoted
from goodqueue.show.answer import Answer, Part
from goodqueue.suites import answer, figures, question, sheet
from goodqueue.suites.sheet import RowResult

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False)
class Suite(showing.Shown):
    """A pass sheet: one row per section of the standard.

    >>> import goodqueue as gq
    >>> found = gq.suite("rfc7928", "codel", only="5.1.1", quick=True, progress=False)
    >>> found.verdict("5.1.1", "codel")
    'passes'
    """

    sheet: sheet.Sheet
    """The sheet from which the tables and figures are made."""

    @property
    def tested(self) -> list[str]:
        """The qdisc lines, or the congestion controls, that were tested."""
        return list(self.sheet.subjects)

    @property
    def rows(self) -> list[RowResult]:
        """The rows, with their checks and numbers."""
        return list(self.sheet.rows)

    @property
    def failed(self) -> dict[str, list[str]]:
        """The sections whose rows fail, by tested line: what gives ``goodqueue suite`` the exit status 1."""
        return self.sheet.failed()

    @property
    def verdicts(self) -> "pd.DataFrame":
        """A DataFrame with one row per section and tested line, and its ``verdict``.

        Raises `gq.UserError` if pandas is missing, as `numbers` does.
        """
        return frames.frame(
            [
                {
                    "section": one.row.section,
                    "level": one.row.level,
                    "title": one.row.title,
                    "tested": subject,
                    "verdict": one.verdict(subject),
                }
                for one in self.sheet.rows
                for subject in self.sheet.subjects
            ]
        )

    @property
    def numbers(self) -> "pd.DataFrame":
        """A DataFrame with one row per measured number, with its 95 % interval and its n of seeds.

        Columns: ``section``, one column per swept parameter, ``algorithm``, ``metric`` (unit in its name), ``value``,
        ``low``, ``high``, ``n``.
        """
        return frames.frame([_number(one, number) for one in self.sheet.rows for number in one.numbers])

    def verdict(self, section: str, tested: str) -> str:
        """Return ``passes``, ``fails``, ``open``, ``measured``, ``stated`` or ``not run``.

        Raises `gq.UserError` if there is no such section, or if ``tested`` was not tested.
        """
        if tested not in self.sheet.subjects:
            raise UserError("tested", f"found {quoted(tested)}; accepted: {', '.join(self.sheet.subjects)}")
        return self._row(section).verdict(tested)

    def plot(self, section: str) -> "list[Figure]":
        """Return the figures of one row. Raises `gq.UserError` if there is no such section."""
        return [picture.draw() for picture in figures.of_row(self.sheet, self._row(section))]

    def _row(self, section: str) -> RowResult:
        for one in self.sheet.rows:
            if one.row.section == section:
                return one
        known = ", ".join(one.row.section for one in self.sheet.rows)
        raise UserError("section", f"found {quoted(section)}; accepted: {known}")

    def _parts(self) -> Sequence[Part]:
        return list(answer.parts(self.sheet))


def _number(row: RowResult, number: sheet.Number) -> dict[str, Any]:
    found = number.measured
    whose = {"algorithm": number.algorithm, "metric": number.metric}
    ends = {"value": found.value, "low": found.low, "high": found.high, "n": found.n}
    return {"section": row.row.section, **number.at, **whose, **ends}


def _tested(answer: Answer, _: Question) -> Suite:
    return Suite(answer.result)


suite = asking.function(question.Suite, _tested, "Suite", "A `Suite`.")
