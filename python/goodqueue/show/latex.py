"""Tables as LaTeX, with the rules of the package booktabs."""

import re
from collections.abc import Sequence

from goodqueue.show.table import Table

NEEDS = "% In the preamble: \\usepackage{booktabs}\n"
"""The first line of a file of tables."""

SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "±": r"$\pm$", "×": r"$\times$", "–": "--", "—": "---",
    "…": r"\dots{}", "≤": r"$\leq$", "≥": r"$\geq$", "→": r"$\rightarrow$", "µ": r"$\mu$", "−": "$-$",
    "√": r"$\sqrt{}$", "∞": r"$\infty$", "\n": " ",
}  # fmt: skip
"""What LaTeX would obey, or the standard fonts lack, and how it is written. Quotes need the encoding T1."""


def document(tables: Sequence[Table]) -> str:
    """Return ``tables`` for ``\\input`` in a document."""
    return NEEDS + "\n" + "\n".join(map(table, tables))


def table(table: Table) -> str:
    r"""Return ``table`` as a ``table`` environment: caption, rows between booktabs' rules, and the notes below."""
    columns = "".join("r" if column.numeric else "l" for column in table.columns)
    lines = [rf"  \begin{{tabular}}{{{columns}}}", r"    \toprule"]
    lines += [f"    {line}" for line in _heads(table)]
    lines += [r"    \midrule", *(f"    {_row(row)}" for row in table.rows), r"    \bottomrule", r"  \end{tabular}"]
    if table.notes:
        lines += ["", rf"  \smallskip\footnotesize {' '.join(_sentence(note) for note in table.notes)}"]
    begin = [r"\begin{table}", r"  \centering", rf"  \caption{{{escaped(table.title)}}}"]
    return "\n".join([*begin, *lines, r"\end{table}"]) + "\n"


def _heads(table: Table) -> list[str]:
    """Return the lines of the heading. A heading of fewer lines stands at the bottom."""
    parts = [column.heading.split("\n") for column in table.columns]
    most = max(map(len, parts), default=1)
    padded = [[*[""] * (most - len(part)), *part] for part in parts]
    return [_row([lines[at] for lines in padded]) for at in range(most)]


def _row(cells: Sequence[str]) -> str:
    return " & ".join(_cell(cell.strip()) for cell in cells) + r" \\"


def _cell(text: str) -> str:
    """Return the text of a cell. A number has a minus sign, not a hyphen. A row cannot begin with ``[``."""
    negative = re.match(r"-(?=\d)", text)
    written = f"$-${escaped(text[1:])}" if negative else escaped(text)
    return f"{{{written}}}" if written.startswith(("[", "*")) else written


def _sentence(note: str) -> str:
    text = escaped(note)
    return text if text.endswith((".", "?", "!")) else f"{text}."


def escaped(text: str) -> str:
    """Return ``text`` as LaTeX prints it. Control characters are left out."""
    return "".join(SPECIAL.get(char, char if char.isprintable() else "") for char in text)
