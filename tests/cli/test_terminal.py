"""Output for people: tables within 100 columns, pictures in any encoding, help with examples, and speed."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import Result, spawn
from goodqueue import cli
from goodqueue.comparison.comparing import Comparison
from goodqueue.comparison.tables import difference_tables, findings
from goodqueue.comparison.tables import tables as means
from goodqueue.measures.stats import Estimate
from goodqueue.record import Record
from goodqueue.show import answer, layout, picture, terminal
from goodqueue.show.run import run_tables
from goodqueue.show.run.many import worst_tenth
from goodqueue.show.table import Column, Table, decimals, plus_minus
from goodqueue.studies import libraries, loading, outcome, planning, selection, show

VERBS = ["run", "compare", "advise", "sweep", "report", "serve", "study", "list", "replay", "bench"]
SCIENCE = {"numpy", "scipy", "matplotlib", "jinja2", "pandas", "pyarrow", "optuna"}
UNUSED = {"csv", "statistics", "importlib.resources"}
"""Modules that a run of a few flows does not need, if its scenario names no other file."""
HEAVY = (*SCIENCE, *UNUSED, "rich", "concurrent.futures", "tomllib", "goodqueue._goodqueue", "goodqueue.scenario")


def widest(text: str) -> int:
    return max(len(line) for line in text.splitlines())


@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_shows_examples(goodqueue: Callable[..., Result], verb: str) -> None:
    result = goodqueue(verb, "--help")
    assert result.status == 0
    assert f"Examples:\n    goodqueue {verb}" in result.out.replace("      goodqueue", "    goodqueue")
    assert widest(result.out) <= 100


def test_help_names_every_verb_and_shows_examples(goodqueue: Callable[..., Result]) -> None:
    result = goodqueue("--help")
    assert goodqueue().out == result.out, "the bare command must show what there is"
    assert result.out.count("  goodqueue ") >= 3
    for verb in VERBS:
        assert re.search(rf"^  {verb} +[A-Z].*\.$", result.out, re.MULTILINE), f"{verb} lacks its sentence"


def test_the_list_of_verbs_has_the_sentence_of_each_command(goodqueue: Callable[..., Result]) -> None:
    """The list is made without the commands, whose options would double its time."""
    listed = " ".join(goodqueue("--help").out.split())
    for name, command in cli.command_line().commands.items():
        assert f" {name} {command.get_short_help_str(100)} " in f"{listed} "


def test_the_list_of_verbs_makes_no_options(goodqueue: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> None:
    cli.command_line.cache_clear()
    monkeypatch.setattr(cli.asking, "verb", lambda question: pytest.fail(f"made the options of {question.verb}"))
    assert goodqueue("--help").status == 0


def test_no_verb_is_cut_short_in_the_list_of_80_columns(
    goodqueue: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A newcomer chooses a verb from this list, and half a sentence does not say what the verb does."""
    monkeypatch.setenv("COLUMNS", "80")
    listed = goodqueue("--help").out.split("Options:")[1]
    assert len(listed.splitlines()) > 20
    assert "..." not in listed


def imported(*words: str) -> set[str]:
    """Return the modules that Python has after the command ``words``, in a process of its own."""
    code = f"import sys; from goodqueue.cli import main\ntry: main({list(words)})\n"
    code += "finally: print(*sys.modules, file=sys.stderr)"
    process = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return set(process.stderr.split())


def test_help_imports_nothing_heavy() -> None:
    assert spawn("--help").returncode == 0
    found = imported("--help") & {*HEAVY}
    assert found == set(), "these make every command slower and belong inside the functions that need them"


@pytest.mark.parametrize(
    ("words", "own"),
    [(["--version"], set()), (["run", "ok.toml"], {"runs.question"}), (["compare", "--help"], {"comparison.question"})],
)
def test_a_command_imports_its_own_verb_only(words: list[str], own: set[str], here: Path) -> None:
    found = imported(*words)
    questions = {entry.partition(":")[0] for entry in cli.VERBS.values() if ":" in entry}
    verbs = {f"cli.{entry.partition('.')[0]}" for entry in cli.VERBS.values() if ":" not in entry} - {"cli.completion"}
    assert {verb for verb in questions | verbs if f"goodqueue.{verb}" in found} == own


