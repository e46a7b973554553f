"""Notes in Markdown, taken apart so that a page can show them: headings, paragraphs, tables, code.

Only what our notes use is known; everything else stands as it was written.
"""

import re
from dataclasses import dataclass
from itertools import pairwise

from goodqueue.show.tables import Column, Table

CODE = re.compile(r"`([^`]+)`")
LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the notes."""

    kind: str
    """``heading``, ``text``, ``code`` or ``table``."""
    runs: tuple[tuple[str, bool], ...] = ()
    """Pieces of text, each with whether it is code."""
    table: Table | None = None


def parts(markdown: str) -> list[Part]:
    """Return the parts of ``markdown``; its title is left out, since the page has its own."""
    blocks = [block.strip("\n") for block in markdown.split("\n\n") if block.strip()]
    return [_part(block) for block in blocks if not block.startswith("# ")]


def _part(block: str) -> Part:
    lines = block.splitlines()
    if block.startswith("#"):
        return Part("heading", _runs(block.lstrip("# ")))
    if block.startswith(("```", "    ")):
        return Part("code", ((block.strip("`\n"), False),))
    if all(line.startswith("|") for line in lines) and len(lines) > 1 and not set(lines[1]) - set("|-: "):
        return Part("table", table=_table(lines))
    return Part("text", _runs(block))


def _runs(text: str) -> tuple[tuple[str, bool], ...]:
    pieces = CODE.split(LINK.sub(r"\1", text))
    return tuple((piece, index % 2 == 1) for index, piece in enumerate(pieces) if piece)


def _table(lines: list[str]) -> Table:
    cells = [[CODE.sub(r"\1", cell.strip()) for cell in line.strip("|").split("|")] for line in lines]
    head, rows = cells[0], cells[2:]
    for above, row in pairwise(rows):
        # A first cell that is empty stands for the one above: the page parts rows, the notes do not.
        row[0] = row[0] or above[0]
    texts = [any(not re.match(r"[-+]?\d|[–-]?$", row[at]) for row in rows) for at in range(len(head))]
    return Table("", [Column(name, numeric=not text) for name, text in zip(head, texts, strict=True)], rows)
