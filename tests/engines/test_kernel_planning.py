"""Scenarios as plans for the laboratory, lines as tc's words, and refusals by name."""

import json
from typing import Any

import pytest

from goodqueue import _goodqueue, scenario
from goodqueue.engines.kernel import planning, tc
from goodqueue.engines.kernel.lab import addresses, changing, sysctls
from goodqueue.engines.kernel.lab import commands as commands_for_tc
from goodqueue.engines.kernel.lab.errors import LabError
from goodqueue.engines.kernel.lab.plan import Plan
from goodqueue.errors import UserError


def resolved(qdisc: str = "codel", **changes: Any) -> dict[str, Any]:
    bottleneck = {"rate": "10mbit", "qdisc": qdisc}
    asked = {"duration": "5s", "bottleneck": bottleneck, "path": {"rtt": "10ms"}, "traffic": [{"kind": "bulk"}]}
    return scenario.resolve(asked | changes)


def test_rrul_is_flows_that_the_laboratory_knows() -> None:
    plan = planning.plan(resolved(traffic=[{"kind": "rrul", "start": "1s"}]))
    assert [flow.kind for flow in plan.flows] == ["bulk"] * 8 + ["ping"] * 4
    assert [flow.dscp for flow in plan.flows] == [0, 8, 40, 46, 0, 8, 40, 46, 46, 8, 0, 0]
    assert plan.flows[0].name == "TCP upload BE/0"


def test_a_plan_holds_each_flow_with_the_start_that_the_simulator_draws() -> None:
    traffic = [
        {"kind": "bulk", "count": 2, "start_spread": "1s", "rtt": "30ms"},
        {"kind": "cbr", "rate": "1mbit", "packet_size": 1250, "direction": "up", "ecn": True, "dscp": "EF"},
        {"kind": "ping", "interval": "100ms"},
    ]
    asked = resolved(traffic=traffic, warmup="1s", seed=7, series={"interval": "100ms"})
    plan = planning.plan(asked)
    simulation = _goodqueue.Simulation(json.dumps(asked))
    simulation.advance(5.0)
    starts = {flow["name"]: flow["start_s"] for flow in json.loads(simulation.record())["flows"]}
    assert {flow.name: flow.start_s for flow in plan.flows if flow.kind != "ping"} == pytest.approx(starts, abs=1e-6)
    assert [(flow.user, flow.server) for flow in plan.flows] == [(1, 1), (2, 2), (3, 3), (4, 4)]
    assert ([route.rtt_s for route in plan.routes], plan.warmup_s, plan.sample_s, plan.seed) == (
        [0.01, 0.03],
        1.0,
        0.1,
        7,
    )
    cbr, ping = plan.flows[2:]
    assert (cbr.direction, cbr.ecn, cbr.is_tcp, cbr.interval_s) == ("up", True, False, 0.01)
    assert (ping.interval_s, ping.cc) == (0.1, None)
    assert [flow.dscp for flow in plan.flows] == [0, 0, 46, 0]
    assert Plan.from_json(plan.to_json()) == plan


def test_flows_of_one_host_have_one_number_and_the_others_their_own() -> None:
    """A user's host and a server may have the same name: they are two hosts, on two sides."""
    traffic = [
        {"kind": "bulk"},
        {"kind": "bulk", "count": 2, "host": "alice", "rtt": "30ms"},
        {"kind": "ping", "host": "bob", "server": "alice"},
        {"kind": "page", "objects": [{"response": "1kB"}], "host": "alice", "server": "alice"},
        {"kind": "rrul", "host": "bob"},
    ]
    flows = planning.plan(resolved(traffic=traffic)).flows
    assert [flow.user for flow in flows] == [1, 2, 2, 4, 2, *[4] * 12]
    assert [flow.server for flow in flows] == [1, 2, 3, 4, 4, *range(6, 18)]


def test_captures_go_on_until_a_full_queue_has_run_empty() -> None:
    """Otherwise waiting packets would look lost: 100 packets of 1514 bytes take 0.12112 s at 10 Mbit/s."""
    assert planning.plan(resolved("pfifo limit 100")).drain_s == pytest.approx(1.0 + 0.01 + 0.12112)
    assert planning.plan(resolved("bfifo limit 151400")).drain_s == pytest.approx(1.0 + 0.01 + 0.12112)
    half = planning.plan(resolved("htb rate 5mbit child red limit 151400")).drain_s
    assert half == pytest.approx(1.0 + 0.01 + 2 * 0.12112)


