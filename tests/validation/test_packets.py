"""Packet by packet: how captures are read, where two runs part, what is kept of Linux, and the ratchet."""

import json
import os
import threading
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from conftest import Result
from goodqueue import qdisc
from goodqueue.engines.kernel import draws, planning
from goodqueue.engines.kernel.lab import parts
from goodqueue.errors import UserError
from goodqueue.record import Scenario
from goodqueue.scenario import resolve
from goodqueue.validation.packets import captured, differing, drawing, kept, reading
from goodqueue.validation.packets.captured import Captured
from goodqueue.validation.packets.question import SamePackets
from goodqueue.validation.packets.reading import Flows, Seen

ASKED: Scenario = {
    "duration": "3s",
    "bottleneck": {"rate": "10mbit", "qdisc": "pfifo limit 30"},
    "path": {"rtt": "40ms"},
    "traffic": [{"kind": "bulk", "count": 2, "stagger": "100ms"}],
}


def simulated(flows: Flows | None = None, **changed: Any) -> Captured:
    scenario = resolve({**ASKED, **changed})
    return captured.run("sim", scenario, flows or Flows(), lambda _: None, threading.Event())


@pytest.fixture(scope="module")
def run() -> Captured:
    return simulated()


def test_a_capture_is_read_whole_and_counted_from_the_syn(run: Captured) -> None:
    down, up = (run.seen[point] for point in reading.SENT)
    queue = run.record["queues"]["down"]["packets"]
    assert len(down) == queue["offered"]
    assert len(run.seen["down-out"]) == queue["forwarded"]
    assert down.packet(0) == (0, 0, 0, 0, 2, 0, (), 0, 64240), "the SYN at 0"
    assert up.packet(0)[1:6] == (0, 0, 0, 0x12, 1), "its answer acknowledges 1"
    assert set(down.content[:, 0]) == {0, 1}
    assert up.sacks, "packets were lost"
    place, blocks = next(iter(up.sacks.items()))
    ack = up.packet(place).ack
    assert ack < blocks[0][0] < blocks[0][1]
    assert (blocks[0][1] - blocks[0][0]) % 1448 == 0


def changed(seen: Mapping[str, Seen], point: str, place: int, **columns: int) -> dict[str, Seen]:
    """Return ``seen`` with another value for a packet: its time, or the sequence number."""
    before = seen[point]
    times, content = before.time_ns.copy(), before.content.copy()
    times[place] += columns.get("time_ns", 0)
    content[place, 1] += columns.get("seq", 0)
    return {**seen, point: replace(before, time_ns=times, content=content)}


END_NS = 3_000_000_000


def compare(first: Mapping[str, Seen], second: Mapping[str, Seen]) -> differing.Comparison:
    return differing.compare(first, second, END_NS)


def test_two_runs_part_at_the_first_packet_that_differs(run: Captured) -> None:
    seen = run.seen
    assert compare(seen, simulated().seen).are_equal
    assert compare(seen, changed(seen, "down-in", 500, time_ns=2000)).are_equal, "2 us are nothing"
    late = compare(seen, changed(seen, "down-in", 500, time_ns=2001))
    assert late.difference is not None
    assert (late.difference.point, late.difference.place, late.difference.what) == ("down-in", 500, "time")
    acks = int((seen["up-in"].time_ns < late.difference.time_ns).sum())
    assert late.agreeing == 500 + acks
    assert compare(seen, changed(seen, "down-out", 500, time_ns=9000)).are_equal, "the order alone counts"
    both = changed(changed(seen, "down-out", 400, seq=1), "down-in", 500, seq=1)
    found = compare(seen, both).difference
    assert found is not None
    assert (found.point, found.place, found.what) == ("down-out", 400, "sequence number")
    shorter = simulated(duration="2s").seen
    ended = compare(seen, shorter).difference
    assert ended is not None
    assert ended.what == "no further packet in one of the runs"


def test_what_is_kept_of_a_run_says_how_far_another_agrees(run: Captured, tmp_path: Path) -> None:
    file = tmp_path / "linux.csv.gz"
    file.write_bytes(kept.write({"one": {point: kept.blocks(run.seen[point]) for point in reading.SENT}}))
    (blocks,) = kept.read(file).values()
    whole = sum(len(run.seen[point]) for point in reading.SENT)
    assert kept.agreement(run.seen, blocks) == kept.Agreement(whole, True)
    other = kept.agreement(changed(run.seen, "down-in", 1100, seq=1), blocks)
    assert not other.is_to_the_end
    assert 1000 <= other.packets < 1250 + 1250
    late = kept.agreement(changed(run.seen, "up-in", 9, time_ns=2301), blocks)
    ended_ns = int(run.seen["up-in"].time_ns[9])
    assert late.packets == kept.before({"down-in": blocks["down-in"]}, ended_ns), "the other direction's until then"
    later = kept.agreement(changed(run.seen, "up-in", 29, time_ns=2301), blocks)
    assert 20 < later.packets <= 120, "two blocks of it, and what the other direction sent before"
    assert kept.agreement(simulated(duration="2s").seen, blocks).packets > 0.4 * whole, "a shorter run is a beginning"


