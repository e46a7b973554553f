"""Turns notes in Markdown into parts of a page: pieces of HTML, and tables.

markdown-it-py reads the Markdown. rich, which the terminal's tables need, depends on it already.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from goodqueue.show.table import Column, Table


def blocks(markdown: str) -> list[Markup | Table]:
    """Return the blocks of ``markdown``: HTML, and tables.

    The title is left out, because the page has its own. A link becomes its text, because the page stands alone.
    """
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    for end in ("link_open", "link_close"):
        reader.add_render_rule(end, lambda *_: "")
    made: list[Markup | Table] = []
    for block in _blocks(reader.parse(markdown)):
        if block[0].type == "table_open":
            made.append(_table(block))
        elif block[0].tag != "h1":
            if block[0].type == "heading_open":
                block[0].tag = block[-1].tag = "h3"
            made.append(Markup(reader.renderer.render(block, reader.options, {})))  # noqa: S704 - "html" is off
    return made


def _blocks(tokens: list[Token]) -> Iterator[list[Token]]:
    """Yield the tokens of each block that is in no other block."""
    block: list[Token] = []
    for token in tokens:
        block.append(token)
        if token.level == 0 and token.nesting <= 0:
            yield block
            block = []


def _table(block: list[Token]) -> Table:
    cells = ["".join(child.content for child in token.children or []) for token in block if token.type == "inline"]
    width = sum(token.type == "th_open" for token in block)
    head, *rows = (cells[at : at + width] for at in range(0, len(cells), width))
    for above, row in pairwise(rows):
        # An empty first cell repeats the cell above: the page draws lines between rows, the notes do not.
        row[0] = row[0] or above[0]
    texts = [any(not re.match(r"[-+]?\d|[–-]?$", row[at]) for row in rows) for at in range(width)]
    return Table("", [Column(name, numeric=not text) for name, text in zip(head, texts, strict=True)], rows)
