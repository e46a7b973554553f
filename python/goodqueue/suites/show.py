"""Writes a pass sheet as sentences and tables: the verdict first, then the sheet, then the rows."""

from collections.abc import Iterator, Sequence

from goodqueue.measures import steady
from goodqueue.show.table import Column, Table, decimals, number
from goodqueue.studies import findings
from goodqueue.studies import show as studies
from goodqueue.studies.verdicts import JudgedClaim
from goodqueue.suites.loading import terms_of
from goodqueue.suites.sheet import (
    FAILS,
    MEASURED,
    NOT_RUN,
    OPEN,
    PASSES,
    STATED,
    VERDICTS,
    Number,
    RowResult,
    Sheet,
)

UNSURE = (
    "open: within the 95 % intervals, of the numbers or of differences seed by seed, a verdict could turn round. "
    "Or the runs do not show the number of a check."
)
MARKS = {"holds": "✓", "fails": "✗", "not_run": "–"}


def describe(sheet: Sheet) -> str:
    """Return a sentence on what was tested, and how."""
    rough = " Quick: shorter runs and fewer seeds; the numbers are rough." if sheet.outcome.quick else ""
    beside = [name for name in sheet.suite.beside if name not in sheet.subjects]
    against = f" beside {together(beside)}" if beside else ""
    tested = together([*map(sheet.words.algorithm, sheet.subjects)])
    runs = f"{findings.runs(sheet.outcome)}, {findings.seeds(sheet.outcome)} each; ± is half of the 95 % interval"
    return f"{sheet.suite.key}: {tested}{against}: {runs}.{rough}"


def title(sheet: Sheet) -> str:
    """Return the title of the page: the standard's name, and what was tested."""
    return f"{sheet.suite.title}: {', '.join(map(sheet.words.algorithm, sheet.subjects))}"


def overview(sheet: Sheet) -> Table:
    """Return the sheet as a table: one row per section, one column per tested line."""
    columns = [Column("section", False), Column("level", False), Column("what is tested", False)]
    columns += [Column(sheet.words.algorithm(name), False) for name in sheet.subjects]
    rows = [
        [
            result.row.section,
            result.row.level,
            result.row.title,
            *(result.verdict(subject) for subject in sheet.subjects),
        ]
        for result in sheet.rows
    ]
    verdicts = {verdict for row in rows for verdict in row[3:]}
    return Table(
        "Pass sheet", columns, rows, [meaning for word, meaning in MEANINGS.items() if word in verdicts], names=3
    )


MEANINGS = {
    PASSES: "passes: every check holds, for certain.",
    FAILS: "fails: a check does not hold, for certain.",
    OPEN: UNSURE,
    MEASURED: "measured: no check applies. The standard asks for none, or the line would be compared with itself.",
    STATED: "stated: the standard asks for words; they stand in the row.",
    NOT_RUN: "not run: nothing here answers it; the row says why.",
}


def heading(result: RowResult) -> str:
    """Return the heading of a row's part of the sheet."""
    return f"{result.row.section} {result.row.title} ({result.row.level})"


def tables(sheet: Sheet, result: RowResult) -> list[Table]:
    """Return the numbers of one row: one table row per point and line, one column per metric; then the published ones.

    They stand under the row's heading, and so have no title. Metrics with other parameters, such as a phase of the run,
    have their own table.
    """
    groups: dict[tuple[str, ...], list[Number]] = {}
    for entry in result.numbers:
        groups.setdefault(tuple(entry.at), []).append(entry)
    own_tables = [_table(sheet, result, parameters, numbers) for parameters, numbers in groups.items()]
    return [*own_tables, *studies.tables(sheet.outcome, sheet.suite.scenarios_of(result.row))]


