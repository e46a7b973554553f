"""What comes back from a question: sentences, tables, figures and data, in the order in which a person reads them.

A terminal, a page, LaTeX, a notebook and JSON are faces of an answer. Each shows the same parts from the same list;
a terminal leaves out figures, LaTeX all but the tables.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from goodqueue.show.table import Table

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph: the lead below a title, or a note in small letters."""

    text: "str | Markup"
    style: Literal["", "lead", "note"] = ""


@dataclass(frozen=True, slots=True)
class Findings:
    """Sentences in a box that the eye meets first. Without any there is no box."""

    sentences: Sequence[str]


@dataclass(frozen=True, slots=True)
class Code:
    """Text as it is typed: a command, a scenario. Empty text is left out."""

    text: str
    wraps: bool = False
    folded: str = ""
    """The word to click on, if a click unfolds the text."""


@dataclass(frozen=True, slots=True)
class Terms:
    """Names with their meanings."""

    meanings: Mapping[str, str]
    are_code: bool = False


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure that is drawn when a face shows it."""

    name: str
    """The name of its files, and the identifier of its place in a page."""
    caption: str
    draw: "Callable[[], Figure]"
    title: str = ""
    """A heading, unless it is empty."""


@dataclass(frozen=True, slots=True)
class Section:
    """Parts under a heading. Without parts it is left out."""

    title: str
    parts: "Sequence[Any]"
    """Parts of an answer (`Part`), or of a page, where figures are drawn (`pages.Part`)."""
    name: str = ""
    """The identifier of its place in the page."""


Part: TypeAlias = "str | Text | Findings | Code | Terms | Table | Picture | Section"
"""A part of an answer. Text is a paragraph."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a question."""

    title: str
    """The title of its page."""
    parts: Sequence[Part]
    data: Mapping[str, Any]
    """The same as JSON has it, without what each answer has: ``made_by`` and ``version``."""
    result: Any = None
    """What the parts are made from, typed as its room has it."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Further files of a report, by name: scenarios that were found."""

    def tables(self) -> list[Table]:
        """Return the tables of all parts, in their order."""
        return [part for part in flat(self.parts) if isinstance(part, Table)]

    def as_json(self, verb: str) -> dict[str, Any]:
        """Return what ``--json`` prints."""
        from goodqueue._goodqueue import VERSION

        return {"made_by": f"goodqueue {verb}", "version": VERSION, **self.data}


def flat(parts: Iterable[Part]) -> Iterator[Part]:
    """Yield ``parts``, with those of a section after it."""
    for part in parts:
        yield part
        if isinstance(part, Section):
            yield from flat(part.parts)