@pytest.mark.parametrize(
    ("changes", "refusal"),
    [
        (
            {"series": {"interval": "1s", "law": True}},
            "series.law: found true; accepted by the kernel engine: false, as Linux does not show its laws",
        ),
        (
            {"series": {"interval": "1s", "cc": True}},
            "series.cc: found true; accepted by the kernel engine: false; series.tcp has what the hosts' TCP shows",
        ),
        (
            {"qdisc": "pi"},
            'bottleneck.qdisc: found "pi", which its kernels have not; accepted by the kernel engine: pfifo, ',
        ),
        (
            {"qdisc": "dualpi2"},
            'bottleneck.qdisc: found "dualpi2", which Linux 6.1 does not have; accepted by the kernel engine: --kernel',
        ),
        ({"qdisc": "tbf child dualpi2"}, 'bottleneck.qdisc: found "dualpi2", which Linux 6.1 does not have'),
        ({"qdisc": "dualpi2 variant rfc9332"}, 'bottleneck.qdisc: found "dualpi2 variant rfc9332"; accepted by'),
        ({"qdisc": "tbf child cobalt"}, 'bottleneck.qdisc: found "cobalt", which its kernels have not'),
        (
            {"qdisc": "pie variant rfc8033"},
            'bottleneck.qdisc: found "pie variant rfc8033"; accepted by the kernel engine',
        ),
        (
            {"qdisc": "codel target 5500ns"},
            'bottleneck.qdisc: found "codel target 5500ns"; accepted by the kernel engine',
        ),
        (
            {"qdisc": "red adaptive"},  # would run, with a probability that never moves
            'bottleneck.qdisc: found "red adaptive"; accepted by the kernel engine: noadaptive, since tc 5.7',
        ),
        ({"qdisc": "choke harddrop"}, 'bottleneck.qdisc: found "choke harddrop"; accepted by the kernel engine'),
        (
            {"linux": {"release": "7.3"}},  # its law would not be that of the kernel that runs
            'linux.release: found "7.3"; accepted by the kernel engine: none, or the same release of the kernel: ',
        ),
        ({"qdisc": "prio txqueuelen 50"}, 'bottleneck.qdisc: found "prio txqueuelen 50"; accepted by the kernel'),
        ({"qdisc": "pfifo_fast txqueuelen 50"}, 'bottleneck.qdisc: found "pfifo_fast txqueuelen 50"; accepted'),
        (
            {"qdisc": "htb idle told"},
            'bottleneck.qdisc: found "htb idle told"; accepted by the kernel engine: idle linux',
        ),
        ({"qdisc": "cake target 5ms"}, 'bottleneck.qdisc: found "cake target 5ms"; accepted by the kernel engine: no'),
        (
            {"traffic": [{"kind": "bulk"}, {"kind": "bulk", "stack": "linux-3.10", "name": "old"}]},
            'traffic[1].stack: found "linux-3.10"; accepted by the kernel engine: linux-6.1',
        ),
        *(
            ({"traffic": [{"kind": "bulk", "cc": cc}]}, f'traffic[0].cc: found "{cc}"; accepted by the kernel engine:')
            for cc in ("ledbat", "ledbat++", "none cwnd 10", "cubic hystart++", "reno abe")
        ),
        (
            {"traffic": [{"kind": "bulk", "cc": "prague"}]},
            'traffic[0].cc: found "prague", which no release of Linux has: neither Debian\'s kernels nor their source;',
        ),
        (
            {"traffic": [{"kind": "bulk", "ecn": "accecn"}]},
            'traffic[0].ecn: found "accecn", which Linux has had since 7.0; accepted by the kernel engine: --kernel',
        ),
        *(
            (
                {"traffic": [{"kind": "bulk", key: 2}]},
                f"traffic[0].{key}: found 2; accepted by the kernel engine: none",
            )
            for key in ("initial_window", "ack_every")
        ),
        (
            {"traffic": [{"kind": "bulk", "mark": 3}]},
            "traffic[0].mark: found 3; accepted by the kernel engine: 0, as a mark stays in the host that sets it",
        ),
        *(
            (
                {"traffic": [{"port": 443} | traffic]},
                f"traffic[0].port: found {traffic.get('port', 443)}; accepted by the kernel engine: one below 32768",
            )
            for traffic in (
                {"kind": "bulk", "direction": "up"},
                {"kind": "bulk", "port": 40000},
                {"kind": "transfer", "size": "1MB"},
            )
        ),
        (
            {"path": {"rtt": "10ms", "mtu": 500}},
            "path.mtu: found 500; accepted by the kernel engine: 1500, or none",
        ),
        (
            {"traffic": [{"kind": "bulk", "rtt": f"{n}ms", "name": f"n{n}"} for n in range(17)]},
            "traffic.rtt: found 17 distinct RTTs; accepted by the kernel engine: at most 16",
        ),
    ],
)
def test_what_the_kernel_has_not_is_refused_by_name(changes: dict[str, Any], refusal: str) -> None:
    with pytest.raises(UserError) as raised:
        planning.plan(resolved(**changes))
    assert str(raised.value).startswith(refusal)
    assert "\n" not in str(raised.value)