def test_a_run_of_linux_that_is_kept_is_read_as_it_was(
    run: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(captured, "run", lambda *_: run)
    scenario = resolve(ASKED)
    made = [captured.kept("sim", scenario, tmp_path, lambda _: None, threading.Event()) for _ in range(2)]
    assert made[0] is run
    assert made[1] is not run
    assert made[1].flows == run.flows
    assert compare(run.seen, made[1].seen).are_equal
    assert made[1].seen["up-in"].sacks == run.seen["up-in"].sacks


def test_a_kept_run_that_is_damaged_or_of_another_name_is_made_anew(
    run: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of these was a traceback, or another run's packets without a word."""
    asked: list[Scenario] = []
    monkeypatch.setattr(captured, "run", lambda _, scenario, *__: asked.append(scenario) or run)
    monkeypatch.setattr(captured, "_text", lambda _, scenario, *__: asked.append(scenario) or json.dumps(run.record))
    scenario, stop = resolve(ASKED), threading.Event()
    other = {**scenario, "seed": 2}
    for make in (partial(captured.kept, progress=lambda _: None), captured.record):
        make(engine="sim", scenario=other, folder=tmp_path, stop=stop)
        [of_another] = tmp_path.iterdir()
        whole = of_another.read_bytes()
        make(engine="sim", scenario=scenario, folder=tmp_path, stop=stop)
        [file] = set(tmp_path.iterdir()) - {of_another}
        damaged = (b"", whole, whole[:40], file.read_bytes()[:-1], file.read_bytes().replace(b"1", b"2", 1))
        for content in damaged:
            file.write_bytes(content)
            asked.clear()
            for _ in range(2):
                make(engine="sim", scenario=scenario, folder=tmp_path, stop=stop)
            assert asked == [scenario], "anew once, and kept"
        file.unlink()
        os.mkfifo(file)
        with pytest.raises(UserError, match="found a pipe"):
            make(engine="sim", scenario=scenario, folder=tmp_path, stop=stop)
        for made in tmp_path.iterdir():
            made.unlink()


ASKS = """
class Asks:
    def __init__(self, link):
        self.first = link.random()

    def enqueue(self, now, packet, queue):
        queue.push(packet)

    def dequeue(self, now, queue):
        return queue.pop()

    def probe(self):
        return {"first": self.first}
"""


def test_linux_is_told_the_simulators_random_numbers(tmp_path: Path) -> None:
    """The first number of the generator (PCG XSL-RR 128/64) from this state is the simulator's first."""
    high, low = draws.state(7, "qdisc", 0)
    state = (high << 64 | low) * 0x2360ED051FC65DA44385DF649FCCF645 % 2**128
    mixed, turn = (state >> 64) ^ state & 2**64 - 1, state >> 122
    first = (mixed >> turn | mixed << 64 - turn) & 2**64 - 1
    (tmp_path / "asks.py").write_text(ASKS, encoding="utf-8")
    assert (first >> 11) / 2**53 == qdisc.make(f"{tmp_path}/asks.py:Asks", seed=7).probe()["first"]


def test_each_part_of_a_path_has_the_simulators_stream() -> None:
    """The simulator numbers both bottlenecks, and then by direction the hosts' interfaces and the hops in their row."""
    wire = {"name": "air", "kind": "wire", "jitter": "1ms", "after": "bottleneck"}
    link = {"name": "uplink", "kind": "link", "rate": "5mbit", "qdisc": "codel", "direction": "up"}
    box = {"name": "box", "role": "server", "rate": "50mbit", "qdisc": "fq", "tso": False}
    asked = {**ASKED, "seed": 7, "hop": [link, wire], "host": [box]}
    asked["traffic"] = [{**one, "server": "box"} for one in asked["traffic"]]
    plan = planning.plan(resolve(asked), "7.3")
    streams = [("qdisc", 0), ("qdisc", 1), ("qdisc", 2), ("hop air", 0), ("qdisc", 4)]
    assert draws.states(plan) == [list(draws.state(7, *stream)) for stream in streams]
    assert parts.of_card(plan, 0) == 2


def test_bbr_draws_the_simulators_phase() -> None:
    """The dice begin with the first number of the flow's stream, and have drawn once."""
    (high, low), modulus = draws.state(7, "cc of down/0", 0), 2**31 - 1
    state = (high << 64 | low) * 0x2360ED051FC65DA44385DF649FCCF645 % 2**128
    mixed, turn = (state >> 64) ^ state & 2**64 - 1, state >> 122
    first = (mixed >> turn | mixed << 64 - turn) % 2**32
    assert draws.phases(7, ["down/0"]) == [(first % (modulus - 1) + 1) * 48271 % modulus]


@pytest.mark.parametrize("release", ["6.1", "7.3"])
def test_a_longer_draw_holds_the_shorter_one_and_both_engines_can_run_it(release: str) -> None:
    on = ("sim", f"kernel-{release}-process")
    few, many = (drawing.cells(count, 5, release, on) for count in (3, 12))
    assert many[:3] == few
    assert drawing.cells(3, 6, release, on) != few
    assert len({cell.name for cell in many}) == 12


def test_what_does_not_go_together_is_refused(goodqueue: Any) -> None:
    for arguments, said in (
        (("--only", "no such cell"), "only"),
        (("--set", "duration=1s"), "found a change of a scenario without one; accepted: SCENARIO.toml"),
    ):
        result: Result = goodqueue("validate", "same-packets", *arguments)
        assert (result.status, result.out) == (2, "")
        assert said in result.err
    with pytest.raises(UserError, match="found with a scenario"):
        SamePackets.read({"scenario": ASKED, "only": ["reno"]}).work()
