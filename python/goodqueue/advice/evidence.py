"""The evidence: every line that was tried, on the stated link and on those of the doubts, and on Linux."""

from collections.abc import Iterator, Sequence

from goodqueue.advice.choosing import FELT
from goodqueue.advice.gain import NOTICED
from goodqueue.advice.result import Advice, Check, Tried
from goodqueue.show.answer import Part, Terms
from goodqueue.show.labels import BOTH
from goodqueue.show.table import Column, Table, decimals, number, plus_minus


def tried(advice: Advice) -> Iterator[Part]:
    """Yield all candidates with their lines and numbers, on the stated link, and on the links of the doubts."""
    rule = (
        "Points: one for each tenth of a delay or of goodput, and for 0.1 of MOS, above what is there now.",
        f"A longer line is taken if it has {NOTICED:g} points more in one use, and the seeds tell the two apart;",
        "otherwise the simplest line is taken, and of equally simple ones the one with the most goodput.",
    )
    yield _table("Everything that was tried, the simplest first", advice.tried, [" ".join(rule)])
    yield Terms({row.label: BOTH.join((row.down, row.up)) for row in advice.tried}, are_code=True)
    for doubt in advice.doubts:
        yield _table(doubt.what, doubt.tried, [])


def _table(title: str, tried: Sequence[Tried], notes: list[str]) -> Table:
    felt = [metric for metric in FELT if metric.key in tried[0].means]
    columns = [Column("", False), *(Column(metric.column) for metric in felt), Column("points")]
    rows = []
    for row in tried:
        cells = [plus_minus(row.means[metric.key], 2 if metric.unit != "ms" else 1) for metric in felt]
        rows.append([("> " if row.is_choice else "") + row.label, *cells, plus_minus(row.points)])
    return Table(title, columns, rows, notes)


def checks(advice: Advice) -> Iterator[Part]:
    """Yield the numbers of Linux's own qdiscs in the same runs, or why Linux could not be run, if anybody asked."""
    if advice.checks:
        columns = [Column("", False), Column("lines", False), Column("promised"), Column("Linux"), Column("off")]
        title = "On Linux's own qdiscs and TCP: one seed, half as long"
        yield Table(title, columns, [_check(check) for check in advice.checks])
    if advice.kernel:
        yield f"Not checked on Linux: {advice.kernel}."


def _check(check: Check) -> list[str]:
    digits = decimals([check.measured])
    numbers = [f"{number(value, digits)} {check.unit}" for value in (check.promised, check.measured)]
    return [check.what, check.lines, *numbers, f"{check.percent:+.1f} %"]
