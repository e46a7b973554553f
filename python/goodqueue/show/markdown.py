"""An answer as Markdown, with tables that GitHub renders (GitHub Flavored Markdown, section 4.10)."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from goodqueue.errors import printable
from goodqueue.show.answer import Code, Distributions, Findings, Gallery, Notes, Part, Picture, Section, Terms, Text
from goodqueue.show.table import Table

SPECIAL = re.compile(r"([\\`*_<>\[\]|~#])")
"""The characters that Markdown would obey."""


def document(parts: Iterable[Part]) -> str:
    """Return ``parts`` as a document without a title, to be put into another. What is drawn is left out.

    Control characters, which a terminal would obey, are escaped.
    """
    return printable("\n\n".join(_blocks(parts, 2)) + "\n", "\n")


def table(table: Table) -> str:
    """Return the columns and rows of ``table``."""
    heads: list[str] = []
    over = ""
    for column in table.columns:
        first, _, second = column.heading.partition("\n")
        over = first or over
        heads.append(over[:-1] + second if over.endswith("-") else f"{over} {second}".strip())
    rule = ["---:" if column.numeric else "---" for column in table.columns]
    return "\n".join(f"| {' | '.join(line)} |" for line in [heads, rule, *table.rows])


def _blocks(parts: Iterable[Part], level: int) -> Iterator[str]:
    """Yield the blocks of ``parts``, between which an empty line stands. A heading has this ``level``."""
    for part in parts:
        match part:
            case Table():
                if part.title:
                    yield f"{'#' * level} {escaped(part.title)}"
                yield table(_escaped(part))
                yield from map(escaped, part.notes)
            case Section():
                if inner := list(_blocks(part.parts, level + bool(part.title))):
                    yield from [f"{'#' * level} {escaped(part.title)}"] if part.title else []
                    yield from inner
            case Code():
                if part.text:
                    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", part.text)), default=0))
                    yield f"{fence}text\n{part.text.rstrip()}\n{fence}"
            case Findings():
                yield from map(escaped, part.sentences)
            case Terms():
                yield "\n".join(f"- **{escaped(name)}**: {escaped(of)}" for name, of in part.meanings.items())
            case Text():
                yield escaped(part.plain)
            case str():
                yield escaped(part)
            case Notes():
                yield re.sub(r"\A# .*\n+", "", part.markdown).rstrip()  # its title is not the section's
            case Picture() | Gallery() | Distributions():
                pass


def _escaped(table: Table) -> Table:
    """Return ``table`` with cells that Markdown prints as they are. A cell has one line."""
    columns = [column._replace(heading=escaped(column.heading)) for column in table.columns]
    rows = [[escaped(cell).strip().replace("\n", "<br>") for cell in row] for row in table.rows]
    return replace(table, columns=columns, rows=rows)


def escaped(text: str) -> str:
    """Return ``text`` as Markdown prints it."""
    return SPECIAL.sub(r"\\\1", text)
