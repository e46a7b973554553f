"""The pass sheet: one row per section of the standard, with measurements and verdicts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from goodqueue import running
from goodqueue.errors import Option, UserError, quoted
from goodqueue.store import Store
from goodqueue.studies import outcome as outcomes
from goodqueue.studies import planning
from goodqueue.studies.execution import Measured
from goodqueue.studies.measuring import Measurement
from goodqueue.studies.outcome import Outcome
from goodqueue.studies.published import At
from goodqueue.studies.verdicts import JudgedClaim
from goodqueue.studies.wording import Words
from goodqueue.suites import building
from goodqueue.suites.loading import terms_of
from goodqueue.suites.model import Row, Suite
from goodqueue.suites.statements import STATEMENTS
from goodqueue.suites.subjects import Subject

PASSES, FAILS, OPEN, MEASURED, STATED, NOT_RUN = "passes", "fails", "open", "measured", "stated", "not run"
VERDICTS = (PASSES, FAILS, OPEN, MEASURED, STATED, NOT_RUN)
"""The verdict of one row on one tested line. The first three: all checks certainly hold, one certainly fails, neither.
The others are for rows without checks."""


@dataclass(frozen=True, slots=True)
class Number:
    """One measured number."""

    algorithm: str
    """A tested line, or one that it is compared with."""
    metric: str
    at: At
    measured: Measurement


@dataclass(frozen=True, slots=True)
class RowResult:
    """A row of the suite with its results."""

    row: Row
    numbers: tuple[Number, ...]
    checks: Mapping[str, tuple[JudgedClaim, ...]]
    """By tested line, in the order of the row's checks. Checks that would compare a line with itself are left out."""
    published: tuple[JudgedClaim, ...]
    """Published claims on the same runs, about lines that were run."""
    said: Mapping[str, str]
    """The sentences of the row's statement, by tested line. Empty if the row has no statement."""
    moving: tuple[Measured, ...]
    """Its cells of whose runs more than half is the start: see `goodqueue.measures.steady`."""

    def verdict(self, subject: str) -> str:
        """Return one of `VERDICTS` for the line ``subject``."""
        if self.row.statement:
            return STATED
        if self.row.not_run:
            return NOT_RUN
        judged = self.checks[subject]
        if not judged:
            return MEASURED
        if all(check.verdict == "not_run" for check in judged):
            return NOT_RUN
        if any(check.verdict == "fails" and check.certain is not False for check in judged):
            return FAILS
        sure = all(check.verdict == "holds" and check.certain is not False for check in judged)
        return PASSES if sure else OPEN


@dataclass(frozen=True, slots=True)
class Sheet:
    """A suite with the results of its runs."""

    suite: Suite
    subjects: tuple[str, ...]
    rows: tuple[RowResult, ...]
    outcome: Outcome
    """The runs and their judgement, in the form of a study's outcome."""

    @property
    def words(self) -> Words:
        """The names in tables."""
        return self.outcome.study.words

    def count(self, subject: str) -> dict[str, int]:
        """Return the number of rows with each verdict for the line ``subject``."""
        verdicts = [row.verdict(subject) for row in self.rows]
        return {verdict: verdicts.count(verdict) for verdict in VERDICTS}

    def failed(self) -> dict[str, list[str]]:
        """Return the sections whose rows fail, by tested line. A line that fails in none is left out."""
        sections = {
            subject: [row.row.section for row in self.rows if row.verdict(subject) == FAILS]
            for subject in self.subjects
        }
        return {subject: failed for subject, failed in sections.items() if failed}


def choose(suite: Suite, only: Sequence[str]) -> list[Row]:
    """Return the rows whose sections are ``only``, or all if it is empty. ``8.2`` covers 8.2.5 and "8.2 slow".

    Raises UserError if there is no such section.
    """
    chosen = []
    for section in only:
        rows = [row for row in suite.rows if f"{row.section} ".startswith((f"{section}.", f"{section} "))]
        if not rows:
            sections = ", ".join(dict.fromkeys(row.section for row in suite.rows))
            raise UserError(Option("only"), f"found {quoted(section)}; accepted: {sections}")
        chosen += rows
    return [row for row in suite.rows if row in chosen] if only else list(suite.rows)


def plan(
    suite: Suite,
    subjects: Sequence[Subject],
    rows: Sequence[Row],
    quick: bool,
    seeds: int | None,
    engine: str,
    workers: int | None = None,
) -> planning.Plan:
    """Plan the runs behind ``rows``. Raises UserError if one of them is refused."""
    built = building.study(suite, subjects)
    return planning.plan(
        built, building.selected(suite, rows), quick, seeds, engine, workers=workers, judges_starts=True
    )


