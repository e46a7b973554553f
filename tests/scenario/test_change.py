"""``[[change]]`` in a scenario, and ``change`` by hand: the parts that the core's tests cannot see from Rust."""

import copy
import json
import tomllib
from pathlib import Path

import pytest

import goodqueue.qdisc as q
from conftest import SCENARIO
from goodqueue import running, scenario
from goodqueue.errors import UserError
from goodqueue.scenario import toml
from goodqueue.show import describe

MS = 1_000_000


def with_changes(*changes: dict[str, str], qdisc: str = "codel") -> scenario.Scenario:
    asked = copy.deepcopy(SCENARIO)
    asked["bottleneck"]["qdisc"] = qdisc
    asked["change"] = list(changes)
    return asked


def test_a_resolved_change_survives_toml_and_gives_the_same_run() -> None:
    asked = with_changes({"at": "1s", "rate": "1mbit"}, {"at": "2s", "qdisc": "codel target 20ms"})
    resolved = scenario.resolve(asked)
    again = tomllib.loads(toml.to_toml(resolved))
    assert scenario.resolve(again) == resolved
    assert running.one_text(asked) == running.one_text(again)
    assert ", 1mbit from 1s, another qdisc line from 2s, base RTT" in describe.whole(resolved)


def test_changed_delays_survive_toml_and_are_described() -> None:
    asked = with_changes({"at": "1s", "rtt": "90ms"}, {"at": "2s", "hop": "air", "delay": "3ms", "jitter": "1ms"})
    asked["hop"] = [{"name": "air", "kind": "wire", "distribution": "wifi"}]
    resolved = scenario.resolve(asked)
    assert scenario.resolve(tomllib.loads(toml.to_toml(resolved))) == resolved
    assert ", base RTT 90ms from 1s, delay 3ms of air and jitter 1ms of air from 2s," in describe.whole(resolved)


TREE = (
    "tc qdisc add dev eth0 root handle 1: htb default 10; tc class add dev eth0 parent 1: classid 1:10 htb rate 2mbit; "
    "tc qdisc add dev eth0 parent 1:10 handle 10: fq_codel"
)
COMMANDS = """
tc class change dev eth0 parent 1: classid 1:10 htb rate 1mbit ceil 3mbit
tc qdisc change dev eth0 parent 1:10 fq_codel target 1ms   # the handle may be left out
"""


def test_a_tree_changes_by_commands_which_the_record_repeats() -> None:
    asked = with_changes({"at": "1s", "qdisc": COMMANDS}, qdisc=TREE)
    resolved = scenario.resolve(asked)
    told = resolved["change"][0]["qdisc"].split("; ")
    assert told[0].startswith("tc class change dev eth0 classid 1:10 htb prio 0 ")
    assert told[0].endswith(" ceil 3mbit rate 1mbit")
    assert told[1] == "tc qdisc change dev eth0 parent 1:10 handle 10: fq_codel target 1ms"
    again = tomllib.loads(toml.to_toml(resolved))
    assert scenario.resolve(again) == resolved
    assert running.one_text(asked) == running.one_text(again)
    refused = r"^here: change\[0\].qdisc: tc line 1: found a change of htb; accepted: a change of its classes \(Linux: "
    with pytest.raises(UserError, match=refused):
        scenario.resolve(with_changes({"at": "1s", "qdisc": "tc qdisc change dev eth0 root htb"}, qdisc=TREE), "here")


def test_a_refused_change_names_its_key() -> None:
    with pytest.raises(
        UserError, match=r"^here: change\[0\].qdisc: found \"pie\"; accepted: codel, which cannot become"
    ):
        scenario.resolve(with_changes({"at": "1s", "qdisc": "pie"}), "here")
    with pytest.raises(UserError, match=r"^--set change: at: found 99s; accepted: before the end"):
        scenario.resolve(with_changes({"at": "99s", "rate": "1mbit"}), "here", {"change.0": "--set change"})


def test_a_class_in_python_sees_the_new_rate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = """
class Seer:
    def __init__(self, link):
        self.link, self.rates = link, []

    def enqueue(self, now, packet, queue):
        if self.link.rate < 1_000_000:
            packet.drop("early")
        else:
            queue.push(packet)

    def dequeue(self, now, queue):
        return queue.pop()

    def probe(self):
        return {"rate": self.link.rate}
"""
    Path("seer.py").write_text(text, encoding="utf-8")
    qdisc = q.make("./seer.py:Seer", rate="10mbit")
    qdisc.set_link_rate(0, "5mbit")
    assert qdisc.probe() == {"rate": 5_000_000}
    with pytest.raises(
        ValueError, match=r"^change: found ./seer.py:Seer, written in Python; accepted: a discipline of"
    ):
        qdisc.change(0, limit=5)
    record = json.loads(running.one_text(with_changes({"at": "2s", "rate": "500kbit"}, qdisc="./seer.py:Seer")))
    assert record["queues"]["down"]["drops_by_reason"]["early"] > 0


def test_a_change_by_hand_is_made_or_refused_with_the_registry_s_line() -> None:
    codel = q.codel(limit=10)
    for number in range(10):
        codel.enqueue(0, q.Packet(1000, id=number))
    for parameters, message in [
        ({"flows": 5}, 'codel: unknown word "flows"'),
        ({"target": 5}, "codel target: found 5, which has no unit"),
        ({"variant": "rfc8289"}, "codel variant: found rfc8289; accepted: linux, which cannot change"),
    ]:
        with pytest.raises(ValueError, match=f"^{message}"):
            codel.change(MS, **parameters)
    with pytest.raises(ValueError, match=r"^change: found now_ns 0; accepted: 1000000"):
        codel.change(0, limit=3)
    assert codel.backlog == (10, 10_000)
    codel.change(MS, limit=3, ecn=True)
    assert [packet.id for packet, _ in codel.dropped] == [0, 1, 2, 3, 4, 5, 6]
    assert codel.line.startswith("codel limit 3 target 5ms interval 100ms ecn")


def test_the_child_of_a_shaper_changes_too() -> None:
    htb = q.make("htb rate 5mbit child codel limit 50")
    htb.change(0, burst=9000, child="codel target 20ms")
    assert "burst 9000" in htb.line
    assert "child codel limit 50 target 20ms" in htb.line
    with pytest.raises(ValueError, match=r"^tbf: peakrate must be greater than rate"):
        q.make("tbf peakrate 20mbit").set_link_rate(0, "30mbit")
    with pytest.raises(ValueError, match=r'^link rate: found "fast"'):
        htb.set_link_rate(0, "fast")
