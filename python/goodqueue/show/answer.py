"""What comes back from a question: sentences, tables, figures and data, in the order in which a person reads them.

A terminal, a page, Markdown, LaTeX, a notebook and JSON are faces of an answer. Each shows the same parts from the
same list. A terminal leaves out figures and notes, and without ``--all`` what `Section.is_detail`. LaTeX has the tables
alone.

The first part is `Findings`: one or two sentences that answer the question. Tables that fit 80 columns follow.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from goodqueue.show.table import Table

if TYPE_CHECKING:
    from pathlib import Path

    from markupsafe import Markup
    from matplotlib.figure import Figure

    from goodqueue.errors import UserError
    from goodqueue.running import Progress


class Text(NamedTuple):
    """A paragraph: the lead below a title, or a note in small letters."""

    text: "str | Markup"
    style: Literal["", "lead", "note"] = ""

    @property
    def plain(self) -> str:
        """The text without HTML, for a face that is no page."""
        without_tags = getattr(self.text, "striptags", None)
        return without_tags() if without_tags else self.text


class Findings(NamedTuple):
    """Sentences in a box that the eye meets first. Without any there is no box."""

    sentences: Sequence[str]


class Code(NamedTuple):
    """Text as it is typed: a command, a scenario. Empty text is left out."""

    text: str
    wraps: bool = False
    folded: str = ""
    """The word to click on, if a click unfolds the text."""
    is_apart: bool = True
    """Whether an empty line is above it on a terminal."""


class Terms(NamedTuple):
    """Names with their meanings."""

    meanings: Mapping[str, str]
    are_code: bool = False


class Picture(NamedTuple):
    """A figure that is drawn when a face shows it."""

    name: str
    """The name of its files, and the identifier of its place in a page."""
    caption: str
    draw: "Callable[[], Figure]"
    title: str = ""
    """A heading, unless it is empty."""
    guard: Callable[[], AbstractContextManager[None]] = nullcontext
    """Returns a context in which it is drawn and written: errors in another's code name that code."""


class Gallery(NamedTuple):
    """Figures whose names are known once they are made, by another's code. A face that shows figures calls it."""

    make: Callable[[], Sequence[Picture]]


class Notes(NamedTuple):
    """What somebody wrote in Markdown. Its title is left out."""

    markdown: str


class Distributions(NamedTuple):
    """Distributions below each other, which a terminal draws. A page has figures in their place."""

    title: str
    runs: Sequence[tuple[str, Sequence[float]]]
    """Labels, each with 101 percentiles in ms."""


class Section(NamedTuple):
    """Parts under a heading. Without parts it is left out."""

    title: str
    parts: "Sequence[Any]"
    """Parts of an answer (`Part`), or of a page, where figures are drawn (`pages.Part`)."""
    name: str = ""
    """The identifier of its place in the page."""
    is_detail: bool = False
    """Whether a terminal shows it with ``--all`` only. Every other face shows it."""


Part: TypeAlias = "str | Text | Findings | Code | Terms | Table | Picture | Gallery | Notes | Distributions | Section"
"""A part of an answer. Text is a paragraph."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a question."""

    title: str
    """The title of its page."""
    parts: Sequence[Part]
    data: Callable[[], Mapping[str, Any]]
    """Returns the same as JSON has it, without what each answer has: ``made_by`` and ``version``. It is called if
    somebody wants JSON: p values take as long as a small comparison."""
    result: Any = None
    """What the parts are made from, typed as its room has it."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Further files of a report, by name: scenarios that were found."""
    made_files: "Callable[[], Mapping[str, bytes | Iterable[bytes]]]" = dict
    """Returns further files of a report that take long to make. It is called if a report is written. A large file is
    in pieces."""
    text: str = ""
    """What ``--json`` prints, where an engine has written it: a record."""
    latex: Sequence[Table] = ()
    """The tables of ``--latex``, if a paper has room for more than a terminal. If empty, those of the parts."""
    write: "Callable[[Path, str, Progress], UserError | None] | None" = None
    """Writes the report, if its room has one of its own, into a folder, with the command that asks again."""
    folder: str = ""
    """What is written, in words: ``{}`` is the folder. If empty: report.html, figures, and what is ``beside`` it."""

    beside: Sequence[str] = ()
    """The files that stand beside report.html, to be named. If empty, ``files`` and results.json."""
    also: Mapping[str, bytes] = field(default_factory=dict)
    """Files that are not in the folder of the report, by the field that names them (`Question.writes`)."""
    written: str = ""
    """What is already written, in words, where it is beside a store and not in a folder that somebody asked for."""
    remarks: Sequence[str] = ()
    """Lines for a person that are no part of the answer: how many runs a store has."""
    failures: Sequence[str] = ()
    """What was refused or failed, a line each. The rest of the answer is complete."""
    status: int = 0
    """The exit status of the command, if nothing failed: 1 if a replayed trace does not match."""
    trouble: "UserError | None" = None
    """What a person is told after the answer: a file that had to be written elsewhere."""
    long_data: Callable[[], Mapping[str, Any]] | None = None
    """Returns what ``data`` does, with a long list that is made while it is written (`goodqueue.files.long_json`)."""

    def tables(self) -> Sequence[Table]:
        """Return the tables for LaTeX."""
        return self.latex or list(tables(self.parts))

    def as_json(self, verb: str) -> dict[str, Any]:
        """Return what ``--json`` prints."""
        return self._named(verb, self.data())

    def as_long_json(self, verb: str) -> dict[str, Any]:
        """Return what ``--json`` prints, for `goodqueue.files.long_json`."""
        return self._named(verb, (self.long_data or self.data)())

    def _named(self, verb: str, data: Mapping[str, Any]) -> dict[str, Any]:
        from goodqueue._goodqueue import VERSION

        if "made_by" in data:  # a file that other programs read has its keys in its own order
            return dict(data)
        return {"made_by": f"goodqueue {verb}", "version": VERSION, **data}


def flat(parts: Iterable[Part]) -> Iterator[Part]:
    """Yield ``parts``, with those of a section after it."""
    for part in parts:
        yield part
        if isinstance(part, Section):
            yield from flat(part.parts)


def tables(parts: Iterable[Part], title: str = "") -> Iterator[Table]:
    """Yield the tables of ``parts``. One without a title has that of its section, or ``title``."""
    for part in parts:
        if isinstance(part, Table):
            yield part if part.title else replace(part, title=title)
        elif isinstance(part, Section):
            yield from tables(part.parts, part.title or title)
