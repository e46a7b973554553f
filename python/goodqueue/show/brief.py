"""The parts of an answer that a person reads first. The others are named, so that they can be asked for."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from goodqueue.show import layout
from goodqueue.show.answer import Distributions, Part, Section
from goodqueue.show.table import Table

COLUMNS = "every column"
"""What is left out of tables, in words."""


@dataclass(slots=True)
class Brief:
    """The first parts of an answer, without details and without what has no value."""

    parts: list[Part] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    """The titles of what is left out."""


def of(parts: Iterable[Part]) -> Brief:
    """Return the ``parts`` that a person reads first."""
    brief = Brief()
    brief.parts = list(_kept(parts, brief.left))
    brief.left = sorted(dict.fromkeys(brief.left), key=lambda title: title != COLUMNS)
    return brief


def _kept(parts: Iterable[Part], left: list[str]) -> Iterator[Part]:
    """Yield the parts to show, and add the titles of the others to ``left``."""
    for part in parts:
        if isinstance(part, Section) and part.is_detail:
            left += titles(part)
        elif isinstance(part, Section):
            if inner := list(_kept(part.parts, left)):
                yield part._replace(parts=inner)
        elif not isinstance(part, Table):
            yield part
        elif (table := layout.brief(part)) is not None:
            left += [COLUMNS] if any(column.is_detail for column in part.columns) else []
            yield table
        else:
            left.append(part.title)


def titles(section: Section) -> list[str]:
    """Return what ``section`` is called: its title, or the titles of what is in it."""
    if section.title or not section.parts:
        return [section.title] if section.parts else []
    inner = [part for part in section.parts if isinstance(part, Section | Table | Distributions) and part.title]
    return [title for part in inner for title in (titles(part) if isinstance(part, Section) else [part.title])]
