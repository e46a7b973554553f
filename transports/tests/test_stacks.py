"""Real QUIC stacks across a path: what each one reaches, and that a run repeats."""

import copy
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import goodqueue as gq
import goodqueue_transports
from conftest import EXAMPLES, STACKS
from goodqueue import endpoints, running
from goodqueue.errors import UserError
from goodqueue.record import Scenario
from goodqueue.scenario import load, resolve, to_json
from goodqueue_transports._goodqueue_transports import over_socket


def beside(scenario: Scenario, *traffic: dict[str, Any]) -> Scenario:
    """Return ``scenario`` with more ``traffic``."""
    return copy.deepcopy(scenario) | {"traffic": [*scenario["traffic"], *traffic]}


def with_stack(scenario: Scenario, **keys: Any) -> Scenario:
    """Return ``scenario`` with other keys of its connection."""
    return copy.deepcopy(scenario) | {"traffic": [scenario["traffic"][0] | keys]}


def test_the_list_of_stacks_is_whole() -> None:
    assert tuple(goodqueue_transports.STACKS) == STACKS


@pytest.mark.parametrize("stack", STACKS)
def test_a_run_repeats_to_the_byte(stack: str, cable: Scenario) -> None:
    """Two connections and a TCP flow. Guards against random lengths of a handshake, and against the real clock."""
    scenario = beside(with_stack(cable, stack=stack, count=2, start_spread="500ms"), {"kind": "bulk"}, {"kind": "ping"})
    texts = {running.one_text(copy.deepcopy(scenario)) for _ in range(2)}
    assert len(texts) == 1
    record = json.loads(texts.pop())
    assert [flow["name"] for flow in record["flows"]] == ["quic/0", "quic/1", "bulk/0"]
    assert [app["name"] for app in record["apps"]] == ["quic/0", "quic/1", "ping/0"], "in the scenario's order"
    assert record["flows"][0]["start_s"] != record["flows"][1]["start_s"]
    other = json.loads(running.one_text(copy.deepcopy(scenario) | {"seed": 2}))
    assert other["flows"] != record["flows"], "another seed is another run"


CALM = {"quiche": "reno"}
"""The congestion controls, if not the default, that answer to a single loss: quiche's CUBIC has a test of its own."""


@pytest.mark.parametrize("stack", STACKS)
def test_a_connection_alone_fills_the_link(stack: str, cable: Scenario) -> None:
    record = running.one(with_stack(cable, stack=stack, **({"cc": CALM[stack]} if stack in CALM else {})))
    (flow,), (app,) = record["flows"], record["apps"]
    assert record["queues"]["down"]["utilisation_percent"] > 80
    assert 0.9 * record["queues"]["down"]["throughput_mbps"] < flow["goodput_mbps"] < 20
    assert app["rtt_ms"]["min"] > 40
    assert app["rtt_ms"] == flow["rtt_ms"]
    assert 40 < app["handshake_ms"] < 45, "one round trip"
    assert 0 < app["cwnd_mean_bytes"] <= app["cwnd_max_bytes"]
    has_ecn = record["scenario"]["traffic"][0]["ecn"]
    assert (app["marks_heard"] > 0, app["packets_lost"] == 0) == (has_ecn, has_ecn), "codel marks, or else drops"
    assert app["marks_heard"] == record["queues"]["down"]["packets"]["marked"]


def test_without_ecn_the_queue_drops(cable: Scenario) -> None:
    (app,) = running.one(with_stack(cable, ecn=False))["apps"]
    assert app["marks_heard"] == 0 < app["packets_lost"]


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize("direction", ["down", "up"])
def test_a_transfer_ends(stack: str, direction: str, cable: Scenario) -> None:
    """1 MB at 20 Mbit/s takes 0.4 s and some round trips of slow start."""
    record = running.one(with_stack(cable, stack=stack, size="1MB", direction=direction) | {"warmup": "0s"})
    (flow,) = record["flows"]
    assert 450 < flow["completion_ms"] < 1200
    assert flow["goodput_mbps"] == pytest.approx(8 / 3, rel=0.001), "all bytes, over the whole run"
    idle, busy = sorted(record["queues"].values(), key=lambda queue: queue["throughput_mbps"])
    assert busy is record["queues"][direction]
    assert idle["throughput_mbps"] > 0


@pytest.mark.parametrize("stack", STACKS)
def test_an_application_limits_until_it_does_not(stack: str, cable: Scenario) -> None:
    limited = running.one(with_stack(cable, stack=stack, rate="2mbit", interval="50ms"))
    assert limited["flows"][0]["goodput_mbps"] == pytest.approx(2, rel=0.05)
    freed = running.one(with_stack(cable, stack=stack, rate="2mbit", interval="50ms", unlimited_from="1s"))
    assert freed["flows"][0]["goodput_mbps"] > 8


