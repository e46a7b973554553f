"""Hosts of traffic: on the command line, in tables, in captures and for disciplines written in Python."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import TOML, Result
from goodqueue import qdisc as q

HOUSEHOLD = (
    TOML.replace('"codel"', '"cake besteffort dual-dsthost"')
    .replace("[[traffic]]", '[[traffic]]\nhost = "alice"', 1)
    .replace("count = 2", "count = 1")
    + """
[[traffic]]
name = "bob"
kind = "bulk"
count = 4
host = "bob"
"""
)


@pytest.fixture
def household(here: Path) -> Path:
    """Write a scenario of one flow of one host beside four of another, and return its path."""
    path = here / "household.toml"
    path.write_text(HOUSEHOLD, encoding="utf-8")
    return path


def test_a_detail_of_traffic_names_hosts(goodqueue: Callable[..., Result]) -> None:
    """``--traffic`` must set the keys of the scenario, for a kind with a detail of its own too."""
    sources = "bulk:1:host=alice,cbr:1mbit:up:server=cdn:host=bob"
    command = f"compare pfifo --traffic {sources} --duration 6s --seeds 1 --json"
    traffic = json.loads(goodqueue(*shlex.split(command)).out)["scenario"]["traffic"]
    hosts = [(one.get("host"), one.get("server"), one["direction"]) for one in traffic]
    assert hosts == [("alice", None, "down"), ("bob", "cdn", "up")]


@pytest.mark.parametrize(
    ("traffic", "message"),
    [
        ("bulk:host=", '--traffic: 0.host: found ""; accepted: a name of 1 to 63 characters'),
        ("bulk:host=a:host=b", '--traffic: found "bulk:host=a:host=b", a second host; accepted: one'),
        ("bulk:guest=a", '--traffic: found "bulk:guest=a"; accepted: a list such as bulk,ping or bulk:4:host=bob,'),
        (f"bulk:server={'x' * 64}", "--traffic: 0.server: found a name of 64 characters; accepted: a name of 1 to 63"),
    ],
)
def test_a_name_that_is_none_is_refused(traffic: str, message: str, goodqueue: Callable[..., Result]) -> None:
    result = goodqueue("compare", "pfifo", "--traffic", traffic, "--duration", "6s")
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith(f"goodqueue: {message}")
    assert result.err.count("\n") == 1


def test_the_tables_show_each_host(household: Path, goodqueue: Callable[..., Result]) -> None:
    shown = goodqueue("run", str(household)).out
    _, _, table = shown.partition("\nHosts\n")
    rows = [line.split() for line in table.splitlines() if line.startswith(("alice", "bob"))]
    assert [row[:3] for row in rows] == [["alice", "host", "1"], ["bob", "host", "4"]]
    down = [float(row[3]) for row in rows]
    assert down[0] > 0.7 * down[1], "the hosts share, not the flows: with flows Alice has a quarter"
    assert "Jain's fairness index of the users' hosts: " in table
    compared = goodqueue("compare", "cake flows", "cake dual-dsthost", "--scenario", str(household), "--seeds", "1").out
    assert "Hosts: means over the seeds" in compared
    assert sum(line.split()[-5:-4] == ["4"] for line in compared.splitlines() if "bob" in line) == 2


def test_without_names_there_is_no_table_and_no_part_of_the_record(
    here: Path, goodqueue: Callable[..., Result]
) -> None:
    assert "Hosts" not in goodqueue("run", "ok.toml").out
    record = json.loads(goodqueue("run", "ok.toml", "--json").out)
    assert "hosts" not in record
    assert "jain_hosts" not in record["fairness"]


def test_many_hosts_are_not_a_long_table(here: Path, goodqueue: Callable[..., Result]) -> None:
    flows = "".join(f'[[traffic]]\nkind = "cbr"\nrate = "{n + 1}kbit"\nhost = "h{n}"\n' for n in range(30))
    (here / "many.toml").write_text(TOML + flows, encoding="utf-8")
    shown = goodqueue("run", "many.toml").out
    assert sum(line.startswith("h") and " host " in line for line in shown.splitlines()) == 24
    assert "and 6 with less goodput, which --json shows" in shown
    assert not any(line.startswith("h5 ") for line in shown.splitlines()), "it has less than 24 others"


def test_a_python_discipline_sees_the_hosts_of_a_packet(household: Path, goodqueue: Callable[..., Result]) -> None:
    """On the way down: five servers, two users, and the ping's own two hosts. On the way up it is the reverse."""
    (household.parent / "seen.py").write_text(
        """
class Seen:
    def __init__(self, link):
        self.seen = [set(), set()]

    def enqueue(self, now, packet, queue):
        for known, host in zip(self.seen, packet.hosts):
            known.add(host)
        queue.push(packet)

    def dequeue(self, now, queue):
        return queue.pop()

    def probe(self):
        return {"sources": len(self.seen[0]), "destinations": len(self.seen[1])}
""",
        encoding="utf-8",
    )
    sets = ("--set", "bottleneck.qdisc=./seen.py:Seen", "--set", "series={interval='1s',law=true}")
    series = json.loads(goodqueue("run", str(household), *sets, "--json").out)["series"]["queues"]
    last: dict[str, dict[str, Any]] = {direction: series[direction]["law"] for direction in ("down", "up")}
    assert {direction: (law["sources"][-1], law["destinations"][-1]) for direction, law in last.items()} == {
        "down": (6, 3),
        "up": (3, 6),
    }


def test_cake_by_hand_shares_between_the_hosts_of_packets() -> None:
    """Of eight packets of five flows, half must be of the host with one flow."""
    cake = q.cake(isolation="dual-dsthost", diffserv="besteffort")
    for number in range(200):
        for flow in range(5):
            cake.enqueue(0, q.Packet(1514, flow=flow, id=number, hosts=(flow, 1 if flow else 0)))
    sent = [packet.flow for _ in range(400) if (packet := cake.dequeue(0)) is not None]
    assert sent[80:].count(0) == pytest.approx(160, abs=8)
    assert q.Packet(100, hosts=(3, 4)).hosts == (3, 4)
    with pytest.raises(ValueError, match="hosts: found -1; accepted: 0 to 4294967295"):
        q.Packet(100, hosts=(-1, 0))
