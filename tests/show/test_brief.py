"""What a terminal of 80 columns shows first: the answer, then tables that never split, without empty columns."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from conftest import ROOT, Result
from goodqueue.measures.metrics import METRICS
from goodqueue.show import brief, findings, labels, layout, markdown
from goodqueue.show.answer import Section
from goodqueue.show.table import Column, Table, places, short

Command = Callable[..., Result]

STREET = ("run", str(ROOT / "examples" / "street.toml"), "--set", "duration=8s", "--set", "warmup=2s")
SHORT = ("--duration", "4s", "--warmup", "1s", "--seeds", "3")
GRID = ("--set", "bottleneck.qdisc=codel,pfifo", "--set", "path.rtt=10ms,40ms", "--seeds", "3")

COMMANDS = {
    STREET: "held packets back",
    ("run", "ok.toml"): "95 % of the packets queue for at most",
    ("compare", "pfifo", "codel", "--traffic", "bulk:4,voip:up,page:google,ping", *SHORT): "with pfifo",
    ("sweep", "ok.toml", *GRID): "At rtt 10ms: ",
}
"""Commands, each with words of its answer."""

TABLE = Table(
    "Flows",
    [Column("flow", False), Column("RTT\np50"), Column("\np95"), Column("loss", is_detail=True), Column("MOS")],
    [["a", "–", "7.00", "0.1", "–"], ["b", "–", "–", "0.2", "–"]],
)


def dashed(out: str) -> list[str]:
    """Return the tables of ``out`` with a column of dashes: a rule is between the heading and the rows."""
    lines, found = out.splitlines(), []
    for number, line in enumerate(lines):
        if line.startswith("────") and number:
            rows = []
            for row in lines[number + 1 :]:
                if not row or not re.search(r"\S {2,}\S", row):
                    break
                rows.append(row)
            ends = {match.end() for row in rows for match in re.finditer("–(?= {2,}|$)", row)}
            if any(all(len(row) >= end and row[end - 1] == "–" for row in rows) for end in ends):
                found.append(lines[number - 1])
    return found


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[0])
def test_the_answer_comes_first_and_fits(
    command: tuple[str, ...], here: Path, goodqueue: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    result = goodqueue(*command)
    assert result.status == 0, result.err
    lines = result.out.splitlines()
    assert COMMANDS[command] in " ".join(lines[:3])
    assert max(map(len, lines)) <= 80
    assert dashed(result.out) == []
    rules = sum(line.startswith("────") for line in lines)
    assert rules
    assert rules <= sum(not line for line in lines), "no table is split: each rule is below a title of its own"
    if command is STREET:
        assert len(lines) <= 62
        assert "suffer" in " ".join(lines[:4])


def test_all_shows_what_is_left_out(here: Path, goodqueue: Command) -> None:
    first = goodqueue(*STREET).out
    *_, last = first.split("--all shows more: ")
    every = goodqueue(*STREET, "--all").out
    for title in ("Worst subscribers", "Rates sold", "Queueing delay"):
        assert title in last
        assert title not in first.removesuffix(last)
        assert title in every
    assert "--all" not in every
    assert goodqueue(*STREET, "--all", "--json").err.count("--all: found beside --json; accepted: one of them") == 1


def test_drops_below_a_full_node_are_explained_only_where_there_are_many(here: Path, goodqueue: Command) -> None:
    assert "the target of cake (5 ms)" in " ".join(goodqueue(*STREET).out.split())
    wide = goodqueue(*STREET, "--set", "node.tower.down=200mbit").out
    assert "the target of cake" not in wide


def test_columns_and_rows_without_a_value_are_left_out() -> None:
    shown = layout.brief(TABLE)
    assert shown is not None
    assert [column.heading for column in shown.columns] == ["flow", "RTT\np95"], "the heading of both stays"
    assert shown.rows == [["a", "7.00"]]
    assert shown.notes == ["1 row without a value: --all"]
    empty = Table("Calls", TABLE.columns[:2], [["a", "–"]])
    found = brief.of([Section("Both", [empty, TABLE]), Section("More", ["text"], is_detail=True)])
    assert found.left == [brief.COLUMNS, "Calls", "More"]
    (both,) = found.parts
    assert isinstance(both, Section)
    assert both.parts == [shown]


def test_as_many_columns_as_needed_are_details() -> None:
    wide = Table("Wide", [Column("name", False), *(Column(f"{n} " + 12 * "x") for n in range(6))], [["a", *"123456"]])
    fitted = layout.fitted(wide, [column.heading for column in wide.columns[:0:-1]])
    assert [column.is_detail for column in fitted.columns] == [False] * 5 + [True] * 2
    assert layout.fitted(TABLE, ["MOS"]) == TABLE, "what fits stays as it is"


def test_numbers_have_three_digits() -> None:
    assert [short(value) for value in (833.113, 99.96, 14.54, 5.654, 0.0, None)] == [
        "833", "100", "14.5", "5.65", "0.00", "–",
    ]  # fmt: skip
    assert (places(1206.0, 3.0), places(1206.0, 0.3)) == (0, 1), "an interval is not shown as zero"


DOWN = [metric for metric in METRICS if metric.direction != "up"]


class Row:
    is_nil = False

    def __init__(self, ping: list[float], goodput: list[float]) -> None:
        self.values = {"ping_rtt_p95_ms": ping, "goodput_mbps": goodput, "utilisation_percent": [99.0] * len(ping)}


def test_the_headline_says_how_sure_it_is_and_what_it_costs() -> None:
    rows = {
        "good": Row([10.0, 11.0, 12.0], [8.0, 8.1, 8.2]),
        "peer": Row([10.5, 10.5, 12.5], [9.0, 9.1, 9.2]),
        "bad": Row([100.0, 101.0, 102.5], [9.5, 9.6, 9.7]),
    }
    names = {id(row): name for name, row in rows.items()}
    first, price = findings.headline(DOWN, list(rows.values()), lambda row: names[id(row)])
    assert "within 11.0 ms with good, within 101 ms with bad" in first
    assert re.search(r"The difference is 90\.\d ± 0\.\d ms \(95 % confidence, 3 seeds\)\. peer may be as good", first)
    assert price == "The price is goodput: good has 8.10 Mbit/s, bad 9.60 Mbit/s."
    alike = [Row([10.0, 20.0, 12.0], [9.0] * 3), Row([15.0, 10.0, 20.0], [9.0] * 3)]
    (unsure,) = findings.headline(DOWN, alike, lambda row: str(alike.index(row)))
    assert unsure.endswith("These seeds do not tell the two apart.")
    said = findings.others(DOWN, alike, lambda row: str(alike.index(row)))
    assert not any("do not tell" in sentence for sentence in said), "it is said once"


def test_a_tree_goes_by_its_disciplines() -> None:
    tree = "tc qdisc add dev eth0 root handle 1: htb default 10; tc qdisc add dev eth0 parent 1:10 fq_codel"
    assert labels.called([tree, "codel target 5ms"]) == {tree: "htb, fq_codel", "codel target 5ms": "codel target 5ms"}
    assert labels.short([tree, "codel"]) == {tree: "htb, fq_codel", "codel": "codel"}
    assert len(set(labels.called([tree, f"{tree} limit 9"]).values())) == 2, "two trees keep distinct names"


def test_markdown_is_read_as_it_was_meant() -> None:
    table = Table("a|b *c*", [Column("x_y", False), Column("retrans-\nmitted")], [["<b> | `q`", "1\n2"]])
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown.document([table, "1 < 2 #3"]))
    assert "<h2>a|b *c*</h2>" in html
    assert "<th>x_y</th>" in html
    assert ">retransmitted</th>" in html
    assert "<td>&lt;b&gt; | `q`</td>" in html
    assert ">1<br>2</td>" in html
    assert "<p>1 &lt; 2 #3</p>" in html