def test_a_discipline_in_python_is_refused_by_name() -> None:
    asked = resolved()
    asked["bottleneck"]["up"]["qdisc"] = "./idea.py:Shorter limit 20"
    with pytest.raises(
        UserError, match=r'bottleneck\.up\.qdisc: found "\./idea\.py:Shorter limit 20", which is written'
    ):
        planning.plan(asked)


def test_every_discipline_of_the_registry_is_translated_or_refused_by_its_name() -> None:
    for qdisc in json.loads(_goodqueue.qdiscs()):
        line = resolved(ALONE.get(qdisc["name"], qdisc["name"]))["bottleneck"]["qdisc"]
        if qdisc["name"] in tc.DISCIPLINES:
            place = ["root"] if tc.shaper(line) == "none" else ["parent", "1:1"]
            assert tc.translate(line, 10_000_000)[0][: len(place) + 2] == [*place, "handle", "10:"]
        else:
            with pytest.raises(UserError, match=f'found "{qdisc["name"]}"'):
                tc.translate(line, 10_000_000)


def test_no_word_of_a_line_is_lost_on_the_way() -> None:
    """Everything that a line sets beyond the defaults must change tc's words, or be refused."""
    for qdisc in json.loads(_goodqueue.qdiscs()):
        name = qdisc["name"]
        if name not in tc.DISCIPLINES:
            continue
        for param in qdisc["params"]:
            words = CHANGED.get((name, param["name"])) or CHANGED.get(param["name"]) or param["name"]
            alone = CONTEXT.get((name, param["name"]), ALONE.get(name, name))
            plain = resolved(alone)["bottleneck"]["qdisc"]
            try:
                line = resolved(f"{alone} {words}")["bottleneck"]["qdisc"]
                translated = tc.translate(line, 10_000_000)
            except UserError:
                continue
            if (name, param["name"]) == ("cake_mq", "txqueues"):
                assert tc.queues(line) == 7 != tc.queues(plain)  # a property of the device, which tc has no word for
                continue
            assert translated != tc.translate(plain, 10_000_000), f"{name} {words} says nothing to tc"


ALONE = {"cake_mq": "cake_mq bandwidth 5mbit"}
"""The line of a discipline whose name alone is refused."""

