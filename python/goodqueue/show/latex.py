r"""Tables as LaTeX: the rules of the package booktabs, numbers aligned by siunitx, and no table wider than a page."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from goodqueue.show import layout
from goodqueue.show.layout import Part
from goodqueue.show.table import Column, Table

NEEDS = "% In the preamble: \\usepackage{array,booktabs,siunitx}\n"
"""The first line of a file of tables."""

WIDTH = 66
"""The width in characters of a table that fits the text of LaTeX's article at 10 pt, which is 345 pt wide."""

SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "±": r"$\pm$", "×": r"$\times$", "–": "--", "—": "---",
    "…": r"\dots{}", "≤": r"$\leq$", "≥": r"$\geq$", "→": r"$\rightarrow$", "µ": r"$\mu$", "−": "$-$",
    "√": r"$\sqrt{}$", "∞": r"$\infty$", "\n": " ",
}  # fmt: skip
"""What LaTeX would obey, or the standard fonts lack, and how it is written. Quotes need the encoding T1."""

NUMBER = re.compile(r"(?P<mean>-?\d+(?P<decimals>\.\d+)?)(?: ± (?P<half>\d+(?:\.\d+)?))?(?P<star> \*)?")
"""A cell that siunitx aligns: ``-5.8 ± 1.7 *``."""

OF_COMMANDS = re.compile(r"(?:^|[,;] )[^,;]*(?<![\w-])--[a-z][^,;.]*")
"""A clause of a note on an option of the command, as ``, which --json shows``. A paper has no command line."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """A column of numbers: the digits before the point, after it and of the intervals, and whether it has stars."""

    digits: int
    decimals: int
    interval: int
    has_minus: bool
    has_star: bool

    @property
    def column(self) -> str:
        """The column in words of siunitx."""
        interval = f"({self.interval})" if self.interval else ""
        form = f"table-format={'-' if self.has_minus else ''}{self.digits}.{self.decimals}{interval}"
        star = ",table-space-text-post={\\,*}" if self.has_star else ""
        return f"S[{form}{star}]"


def document(tables: Sequence[Table]) -> str:
    r"""Return ``tables`` for ``\input`` in a document. Each has a ``\label`` of its own."""
    parts = [part for each in tables for part in _parts(each)]
    labels = _labels([part.table.title for part in parts])
    return NEEDS + "\n" + "\n".join(map(_table, parts, labels))


def _parts(whole: Table) -> Iterator[Part]:
    """Yield ``whole`` in parts that fit the page. The notes stand below the last one."""
    parts = layout.parts(whole, WIDTH)
    for number, part in enumerate(parts, 1):
        title = whole.title if len(parts) == 1 else f"{whole.title}, part {number} of {len(parts)}"
        notes = whole.notes if number == len(parts) else ()
        yield part._replace(table=replace(part.table, title=title, notes=notes))


def _labels(titles: Sequence[str]) -> list[str]:
    """Return a label for each of ``titles``, from its words. Equal ones are numbered."""
    taken: dict[str, int] = {}
    labels = []
    for title in titles:
        words = "-".join(re.findall(r"[a-z0-9]+", re.sub(r"\([^)]*\)", "", title.lower())))
        taken[words] = taken.get(words, 0) + 1
        labels.append(f"tab:{words}" + (f"-{taken[words]}" if taken[words] > 1 else ""))
    return labels


def _table(part: Part, label: str) -> str:
    r"""Return ``part`` as a ``table`` environment: caption, label, rows between booktabs' rules, the notes below."""
    table = part.table
    numbers = {index: found for index in range(len(table.columns)) if (found := _numbers(table, index))}
    columns = "".join(
        numbers[index].column if index in numbers else "r" if column.numeric else _text(part, index)
        for index, column in enumerate(table.columns)
    )
    lines = [rf"  \begin{{tabular}}{{{columns}}}", r"    \toprule"]
    lines += [f"    {_row(cells)}" for cells in _heads(table.columns, numbers)]
    lines.append(r"    \midrule")
    for row in table.rows:
        cells = [_number(cell) if index in numbers else _cell(cell) for index, cell in enumerate(row)]
        lines.append(f"    {_row(cells)}")
    lines += [r"    \bottomrule", r"  \end{tabular}"]
    if notes := [note for note in (OF_COMMANDS.sub("", note) for note in table.notes) if note.strip(" .")]:
        lines += ["", rf"  \smallskip\footnotesize {' '.join(_sentence(note) for note in notes)}"]
    begin = [r"\begin{table}", r"  \centering", r"  \sisetup{separate-uncertainty=true,retain-zero-uncertainty=true}"]
    begin += [rf"  \caption{{{escaped(table.title)}}}", rf"  \label{{{label}}}"]
    return "\n".join([*begin, *lines, r"\end{table}"]) + "\n"