def _table(sheet: Sheet, result: RowResult, parameters: Sequence[str], numbers: Sequence[Number]) -> Table:
    words = sheet.words
    shown = list(result.row.shows) or list(dict.fromkeys(entry.metric for entry in result.numbers))
    metrics = [name for name in shown if any(entry.metric == name for entry in numbers)]
    several = len({entry.algorithm for entry in result.numbers}) > 1
    columns = [
        Column("\n".join(filter(None, [name.words, name.unit])), not _is_text(result, key))
        for key, name in ((key, words.name(key)) for key in parameters)
    ]
    columns += [Column(sheet.suite.tests, False)] if several or not parameters else []
    names = len(columns)
    columns += [Column(f"{name.words}\n{name.unit}") for name in map(words.name, metrics)]
    digits = {name: decimals(entry.measured.value for entry in numbers if entry.metric == name) for name in metrics}
    rows = [
        [_place(sheet, key, at[key]) for key in parameters]
        + [words.algorithm(algorithm)] * (names - len(parameters))
        + [_cell(cells.get(name), digits[name]) for name in metrics]
        for (at, algorithm), cells in _by_place(numbers)
    ]
    return Table("", columns, rows, names=names)


def _is_text(result: RowResult, parameter: str) -> bool:
    return any(isinstance(entry.at.get(parameter), str | bool) for entry in result.numbers)


def _place(sheet: Sheet, parameter: str, value: object) -> str:
    return sheet.words.place(parameter, value) if isinstance(value, str | bool) else str(value)


def _by_place(numbers: Sequence[Number]) -> list[tuple[tuple[dict[str, object], str], dict[str, Number]]]:
    """Return the numbers by point and line. Lines of a point are together; points have the order of the runs."""
    points: dict[str, dict[str, tuple[tuple[dict[str, object], str], dict[str, Number]]]] = {}
    for entry in numbers:
        lines = points.setdefault(str(sorted((name, str(value)) for name, value in entry.at.items())), {})
        lines.setdefault(entry.algorithm, ((dict(entry.at), entry.algorithm), {}))[1][entry.metric] = entry
    return [line for lines in points.values() for line in lines.values()]


def _cell(entry: Number | None, digits: int) -> str:
    if entry is None or entry.measured.value is None:
        return "–"
    return number(entry.measured.value, digits) + studies.interval(entry.measured, digits)


def checks(sheet: Sheet, result: RowResult) -> Iterator[str]:
    """Yield one text per check and tested line: whether it holds, its statement, and what decided it."""
    if result.row.not_run:
        yield f"Not run: {result.row.not_run}"
    for subject in sheet.subjects:
        yield from of_subject(sheet, result, subject)
    for claim in result.published:
        yield f"{MARKS[claim.verdict]} published{_unsure(claim)}: {claim.claim.statement}. {claim.why}"


def _unsure(check: JudgedClaim) -> str:
    return " (open)" if check.certain is False else ""


def of_subject(sheet: Sheet, result: RowResult, subject: str) -> Iterator[str]:
    """Yield what `checks` says of one tested line."""
    for check in result.checks[subject]:
        mark, unsure = MARKS[check.verdict], _unsure(check)
        yield f"{mark} {sheet.words.algorithm(subject)}{unsure}: {check.claim.statement}. {check.why}"
    if subject in result.said:
        yield f"{sheet.words.algorithm(subject)}: {result.said[subject]}"


def headline(sheet: Sheet) -> Iterator[str]:
    """Yield one sentence per tested line on the verdicts of all rows, and one per line with published numbers."""
    for subject in sheet.subjects:
        sections = {
            verdict: [result.row.section for result in sheet.rows if result.verdict(subject) == verdict]
            for verdict in VERDICTS
        }
        checked = [*sections[PASSES], *sections[FAILS], *sections[OPEN]]
        parts = [f"passes {len(sections[PASSES])} of {len(sheet.rows)} rows{_of_musts(sheet, subject)}"]
        if failed := sections[FAILS]:
            parts.append(f"fails {together(failed)}{_reason(sheet, subject)}")
        elif checked:
            parts.append("fails none")
        parts += [f"open: {together(sections[OPEN])}"] if sections[OPEN] else []
        parts += [f"{len(sections[verdict])} {verdict}" for verdict in (MEASURED, STATED, NOT_RUN) if sections[verdict]]
        yield f"{sheet.words.algorithm(subject)} {'; '.join(parts)}."
    yield from _published(sheet)


