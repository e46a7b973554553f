"""The type of a table: rows of text under headings, and the format of numbers in them.

`terminal` prints tables, `layout` fits them into a width, and pages, LaTeX and Markdown take them, too.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from goodqueue.measures.stats import Estimate


class Column(NamedTuple):
    """A heading (its lines separated by line breaks; the last one is the unit) and the alignment of its cells."""

    heading: str
    numeric: bool = True
    is_detail: bool = False
    """Whether a terminal shows it with ``--all`` only. Every other face shows it."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of text under headings."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = field(default=())
    """Sentences below the table."""
    names: int = 1
    """The number of columns that name a row. If a table is split, each part begins with them."""

    @classmethod
    def of(
        cls,
        title: str,
        rows: Sequence[Mapping[str, str]],
        notes: Sequence[str] = (),
        texts: Collection[str] = (),
        names: int = 1,
    ) -> "Table":
        """Return the table of ``rows``, each a cell by heading. The columns ``texts`` are no numbers."""
        columns = [Column(heading, heading not in texts) for heading in (rows[0] if rows else ())]
        return cls(title, columns, [list(row.values()) for row in rows], notes, names)


def decimals(values: Iterable[float | None]) -> int:
    """Return the number of decimals that leaves the least of ``values`` two digits: 1 for 4.7 and 180, at most 3."""
    least = min((abs(value) for value in values if value), default=1.0)
    return 1 if least >= 0.95 else 2 if least >= 0.095 else 3


def digits(value: float) -> int:
    """Return the number of decimals that gives ``value`` three digits: 0 for 833, 1 for 83.3, 2 for less."""
    size = abs(value)
    return 0 if size >= 99.95 else 1 if size >= 9.995 else 2


def places(mean: float, half_width: float | None) -> int:
    """Return the number of decimals of a mean with its interval: three digits, and one decimal if the half is small."""
    return max(digits(mean), 1 if half_width is not None and half_width < 0.95 else 0)


def short(value: float | None) -> str:
    """Return ``value`` with three digits, or a dash if it is None."""
    return "–" if value is None else number(value, digits(value))


def number(value: float | None, digits: int = 1) -> str:
    """Return ``value`` with ``digits`` decimals, or a dash if it is None."""
    if value is None:
        return "–"
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def span(ms: float) -> str:
    """Return a time in words: ``11.7 ms``, ``1.21 s``."""
    return f"{ms / 1000:.2f} s" if ms >= 1000 else f"{ms:.{min(decimals([ms]), digits(ms))}f} ms"


def plus_minus(estimate: Estimate | None, digits: int = 1, star: bool | None = None) -> str:
    """Return ``mean ± half-width``, followed by ``*`` if ``star``. With False the star's place is empty.

    A difference that is zero with the digits shown has no star.
    """
    if estimate is None:
        return "–"
    text = number(estimate.mean, digits)
    mark_it = star and float(text) != 0
    if estimate.half_width is not None:
        text += f" ± {number(estimate.half_width, digits)}"
    return text + ("" if star is None else " *" if mark_it else "  ")


def count(value: int | None) -> str:
    """Return ``value``, or a dash if it is None."""
    return "–" if value is None else str(value)
