"""The live engine: its refusals, its plans, and this host's TCP across our path compared with the simulator."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import linked
import needs
from conftest import Result
from goodqueue import engines, running
from goodqueue.engines.kernel import host
from goodqueue.engines.kernel.lab import chain
from goodqueue.engines.kernel.lab.plan import Plan
from goodqueue.engines.live import planning
from goodqueue.errors import UserError
from goodqueue.record import Record
from goodqueue.scenario import resolve

pytestmark = pytest.mark.long

SCENARIO = {
    "duration": "7s",
    "warmup": "2s",
    "bottleneck": {"rate": "8mbit", "qdisc": "codel"},
    "path": {"rtt": "40ms"},
    "traffic": [{"kind": "bulk", "count": 2}, {"kind": "ping"}],
}


def refused(**keys: Any) -> str:
    """Return the refusal of the scenario with other tables."""
    with pytest.raises(UserError) as found:
        engines.check("live", resolve(SCENARIO | keys))
    said = str(found.value)
    assert "\n" not in said
    return said


def test_what_the_hosts_do_not_do_is_refused_in_a_line_before_anything_runs() -> None:
    old = [{"kind": "bulk", "stack": "linux-3.10"}]
    assert refused(traffic=old) == 'traffic[0].stack: found "linux-3.10"; accepted by the live engine: linux-6.1'
    few = [{"kind": "bulk", "initial_window": 2}]
    assert refused(traffic=few) == "traffic[0].initial_window: found 2; accepted by the live engine: none"
    cell = {"standard": "802.11n", "station": [{"count": 2}]}
    said = "bottleneck.wifi.station: found 2 stations; accepted by the live engine: one"
    assert refused(bottleneck={"wifi": cell, "qdisc": "fq_codel"}) == said
    said = "bottleneck.gro: found true; accepted by the live engine: false, as packets are real programs'"
    assert refused(bottleneck=SCENARIO["bottleneck"] | {"gro": True}) == said


def test_the_command_refuses_before_it_starts_anything(here: Path, goodqueue: Callable[..., Result]) -> None:
    done = goodqueue("run", "ok.toml", "--engine", "live", "--set", "traffic.0.stack=linux-3.10")
    assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
    assert "accepted by the live engine: linux-6.1" in done.err


def test_a_capture_that_cannot_be_written_is_told_by_the_name_that_was_given(
    here: Path, goodqueue: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The draft's name was told, of which the user knows nothing."""

    def full(plan: Plan, *_: object) -> None:
        assert plan.own is not None
        assert plan.own.trace is not None
        raise UserError("live engine", f"{plan.own.trace['path']}: cannot be written: No space left on device")

    monkeypatch.setattr(host, "run", full)
    done = goodqueue("run", "ok.toml", "--engine", "live", "--trace", "run.pcapng", "--trace-at", "down-in")
    assert (done.status, done.out) == (2, "")
    assert done.err == "goodqueue: --trace run.pcapng: cannot be written: No space left on device\n"


def test_paths_that_linux_has_not_are_planned() -> None:
    """The kernel engine refuses these: REM, bursts, a path's MTU, the variables of a law."""
    hop = {"name": "modem", "kind": "link", "direction": "up", "rate": "2mbit", "qdisc": "pfifo limit 10"}
    bottleneck = {"rate": "8mbit", "qdisc": "rem", "bursts": "4ms"}
    direction = {"kind": "bulk", "rtt": "10ms", "hops": ["bottleneck"]}
    asked = resolve(
        SCENARIO
        | {"bottleneck": bottleneck, "path": {"rtt": "40ms", "mtu": 500}, "series": {"interval": "1s", "law": True}}
        | {"hop": [hop], "traffic": [direction, {"kind": "bulk"}]}
    )
    with pytest.raises(UserError):
        engines.check("kernel", asked)
    plan = planning.plan(asked)
    assert plan == Plan.from_json(plan.to_json())
    assert plan.own is not None
    assert plan.mtu == 500
    assert [one.rtt_s for one in plan.routes] == [0.01, 0.04]
    assert plan.own.hops == [["bottleneck"], None]
    scenario = json.loads(plan.own.scenario)
    assert float(scenario["duration"].removesuffix("s")) == pytest.approx(7 + plan.drain_s)
    assert plan.drain_s > 1 + 1000 * 1514 * 8 / 8e6, "what waits at the end must come through"
    assert chain.ends(plan) == ("server-cli.pcap", "client-wan.pcap")