@pytest.mark.parametrize("stack", STACKS)
def test_a_flow_stops(stack: str, cable: Scenario) -> None:
    record = running.one(with_stack(cable, stack=stack, stop="1.5s") | {"series": {"interval": "100ms"}})
    goodput = record["series"]["flows"][0]["goodput_mbps"]
    assert goodput[13] > 5, goodput
    assert sum(goodput[17:]) < 1, goodput


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"stack": "quin"}, 'traffic[0].stack: found "quin"'),
        ({"cc": "bbr3"}, "traffic[0].cc: "),
        ({"stack": "aioquic", "ecn": True}, "accepted: false, as aioquic has no ECN"),
        ({"interval": "5ms"}, "accepted: it only beside rate"),
        ({"rate": "2mbit", "size": "1MB"}, "accepted: one of them"),
        ({"cc": "./mine.py:Mine"}, "traffic[0].cc: "),
    ],
)
def test_what_a_stack_cannot_is_one_line(keys: dict[str, Any], message: str, cable: Scenario) -> None:
    with pytest.raises(UserError) as refused:
        resolve(with_stack(cable, **keys))
    assert message in str(refused.value).replace("'", '"')
    assert "\n" not in str(refused.value)


def test_a_path_too_narrow_for_quic_is_refused(cable: Scenario) -> None:
    with pytest.raises(UserError, match=r"path\.mtu: found 600; accepted beside QUIC: 1228 or more"):
        running.one(cable | {"path": {"rtt": "40ms", "mtu": 600}})


