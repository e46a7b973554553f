"""``gq.Bottleneck``: the path for endpoints in Python, and what it says of wrong use."""

import builtins
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import goodqueue as gq
from conftest import ROOT
from goodqueue.api.bottleneck import Bottleneck

CABLE: dict[str, Any] = {
    "duration": "2s",
    "bottleneck": {"rate": "10mbit", "qdisc": "pfifo"},
    "path": {"rtt": "40ms"},
}

BLOCKED = """
class Blocked:
    def __init__(self, link):
        self.seen = 0

    def enqueue(self, now, packet, queue):
        self.seen += 1
        if self.seen == 3:
            raise RuntimeError("enough")
        queue.push(packet)

    def dequeue(self, now, queue):
        return queue.pop()
"""


def loaded(path: Bottleneck) -> list[tuple[float, str, int, str, bytes]]:
    """Send a datagram of 1200 bytes per millisecond and flow, and return what arrived."""
    seen = []
    for millisecond in range(2000):
        while found := path.receive(until=millisecond / 1000):
            seen.append((found.time, found.direction, found.flow, found.ecn, found.data))
        path.send("down", bytes([millisecond % 256]) * 1200, ecn="ect0", flow=0, now=millisecond / 1000)
        path.send("up", b"ack", dscp=46)
    return seen


def test_the_same_calls_give_the_same_record_and_results() -> None:
    """Also that TCP users beside the datagrams have their share, and that a record is one that others read."""
    traffic = [{"kind": "outside", "name": "mine"}, {"kind": "bulk"}]
    scenario = CABLE | {"bottleneck": {"rate": "8mbit", "qdisc": "codel ecn"}, "traffic": traffic}
    first, second = (gq.Bottleneck(scenario) for _ in range(2))
    assert loaded(first) == loaded(second)
    assert first.run().text == second.run().text
    (result,) = first.results()
    down = result["down"]
    assert down["sent"] == 2000 == down["delivered"] + down["lost"] + down["under_way"]
    assert down["marked"] > 0
    record = first.record()
    assert [flow["name"] for flow in record["flows"]] == ["bulk/0", "mine/0"]
    assert record["flows"][1]["goodput_mbps"] == down["goodput_mbps"] > 1
    assert "mine/0" in str(first.run())


def test_a_datagram_keeps_its_bytes_and_marks() -> None:
    """1208 + 42 bytes take 1 ms at 10 Mbit/s, and half of the RTT is 20 ms."""
    path = gq.Bottleneck(CABLE)
    path.send("up", bytes(range(250)) * 4 + bytes(208), ecn="ect1", dscp=46, now=0.5)
    assert path.receive(until=0.52) is None
    assert path.now == 0.52
    found = path.receive(until=path.duration)
    assert found is not None
    assert (found.time, found.direction, found.ecn, found.dscp) == (0.521, "up", "ect1", 46)
    assert found.data == bytes(range(250)) * 4 + bytes(208)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda path: path.send("down", b"x", now=0.1), "time: found 100ms; accepted: 500ms, the time of the path, or"),
        (lambda path: path.send("down", b"x", now=9), "time: found 9s; accepted: up to 2s, the end of the run"),
        (lambda path: path.send("down", b"x", now=-1), "now: found -1; accepted: seconds since the run began, 0 or"),
        (lambda path: path.send("down", b""), "bytes: found 0 bytes; accepted: 1 to 1472, by path.mtu"),
        (lambda path: path.send("down", bytes(10**9)), "bytes: found 1000000000 bytes; accepted: 1 to 1472"),
        (lambda path: path.send("left", b"x"), 'direction: found "left"; accepted: down, up'),
        (lambda path: path.send("down", b"x", ecn="ect"), 'ecn: found "ect"; accepted: not-ect, ect1, ect0, ce'),
        (lambda path: path.send("down", b"x", dscp=300), "dscp: found 300; accepted: 0 to 63"),
        (lambda path: path.send("down", b"x", flow=3), "flow: found the number 3; accepted: 0 to 0"),
        (
            lambda path: path.send("down", b"x", dscp=10**30),
            "dscp: found 1000000000000000000000000000000; accepted: 0 to",
        ),
        (lambda path: path.send("down", b"x", flow=-1), "flow: found -1; accepted: a flow's number, from 0 on"),
        (lambda path: gq.Bottleneck(None), "scenario: found null; accepted: a file's path, or a dict"),  # type: ignore[arg-type]
        (lambda path: path.flow("mine"), 'flow: found "mine"; accepted: outside/0'),
        (lambda path: path.receive(until=float("nan")), "until: found NaN; accepted: seconds since the run began"),
    ],
)
def test_a_mistake_is_one_line_and_the_run_goes_on(call: Callable[[Bottleneck], object], says: str) -> None:
    path = gq.Bottleneck(CABLE)
    path.send("down", b"first", now=0.5)
    with pytest.raises(gq.UserError) as refused:
        call(path)
    assert str(refused.value).startswith(says)
    found = path.receive(until=1.0)
    assert found is not None
    assert found.data == b"first"


def test_no_event_is_named_beyond_the_end() -> None:
    """A loop that waits for each next event was endless: time does not go beyond the end."""
    path = gq.Bottleneck(CABLE | {"traffic": [{"kind": "bulk"}]})
    path.receive(until=path.duration)
    assert path.next_time() is None


def test_a_call_beside_anothers_is_one_line(here: Path) -> None:
    Path("reenters.py").write_text(
        "class Fifo:\n"
        "    def __init__(self, link): pass\n"
        "    def enqueue(self, now, packet, queue):\n"
        "        import builtins\n"
        "        builtins.path.receive(until=1.0)\n"
        "    def dequeue(self, now, queue): return queue.pop()\n",
        encoding="utf-8",
    )
    path = gq.Bottleneck(CABLE, bottleneck__qdisc="./reenters.py:Fifo")
    builtins.path = path  # type: ignore[attr-defined]
    try:
        with pytest.raises(gq.UserError, match="another call uses this path; accepted: one at a time"):
            path.send("down", b"x")
    finally:
        del builtins.path  # type: ignore[attr-defined]


def test_a_scenario_is_refused_by_its_key() -> None:
    with pytest.raises(gq.UserError, match=r'^bottleneck.rate: found "fast"; accepted: '):
        gq.Bottleneck(CABLE, bottleneck__rate="fast")


def test_an_exception_of_a_class_is_one_line_and_the_record_is_not_lost(here: Path) -> None:
    Path("mine.py").write_text(BLOCKED, encoding="utf-8")
    path = gq.Bottleneck(CABLE, bottleneck__qdisc="./mine.py:Blocked")
    path.send("down", b"x")
    path.send("down", b"y")
    with pytest.raises(gq.UserError, match=r"^./mine.py:9: RuntimeError: enough$"):
        path.send("down", b"z")
    path.send("up", b"ack")
    found = path.receive(until=1.0)
    assert found is not None
    assert path.results()[0]["down"]["sent"] == 3
    assert path.record()["queues"]["down"]["packets"]["offered"] == 3


def test_the_example_shows_both_flows(here: Path) -> None:
    command = [sys.executable, str(ROOT / "examples" / "my_transport.py")]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout.startswith("mine ")
    assert "bulk" in done.stdout


def test_a_record_is_read_by_the_other_commands(here: Path) -> None:
    path = gq.Bottleneck(CABLE | {"traffic": [{"kind": "outside"}, {"kind": "ping"}]})
    loaded(path)
    path.run().save("record.json")
    assert json.loads(Path("record.json").read_text(encoding="utf-8"))["flows"][0]["kind"] == "udp"
