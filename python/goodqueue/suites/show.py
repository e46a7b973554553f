"""Writes a pass sheet as text and tables."""

from collections.abc import Iterator, Sequence

from goodqueue.show.table import Column, Table, decimals, number
from goodqueue.show.terminal import Bold
from goodqueue.studies import show as studies
from goodqueue.suites.loading import terms_of
from goodqueue.suites.sheet import FAILS, MEASURED, NOT_RUN, OPEN, PASSES, STATED, Number, RowResult, Sheet

UNSURE = (
    "open: within the 95 % intervals, of the numbers or of differences seed by seed, a verdict could turn round. "
    "Or the runs do not show the number of a check."
)
MARKS = {"holds": "✓", "fails": "✗", "not_run": "–"}


def parts(sheet: Sheet) -> list[str | Table]:
    """Return what the terminal shows of a sheet."""
    rows: list[str | Table] = []
    for found in sheet.rows:
        rows += ["", Bold(heading(found)), found.row.asked, *tables(sheet, found), *checks(sheet, found)]
    return [*describe(sheet), *rows, "", overview(sheet), *conclusion(sheet)]


def describe(sheet: Sheet) -> list[str]:
    """Return sentences on the suite and its runs."""
    repeats = studies.repeats(sheet.outcome) or "no"
    rough = " Quick: shorter runs and fewer seeds; the numbers are rough." if sheet.outcome.quick else ""
    beside = [name for name in sheet.suite.beside if name not in sheet.subjects]
    against = f", beside {' and '.join(beside)}" if beside else ""
    word = "seed" if repeats == "1" else "seeds"
    runs = f"{studies.runs(sheet.outcome)}, {repeats} {word} each; ± is half of the 95 % interval.{rough}"
    return [f"{sheet.suite.title}: {', '.join(map(sheet.words.algorithm, sheet.subjects))}{against}", runs]


def overview(sheet: Sheet) -> Table:
    """Return the sheet as a table: one row per section, one column per tested line."""
    columns = [Column("section", False), Column("level", False), Column("what is tested", False)]
    columns += [Column(sheet.words.algorithm(name), False) for name in sheet.subjects]
    rows = [
        [one.row.section, one.row.level, one.row.title, *(one.verdict(subject) for subject in sheet.subjects)]
        for one in sheet.rows
    ]
    verdicts = {verdict for row in rows for verdict in row[3:]}
    return Table("Pass sheet", columns, rows, [said for word, said in MEANINGS.items() if word in verdicts], names=3)


MEANINGS = {
    PASSES: "passes: every check holds, for certain.",
    FAILS: "fails: a check does not hold, for certain.",
    OPEN: UNSURE,
    MEASURED: "measured: no check applies. The standard asks for none, or the line would be compared with itself.",
    STATED: "stated: the standard asks for words; they stand in the row.",
    NOT_RUN: "not run: nothing here answers it; the row says why.",
}


def heading(found: RowResult) -> str:
    """Return the heading of a row's part of the sheet."""
    return f"{found.row.section} {found.row.title} ({found.row.level})"


def tables(sheet: Sheet, found: RowResult) -> list[Table]:
    """Return the numbers of one row: one table row per point and line, one column per metric; then the published ones.

    Metrics with other parameters, such as a phase of the run, have their own table.
    """
    groups: dict[tuple[str, ...], list[Number]] = {}
    for one in found.numbers:
        groups.setdefault(tuple(one.at), []).append(one)
    own = [_table(sheet, found, parameters, numbers) for parameters, numbers in groups.items()]
    return [*own, *studies.tables(sheet.outcome, sheet.suite.scenarios_of(found.row))]


def _table(sheet: Sheet, found: RowResult, parameters: Sequence[str], numbers: Sequence[Number]) -> Table:
    words = sheet.words
    shown = list(found.row.shows) or list(dict.fromkeys(one.metric for one in found.numbers))
    metrics = [name for name in shown if any(one.metric == name for one in numbers)]
    several = len({one.algorithm for one in found.numbers}) > 1
    columns = [
        Column("\n".join(filter(None, [name.words, name.unit])), not _is_text(found, key))
        for key, name in ((key, words.name(key)) for key in parameters)
    ]
    columns += [Column(sheet.suite.tests, False)] if several or not parameters else []
    names = len(columns)
    columns += [Column(f"{name.words}\n{name.unit}") for name in map(words.name, metrics)]
    digits = {name: decimals(one.measured.value for one in numbers if one.metric == name) for name in metrics}
    rows = [
        [_place(sheet, key, at[key]) for key in parameters]
        + [words.algorithm(algorithm)] * (names - len(parameters))
        + [_cell(cells.get(name), digits[name]) for name in metrics]
        for (at, algorithm), cells in _by_place(numbers)
    ]
    return Table(found.row.title, columns, rows, names=names)