@pytest.mark.parametrize(
    ("words", "others"),
    [(["run", "ok.toml"], UNUSED), (["compare", "pfifo", "codel", "--scenario", "ok.toml"], set())],
)
def test_what_small_runs_print_needs_no_science(words: list[str], others: set[str], here: Path) -> None:
    assert imported(*words) & (SCIENCE | others) == set()


@pytest.mark.parametrize(
    "arguments", [["list", "qdiscs"], ["list", "qdiscs", "fq_codel"], ["list", "cc"], ["run", "ok.toml"]]
)
def test_tables_fit_100_columns(here: Path, goodqueue: Callable[..., Result], arguments: list[str]) -> None:
    result = goodqueue(*arguments)
    assert result.status == 0
    assert widest(result.out) <= 100


def test_a_comparison_fits_even_with_long_lines(here: Path, goodqueue: Callable[..., Result]) -> None:
    long = "codel limit 1000 target 5ms interval 100ms noecn"
    result = goodqueue("compare", "pfifo limit 100000", long, "--duration", "20s", "--seeds", "3", "--rate", "1mbit")
    assert widest(result.out) <= 100, "delays of seconds and long lines must still fit"
    assert "…" not in result.out, "no number may be cut off"
    for word in ("paired by seed", "95 % confidence interval", "n = 3 seeds (1 to 3)"):
        assert word in result.out


def whole(out: str, tables: list[Table]) -> None:
    """Check that every number stands unbroken on some line, and every word of longer texts."""
    lines = out.splitlines()
    for table in tables:
        for index, column in enumerate(table.columns):
            for row in table.rows:
                cell = row[index].strip()
                for part in [cell] if column.numeric or len(cell) <= 12 else cell.split():
                    near = re.compile(rf"(?<![^\s(]){re.escape(part[:16])}")
                    assert any(near.search(line) for line in lines), f"{part!r} is not whole"


@pytest.mark.parametrize("columns", [40, 60, 80, 100])
@pytest.mark.parametrize("what", ["run", "many", "compare", "study"])
def test_no_width_loses_a_digit(
    columns: int,
    what: str,
    record: Record,
    comparison: Comparison,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    a_study: list[Table],
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    many: Any = record | {"flows": record["flows"] * 9}
    shown = {
        "run": run_tables(record),
        "many": run_tables(many),
        "compare": [*means(comparison), *difference_tables(comparison)],
        "study": a_study,
    }[what]
    for table in shown:
        terminal.print_table(table)
    out = capsys.readouterr().out
    assert "…" not in out
    assert widest(out) <= columns
    whole(out, shown)
    if what == "run":
        assert "codel" in out.split("down: codel")[0], "the discipline has its column"


@pytest.fixture(scope="session")
def a_study() -> list[Table]:
    study = loading.load(libraries.STUDIES.available()["schwardmann2014"])
    chosen = selection.select(study, ["v001", "v130", "c17"])
    result = outcome.carry_out(planning.plan(study, chosen, quick=True), chosen)
    return [*show.tables(result), show.summary_table(result), *answer.tables(show.claims(result))]


def test_parts_repeat_the_names_and_the_shared_heading(record: Record) -> None:
    first, *others = layout.parts(run_tables(record)[0], 40)
    assert others
    for part in others:
        assert part.table.columns[0].heading == "queue"
        assert [row[0] for row in part.table.rows] == [row[0] for row in first.table.rows]
        assert not part.table.columns[1].heading.startswith("\n"), "a percentile without its heading means nothing"
    assert layout.parts(run_tables(record)[0], 100)[0].width <= 100


@pytest.mark.parametrize("columns", [60, 80, 100])
def test_a_name_that_wraps_leaves_its_row_together(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], columns: int
) -> None:
    """The numbers stand beside the beginning of the name. Only a row's first line begins at the edge."""
    monkeypatch.setenv("COLUMNS", str(columns))
    names = ["fq_codel flows 1024 target 5ms interval 100ms", "./examples/my_aqm.py:MyAqm limit 20", "pfifo"]
    rows = [[name, *(f"{row}{column}{'1' * 5}.5" for column in range(9))] for row, name in enumerate(names)]
    heads = [Column("qdisc", False), *(Column(f"delay\np{place} ms") for place in range(9))]
    terminal.print_table(Table("Long names", heads, rows))
    blocks = re.split(r"─{9,}\n", capsys.readouterr().out)[1:]
    assert len(blocks) == len(layout.parts(Table("Long names", heads, rows), columns))
    for block in blocks:
        lines = block.split("\n\n")[0].splitlines()
        begins = [line for line in lines if line[:1].strip() and "." in line]
        assert [line.split()[0][:5] for line in begins if "1111.5" in line] == ["fq_co", "./exa", "pfifo"]
        assert not [line for line in lines if line.startswith(" ") and "1111.5" in line], "numbers have left their name"
        said = " ".join(block.split())
        for parameter in ("flows 1024", "target 5ms", "interval 100ms", "limit 20"):
            assert any(parameter in line for line in lines), f"{parameter} is torn: {said}"