CHANGED: dict[Any, str] = {
    **{name: f"{name} 7" for name in ("limit", "flows", "quantum", "alpha", "beta", "depth", "perturb", "drop_batch")},
    **{name: f"{name} 17ms" for name in ("target", "interval", "tupdate", "ce_threshold", "latency", "rtt", "db")},
    **{name: f"{name} 40000" for name in ("memory_limit", "burst", "cburst", "memlimit", "redflowlimit", "minburst")},
    **{name: f"{name} 3mbit" for name in ("rate", "bandwidth")},
    **{name: f"{name} 0.03" for name in ("probability", "increment", "decrement")},
    **{name: f"{name} 9" for name in ("ecn_prob", "penalty_rate", "penalty_burst", "mpu", "overhead")},
    "peakrate": "peakrate 20mbit",
    "ceil": "ceil 20mbit",
    "ce_threshold_selector": "ce_threshold_selector 0x1/0x3",
    "divisor": "divisor 256",
    "avpkt": "avpkt 500",
    "min": "min 20000",
    "max": "max 90000",
    "rehash": "rehash 20s",
    "txqueuelen": "txqueuelen 7",
    "txqueues": "txqueues 7",
    ("fq", "flow_limit"): "flow_limit 7",
    ("fq", "buckets"): "buckets 64",
    ("fq", "orphan_mask"): "orphan_mask 7",
    ("fq", "priomap"): "priomap 0 1 2 0 1 2 0 1 2 0 1 2 0 1 2 0",
    ("fq", "weights"): "weights 20000 40000 90000",
    ("fq", "pacing"): "nopacing",
    ("fq", "initial_quantum"): "initial_quantum 9000",
    **{("fq", name): f"{name} 3mbit" for name in ("maxrate", "low_rate_threshold")},
    **{("fq", name): f"{name} 17ms" for name in ("refill_delay", "timer_slack", "horizon")},
    ("fq", "beyond"): "horizon_cap",
    ("prio", "bands"): "bands 7",
    ("prio", "priomap"): "priomap 0 0 0",
    "variant": "variant rfc8033",
    ("codel", "variant"): "variant rfc8289",
    "idle": "idle told",
    "child": "child pie",
    "diffserv": "diffserv8",
    "isolation": "hosts",
    "preset": "metro",
    "cells": "atm",
    "direction": "ingress",
    **{("dualpi2", name): f"{name} 9" for name in ("coupling_factor", "min_qlen_step", "classic_protection")},
    ("dualpi2", "max_rtt"): "max_rtt 40ms",
    ("dualpi2", "typical_rtt"): "typical_rtt 40ms",
    ("dualpi2", "step_thresh"): "step_thresh 7p",
    ("dualpi2", "on_overload"): "overflow",
    ("dualpi2", "drop_at"): "drop_enqueue",
    ("dualpi2", "l4s"): "any_ect",
    ("dualpi2", "split_gso"): "no_split_gso",
    ("fq_codel", "ecn"): "noecn",
    ("fq_nocodel", "ecn"): "noecn",
    ("choke", "min"): "min 20",
    ("choke", "max"): "max 90",
    ("choke", "burst"): "burst 200",
    ("red", "burst"): "burst 400",
    ("sfq", "burst"): "burst 30",
    ("red", "limit"): "limit 900000",
    ("choke", "limit"): "limit 900",
    ("sfq", "redflowlimit"): "redflowlimit 100000",
    ("sfb", "max"): "max 70",
    ("sfb", "target"): "target 7",
}
CONTEXT: dict[Any, str] = {
    **{("sfq", name): "sfq redflowlimit 100000" for name in ("min", "max", "avpkt", "burst", "probability", "ecn")},
    ("sfq", "harddrop"): "sfq redflowlimit 100000 ecn",
    ("tbf", "minburst"): "tbf peakrate 20mbit",
    ("red", "harddrop"): "red ecn",
    ("red", "nodrop"): "red ecn",
}
"""The line in which a parameter has a meaning."""


@pytest.mark.parametrize(
    ("line", "commands"),
    [
        (
            "codel limit 200 target 2ms ecn",
            ["parent 1:1 handle 10: codel limit 200 target 2000us interval 100000us ecn"],
        ),
        (
            "fq_nocodel",
            [
                (
                    "parent 1:1 handle 10: fq_codel limit 127 flows 1024 quantum 1514 target 100000000us"
                    " interval 100000us memory_limit 33554432 drop_batch 64 ecn"
                )
            ],
        ),
        (
            "red limit 400000 min 30000 ecn nodrop",
            [
                (
                    "parent 1:1 handle 10: red limit 400000 min 30000 avpkt 1000 bandwidth 10mbit probability 0.02"
                    " ecn nodrop"
                )
            ],
        ),
        (
            "sfb rehash 10000 db 1000",
            [
                (
                    "parent 1:1 handle 10: sfb limit 1000 increment 0.0005 decrement 0.00005"
                    " penalty_rate 10 penalty_burst 20 rehash 10000 db 1000"
                )
            ],
        ),
        (
            "cake bandwidth 5mbit metro",
            [
                (
                    "parent 1:1 handle 10: cake bandwidth 5mbit diffserv3 triple-isolate egress no-ack-filter"
                    " split-gso noatm rtt 10000us nowash nonat"
                )
            ],
        ),
        (
            "dualpi2 any_ect step_thresh 5p max_rtt 40ms classic_protection 20",
            [
                (
                    "parent 1:1 handle 10: dualpi2 limit 10000 coupling_factor 2 target 6666us tupdate 6666us"
                    " alpha 0.4140625 beta 7.5 step_thresh 5p drop_on_overload drop_dequeue any_ect"
                    " classic_protection 20"
                )
            ],
        ),
        (
            "tbf rate 5mbit burst 10kb child pfifo limit 50",
            [
                "parent 1:1 handle 10: tbf rate 5mbit burst 10240 limit 1514000",
                "parent 10:1 handle 20: pfifo limit 50",
            ],
        ),
        (
            "htb rate 16mbit child tbf rate 3mbit child bfifo limit 9000",
            [
                "parent 1:1 handle 10: htb default 1",
                (
                    "class parent 10: classid 10:1 htb rate 16000000bit ceil 16000000bit mtu 1600 burst 1600b"
                    " cburst 1600b quantum 1514"
                ),
                "parent 10:1 handle 20: tbf rate 3mbit burst 5120 limit 1514000",
                "parent 20:1 handle 30: bfifo limit 9000",
            ],
        ),
    ],
)
def test_lines_become_the_words_that_tc_takes(line: str, commands: list[str]) -> None:
    """Each of these was given to tc 6.1 on kernel 6.1 (dualpi2: both 7.3), which showed the same parameters."""
    canonical = resolved(line)["bottleneck"]["qdisc"]
    assert [" ".join(words) for words in tc.translate(canonical, 10_000_000)] == commands


