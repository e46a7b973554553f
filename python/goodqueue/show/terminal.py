"""Prints on a person's terminal: tables at most 100 columns wide, the picture, the progress bar.

Colour and the progress bar appear only on terminals (NO_COLOR is respected). If the output is not UTF-8, everything is
drawn with ASCII characters. rich is imported only when something is printed.
"""

import os
import shutil
import sys
import textwrap
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, TextIO

from goodqueue import interrupts
from goodqueue.errors import printable
from goodqueue.files import long_json
from goodqueue.show import picture

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as Grid

    from goodqueue.running import Progress
    from goodqueue.show import layout
    from goodqueue.show.answer import Part
    from goodqueue.show.table import Table

WIDTH = 100
"""The width of the widest line in characters."""

PATIENCE_S = 0.5
"""The time in seconds after which a progress bar appears."""

TO_ASCII = str.maketrans(
    {"±": "~", "–": "-", "—": "-", "…": "~", "µ": "u", "×": "x", "≤": "<", "≥": ">", "√": "r", "✓": "+", "✗": "x"}
)


def width() -> int:
    """Return the number of columns to use: the terminal's (or COLUMNS), at most `WIDTH`.

    It is `WIDTH` too in a pipe, and on a terminal without features (TERM=dumb).
    """
    dumb = os.environ.get("TERM", "").lower() in ("dumb", "unknown") and not os.environ.get("COLUMNS", "").isdecimal()
    return WIDTH if dumb else max(40, min(WIDTH, shutil.get_terminal_size((WIDTH, 24)).columns))


def is_utf8(stream: TextIO) -> bool:
    """Return whether ``stream`` can print the characters of the pictures."""
    return (stream.encoding or "").lower().replace("-", "").replace("_", "") in ("utf8", "utf8sig")


def _console(columns: int = 0) -> "Console":
    from rich.console import Console

    class Printer(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # cli.main handles it; rich would exit with status 1

    plain = {"highlight": False, "markup": False, "emoji": False, "force_jupyter": False}
    return Printer(file=sys.stdout, width=columns or width(), height=25, **plain)  # type: ignore[arg-type]


def fit(text: str) -> str:
    """Return ``text`` in characters that standard output can print.

    It may contain names by others (a flow, a file, a measurement). Control characters, which a terminal would obey, are
    escaped.
    """
    text = printable(text, "\n")
    return text if is_utf8(sys.stdout) else text.translate(TO_ASCII)


def emit(text: str) -> None:
    """Write ``text`` to standard output unchanged, for programs that read it."""
    sys.stdout.write(text)
    sys.stdout.flush()


def emit_json(data: Mapping[str, Any]) -> None:
    """Write ``data`` to standard output as a line of JSON. Its long list, if any, is in pieces."""
    sys.stdout.writelines(long_json.pieces(data, is_indented=False))
    sys.stdout.flush()


def say(text: str = "", style: str = "") -> None:
    """Print a paragraph, wrapped at the terminal's width. If it is indented, its further lines are, twice as far."""
    from rich.text import Text

    inner = len(text) - len(text.lstrip(" "))
    if inner and "\n" not in text:
        text = textwrap.fill(
            text.strip(), width(), initial_indent=" " * inner, subsequent_indent=" " * 2 * inner, break_on_hyphens=False
        )
    _console().print(Text(fit(text), style=style))


def print_table(table: "Table") -> None:
    """Print one table, with its title above, if any, and its notes below. It is split if it is too wide."""
    from rich.text import Text

    from goodqueue.show import layout

    console = _console()
    if table.title:
        console.print(Text(fit(table.title), style="bold"))
    for index, part in enumerate(layout.parts(table, width())):
        if index:
            console.print()
        _console(max(width(), part.width)).print(_grid(part))
    for note in table.notes:
        console.print(Text(fit(note), style="dim"))
    console.print()


def show(parts: "Iterable[str | Table]") -> None:
    """Print ``parts`` one after the other: texts as paragraphs, and tables."""
    for part in parts:
        if isinstance(part, str):
            say(part)
        else:
            print_table(part)


def print_answer(parts: "Iterable[Part]", shows_all: bool) -> None:
    """Print ``parts``. Unless it ``shows_all``, print those that a person reads first, and the titles of the others."""
    from goodqueue.show import brief

    if shows_all:
        print_parts(parts)
        return
    first = brief.of(parts)
    print_parts(first.parts)
    if first.left:
        say(f"--all shows more: {', '.join(first.left)}", style="dim")


def print_parts(parts: "Iterable[Part]", is_first: bool = True) -> bool:
    """Print all parts of an answer. Figures and notes are left out. Return whether an empty line is below the last one.

    Paragraphs follow each other. A table, code and a section stand apart from what is above them.
    """
    from goodqueue.show import answer as answers
    from goodqueue.show.table import Table

    others = (answers.Picture, answers.Gallery, answers.Notes)
    is_apart = is_first
    for part in parts:
        if isinstance(part, others) or (isinstance(part, answers.Code) and not part.text):
            continue
        if isinstance(part, answers.Section) and all(isinstance(one, others) for one in part.parts):
            continue
        is_block = isinstance(part, answers.Section | answers.Terms | answers.Distributions)
        is_block |= isinstance(part, answers.Code) and part.is_apart
        if not is_apart and (is_block or isinstance(part, Table)):
            emit("\n")
        is_apart = part == "" or isinstance(part, Table | answers.Distributions)  # which has an empty line below it
        match part:
            case Table():
                print_table(part)
            case answers.Section():
                if part.title:
                    say(part.title, style="bold")
                is_apart = print_parts(part.parts, is_first=True)
            case answers.Code():
                emit(fit(part.text).rstrip() + "\n")
            case answers.Distributions():
                print_picture(part.title, part.runs)
            case answers.Terms():
                for name, meaning in part.meanings.items():
                    say(f"{name}: {meaning}")
            case answers.Findings():
                for sentence in part.sentences:
                    say(sentence)
            case answers.Text():
                say(part.plain)
            case _:
                say(str(part))
    return is_apart


def _grid(part: "layout.Part") -> "Grid":
    from rich import box
    from rich.table import Table as Grid
    from rich.text import Text

    from goodqueue.show import layout

    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), header_style="bold", show_edge=False)
    for column, wide in zip(part.table.columns, part.widths, strict=True):
        justify: Literal["right", "left"] = "right" if column.numeric else "left"
        heading = Text(fit(column.heading), justify=justify)
        grid.add_column(
            heading,
            justify=justify,
            width=wide,
            no_wrap=column.numeric,
            overflow="fold",
        )
    names = min(part.table.names, len(part.widths))
    for row in part.table.rows:
        shown = [
            layout.wrapped(cell, wide) if index < names and not column.numeric else cell
            for index, (cell, wide, column) in enumerate(zip(row, part.widths, part.table.columns, strict=True))
        ]
        cells = [Text(fit(cell)) for cell in shown]
        if cells:
            cells[0].stylize("cyan")
        grid.add_row(*cells)
    return grid