def together(names: Sequence[str]) -> str:
    """Return ``names`` in words: ``a, b and c``."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def _of_musts(sheet: Sheet, subject: str) -> str:
    """Return how many of the rows that must be run pass, if there are others, too."""
    required = [result for result in sheet.rows if result.row.level == "must" and not result.row.not_run]
    passed = sum(result.verdict(subject) == PASSES for result in required)
    return f", {passed} of the {len(required)} that must be run" if 0 < len(required) < len(sheet.rows) else ""


def _reason(sheet: Sheet, subject: str) -> str:
    """Return what decided the row that ``subject`` fails, if there is one. `undecided` has the reasons of several."""
    reasons = [check.why for result in sheet.rows for check in result.checks[subject] if _surely_fails(check)]
    return f" ({reasons[0]})" if len(reasons) == 1 else ""


def _surely_fails(check: JudgedClaim) -> bool:
    return check.verdict == "fails" and check.certain is not False


def undecided(sheet: Sheet) -> Table:
    """Return the checks for which a row fails or is open, with what decided them. There may be none."""
    several = len(sheet.subjects) > 1
    columns = [Column("section", False), *([Column(sheet.suite.tests, False)] if several else [])]
    columns += [Column("verdict", False), Column("check", False)]
    cells = [
        [
            result.row.section,
            *([sheet.words.algorithm(subject)] if several else []),
            FAILS if _surely_fails(check) else OPEN,
            f"{check.claim.statement}\n{MARKS[check.verdict]} {check.why}",
        ]
        for subject in sheet.subjects
        for result in sheet.rows
        if result.verdict(subject) in (FAILS, OPEN)
        for check in result.checks[subject]
        if check.verdict != "holds" or check.certain is False
    ]
    return Table("What fails or is open", columns, cells, names=len(columns) - 1)


def moving(sheet: Sheet) -> list[str]:
    """Return a sentence on the rows whose runs are too short to be stationary, or none."""
    rows = [
        f"{result.row.section} ({together(list(dict.fromkeys(map(sheet.words.algorithm, _algorithms(result)))))})"
        for result in sheet.rows
        if result.moving
    ]
    if not rows:
        return []
    return [f"Not yet stationary, as more than half of a run is its start ({steady.METHOD}): {together(rows)}."]


def _algorithms(result: RowResult) -> list[str]:
    return [cell.cell.algorithm for cell in result.moving]


def starts(sheet: Sheet, result: RowResult) -> Iterator[str]:
    """Yield a sentence per cell of a row whose runs are too short to be stationary: for how long the start shows."""
    for cell in result.moving:
        if cell.start:
            name = " ".join(filter(None, [sheet.words.algorithm(cell.cell.algorithm), sheet.words.point(cell.cell.at)]))
            yield f"{name}: the start shows for {cell.start.settled_s:g} of {cell.start.whole_s:g} s ({steady.METHOD})."


def _published(sheet: Sheet) -> Iterator[str]:
    """Yield one sentence per line with published numbers: how many are reproduced, and how many claims hold."""
    compared = [value for value in sheet.outcome.values if value.distance is not None]
    claims = {claim.claim.id: claim for row in sheet.rows for claim in row.published if claim.verdict != "not_run"}
    for algorithm in dict.fromkeys(value.value.algorithm for value in compared):
        verdicts = [value.verdict for value in compared if value.value.algorithm == algorithm]
        claims_of = [
            claim for claim in claims.values() if any(algorithm in (t.algorithms or ()) for t in terms_of(claim.claim))
        ]
        held = (
            f"; {sum(claim.verdict == 'holds' for claim in claims_of)} of {len(claims_of)} claims hold"
            if claims_of
            else ""
        )
        name = sheet.words.algorithm(algorithm)
        yield f"Published of {name}: {verdicts.count('reproduced')} of {len(verdicts)} numbers reproduced{held}."
