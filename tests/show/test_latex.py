"""Tables as LaTeX: what LaTeX would refuse, as a reader of its syntax sees it."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Result
from goodqueue.show import latex
from goodqueue.show.table import Column, Table

Command = Callable[..., Result]

NASTY = Table(
    "50 % & more: $x_{$ #1 ~ ^ \\end{table} ±",
    [Column("a_b\n%", False), Column("delay\nms"), Column("")],
    [["[codel]", "-5.8 ± 1.7 *", "–"], ["* pie {", "0", 'it\'s "q" \\'], ["%", "", "\t\x00"]],
    ["a note with 100 % of _it_", "and another."],
)


def check(text: str) -> list[str]:
    """Check the syntax of tables as LaTeX reads it, and return the rows between the rules of all tables."""
    assert "\\usepackage{array,booktabs,siunitx}" in text.splitlines()[0]
    body = re.sub(r"(?<!\\)%.*", "", text)
    depth, found = 0, []
    plain = re.sub(r"\\[\\{}$&#_%]", "", body)
    for char in plain:
        depth += {"{": 1, "}": -1}.get(char, 0)
        assert depth >= 0, "a brace too many is closed"
    assert depth == 0, "a brace stays open"
    assert plain.count("$") % 2 == 0, "a formula stays open"
    assert not set(plain) & set("#~^_"), "a special character"
    opened: list[str] = []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+)\}", plain):
        if kind == "begin":
            opened.append(name)
        else:
            assert opened.pop() == name
    assert opened == []
    labels = re.findall(r"\\label\{tab:[a-z0-9-]+\}", body)
    assert len(set(labels)) == len(labels) == body.count("\\begin{table}"), "a label each"
    for form, inside in re.findall(r"\\begin\{tabular\}\{(.*?)\}\n(.*?)\\end\{tabular\}", body, re.DOTALL):
        columns = re.sub(r">\{.*?\}|(?<=p)\{.*?\}|(?<=S)\[.*?\]", "", form)
        assert not set(columns) - set("lrSp"), columns
        assert [inside.count(rule) for rule in ("\\toprule", "\\midrule", "\\bottomrule")] == [1, 1, 1]
        for line in inside.splitlines():
            row = line.strip()
            if row and row not in (r"\toprule", r"\midrule", r"\bottomrule"):
                assert row.endswith(r"\\"), row
                assert len(re.findall(r"(?<!\\)&", row)) == len(columns) - 1, f"as many cells as columns: {row}"
                assert not row.startswith(("[", "*")), "the argument of the line break before"
                found.append(row)
    return found


def test_names_of_every_kind_are_text() -> None:
    rows = check(latex.document([NASTY, NASTY]))
    assert len(rows) == 2 * 5
    assert rows[2] == r"{[codel]} & -5.8 +- 1.7 {\,*} & -- \\", "no argument of the line break"
    assert rows[3].startswith(r"{* pie \{} & 0 & ")


def test_a_wide_table_is_split_to_fit_a_page_and_its_numbers_align_at_the_sign_of_the_interval() -> None:
    """As a single ``table`` of 14 columns no page held it."""
    columns = [Column("qdisc", False), *(Column(f"metric {index}\nms") for index in range(13))]
    row = ["codel", *["1023.1 ± 1.9"] * 12, "–"]
    notes = ["± is a half-width; --json shows each.", "and 3 more, which --json shows", "--json shows all"]
    text = latex.document([Table("Means (± 95 % CI)", columns, [row, ["pie", *["-5.8 ± 12.7 *"] * 13]], notes)])
    assert len(check(text)) == 4 * 5
    assert text.count("S[table-format=-4.1(3),table-space-text-post={\\,*}]") == 12
    assert "codel & 1023.1 +- 1.9 & 1023.1 +- 1.9 & 1023.1 +- 1.9 \\\\" in text
    assert "codel & {--} \\\\" in text
    assert text.count("\\label{tab:means-part-1-of-5}") == 1
    assert "\\footnotesize $\\pm$ is a half-width. and 3 more." in text, "no option of a command"


@pytest.mark.long
def test_every_verb_with_tables_prints_them_as_latex(here: Path, goodqueue: Command) -> None:
    grid = ["--set", "bottleneck.qdisc=codel,pie", "--seeds", "3"]
    for command, words in (
        (["run", "ok.toml"], ["Queues", "Flows"]),
        (["compare", "codel", "pie target 20ms", "--scenario", "ok.toml", "--seeds", "3"], ["Difference from codel"]),
        (["sweep", "ok.toml", *grid], ["Means over the seeds", "Difference from codel"]),
    ):
        said = goodqueue(*command, "--latex")
        assert (said.status, said.err) == (0, "")
        assert check(said.out)
        assert all(word in said.out for word in words)
    assert goodqueue("sweep", "ok.toml", *grid, "--store", "st").status == 0
    (file,) = Path("st").glob("sweeps/*/tables.tex")
    assert file.read_text(encoding="utf-8") == goodqueue("sweep", "ok.toml", *grid, "--latex").out
    assert goodqueue("compare", "codel", "pie", "--scenario", "ok.toml", "--seeds", "2", "--out", "r").status == 0
    assert check((here / "r" / "tables.tex").read_text(encoding="utf-8"))