def _numbers(table: Table, index: int) -> Numbers | None:
    """Return the form of the numbers in a column, or None if something in it is neither a number nor a dash."""
    cells = [row[index].strip() for row in table.rows]
    found = [NUMBER.fullmatch(cell) for cell in cells if cell not in ("", "–")]
    matched = [match for match in found if match]
    if not table.columns[index].numeric or not matched or len(matched) < len(found):
        return None
    wholes = [match["mean"].lstrip("-").partition(".")[0] for match in matched]
    decimals = max(len((match["decimals"] or ".")[1:]) for match in matched)
    # siunitx counts all digits of an interval: "(27)" is ± 2.7 where the numbers have one decimal.
    halves = [match["half"].partition(".")[0].lstrip("0") for match in matched if match["half"]]
    interval = max((len(half) + decimals for half in halves), default=0)
    minus, star = (any(match[part] and sign in match[part] for match in matched) for part, sign in SIGNS)
    return Numbers(max(map(len, wholes)), decimals, max(interval, 1) if halves else 0, minus, star)


SIGNS = (("mean", "-"), ("star", "*"))
"""The parts of a number that may have a sign, with it."""


def _number(cell: str) -> str:
    """Return a cell of a column of numbers as siunitx reads it. Text in it is in braces."""
    match = NUMBER.fullmatch(cell.strip())
    if match is None:
        return f"{{{escaped(cell.strip())}}}"
    interval = f" +- {match['half']}" if match["half"] else ""
    return f"{match['mean']}{interval}" + (r" {\,*}" if match["star"] else "")


def _text(part: Part, index: int) -> str:
    """Return a column of text in words of LaTeX. It wraps where the page has no room for the longest cell."""
    longest = max((len(row[index]) for row in part.table.rows), default=0)
    if part.widths[index] >= longest:
        return "l"
    return rf">{{\raggedright\arraybackslash}}p{{{part.widths[index] / 2:g}em}}"


def _heads(columns: Sequence[Column], numbers: Mapping[int, Numbers]) -> list[list[str]]:
    """Return the cells of each line of the heading. A heading of fewer lines stands at the bottom."""
    parts = [column.heading.split("\n") for column in columns]
    most = max(map(len, parts), default=1)
    padded = [[*[""] * (most - len(part)), *part] for part in parts]
    return [
        [
            f"{{{escaped(lines[at].strip())}}}" if index in numbers else _cell(lines[at])
            for index, lines in enumerate(padded)
        ]
        for at in range(most)
    ]


def _row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _cell(text: str) -> str:
    """Return the text of a cell. A number has a minus sign, not a hyphen. A row cannot begin with ``[``."""
    text = text.strip()
    negative = re.match(r"-(?=\d)", text)
    written = f"$-${escaped(text[1:])}" if negative else escaped(text)
    return f"{{{written}}}" if written.startswith(("[", "*")) else written


def _sentence(note: str) -> str:
    text = escaped(note)
    return text if text.endswith((".", "?", "!")) else f"{text}."


def escaped(text: str) -> str:
    """Return ``text`` as LaTeX prints it. Control characters are left out."""
    return "".join(SPECIAL.get(char, char if char.isprintable() else "") for char in text)