@given(
    st.lists(st.sampled_from(["codel", "target", "5ms", "ecn", "./a/b.py:Own", "x" * 30]), min_size=1, max_size=9),
    st.integers(4, 40),
)
def test_a_wrapped_name_fits_and_keeps_every_letter(words: list[str], width: int) -> None:
    wrapped = layout.wrapped(" ".join(words), width)
    assert max(map(len, wrapped.split("\n"))) <= width
    assert "".join(wrapped.split()) == "".join(words)
    assert [line for line in wrapped.split("\n") if not line.startswith(" ")] == wrapped.split("\n")[:1]


def test_a_terminal_that_can_do_nothing_is_taken_as_100_wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr("shutil.get_terminal_size", lambda fallback: os.terminal_size((60, 24)))
    monkeypatch.setenv("TERM", "xterm")
    assert terminal.width() == 60
    monkeypatch.setenv("TERM", "dumb")
    assert terminal.width() == 100


def test_one_seed_says_that_it_knows_nothing_of_the_spread(here: Path, goodqueue: Callable[..., Result]) -> None:
    result = goodqueue("compare", "codel", "pie", "--duration", "6s", "--seeds", "1")
    assert "One seed: the spread is unknown" in result.out
    assert "paired" not in result.out


def test_runs_that_draw_nothing_are_not_called_five_seeds(here: Path, goodqueue: Callable[..., Result]) -> None:
    arguments = ["--set", "traffic.0.start_spread=0s", "--traffic", "bulk:1", "--duration", "6s"]
    assert "n is really 1" in goodqueue("compare", "pfifo", "bfifo", *arguments).out


def test_many_flows_are_shown_by_kind(record: Record) -> None:
    many = record | {"flows": record["flows"] * 7}
    table = run_tables(many)[1]  # type: ignore[arg-type]
    assert table.title == "Flows by kind (14 flows)"
    assert len(table.rows) == 1


def test_many_applications_are_one_row_with_the_worst_tenth(record: Record) -> None:
    (ping,) = record["apps"]
    many: Any = record | {"apps": []}
    for number in range(1, 22):
        times = {key: float(number) for key in ("mean", "p10", "p50", "p90", "p95", "p99", "max", "min")}
        many["apps"].append(ping | {"name": f"ping/{number}", "rtt_ms": times})
    table = run_tables(many)[-1]
    assert table.title == "Pings (21)"
    # Jain: (1 + ... + 21)² / (21 · (1 + 4 + ... + 441)) = 231² / (21 · 3311).
    assert [list(row) for row in table.rows] == [["ping", "21", "11.0", "19.0", "0.767"]]
    assert [column.heading for column in table.columns][2:4] == ["ping p95 ms\nmedian", "worst\ntenth"]
    assert "worst tenth: a tenth have this or worse" in table.notes[0]
    goodputs = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0]
    assert (worst_tenth(goodputs, "high"), worst_tenth(goodputs, "low")) == (2.0, 10.0), "of goodput, the least"


