"""Prints what the programs' numbers are worth: one table per program, and sentences."""

from collections.abc import Iterator, Sequence

from goodqueue.calibrate.judging import AGREE_PERCENT, NEAR_PERCENT, Agreement, Figure
from goodqueue.calibrate.keeping import Result
from goodqueue.calibrate.programs.program import Program
from goodqueue.show.table import Column, Table, number


def tables(figures: Sequence[Figure], programs: Sequence[Program]) -> list[Table]:
    """Return one table per program: a row per number, with the bias over all lines and under each of them."""
    return [table for program in programs if (table := _table(figures, program)).rows]


def _table(figures: Sequence[Figure], program: Program) -> Table:
    own_figures = [figure for figure in figures if figure.program == program.name]
    lines = list(dict.fromkeys(figure.line for figure in own_figures if figure.line))
    columns = [Column("number", False), Column("runs"), Column("bias %"), Column("95 % CI"), Column("80 % of runs")]
    columns += [Column(f"within {NEAR_PERCENT:g} %"), *(Column(line) for line in lines)]
    rows, notes = [], []
    for claim in program.claims:
        by_line = {figure.line: figure for figure in own_figures if figure.key == claim.key}
        if (whole := by_line.get("")) is None:
            continue
        cells = [signed(by_line[line].bias.value) if line in by_line else "–" for line in lines]
        rows.append(
            [
                claim.what,
                str(whole.runs),
                signed(whole.bias.value),
                f"{signed(whole.bias.low)} to {signed(whole.bias.high)}",
                f"{signed(whole.low)} to {signed(whole.high)}",
                f"{number(whole.near_percent, 0)} %",
                *cells,
            ]
        )
        notes.append(f"{claim.what}: beside {claim.truth_is}. {claim.misses}")
    return Table(program.name, columns, rows, notes)


def signed(value: float) -> str:
    """Return an error with its sign, with one decimal, or none from 100 on."""
    text = number(value, 0 if abs(value) >= 100 else 1)
    return f"+{text}" if value > 0 and float(text) else text


def sentences(results: Sequence[Result], agreed: Sequence[Agreement]) -> Iterator[str]:
    """Yield how well repeats agree, how late packets left, and which runs were left out."""
    if agreed:
        near = sum(agreement.apart <= AGREE_PERCENT for agreement in agreed)
        worst = max(agreed, key=lambda agreement: agreement.apart)
        yield (
            f"Repeated: {near} of {len(agreed)} biases agree within {AGREE_PERCENT:g} percentage points; the furthest "
            f"are {worst.apart:.1f} apart ({worst.program} {worst.key}, {worst.line or 'all lines'})."
        )
    lateness = sorted(result.late_ms for result in results if result.late_ms is not None)
    if lateness:
        yield (
            f"The links' own part: packets left late by {lateness[len(lateness) // 2]:.3f} ms (p99, the median of "
            f"{len(lateness)} runs) and {lateness[-1]:.3f} ms (p99, the worst run)."
        )
    if busy := [result for result in results if result.is_busy]:
        yield f"Left out, as the machine was busy at each try: {', '.join(map(_name, busy))}. The same command repeats."
    failed: dict[tuple[str, str], list[str]] = {}
    for result in results:
        for program, why in result.failed.items():
            failed.setdefault((program, why), []).append(_name(result))
    for (program, why), cells in failed.items():
        yield f"Not measured by {program}: {', '.join(cells)}: {why.removeprefix(f'{program}: ')}."


def _name(result: Result) -> str:
    return f"{result.path}/{result.line}" + (f" (repeat {result.repeat})" if result.repeat > 1 else "")
