"""What never started, and what the end of a run cut: it is counted, and said first."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import goodqueue as gq
from conftest import Result
from goodqueue import traffic
from goodqueue.measures import metrics

LINK = """
duration = "20s"
warmup = "0s"
[bottleneck]
rate = "1mbit"
qdisc = "pfifo limit 1000"
[path]
rtt = "40ms"
"""

STREAM = f"""{LINK}
[[traffic]]
kind = "stream"
rate = "5mbit"
interval = "6s"
"""
"""A chunk of 3.75 MB needs 30 s and more."""

HOMES = """
duration = "12s"
warmup = "2s"
[bottleneck]
rate = "100mbit"
qdisc = "cake"
[path]
rtt = "20ms"
[[node]]
name = "tower"
down = "2mbit"
up = "2mbit"
[[subscriber]]
count = 13
plan = "home"
down = "25mbit"
up = "5mbit"
parent = "tower"
traffic = [{ kind = "video", rates = ["5mbit"] }, { kind = "voip", direction = "up" }]
"""
"""Thirteen homes of which each wants 5 Mbit/s share 2 Mbit/s."""


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines()]


@pytest.fixture
def at(here: Path) -> Callable[[str], str]:
    """Return the function that writes a scenario and returns its path."""

    def write(text: str) -> str:
        path = here / "asked.toml"
        path.write_text(text, encoding="utf-8")
        return path.name

    return write


def test_a_stream_that_never_started_is_said_first_and_waits_all_the_time(
    at: Callable[[str], str], goodqueue: Callable[..., Result]
) -> None:
    """The table said "stalled 0", and `compare` 0.00 %."""
    asked = at(STREAM)
    shown = lines(goodqueue("run", asked).out)
    assert shown[0] == "1 of 1 stream never started: nothing of it came until the end of the run."
    row = next(line.split() for line in shown if line.startswith("stream/0") and "cubic" not in line)
    assert row[1] == "1", "never started"
    assert row[-2:] == ["1", "20000"], "stalls, waited: no start"
    record = json.loads(goodqueue("run", asked, "--json").out)
    numbers = metrics.numbers(record)
    assert (numbers["stalled_percent"], numbers["stream_never_started"], numbers["stream_start_ms"]) == (100, 1, None)
    compared = lines(goodqueue("compare", "pfifo", "codel", "--scenario", asked, "--seeds", "2").out)
    assert compared[0].startswith("Streams that never started: 1.0 a run with ")
    assert "Players of streams wait 100.0 % of the time with every qdisc." in compared


def test_the_subscribers_of_a_provider_whose_videos_never_start_are_told(
    at: Callable[[str], str], goodqueue: Callable[..., Result]
) -> None:
    shown = lines(goodqueue("run", at(HOMES), "--all").out)
    assert shown[0] == "13 of 13 videos never started: nothing of them came until the end of the run."
    heading = shown.index("Videos (13)")
    assert shown[heading + 3 :][1].split()[:3] == ["video", "13", "13"], "the kind, the videos, the never started"


def test_what_is_unfinished_is_said_beside_the_times_of_what_ended(
    at: Callable[[str], str], goodqueue: Callable[..., Result]
) -> None:
    """Of three transfers of 1 MB one ends in 12 s: its time is not that of all three."""
    asked = at(LINK.replace("20s", "12s") + '[[traffic]]\nkind = "transfer"\nsize = "1MB"\nrepeat = 3\n')
    shown = lines(goodqueue("run", asked).out)
    assert shown[0] == "1 transfer never started: nothing of it came until the end of the run."
    assert "1 transfer had not ended at the end of the run, 1 had; the times are those of the latter." in shown
    compared = lines(goodqueue("compare", "pfifo", "codel", "--scenario", asked, "--seeds", "1").out)
    assert compared[0].startswith("Transfers that never started: 1.0 a run with ")
    assert any(line.startswith("Transfers that had not ended at the end of the run: 1.0 a run") for line in compared)


def test_where_all_ends_nothing_is_said(at: Callable[[str], str], goodqueue: Callable[..., Result]) -> None:
    asked = at(f'{LINK}[[traffic]]\nkind = "transfer"\nsize = "100kB"\nrepeat = 3\n')
    shown = goodqueue("run", asked).out
    assert [words for words in ("never", "finished", "had not ended") if words in shown] == []
    numbers = metrics.numbers(json.loads(goodqueue("run", asked, "--json").out))
    assert (numbers["transfer_never_started"], numbers["transfer_unfinished"], numbers["transfers"]) == (0, 0, 3)


def test_a_flow_alone_has_no_fairness_and_a_datagram_no_retransmission(
    at: Callable[[str], str], goodqueue: Callable[..., Result]
) -> None:
    """They were 1.000 and 0."""
    more = '[[traffic]]\nkind = "bulk"\n[[traffic]]\nkind = "cbr"\nrate = "100kbit"\n'
    record = json.loads(goodqueue("run", at(LINK + more), "--json").out)
    assert record["fairness"] == {"jain_goodput": None, "jain_drops": None}
    bulk, cbr = record["flows"]
    assert (cbr["retransmitted"], cbr["timeouts"], cbr["bytes_retrans"]) == (None, None, None)
    assert isinstance(bulk["retransmitted"], int)
    assert "Jain" not in goodqueue("run", at(LINK + more)).out


def test_a_stall_is_a_share_of_the_time_in_which_somebody_watched(at: Callable[[str], str]) -> None:
    """The stream begins after three quarters of the run, and never starts: 100 %, and not 25 %."""
    run = gq.run(at(STREAM + 'start = "15s"\n'))
    assert metrics.numbers(run.record)["stalled_percent"] == pytest.approx(100)
    assert run.table().splitlines()[0].startswith("1 of 1 stream never started")


def test_each_kind_that_measures_counts_what_is_undone() -> None:
    keys = {metric.key for metric in metrics.METRICS}
    measuring = {kind.name for kind in traffic.kinds().values() if kind.plural}
    assert len(measuring) > 10
    assert {f"{name}_never_started" for name in measuring} <= keys
    endless = {"ping", "voip", "media", "stream"}
    assert {name for name in measuring if f"{name}_unfinished" in keys} == measuring - endless
