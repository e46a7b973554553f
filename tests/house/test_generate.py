"""Generated files of rates: the same for a seed, with the requested mean, and never over another file."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Result
from goodqueue import _goodqueue, running

Command = Callable[..., Result]

LTE = ("generate", "lte", "--mean", "12mbit", "--length", "600s")


def test_a_seed_gives_the_same_bytes_and_another_other_ones(here: Path, goodqueue: Command) -> None:
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        assert goodqueue(*LTE, "--draw-seed", seed, "--out", name).status == 0
    assert (here / "a").read_bytes() == (here / "b").read_bytes() != (here / "c").read_bytes()


def test_it_says_the_mean_rate_and_how_the_file_is_used(here: Path, goodqueue: Command) -> None:
    result = goodqueue(*LTE, "--out", "lte.mahimahi")
    told, use = result.out.splitlines()
    match = re.fullmatch(r"Written: lte\.mahimahi, ([0-9.]+) Mbit/s on average\.", told)
    assert match is not None
    lines = (here / "lte.mahimahi").read_text().split()
    # An opportunity is a full frame of 1514 bytes. The file starts again after its last line.
    assert float(match[1]) == pytest.approx(len(lines) * 1514 * 8 / float(lines[-1]) / 1000, rel=0.01)
    assert float(match[1]) == pytest.approx(12, rel=0.3), "600 s are 60 correlation times"
    assert use == 'A link follows it where, in place of a rate, it has: trace = "lte.mahimahi"'


@pytest.mark.parametrize(("kind", "mean"), [("starlink", ["--mean", "80mbit"]), ("mmwave", [])])
def test_each_kind_is_a_file_that_a_link_follows(here: Path, goodqueue: Command, kind: str, mean: list[str]) -> None:
    assert goodqueue("generate", kind, *mean, "--length", "30s", "--out", "rates").status == 0
    assert _goodqueue.mean_rate_bps((here / "rates").read_bytes()) > 40e6
    bottleneck = {"trace": "rates", "qdisc": "fq_codel"}
    traffic = [{"kind": "cbr", "rate": "30mbit"}]
    record = running.one({"duration": "2s", "bottleneck": bottleneck, "path": {"rtt": "20ms"}, "traffic": traffic})
    assert record["queues"]["down"]["throughput_mbps"] == pytest.approx(30, rel=0.02)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["lte"], "--mean: missing; accepted: a rate such as 12mbit"),
        (
            ["mmwave", "--mean", "1gbit"],
            '--mean: found "1gbit" with mmwave, whose rates are its own; accepted: without',
        ),
        (["ltee", "--mean", "1mbit"], 'generate: found "ltee"; did you mean "lte"? accepted: lte, starlink, mmwave'),
        (["lte", "--mean", "fast"], "--mean: "),
        (["lte", "--mean", "1mbit", "--length", "60"], "--length: "),
        (["lte", "--mean", "1mbit", "--length", "0s"], "generate: found a length of 0s; accepted: 1ms to 49 days"),
        (["lte", "--mean", "100gbit"], "generate: found "),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_one_line(
    here: Path, goodqueue: Command, words: list[str], message: str
) -> None:
    result = goodqueue("generate", *words, "--out", "x")
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith(f"goodqueue: {message}")
    assert result.err.count("\n") == 1
    assert not (here / "x").exists()


def test_a_file_is_replaced_only_by_force(here: Path, goodqueue: Command) -> None:
    (here / "x").write_text("mine", encoding="utf-8")
    refused = goodqueue(*LTE, "--out", "x")
    assert (refused.status, (here / "x").read_text(encoding="utf-8")) == (2, "mine")
    assert "--force" in refused.err
    assert goodqueue(*LTE, "--out", "x", "--force").status == 0
    assert (here / "x").read_text(encoding="utf-8") != "mine"
