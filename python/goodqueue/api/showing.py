"""Prints results: the command line's tables as text, and as HTML in a notebook."""

import io
from collections.abc import Sequence
from contextlib import AbstractContextManager, redirect_stdout
from html import escape
from typing import TYPE_CHECKING

from goodqueue.show.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from goodqueue.record import Record


class Shown:
    """A result with a headline, tables and sentences."""

    def _parts(self) -> tuple[str, Sequence[Table], Sequence[str]]:
        """Return the headline above the tables, the tables, and the sentences below them."""
        raise NotImplementedError

    def table(self) -> str:
        """Return the text that the command line prints for this result: its tables, at most 100 columns wide."""
        from goodqueue.show import terminal

        headline, tables, sentences = self._parts()
        stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="")
        with redirect_stdout(stream):
            for line in headline.split("\n"):
                if line.startswith("  "):  # a command, which is not wrapped, so that it can be pasted
                    terminal.emit(f"{terminal.fit(line)}\n")
                else:
                    terminal.say(line)
            terminal.say()
            for table in tables:
                terminal.print_table(table)
            for sentence in sentences:
                terminal.say(sentence)
        stream.seek(0)
        return stream.read().rstrip("\n")

    def latex(self) -> str:
        """Return the tables as LaTeX, with the rules of booktabs, for ``\\input`` in a paper."""
        from goodqueue.show import latex

        return latex.document(self._parts()[1])

    def __repr__(self) -> str:
        return self.table()

    def _repr_html_(self) -> str:
        from goodqueue.pages import fragment

        headline, tables, sentences = self._parts()
        said = [f"<p>{escape(sentence)}</p>" for sentence in sentences]
        return "\n".join([f"<p>{escape(headline)}</p>", *map(fragment, tables), *said])


def looking(width: str | None, font: str | None, style: str | None) -> AbstractContextManager[None]:
    """Return a context in which figures have the look that the user asks for. Raises UserError."""
    from goodqueue.plot import wishes

    return wishes.applied(wishes.of(width, font, style))


def drawn(kind: str, records: Sequence["Record"], metric: Sequence[str], title: str) -> "Figure":
    """Return the figure that ``goodqueue plot`` draws for ``records``. Raises UserError."""
    from goodqueue.errors import UserError, quoted
    from goodqueue.plot import KINDS, drawing, selection

    if kind not in KINDS:
        raise UserError("plot", f"found {quoted(kind)}; accepted: {', '.join(KINDS)}")
    return drawing.of_runs(kind, selection.runs(records), metric, None, None, title)