def print_picture(title: str, distributions: Sequence[tuple[str, Sequence[float]]]) -> None:
    """Print ``distributions`` (each a label and 101 percentiles in ms), with a legend."""
    from rich.text import Text

    utf8 = is_utf8(sys.stdout)
    glyphs = picture.UNICODE if utf8 else picture.ASCII
    styles = {"density": "green", "box": "bold", "axis": "dim", "numbers": "dim"}
    console = _console()
    console.print(Text(fit(title), style="bold"))
    lines = picture.distribution([(fit(label), run) for label, run in distributions], width(), glyphs)
    for line in lines:
        text = Text(line.label, style="cyan" if line.kind == "density" else "dim")
        text.append("  ").append(line.drawn, style=styles[line.kind])
        text.rstrip()
        console.print(text, no_wrap=True, crop=True)
    ends, whisker, body, median = glyphs.ends, glyphs.whisker, glyphs.box, glyphs.median
    legend = f"{ends[0]}{whisker}{body}{median}{body}{whisker}{ends[1]}  p5, p25, median, p75, p95; log scale"
    if any(glyphs.below in line.label for line in lines):
        legend += f"; 2 %{glyphs.below}: 2 % are below the axis"
    console.print(Text(legend, style="dim"))
    console.print()


@contextmanager
def progress(label: str) -> "Iterator[Progress]":
    """Yield a callback that shows a bar on standard error, if it is a terminal, after `PATIENCE_S` of work.

    The callback raises KeyboardInterrupt if a library swallowed it after Ctrl-C, as matplotlib may.
    """
    if not sys.stderr.isatty():
        yield lambda _: interrupts.check()
        interrupts.check()
        return
    began = time.monotonic()
    bar = None
    task = None

    def show(share: float) -> None:
        nonlocal bar, task
        interrupts.check()
        if bar is None:
            if time.monotonic() - began < PATIENCE_S:
                return
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

            columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
            bar = Progress(*columns, console=Console(stderr=True), transient=True)
            task = bar.add_task(label, total=1.0)
            bar.start()
        assert task is not None
        bar.update(task, completed=share)

    try:
        yield show
        interrupts.check()
    finally:
        if bar is not None:
            bar.stop()


@contextmanager
def silent(label: str) -> "Iterator[Progress]":
    """Yield a callback like `progress` that shows nothing. Ctrl-C still has an effect."""
    del label
    yield lambda _: interrupts.check()