def test_another_version_is_refused(cable: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(goodqueue_transports, "VERSION", "0.0.9")
    with pytest.raises(UserError, match=r"found goodqueue-transports 0\.0\.9; accepted: "):
        endpoints.module(cable)


def test_compare_and_sweep_run_the_stacks(cable: Scenario, tmp_path: Path) -> None:
    """The verbs start runs at one place. Guards against a verb that has another."""
    compared = gq.compare("pfifo", "fq_codel", scenario=cable, seeds=1)
    assert (compared.values("quic_rtt_p95_ms") > 40).all()
    grid = {"traffic.0.stack": ["quinn", "noq"]}
    swept = gq.sweep(cable, grid, seeds=1, progress=False, out=tmp_path / "store")
    assert len(swept.df) == 2


def test_the_other_engines_refuse_a_stack(cable: Scenario) -> None:
    for engine in ("kernel", "live"):
        with pytest.raises(UserError, match=f"found with --engine {engine}; accepted: with --engine sim"):
            endpoints.check(engine, resolve(cable))


def test_without_the_package_one_line_says_what_to_install(cable: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "goodqueue_transports", None)
    with pytest.raises(UserError, match="needs goodqueue-transports; accepted: `make transports`"):
        running.one(cable)


def example(name: str, **keys: Any) -> Any:
    """Return the record of an example, with other keys of its connection."""
    return running.one(with_stack(load(EXAMPLES / name), **keys))


def test_noq_bbr3_does_not_pace_an_application_limited_sender() -> None:
    """noq-proto 1.4.0. A later release that paces makes this test fail: then the example and the page say so."""
    bursts = example("noq-bbr3-app-limited.toml")["queues"]["down"]
    paced = example("noq-bbr3-app-limited.toml", cc="cubic")["queues"]["down"]
    assert bursts["drop_percent"] > 5 > paced["drop_percent"] == 0


def test_quinn_bbr_has_no_bound_for_an_application_limited_window() -> None:
    """quinn-proto 0.11.19: as above. The BDP is 250 kB."""
    windows = []
    for duration in ("5s", "10s", "20s"):
        scenario = load(EXAMPLES / "quinn-bbr-app-limited.toml") | {"duration": duration}
        windows.append(running.one(scenario)["apps"][0]["cwnd_max_bytes"])
    assert windows[0] > 1_000_000, windows
    assert windows[2] > 1.7 * windows[1] > 1.7 * 1.7 * windows[0], windows
    cubic = example("quinn-bbr-app-limited.toml", cc="cubic")["apps"][0]
    assert cubic["cwnd_max_bytes"] < 250_000
    assert to_json(load(EXAMPLES / "quinn-bbr-app-limited.toml"))


def test_quinn_bbr_takes_jitter_for_bandwidth() -> None:
    """quinn-proto 0.11.19: as above. The link has 50 Mbit/s."""
    series = {"series": {"interval": "1s", "cc": True}}
    record = running.one(load(EXAMPLES / "quinn-bbr-jitter.toml") | series)
    assert record["queues"]["down"]["drop_percent"] > 30
    assert record["series"]["flows"][0]["cc"]["bw_mbps"][-1] > 100
    assert example("quinn-bbr-jitter.toml", cc="cubic")["queues"]["down"]["drop_percent"] < 2


def test_noq_closes_a_connection_with_many_gaps(capsys: pytest.CaptureFixture[str]) -> None:
    """noq-proto 1.4.0, with a receive window of 16 MiB: as above. The record has the reason, and a warning says it."""
    (closed,) = example("noq-many-gaps.toml")["apps"]
    assert "quic/0: noq: closed at " in (said := capsys.readouterr().err)
    assert "too many gaps in stream buffer" in said
    assert closed["closed"].startswith("client: ")
    assert "too many gaps in stream buffer" in closed["closed"]
    assert 0 < closed["closed_s"] < 5
    open_ = example("noq-many-gaps.toml", stack="quinn")
    assert open_["flows"][0]["goodput_mbps"] > 20
    assert open_["apps"][0]["closed"] is open_["apps"][0]["closed_s"] is None
    assert "quinn" not in capsys.readouterr().err


def test_quiche_cubic_takes_back_its_answer_to_single_losses(cable: Scenario) -> None:
    """quiche 0.30.0: as above. Its window stays far above the 100 kB of the path, and CoDel drops on and on."""
    found = {}
    for cc in ("cubic", "reno"):
        record = running.one(with_stack(cable, stack="quiche", cc=cc) | {"duration": "6s", "warmup": "3s"})
        (flow,), (app,), queue = record["flows"], record["apps"], record["queues"]["down"]
        full = flow["goodput_mbps"] / queue["throughput_mbps"]
        found[cc] = (queue["delay_ms"]["mean"], app["packets_lost"], full)
    assert found["cubic"][0] > 40 > 5 > found["reno"][0], found
    assert found["cubic"][1] > 300 > 10 > found["reno"][1] > 0, found
    assert found["cubic"][2] < 0.9 < found["reno"][2], "the many small packets of recovery"


BBRS = {"quinn": "bbr", "noq": "bbr3", "s2n-quic": "bbr"}
"""The stacks that show the states of their BBR."""


@pytest.mark.parametrize("stack", BBRS)
def test_the_series_has_the_states_of_bbr(stack: str, cable: Scenario) -> None:
    series = {"series": {"interval": "10ms", "cc": True}}
    record = running.one(with_stack(cable, stack=stack, cc=BBRS[stack]) | series)
    (flow,) = record["series"]["flows"]
    states = [state for state in flow["cc"]["bbr_state"] if state is not None]
    assert len(flow["cc"]["bbr_state"]) == len(record["series"]["time_s"]) == len(flow["cwnd_packets"])
    assert states[0] == 0, "STARTUP"
    assert 3 in states, "CRUISE"


def test_fairness_is_of_connections_and_bulk_flows(cable: Scenario) -> None:
    record = running.one(beside(with_stack(cable, count=2), {"kind": "bulk", "ecn": True}))
    goodputs = [flow["goodput_mbps"] for flow in record["flows"]]
    assert record["fairness"]["jain_goodput"] == pytest.approx(sum(goodputs) ** 2 / (3 * sum(g * g for g in goodputs)))
    assert record["fairness"]["jain_goodput"] < 1


def test_an_idle_timeout_after_the_transfer_is_no_error(cable: Scenario, capsys: pytest.CaptureFixture[str]) -> None:
    (app,) = running.one(with_stack(cable, size="20kB") | {"duration": "40s"})["apps"]
    assert app["completion_ms"] < 1000
    assert app["closed"] is None
    assert "closed" not in capsys.readouterr().err


def test_both_ends_over_sockets(cable: Scenario) -> None:
    """On this machine alone, without a path: the real clock, real sockets and the codepoints of ECN."""
    case = to_json(resolve(with_stack(cable, stack="quinn") | {"duration": "500ms", "warmup": "100ms"}))
    with ThreadPoolExecutor() as threads:
        ends = [threads.submit(over_socket, case, is_server, "127.0.0.1:44330") for is_server in (True, False)]
        server, client = (json.loads(end.result()) for end in ends)
    assert client["goodput_mbps"] > 1
    assert server["packets_sent"] > 100
    assert client["closed"] is server["closed"] is None


def test_a_suite_tests_a_stack() -> None:
    sheet = gq.suite("bbr", stack="noq", only="1", seeds=1, progress=False)
    assert sheet.tested == ["noq bbr3"]
    beside = gq.suite("rfc9743", "cubic", stack="quinn", only=["5.2 silence", "5.2.2"], quick=True, progress=False)
    assert not beside.numbers["value"].isna().any(), "the call is another application of the record than beside TCP"
    with pytest.raises(UserError, match=r'found "quin"; accepted: quinn, noq'):
        gq.suite("bbr", stack="quin")
    with pytest.raises(UserError, match="found beside a suite of queue disciplines"):
        gq.suite("rfc7928", stack="quinn")
    with pytest.raises(UserError, match="no congestion control; accepted: one or several of cubic, newreno, bbr"):
        gq.suite("rfc9743", stack="quinn")
