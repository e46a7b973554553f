"""A qdisc line for each direction: of `compare`, of one of its entries, and of `run`."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Result
from goodqueue.show import labels

Command = Callable[..., Result]

QUICK = ["--duration", "3s", "--warmup", "1s", "--seeds", "2", "--up-rate", "1mbit", "--traffic", "bulk:2,bulk:up,ping"]


def test_an_entry_names_both_ways(here: Path, goodqueue: Command) -> None:
    result = goodqueue("compare", "codel", "codel / fq_codel flows 16", "pie / codel", *QUICK, "--json")
    found = json.loads(result.out)
    assert [entry["qdisc"] for entry in found["qdiscs"]] == ["codel", "codel / fq_codel flows 16", "pie / codel"]
    down, up = found["qdiscs"][1]["resolved"].split(" / ")
    assert (down.split()[0], up.split()[:5]) == ("codel", ["fq_codel", "limit", "10240", "flows", "16"])
    assert "qdisc" not in found["scenario"]["bottleneck"]["up"], "not all have the same"
    ups = [entry["metrics"]["up_delay_mean_ms"]["values"] for entry in found["qdiscs"]]
    assert ups[0] != ups[1], "the way up has a discipline of its own"


@pytest.mark.long
def test_an_option_gives_all_the_same_way_up(here: Path, goodqueue: Command) -> None:
    arguments = ["compare", "pfifo", "codel", *QUICK, "--up-qdisc", "pie target 20ms"]
    found = json.loads(goodqueue(*arguments, "--json").out)
    assert found["scenario"]["bottleneck"]["up"]["qdisc"].startswith("pie ")
    assert [entry["qdisc"] for entry in found["qdiscs"]] == ["pfifo", "codel"], "labels have what differs"
    assert goodqueue(*arguments).out.startswith("10mbit down, 1mbit up, pie up, base RTT 50ms; ")
    assert goodqueue(*arguments, "--out", "report").status == 0
    assert "--up-qdisc 'pie target 20ms'" in (here / "report" / "report.html").read_text().replace("&#39;", "'")


@pytest.mark.long
def test_a_report_names_both(here: Path, goodqueue: Command) -> None:
    assert goodqueue("compare", "codel / pie", "codel / fq_codel", *QUICK, "--out", "report").status == 0
    page = (here / "report" / "report.html").read_text(encoding="utf-8")
    assert "codel / pie" in page
    assert "codel / fq_codel" in page


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["codel / pied"], 'QDISC "codel / pied": unknown qdisc "pied"; did you mean "pie"?'),
        (["codel", "--up-qdisc", "pied"], '--up-qdisc: unknown qdisc "pied"; did you mean "pie"?'),
        (
            ["pfifo", "codel / pie", "--up-qdisc", "red"],
            '--up-qdisc: found for the way up beside "codel / pie", which names both; accepted: one of them',
        ),
        (["codel / pie", "codel /  pie"], 'QDISC: found "codel / pie" twice; accepted: each qdisc once'),
    ],
)
def test_refusals_name_the_line(here: Path, goodqueue: Command, words: list[str], message: str) -> None:
    result = goodqueue("compare", *words, *QUICK)
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith(f"goodqueue: {message}"), result.err


def test_a_run_takes_a_line_each_way(here: Path, goodqueue: Command) -> None:
    def lines(*options: str) -> list[str]:
        record = json.loads(goodqueue("run", "ok.toml", *options, "--json").out)
        return [queue["qdisc"].split()[0] for queue in record["queues"].values()]

    assert lines() == ["codel", "codel"]
    assert lines("--up-qdisc", "fq_codel") == ["codel", "fq_codel"]
    assert lines("--qdisc", "pie target 20ms") == ["pie", "pie"]
    assert lines("--qdisc", "pfifo", "--up-qdisc", "red") == ["pfifo", "red"]
    refused = goodqueue("run", "ok.toml", "--up-qdisc", "codle")
    assert (refused.status, refused.out) == (2, "")
    assert refused.err.startswith('goodqueue: --up-qdisc: unknown qdisc "codle"; did you mean "codel"?')


def test_short_names_keep_both_halves_apart() -> None:
    lines = [
        "codel target 5ms / pie",
        "codel target 9ms / pie",
        "codel target 5ms",
        "./a.py:Law / ./b.py:Other limit 3",
    ]
    assert labels.short(lines) == {
        lines[0]: "codel target 5ms / pie",
        lines[1]: "codel target 9ms / pie",
        lines[2]: "codel target 5ms",
        lines[3]: "Law / Other",
    }
    assert labels.called(lines)[lines[3]] == "Law / Other limit 3"
    for width in (12, 16, 24):
        fitted = labels.fit(lines, width)
        assert len(set(fitted)) == len(lines)
        assert max(map(len, fitted)) <= width