def test_ascii_where_the_output_is_not_utf8(here: Path) -> None:
    process = spawn("compare", "pfifo", "codel", "--duration", "6s", environment={"PYTHONIOENCODING": "ascii"})
    assert process.returncode == 0
    assert process.stdout.isascii()
    assert "\\u" not in process.stdout, "nothing may need an escape: the drawing has ASCII characters of its own"


def test_no_colour_and_no_bar_but_on_terminals(here: Path) -> None:
    process = spawn("compare", "pfifo", "codel", "--duration", "6s")
    assert "\x1b" not in process.stdout
    assert process.stderr == ""


@pytest.mark.parametrize(
    ("values", "digits"), [([180.3, 4.5], 1), ([0.5, 12.0], 2), ([0.012], 3), ([0.0, None], 1), ([], 1)]
)
def test_decimals_keep_two_digits_of_the_least(values: list[float | None], digits: int) -> None:
    assert decimals(values) == digits


def test_plus_minus() -> None:
    assert plus_minus(Estimate(180.26, 2.14, 5)) == "180.3 ± 2.1"
    assert plus_minus(Estimate(180.26, None, 1)) == "180.3"
    assert plus_minus(Estimate(-5.0, 1.0, 5), star=True).endswith(" *")
    assert not plus_minus(Estimate(-5.0, 6.0, 5), star=False).rstrip().endswith("*")
    assert plus_minus(None) == "–"


def uniform(low: float, high: float) -> list[float]:
    return [low + (high - low) * percent / 100 for percent in range(101)]


def test_the_picture_places_the_box_on_the_axis() -> None:
    lines = picture.distribution([("fast", uniform(1, 2)), ("slow", uniform(50, 100))], 80)
    fast, slow = lines[1].drawn, lines[3].drawn
    assert fast.index("┃") < slow.index("┃"), "the slower one must stand further right"
    assert lines[4].drawn.startswith("┬")
    assert lines[5].drawn.split()[0] == "1"
    assert lines[5].drawn.split()[-1] == "100"
    assert max(len(line.label) + 2 + len(line.drawn) for line in lines) <= 80


@pytest.mark.parametrize("run", [[0.0] * 101, [5.0] * 101, [0.0] * 99 + [1e6, 1e6], uniform(0, 1e-9)])
def test_the_picture_of_an_odd_distribution_can_be_drawn(run: list[float]) -> None:
    for glyphs in (picture.UNICODE, picture.ASCII):
        lines = picture.distribution([("odd", run)], 60, glyphs)
        assert max(len(line.label) + 2 + len(line.drawn) for line in lines) <= 60


def test_findings_name_the_extremes(comparison: Comparison) -> None:
    felt, price, queue, used, *unsure = findings(comparison)
    assert price.startswith(("The price is", f"{felt.split(' with ')[1].split(',')[0]} gives up no"))
    assert all(sentence.startswith("These seeds do not tell") for sentence in unsure)
    assert felt.startswith("95 % of the pings return within"), "what a person feels comes first"
    tails = {entry.qdisc: entry.estimates["delay_p95_ms"] for entry in comparison.entries}
    ordered = sorted((estimate.mean, name) for name, estimate in tails.items() if estimate)
    assert queue.startswith("95 % of the packets queue for at most")
    assert f"with {ordered[0][1]}, " in queue
    assert f"with {ordered[-1][1]}, " in queue
    assert used.startswith("The link is used to")
