"""``gq.suite``: runs the tests that a standard asks for."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodqueue import engines
from goodqueue.api import asking, frames, showing
from goodqueue.errors import UserError, quoted, warn
from goodqueue.show.answer import Part
from goodqueue.studies import libraries
from goodqueue.suites import figures, loading, sheet, show, stacks, subjects
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
        return [figure for _, _, figure in figures.of_row(self.sheet, self._row(section))]

    def _row(self, section: str) -> RowResult:
        for one in self.sheet.rows:
            if one.row.section == section:
                return one
        known = ", ".join(one.row.section for one in self.sheet.rows)
        raise UserError("section", f"found {quoted(section)}; accepted: {known}")

    def _parts(self) -> Sequence[Part]:
        tables = [table for row in self.sheet.rows for table in show.tables(self.sheet, row)]
        return [show.describe(self.sheet)[0], *tables, show.overview(self.sheet), *show.conclusion(self.sheet)]


def _number(row: RowResult, number: sheet.Number) -> dict[str, Any]:
    found = number.measured
    whose = {"algorithm": number.algorithm, "metric": number.metric}
    ends = {"value": found.value, "low": found.low, "high": found.high, "n": found.n}
    return {"section": row.row.section, **number.at, **whose, **ends}


@asking.in_words_of_python
def suite(
    name: str | os.PathLike[str],
    *tested: str,
    only: str | Sequence[str] = (),
    stack: str | None = None,
    quick: bool = False,
    seeds: int | None = None,
    engine: str = "sim",
    store: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    progress: bool = True,
) -> Suite:
    """Run the tests that a standard asks for.

    Args:
        name: A suite of ``goodqueue list suites``, or a folder with a suite.toml.
        *tested: The qdisc lines or congestion controls to test. If none, the suite's default, if it has one.
        only: Sections of the standard. If empty, all of them.
        stack: The QUIC stack whose congestion controls are tested. If None, TCP's are.
        quick: Whether to make shorter runs with fewer seeds, for a first look.
        seeds: Number of seeds per cell. If None, the suite's own.
        engine: ``"sim"``, ``"kernel"`` or ``"live"``.
        store: A folder that keeps each run. A run that is in it is not run again.
        workers: Number of threads; the result does not depend on it. If None, all cores.
        progress: Whether a terminal shows a progress bar if the work takes longer than half a second.

    Returns:
        A `Suite`.

    Raises:
        UserError: An argument is refused, or nothing is tested.

    >>> import goodqueue as gq
    >>> gq.suite("rfc7928")
    Traceback (most recent call last):
    goodqueue.errors.UserError: suite rfc7928: no qdisc; accepted: one or several, such as codel, or ./my_aqm.py:MyAqm
    """
    (on,) = engines.parse(asking.word("engine", engine), several=False)
    asking.numbers(seeds=seeds, workers=workers)
    found = loading.load(libraries.SUITES.find(asking.place("name", name)))
    if stack is not None:
        found = stacks.fitting(found, asking.word("stack", stack))
    named = subjects.read(found, asking.words("tested", tested), stack or "")
    rows = sheet.choose(found, asking.words("only", only))
    plan = sheet.plan(found, named, rows, quick, seeds, on, workers)
    return asking.working(
        f"{len(plan.scenarios)} runs",
        store,
        progress,
        lambda note, kept: Suite(sheet.carry_out(found, named, rows, plan, workers, note, kept, warn)),
    )
