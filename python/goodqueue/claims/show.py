"""A result and what moved since another one: sentences and tables for the terminal and docs/results/claims.md."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from goodqueue.claims.moved import Change, Moved, compare, published, seeds
from goodqueue.claims.result import Part, Result
from goodqueue.show import markdown as markdowns
from goodqueue.show.table import Column, Table
from goodqueue.studies.wording import significant

WITHIN = ("reproduced", "close")
"""The verdicts of a measured value that is within the study's tolerance."""

VERBS = {"holds": ("holds", "hold"), "fails": ("fails", "fail"), "not_run": ("is not tested", "are not tested")}
"""Words for one and for several claims, by their verdict."""

RULES = (
    "A verdict is that of `goodqueue study`. A question mark: within the 95 % intervals the verdict could turn round.",
    "Within: a value is reproduced or close. Outside: it differs.",
    "CPU time: of the runs and of judging them. A dash: some runs were made before, or elsewhere.",
)
"""How to read the tables."""

HEADINGS = (
    *("runs", "seeds", "claims\nhold", "\nfail", "\nnot tested", "\nin all"),
    *("values\nwithin", "\noutside", "\nnot compared", "CPU time"),
)


def lead(now: Result, moved: Moved | None) -> list[str]:
    """Return what moved in sentences, then what the result ``now`` is."""
    return [*(_sentences(moved) if moved else ["There is no earlier result to compare with."]), describe(now)]


def describe(result: Result) -> str:
    """Return a sentence on a result: the studies, the day, the commit and the version."""
    names = ", ".join(part.study for part in result.parts)
    commit = f" of commit {result.commit}" if result.commit else ""
    whole = "each study whole" if result.is_whole else "not whole, so no verdict counts"
    return f"{names}: {result.date}, goodqueue {result.version}{commit}, {whole}."


def _sentences(moved: Moved) -> list[str]:
    """Return what moved: claims by the way they went, values, and measured numbers."""
    verdicts = [change.now["verdict"] for change in moved.claims]
    went = ", ".join(f"{_times(verdicts.count(verdict), *VERBS[verdict])} now" for verdict in dict.fromkeys(verdicts))
    claims = f"{_times(len(verdicts), 'claim', 'claims') if verdicts else 'No claim'} of {moved.of_claims} moved"
    has = "has" if len(moved.values) == 1 else "have"
    values = f"{_times(len(moved.values), 'value', 'values')} of {moved.of_values} {has} another verdict"
    return [
        f"{claims} since {moved.was.title}{f': {went}' if verdicts else ''}.",
        f"{values}. Of {moved.of_numbers} numbers that both results measured, {moved.numbers} differ.",
        *moved.apart,
    ]


def _times(count: int, noun: str, several: str) -> str:
    return f"{count} {noun if count == 1 else several}"


def tables(now: Result, moved: Moved | None) -> list[Table]:
    """Return the counts of each study, what moved, and all claims."""
    shown_tables = [_studies(now, moved)]
    if moved and moved.claims:
        columns = ["claim", "it was", "it is", "statement, and what decides it now"]
        rows = [
            [
                change.now["id"],
                _verdict(change.was),
                _verdict(change.now),
                f"{change.now['statement']}\n{change.now['why']}",
            ]
            for change in moved.claims
        ]
        shown_tables.append(_texts("Claims that moved", columns, rows))
    if moved and moved.values:
        columns = ["value", "published", "it was", "it is"]
        rows = [
            [change.now["id"], f"{published(change.now)} {change.now['unit']}", *_numbers(change)]
            for change in moved.values
        ]
        shown_tables.append(_texts("Values with another verdict", columns, rows))
    before = {part.study: part for part in moved.was.parts} if moved else {}
    return [*shown_tables, *(_claims(part, before.get(part.study), moved) for part in now.parts)]


def _texts(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    return Table(title, [Column(name, numeric=False) for name in columns], rows)


def _studies(now: Result, moved: Moved | None) -> Table:
    """Return the table of counts, a row per study. A count that changed has the earlier one before it."""
    before = {part.study: _counts([part]) for part in moved.was.parts} if moved else {}
    rows = [[part.study, *_row([part], seeds(part), before.get(part.study))] for part in now.parts]
    if len(now.parts) > 1:
        alike = moved and before.keys() == {part.study for part in now.parts}
        rows.append(["all", *_row(now.parts, "", _counts(moved.was.parts) if moved and alike else None)])
    return Table("Studies", [Column("study", numeric=False), *map(Column, HEADINGS)], rows, RULES)


def _row(parts: Sequence[Part], repeats: str, before: Mapping[str, int] | None) -> list[str]:
    counts = _counts(parts)
    texts = [
        f"{before[name]} → {count}" if before and before[name] != count else str(count)
        for name, count in counts.items()
    ]
    times = [part.cpu_s for part in parts]
    whole = sum(time for time in times if time is not None)
    return [str(sum(part.runs for part in parts)), repeats, *texts, "–" if None in times else f"{whole / 60:.1f} min"]


def _counts(parts: Iterable[Part]) -> dict[str, int]:
    """Return how many claims and values have which verdict, in the order of the columns."""
    claims = [claim["verdict"] for part in parts for claim in part.claims.values()]
    values = [value["verdict"] for part in parts for value in part.values.values()]
    return {
        "hold": claims.count("holds"),
        "fail": claims.count("fails"),
        "not tested": claims.count("not_run"),
        "claims": len(claims),
        "within": sum(map(values.count, WITHIN)),
        "outside": values.count("differs"),
        "not compared": values.count("not_run"),
    }


def _claims(part: Part, before: Part | None, moved: Moved | None) -> Table:
    """Return the table of a study's claims, with the verdicts of the earlier result if there is one."""
    rows = []
    for id_, claim in part.claims.items():
        verdict_before = [_verdict(before.claims[id_]) if before and id_ in before.claims else "–"] if moved else []
        rows.append([id_.rpartition("/")[2], _verdict(claim), *verdict_before, claim["statement"]])
    columns = ["claim", "it is", *(["it was"] if moved else []), "statement"]
    return _texts(f"Claims of {part.study}", columns, rows)


def _verdict(claim: Mapping[str, Any]) -> str:
    return f"{_verdict_words(claim['verdict'])}{' ?' if claim['certain'] is False else ''}"


def _verdict_words(verdict: str) -> str:
    return "not tested" if verdict == "not_run" else verdict


def _numbers(change: Change) -> Iterable[str]:
    for row in (change.was, change.now):
        number = "" if row["measured"] is None else f"{significant(row['measured'], 4)}: "
        yield f"{number}{'not compared' if row['verdict'] == 'not_run' else row['verdict']}"


def markdown(stored: Sequence[Result]) -> str:
    """Return the generated part of docs/results/claims.md: the newest of the ``stored`` results, and the one before."""
    if not stored:
        return "No result is stored. `make claims` stores the first."
    now, *earlier = stored
    moved = compare(earlier[0], now) if earlier else None
    blocks = [_escaped(" ".join(lead(now, moved)))]
    for table in tables(now, moved):
        rows = [[_escaped(cell) for cell in row] for row in table.rows]
        blocks += [f"## {table.title}", markdowns.table(replace(table, rows=rows)), *table.notes]
    return "\n\n".join(blocks)


def _escaped(cell: str) -> str:
    """Return ``cell`` with the characters escaped that Markdown would read as its own."""
    for char in "|<*":
        cell = cell.replace(char, f"\\{char}")
    return cell.replace("\n", "<br>")