def carry_out(
    suite: Suite,
    subjects: Sequence[Subject],
    rows: Sequence[Row],
    laid_out: planning.Plan,
    workers: int | None = None,
    progress: running.Progress | None = None,
    store: Store | None = None,
    warn: Callable[[str], None] = lambda _: None,
) -> Sheet:
    """Execute the runs of the plan ``laid_out`` that ``store`` lacks, and judge ``rows`` by all of them."""
    selection = building.selected(suite, rows)
    outcome = outcomes.carry_out(laid_out, selection, workers, progress, store, warn)
    judged = {claim.claim.id: claim for claim in outcome.claims}
    names = tuple(subject.name for subject in subjects)
    return Sheet(suite, names, tuple(_row(suite, row, outcome, judged, names) for row in rows), outcome)


def _row(
    suite: Suite, row: Row, outcome: Outcome, judged: Mapping[str, JudgedClaim], subjects: Sequence[str]
) -> RowResult:
    scenarios = suite.scenarios_of(row)
    cells = [cell for cell in outcome.cells if cell.cell.scenario in scenarios]
    ran = {cell.cell.algorithm for cell in cells}
    claimed = tuple(
        judged[claim.id]
        for claim in suite.published.claims
        if set(claim.scenarios) <= set(scenarios)
        and all(ran.issuperset(term.algorithms or ()) for term in terms_of(claim))
    )
    checks = {
        subject: tuple(
            judged[building.claim_of(check, subject).id]
            for check in row.checks
            if not building.compares_itself(check, subject)
        )
        for subject in subjects
    }
    statements = {subject: STATEMENTS[row.statement](subject) for subject in subjects} if row.statement else {}
    return RowResult(
        row,
        tuple(number for cell in cells for number in _numbers(row, cell)),
        checks,
        claimed,
        statements,
        tuple(cell for cell in cells if cell.start and cell.start.is_most and _belongs(cell, row)),
    )


def _belongs(cell: Measured, row: Row) -> bool:
    return all(cell.cell.at.get(name, value) == value for name, value in row.at.items())


def _numbers(row: Row, cell: Measured) -> list[Number]:
    """Return the numbers of ``cell`` that belong to ``row``."""
    if not _belongs(cell, row):
        return []
    return [
        Number(cell.cell.algorithm, metric.name, {name: v for name, v in at.items() if name not in row.at}, number)
        for metric, at, number in cell.placed()
        if not row.shows or metric.name in row.shows
    ]


def as_json(sheet: Sheet, version: str) -> dict[str, Any]:
    """Return ``sheet`` as the object that ``suite --json`` prints and ``results.json`` holds.

    ``ci`` has the ends of a 95 % confidence interval, null for a single seed. ``numbers`` are of the tested lines and
    of the lines that they are compared with.
    """
    study = outcomes.as_json(sheet.outcome, version)
    return {
        "schema": 1,
        "made_by": "goodqueue suite",
        "version": version,
        "suite": sheet.suite.key,
        "tests": sheet.suite.tests,
        "tested": list(sheet.subjects),
        "beside": list(sheet.suite.beside),
        "engine": sheet.outcome.engine,
        "quick": sheet.outcome.quick,
        "runs": sheet.outcome.runs,
        "confidence": 0.95,
        "summary": {subject: sheet.count(subject) for subject in sheet.subjects},
        "rows": [_row_json(sheet, row) for row in sheet.rows],
        **({"values": study["values"]} if study["values"] else {}),
        "cells": study["cells"],
    }


def _row_json(sheet: Sheet, result: RowResult) -> dict[str, Any]:
    row = result.row
    sources = {f"{check.claim.id} {subject}": check.source for check in row.checks for subject in sheet.subjects}
    return {
        "section": row.section,
        "title": row.title,
        "level": row.level,
        "asked": row.asked,
        "verdicts": {subject: result.verdict(subject) for subject in sheet.subjects},
        "checks": [
            {
                "tested": subject,
                "statement": check.claim.statement,
                "source": sources[check.claim.id],
                "verdict": check.verdict,
                "certain": check.certain,
                "measured": dict(check.measured),
                "why": check.why,
            }
            for subject in sheet.subjects
            for check in result.checks[subject]
        ],
        "published_claims": [outcomes.claim_json(claim) for claim in result.published],
        "numbers": [
            {
                "algorithm": number.algorithm,
                "metric": number.metric,
                "at": dict(number.at),
                "value": number.measured.value,
                "ci": None if number.measured.low is None else [number.measured.low, number.measured.high],
                "n": number.measured.n,
            }
            for number in result.numbers
        ],
        "said": dict(result.said),
        "moving": [
            {"algorithm": cell.cell.algorithm, "at": dict(cell.cell.at), "settled_s": cell.start.settled_s}
            for cell in result.moving
            if cell.start
        ],
        "not_run": row.not_run,
    }
