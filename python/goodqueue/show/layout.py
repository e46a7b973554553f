"""The layout of a table: the widths of its columns, where names wrap, and where a wide table is split.

No text is cut: columns of numbers keep their width, columns of text wrap their words. A table that is wider than the
page becomes several tables, each of which repeats the columns that name the rows. Columns and rows without any value
can be left out.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from goodqueue.show import labels
from goodqueue.show.table import Column, Table

GAP = 3
"""The characters between two columns."""

NAME = 16
"""A longer name of a row may wrap."""

INDENT = "  "
"""The indentation of the further lines of a row's name, which shows where the next row begins."""

WORD = 16
"""A longer cell of text may wrap."""

TOGETHER = 3
"""This many columns under one heading stay together if possible."""


NARROW = 80
"""The width in characters of the terminal that nobody has made wider."""

NOTHING = ("–", "")
"""The cells without a value."""


class Part(NamedTuple):
    """The columns that stand side by side."""

    table: Table
    widths: Sequence[int]

    @property
    def width(self) -> int:
        """Its width in characters."""
        return sum(self.widths) + GAP * (len(self.widths) - 1)


def parts(table: Table, width: int) -> list[Part]:
    """Return ``table`` in parts that are at most ``width`` wide. Only a part that cannot be split further is wider."""
    names = list(range(min(table.names, len(table.columns))))
    cuts: list[list[int]] = [[]]
    for group in _groups(table, len(names)):
        if cuts[-1] and not _fits(table, names, [*cuts[-1], *group], width) and _fits(table, names, group, width):
            cuts.append([])
        for index in group:
            if cuts[-1] and not _fits(table, names, [*cuts[-1], index], width):
                cuts.append([])
            cuts[-1].append(index)
    return [_part(table, names, cut, width) for cut in cuts]


def brief(table: Table) -> Table | None:
    """Return ``table`` without details, and without columns and rows that have no value. A note counts these rows.

    Columns that name the rows stay. So does a table without rows. Returns None if no column with a value is left.
    """
    names = min(table.names, len(table.columns))
    if names == len(table.columns) or not table.rows:
        return table
    wanted = [at for at, column in enumerate(table.columns) if at < names or not column.is_detail]
    rows = [row for row in table.rows if any(row[at] not in NOTHING for at in wanted[names:])]
    kept = [at for at in wanted if at < names or any(row[at] not in NOTHING for row in rows)]
    if len(kept) == names:
        return None
    left = len(table.rows) - len(rows)
    notes = [f"{left} row{'s' if left > 1 else ''} without a value: --all"] if left else []
    columns = [table.columns[at]._replace(heading=_heading(table, at, kept)) for at in kept]
    cells = [[row[at] for at in kept] for row in rows]
    return replace(table, columns=columns, rows=cells, notes=[*table.notes, *notes])


def fits(table: Table) -> bool:
    """Return whether the columns of ``table`` that are no details fit in `NARROW` characters."""
    shown = brief(table)
    return shown is None or len(parts(shown, NARROW)) == 1


def fitted(table: Table, optional: Sequence[str]) -> Table:
    """Return ``table`` with as many columns as details as it takes until the others fit in `NARROW` characters.

    ``optional`` are the headings of the columns that may be details, the least important first.
    """
    for heading in optional:
        if fits(table):
            break
        columns = [column._replace(is_detail=column.is_detail or column.heading == heading) for column in table.columns]
        table = replace(table, columns=columns)
    return table


def _heading(table: Table, at: int, kept: Sequence[int]) -> str:
    """Return the heading of the column ``at`` if only the columns ``kept`` stay: the first one has a shared heading."""
    heading = table.columns[at].heading
    first = next((one for one in range(at, -1, -1) if not _continues(table.columns[one])), at)
    shared = table.columns[first].heading.split("\n")[0]
    is_first = not any(one in kept for one in range(first, at))
    return shared + heading if is_first and heading.startswith("\n") else heading


def _groups(table: Table, first: int) -> list[list[int]]:
    """Return the columns from ``first`` on. Columns under one heading are together if they are few."""
    groups: list[list[int]] = []
    for index in range(first, len(table.columns)):
        if groups and _continues(table.columns[index]):
            groups[-1].append(index)
        else:
            groups.append([index])
    return [
        part for group in groups for part in ([group] if len(group) <= TOGETHER else [[column] for column in group])
    ]


def _continues(column: Column) -> bool:
    """Return whether ``column`` belongs to the heading of the column before it."""
    return not column.heading or column.heading.startswith("\n")


def _columns(table: Table, names: Sequence[int], cut: Sequence[int]) -> list[Column]:
    """Return the columns of one part. The first column after the names repeats its shared heading, if it has one."""
    columns = [table.columns[index] for index in (*names, *cut)]
    if cut and columns[len(names)].heading.startswith("\n") and cut[0] > len(names):
        before = (table.columns[index].heading for index in range(cut[0] - 1, len(names) - 1, -1))
        shared = next((heading.split("\n")[0] for heading in before if heading and not heading.startswith("\n")), "")
        columns[len(names)] = columns[len(names)]._replace(heading=shared + columns[len(names)].heading)
    return columns


def _sizes(table: Table, names: Sequence[int], cut: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return the least and the natural width of each column."""
    least, natural = [], []
    for position, (index, column) in enumerate(zip((*names, *cut), _columns(table, names, cut), strict=True)):
        cells = [row[index] for row in table.rows]
        head = max(map(len, column.heading.split("\n")))
        longest = max(map(len, cells), default=0)
        natural.append(max(head, longest))
        if column.numeric:
            least.append(natural[-1])
        else:
            least.append(max(head, min(longest, NAME if position == 0 else WORD)))
    return least, natural


def _fits(table: Table, names: Sequence[int], cut: Sequence[int], width: int) -> bool:
    least, _ = _sizes(table, names, cut)
    return sum(least) + GAP * (len(least) - 1) <= width


def _part(table: Table, names: Sequence[int], cut: Sequence[int], width: int) -> Part:
    widths, natural = _sizes(table, names, cut)
    room = width - sum(widths) - GAP * (len(widths) - 1)
    while room > 0 and (short := [index for index in range(len(widths)) if widths[index] < natural[index]]):
        for index in short:
            share = min(max(1, room // len(short)), natural[index] - widths[index], room)
            widths[index] += share
            room -= share
    rows = [[row[index] for index in (*names, *cut)] for row in table.rows]
    return Part(replace(table, columns=_columns(table, names, cut), rows=rows), widths)


def wrapped(name: str, width: int) -> str:
    """Return a row's ``name`` in lines of at most ``width``. Parameters stay whole, and further lines are indented."""
    lines: list[str] = []
    for part in labels.parts(name):
        if lines and len(lines[-1]) + 1 + len(part) <= width:
            lines[-1] += f" {part}"
        else:
            lines += _folded(part, width, INDENT if lines else "")
    return "\n".join(lines)


def _folded(part: str, width: int, indent: str) -> list[str]:
    """Return ``part``, which begins a line with ``indent``, in as many lines as it needs.

    A word that is too long for a line is broken after a space, a slash or a colon, otherwise anywhere.
    """
    lines = []
    while len(indent) + len(part) > width:
        room = max(1, width - len(indent))
        end = max((part.rfind(mark, 0, room) for mark in " /:"), default=-1) + 1 or room
        lines.append(indent + part[:end].rstrip())
        indent, part = INDENT, part[end:]
    return [*lines, indent + part]