def test_a_class_of_a_line_is_added_as_a_class() -> None:
    plan = planning.plan(resolved("htb rate 5mbit child pfifo limit 50"))
    commands = [" ".join(words) for words in commands_for_tc.link("r-cli", plan.down, ["root"])]
    assert commands[-2].startswith("class add dev r-cli parent 10: classid 10:1 htb rate 5000000bit")
    assert commands[-1] == "qdisc add dev r-cli parent 10:1 handle 20: pfifo limit 50"


def test_the_link_is_one_that_a_discipline_learns_idleness_from_where_that_matters() -> None:
    shapers = {name: tc.shaper(resolved(name)["bottleneck"]["qdisc"]) for name in tc.DISCIPLINES}
    assert {name for name, shaper in shapers.items() if shaper == "cbs"} == {"red", "choke", "tbf", "htb", "netem"}
    assert tc.shaper(resolved("cake bandwidth 5mbit")["bottleneck"]["qdisc"]) == "cbs"


def test_a_discipline_of_several_queues_is_the_root_of_devices_that_have_them() -> None:
    plan = planning.plan(resolved("cake_mq txqueues 3 bandwidth 5mbit"), "7.3")
    assert (plan.down.shaper, plan.down.queues, Plan.from_json(plan.to_json())) == ("none", 3, plan)
    (command,) = commands_for_tc.link("r-cli", plan.down, ["root"])
    assert " ".join(command).startswith("qdisc add dev r-cli root handle 10: cake_mq bandwidth 5mbit ")
    with pytest.raises(LabError, match="found none; accepted: htb, cbs, or none where all flows cross the link"):
        commands_for_tc.link("r-cli", plan.down, ["parent", "f000:1"])


@pytest.mark.parametrize(
    ("line", "refusal"),
    [
        ("cake_mq", 'found "cake_mq"; accepted by the kernel engine: a bandwidth below'),
        ("cake_mq bandwidth 10mbit", 'found "cake_mq bandwidth 10mbit"; accepted by the kernel engine: a bandwidth'),
        ("tbf rate 9mbit child cake_mq bandwidth 5mbit", 'found "cake_mq" inside; accepted by the kernel engine: cake'),
    ],
)
def test_cake_mq_shapes_for_itself(line: str, refusal: str) -> None:
    """A device hands out packets of all its queues at once, so nothing above would make it a link of one rate."""
    with pytest.raises(UserError) as refused:
        planning.plan(resolved(line), "7.3")
    assert str(refused.value).startswith(f"bottleneck.qdisc: {refusal}")


def test_accecn_is_all_of_a_host_s_tcp() -> None:
    both = [{"kind": "bulk", "ecn": "accecn"}, {"kind": "ping"}]
    every = {"tcp_ecn": "3"}
    assert planning.plan(resolved(traffic=both), "7.3").ecn == {"client": every, "server": every}
    mixed = [*both, {"kind": "bulk", "name": "old", "ecn": True}]
    said = r'traffic\[2\].ecn: found true beside "accecn"; accepted by the kernel engine: "accecn" for all TCP'
    with pytest.raises(UserError, match=said):
        planning.plan(resolved(traffic=mixed), "7.3")


