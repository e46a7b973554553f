"""Writes HTML pages: a title over sections, tables, figures and text, in one style. A page stands alone in one file."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from goodqueue import extras
from goodqueue.errors import UserError, one_line
from goodqueue.show import layout
from goodqueue.show.tables import Table

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

WIDE = 144
"""The width in characters of a table that fits in a window of 1200 pixels. A page splits a wider table."""

REPORT = "report.html"
"""The name of the page in a folder of results."""


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
class Figure:
    """A drawn figure. Its title is a heading, unless it is empty."""

    title: str
    caption: str
    svg: str
    name: str = ""
    """The identifier of its place in the page."""


@dataclass(frozen=True, slots=True)
class Section:
    """Parts under a heading. Without parts it is left out."""

    title: str
    parts: "Sequence[Part]"
    name: str = ""
    """The identifier of its place in the page."""


Part: TypeAlias = "str | Markup | Text | Findings | Code | Terms | Table | Figure | Section"
"""A part of a page: text is a paragraph, Markup is HTML, and a table stands under its title, if it has one."""


def render(title: str, parts: "Iterable[Part]", contents: Sequence[Section] = ()) -> str:
    """Return the page with ``title`` and ``parts``. A list of ``contents`` at its head leads to sections."""
    from goodqueue._goodqueue import VERSION

    style = files("goodqueue.pages").joinpath("page.css").read_text(encoding="utf-8")
    page = _environment().get_template("page.html.j2")
    return page.render(style=style, title=title, parts=list(parts), contents=contents, version=VERSION)


def fragment(table: Table) -> str:
    """Return one table as HTML for any page: as in reports, but without their style."""
    grid: str = _environment().get_template("grid.html.j2").make_module().grid(table)  # type: ignore[attr-defined]
    return f"<p><b>{escape(table.title)}</b></p>{grid}"


def draw(folder: Path, stays: str, make: Callable[[], str]) -> UserError | None:
    """Write the page that ``make`` returns, which may write figures into ``folder`` first.

    If it fails, the error is returned, and what it wrote is removed. ``stays`` says in the error what is left. Raises
    OSError.
    """
    before = {file.name for file in folder.iterdir()}
    try:
        (folder / REPORT).write_text(make(), encoding="utf-8")
    except OSError:
        raise
    except Exception as error:  # noqa: BLE001 - a library may raise anything, or fail to be imported
        for file in folder.iterdir():
            if file.name not in before:
                file.unlink()
        if isinstance(error, UserError):
            return error
        refusal = extras.missing(error, "") if isinstance(error, ModuleNotFoundError) else None
        what = f"the figures cannot be drawn: {refusal or f'{type(error).__name__}: {one_line(str(error))}'}"
        return UserError(REPORT, f"{what}; {stays} there")
    return None


def _environment() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("goodqueue", "pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["parts"] = lambda table: [part.table for part in layout.parts(table, WIDE)]
    environment.filters["kind"] = lambda part: type(part).__name__
    return environment
