"""Prints results: the command line's tables as text, and as HTML in a notebook."""

import io
from collections.abc import Sequence
from contextlib import AbstractContextManager, redirect_stdout
from typing import TYPE_CHECKING

from goodqueue.ask.readers import TEXTS
from goodqueue.errors import Option
from goodqueue.show.answer import Part, tables
from goodqueue.show.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from goodqueue.record import Record


class Shown:
    """A result that shows itself: as text, as LaTeX, and in a notebook."""

    def _parts(self) -> Sequence[Part]:
        """Return the sentences and tables, in the order in which the command line prints them."""
        raise NotImplementedError

    def table(self) -> str:
        """Return the text that the command line prints for this result: its tables, at most 100 columns wide."""
        from goodqueue.show import brief, terminal

        stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="")
        with redirect_stdout(stream):
            terminal.print_parts(brief.of(self._parts()).parts)
        stream.seek(0)
        return stream.read().rstrip("\n")

    def latex(self) -> str:
        """Return the tables as LaTeX, with the rules of booktabs, for ``\\input`` in a paper."""
        from goodqueue.show import latex

        return latex.document(self._tables())

    def _tables(self) -> Sequence[Table]:
        """Return the tables of a paper."""
        return list(tables(self._parts()))

    def __repr__(self) -> str:
        return self.table()

    def _repr_html_(self) -> str:
        from goodqueue.pages import fragment
        from goodqueue.show import brief

        return fragment(brief.of(self._parts()).parts)


def looking(width: str | None, font: str | None, style: str | None) -> AbstractContextManager[None]:
    """Return a context in which figures have the look that the user asks for. Raises UserError."""
    from goodqueue.plot import wishes

    return wishes.applied(wishes.of(width, font, style))


def metrics(metric: str | Sequence[str] | None) -> Sequence[str]:
    """Return the names of metrics that a caller gives: one, several, or None for none. Raises UserError."""
    names: Sequence[str] = () if metric is None else TEXTS.read(Option("metric"), metric)
    return names


def drawn(kind: str, records: Sequence["Record"], metric: Sequence[str], title: str) -> "Figure":
    """Return the figure that ``goodqueue plot`` draws for ``records``. Raises UserError."""
    from goodqueue.errors import UserError, quoted
    from goodqueue.plot import KINDS, drawing, selection

    if kind not in KINDS:
        raise UserError("plot", f"found {quoted(kind)}; accepted: {', '.join(KINDS)}")
    return drawing.of_runs(kind, selection.runs(records), metric, None, None, title)