@pytest.fixture(scope="module")
def networks_can_be_built() -> None:
    if not linked.works():
        pytest.skip(needs.reason("link"))


def live(folder: Path, **keys: Any) -> Record:
    """Return the record of a run by an ordinary user."""
    (folder / "scenario.json").write_text(json.dumps(resolve(SCENARIO | keys)))
    code = (
        "import json, sys, threading; from goodqueue.engines import find;"
        "print(find('live')(json.load(open(sys.argv[1])), lambda _: None, threading.Event()))"
    )
    command = [*linked.ordinary(), linked.python() or sys.executable, "-c", code, str(folder / "scenario.json")]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=linked.environment(), cwd="/")
    assert done.returncode == 0, done.stderr
    record: Record = json.loads(done.stdout)
    return record


@pytest.mark.kernel
@pytest.mark.needs("host")
@pytest.mark.usefixtures("networks_can_be_built")
def test_a_short_run_is_near_the_simulators() -> None:
    """A wrong rate, RTT or discipline would be far off: pfifo delays by 100 ms or more, and half the rate is half."""
    with linked.public_folder() as folder:
        record = live(folder, series={"interval": "1s"})
    ours = running.one(resolve(SCENARIO | {"series": {"interval": "1s"}}))
    assert record["engine"] == "live"
    assert record["scenario"] == ours["scenario"]
    assert set(ours) - set(record) == set()
    assert set(record) - set(ours) == {"kernel", "live"}
    assert record["live"]["elapsed_s"] == pytest.approx(7, abs=0.1)
    assert record["live"]["packets"] == {"not_ip": 0, "not_cut": 0, "refused": 0}
    assert [flow["name"] for flow in record["flows"]] == [flow["name"] for flow in ours["flows"]]
    whole, wanted = (sum(flow["goodput_mbps"] for flow in one["flows"]) for one in (record, ours))
    assert whole == pytest.approx(wanted, rel=0.1)
    down = record["queues"]["down"]
    assert down["throughput_mbps"] == pytest.approx(ours["queues"]["down"]["throughput_mbps"], rel=0.1)
    assert down["delay_ms"] is not None
    assert 1 < (down["delay_ms"]["p50"] or 0) < 15
    rtt = record["apps"][0]["rtt_ms"]
    assert rtt is not None
    assert 40 <= (rtt["min"] or 0) < 45
    assert len(record["series"]["queues"]["down"]["delay_ms"]) == 7
    lost = [flow["loss_percent"] or 0 for flow in record["flows"]]
    assert 0 < max(lost) < 5, "what still waited at the end was not lost"


@pytest.mark.kernel
@pytest.mark.needs("host")
@pytest.mark.usefixtures("networks_can_be_built")
def test_flows_go_their_own_way() -> None:
    """A ping that bypasses the wire, with a short RTT, beside a ping across the wire."""
    hop = {"name": "far", "kind": "wire", "direction": "down", "delay": "50ms"}
    near = {"kind": "ping", "name": "near", "rtt": "10ms", "hops": ["bottleneck"]}
    with linked.public_folder() as folder:
        record = live(folder, duration="4s", warmup="1s", hop=[hop], traffic=[near, {"kind": "ping", "name": "far"}])
    rtts = [app["rtt_ms"]["p50"] for app in record["apps"] if app["rtt_ms"]]
    assert rtts == [pytest.approx(10, abs=5), pytest.approx(90, abs=8)]
    assert [hop["packets"]["offered"] > 0 for hop in record["hops"]] == [True]


@pytest.mark.kernel
@pytest.mark.needs("host")
@pytest.mark.usefixtures("networks_can_be_built")
@pytest.mark.parametrize("after_s", [0.5, 1.5, 3.0])
def test_killed_a_run_leaves_nothing(tmp_path: Path, after_s: float) -> None:
    (tmp_path / "ok.json").write_text(json.dumps(SCENARIO | {"duration": "100s"}))
    code = (
        "import json, sys, threading; from goodqueue.engines import find;"
        "find('live')(json.load(open(sys.argv[1])), lambda _: None, threading.Event())"
    )
    seen = linked.Link(())
    env = linked.environment(**{linked.MARK: seen.mark})
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "ok.json")], env=env)
    time.sleep(after_s)
    assert process.poll() is None
    there = seen.left()
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    linked.gone(seen, there)