def _is_text(found: RowResult, parameter: str) -> bool:
    return any(isinstance(one.at.get(parameter), str | bool) for one in found.numbers)


def _place(sheet: Sheet, parameter: str, value: object) -> str:
    return sheet.words.place(parameter, value) if isinstance(value, str | bool) else str(value)


def _by_place(numbers: Sequence[Number]) -> list[tuple[tuple[dict[str, object], str], dict[str, Number]]]:
    """Return the numbers by point and line. Lines of a point are together; points have the order of the runs."""
    points: dict[str, dict[str, tuple[tuple[dict[str, object], str], dict[str, Number]]]] = {}
    for one in numbers:
        lines = points.setdefault(str(sorted((name, str(value)) for name, value in one.at.items())), {})
        lines.setdefault(one.algorithm, ((dict(one.at), one.algorithm), {}))[1][one.metric] = one
    return [line for lines in points.values() for line in lines.values()]


def _cell(found: Number | None, digits: int) -> str:
    if found is None or found.measured.value is None:
        return "–"
    return number(found.measured.value, digits) + studies.interval(found.measured, digits)


def checks(sheet: Sheet, found: RowResult) -> Iterator[str]:
    """Yield one text per check and tested line: whether it holds, its statement, and what decided it."""
    if found.row.not_run:
        yield f"Not run: {found.row.not_run}"
    for subject in sheet.subjects:
        yield from of_subject(sheet, found, subject)
    for one in found.published:
        unsure = " (open)" if one.certain is False else ""
        yield f"{MARKS[one.verdict]} published{unsure}: {one.claim.statement}. {one.why}"


def of_subject(sheet: Sheet, found: RowResult, subject: str) -> Iterator[str]:
    """Yield what `checks` says of one tested line."""
    for one in found.checks[subject]:
        unsure = " (open)" if one.certain is False else ""
        yield f"{MARKS[one.verdict]} {sheet.words.algorithm(subject)}{unsure}: {one.claim.statement}. {one.why}"
    if subject in found.said:
        yield f"{sheet.words.algorithm(subject)}: {found.said[subject]}"


def conclusion(sheet: Sheet) -> Iterator[str]:
    """Yield one sentence per tested line: on the rows that must be run, and on the verdicts of all rows."""
    required = [one for one in sheet.rows if one.row.level == "must" and not one.row.not_run]
    for subject in sheet.subjects:
        parts = [f"{count} {verdict}" for verdict, count in sheet.count(subject).items() if count]
        passed = sum(one.verdict(subject) in (PASSES, MEASURED) for one in required)
        musts = f"{passed} of the {len(required)} rows that must be run pass; " if required else ""
        yield f"{sheet.words.algorithm(subject)}: {musts}of all {len(sheet.rows)}: {', '.join(parts)}."
    yield from _published(sheet)


def _published(sheet: Sheet) -> Iterator[str]:
    """Yield one sentence per line with published numbers: how many are reproduced, and how many claims hold."""
    compared = [one for one in sheet.outcome.values if one.distance is not None]
    claims = {one.claim.id: one for row in sheet.rows for one in row.published if one.verdict != "not_run"}
    for algorithm in dict.fromkeys(one.value.algorithm for one in compared):
        own = [one.verdict for one in compared if one.value.algorithm == algorithm]
        named = [one for one in claims.values() if any(algorithm in (t.algorithms or ()) for t in terms_of(one.claim))]
        held = f"; {sum(one.verdict == 'holds' for one in named)} of {len(named)} claims hold" if named else ""
        name = sheet.words.algorithm(algorithm)
        yield f"Published of {name}: {own.count('reproduced')} of {len(own)} numbers reproduced{held}."