def test_each_side_has_the_sysctls_of_its_hosts() -> None:
    """Guards against one value for both sides, and against two values in one namespace."""
    flow = {"kind": "bulk", "stack": "linux-7.3"}
    own = {"role": "server", "tso": False, "tcp_ecn": 5}
    asked = resolved(traffic=[flow], linux={"tcp_ecn": 3, "tcp_ecn_option": 1}, host=[own])
    plan = planning.plan(asked, "7.3")
    assert Plan.from_json(plan.to_json()) == plan
    found = {side: sysctls.for_hosts(plan, side) for side in ("client", "server")}
    assert [found[side]["ipv4/tcp_ecn"] for side in found] == ["3", "5"]
    assert [found[side]["ipv4/tcp_ecn_option"] for side in found] == ["1", "1"]
    assert "ipv4/tcp_ecn" not in sysctls.for_hosts(planning.plan(resolved()), "client")
    mixed = resolved(traffic=[flow | {"server": "cdn"}, flow | {"name": "b"}], host=[own | {"name": "cdn"}])
    with pytest.raises(UserError, match="tcp_ecn: found 5 and none of a server; accepted by the kernel engine: one"):
        planning.plan(mixed, "7.3")


def test_a_change_at_a_host_is_one_of_its_interface() -> None:
    """Guards against a change of the bottleneck instead, which has another discipline."""
    alice = {"name": "alice", "rate": "5mbit", "qdisc": "fq", "tso": False}
    change = {"at": "1s", "hop": "host alice", "qdisc": "fq nopacing"}
    flow = {"kind": "bulk", "direction": "up", "host": "alice"}
    plan = planning.plan(resolved(traffic=[flow], host=[alice], change=[change]), "7.3")
    assert not plan.down.changes
    assert not plan.up.changes
    (due,) = changing.due(plan)
    assert (due.at_s, due.space, due.lines[0][:4]) == (1.0, "client", ["qdisc", "change", "dev", "host0-out"])
    assert due.lines[0][due.lines[0].index("fq") + 1 :][-1] == "nopacing"
    faster = resolved(traffic=[flow], host=[alice], change=[change | {"rate": "6mbit"}])
    said = "change.0..rate: found 6mbit at the interface of a host; accepted by the kernel engine there: a qdisc"
    with pytest.raises(UserError, match=said):
        planning.plan(faster, "7.3")


def test_a_stack_is_its_own_release_s() -> None:
    newer = resolved(traffic=[{"kind": "bulk", "stack": "linux-7.3"}])
    assert planning.plan(newer, "7.3").flows
    said = r'traffic\[0\].stack: found "linux-7.3"; accepted by the kernel engine: linux-6.1$'
    for release in (None, "6.1"):
        with pytest.raises(UserError, match=said):
            planning.plan(newer, release)


def test_bands_of_fq_are_words_where_the_kernel_has_them() -> None:
    newer = resolved("fq weights 20000 40000 90000", linux={"release": "7.3"})
    words = planning.plan(newer, "7.3").down.tc[0]
    assert words[words.index("weights") + 1 :][:3] == ["20000", "40000", "90000"]
    assert "priomap" not in words, "a default is no word for a tc that does not know it"


def test_the_hosts_have_the_buffers_that_the_scenario_says() -> None:
    """Guards against stock buffers of another release, and against a limit where the scenario says none."""
    linux = {"tcp_rmem": "stock", "tcp_wmem": "4096 16384 100000"}
    for release, most in ((None, 6 << 20), ("6.12", 6 << 20), ("7.3", 32 << 20)):
        plan = planning.plan(resolved(linux=linux), release)
        assert plan.buffers == {"tcp_rmem": f"4096 131072 {most}", "tcp_wmem": "4096 16384 100000"}
        assert Plan.from_json(plan.to_json()) == plan
        settings = sysctls.for_hosts(plan, "client")
        assert [settings[f"ipv4/{name}"] for name in linux] == list(plan.buffers.values())
    assert sysctls.for_hosts(planning.plan(resolved()), "client")["ipv4/tcp_wmem"] == f"4096 16384 {16 << 20}"


def test_a_server_sends_from_its_port() -> None:
    planned = planning.plan(resolved(traffic=[{"kind": "bulk", "port": 443}, {"kind": "cbr", "rate": "1mbit"}]))
    assert [addresses.ends(planned, index).first_port for index in (0, 1)] == [443, 0x801]
