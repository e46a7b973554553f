"""Writes HTML pages: a title over sections, tables, figures and text, in one style. A page stands alone in one file."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from goodqueue import extras
from goodqueue.errors import UserError, one_line, warn
from goodqueue.files import output
from goodqueue.show import answer as answers
from goodqueue.show import layout
from goodqueue.show.answer import (
    Answer,
    Code,
    Distributions,
    Findings,
    Gallery,
    Notes,
    Picture,
    Section,
    Terms,
    Text,
    flat,
)
from goodqueue.show.table import Table

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

    from goodqueue.running import Progress

WIDE = 144
"""The width in characters of a table that fits in a window of 1200 pixels. A page splits a wider table."""

REPORT = "report.html"
"""The name of the page in a folder of results."""


NO_FIGURES = "The figures are left out, since matplotlib is not installed: pip install matplotlib"
"""The note of a page whose figures cannot be drawn, and the warning."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawn figure. Its title is a heading, unless it is empty."""

    title: str
    caption: str
    svg: str
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


def fragment(parts: "Iterable[answers.Part]") -> str:
    """Return ``parts`` as HTML for any page: as in reports, but without their style and without figures."""
    grid = _environment().get_template("grid.html.j2").make_module().grid  # type: ignore[attr-defined]
    blocks: list[str] = []
    for part in flat(parts):
        match part:
            case Table():
                blocks.append((f"<p><b>{escape(part.title)}</b></p>" if part.title else "") + grid(part))
            case Section():
                blocks.append(f"<p><b>{escape(part.title)}</b></p>")
            case Code():
                blocks.append(f"<pre>{escape(part.text)}</pre>")
            case Findings():
                blocks += [f"<p>{escape(sentence)}</p>" for sentence in part.sentences]
            case Terms():
                blocks += [f"<p>{escape(f'{name}: {meaning}')}</p>" for name, meaning in part.meanings.items()]
            case Text():
                blocks.append(f"<p>{escape(part.text)}</p>")
            case str():
                blocks.append(f"<p>{escape(part)}</p>")
            case Notes():
                blocks.append(f"<pre>{escape(part.markdown)}</pre>")
            case Picture() | Gallery() | Distributions():
                pass
    return "\n".join(blocks)


def write(folder: Path, answer: Answer, verb: str, command: str, progress: "Progress") -> UserError | None:
    """Write a report of ``answer`` into ``folder``: report.html, its figures, its files, and results.json.

    ``command`` is the command that asks again. If the figures cannot be drawn, the error is returned. Raises OSError.
    """
    if answer.write is not None:
        return answer.write(folder, command, progress)
    for name, text in answer.files.items():
        (folder / name).write_text(text, encoding="utf-8")
    for name, content in answer.made_files().items():
        with (folder / name).open("wb") as file:
            file.writelines([content] if isinstance(content, bytes) else content)
    stays = f"{' and '.join(answer.beside or [output.RESULTS])} {'are' if answer.beside[1:] else 'is'}"
    trouble = draw(folder, stays, lambda: page(folder, answer, command, progress))
    output.write_results(folder, answer.as_long_json(verb), command)
    return trouble


def page(folder: Path, answer: Answer, command: str, progress: "Progress") -> str:
    """Return the page of ``answer`` as HTML. Its figures are written into ``folder``."""
    has_figures = any(isinstance(part, Picture | Gallery) for part in flat(answer.parts))
    missing = without_figures() if has_figures else []
    parts = list(answer.parts if missing else _opened(answer.parts))
    pictures = [part for part in flat(parts) if isinstance(part, Picture)]
    drawn: dict[str, Figure] = {}
    for number, picture in enumerate(pictures if not missing else [], 1):
        drawn[picture.name] = _saved_figure(folder, picture)
        progress(number / len(pictures))
    return render(answer.title, [*_with_figures(drawn, parts), *missing, Section("The command", [Code(command)])])


def without_figures() -> list[Text]:
    """Return the note of a page without figures, and warn, if nothing here draws any; otherwise nothing."""
    if extras.has("matplotlib"):
        return []
    warn(NO_FIGURES)
    return [Text(NO_FIGURES, "note")]


def _saved_figure(folder: Path, picture: Picture) -> Figure:
    from goodqueue.plot import style

    with picture.guard():
        svg = style.save(picture.draw(), folder, picture.name)
    return Figure(picture.title, picture.caption, svg, picture.name)


def _opened(parts: Iterable[answers.Part]) -> "Iterator[answers.Part]":
    """Yield ``parts`` with the figures of each gallery in its place."""
    for part in parts:
        if isinstance(part, Gallery):
            yield from part.make()
        else:
            yield part._replace(parts=list(_opened(part.parts))) if isinstance(part, Section) else part


def _with_figures(drawn: dict[str, Figure], parts: Iterable[answers.Part]) -> "Iterator[Part]":
    """Yield ``parts`` with the ``drawn`` figures in place of what draws them. What is not drawn is left out."""
    for part in parts:
        if isinstance(part, Picture):
            if part.name in drawn:
                yield drawn[part.name]
        elif isinstance(part, Distributions | Gallery):
            continue
        elif isinstance(part, Notes):
            from goodqueue.pages import notes  # the import of its reader takes time that few pages need

            yield from notes.blocks(part.markdown)
        elif isinstance(part, Section):
            yield part._replace(parts=list(_with_figures(drawn, part.parts)))
        else:
            yield part


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
