"""Paths with more than a bottleneck, on Linux: what the laboratory builds for them, and what it measures."""

import json
import re
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import numpy as np
import pytest

from goodqueue import engines, scenario
from goodqueue.engines.kernel import elements, planning
from goodqueue.engines.kernel.lab import changing, commands, distributions
from goodqueue.engines.kernel.lab.cards import captured
from goodqueue.engines.kernel.lab.chain import Does, Step, nodes
from goodqueue.engines.kernel.lab.clock import nanoseconds
from goodqueue.engines.kernel.lab.plan import Change, Hop, Plan, Shaper
from goodqueue.engines.kernel.sightings import Packets
from goodqueue.errors import UserError

BOTTLENECK = {"rate": "10mbit", "qdisc": "codel"}


def resolved(**changes: Any) -> dict[str, Any]:
    asked = {"duration": "5s", "bottleneck": BOTTLENECK, "path": {"rtt": "10ms"}, "traffic": [{"kind": "bulk"}]}
    return scenario.resolve(asked | changes)


def planned(*hops: dict[str, Any], **changes: Any) -> Plan:
    return planning.plan(resolved(hop=list(hops), **changes))


def link(name: str, rate: str = "20mbit", **more: Any) -> dict[str, Any]:
    return {"name": name, "kind": "link", "rate": rate, "qdisc": "pfifo limit 50", **more}


def wire(name: str = "air", **more: Any) -> dict[str, Any]:
    return {"name": name, "kind": "wire", **more}


# --- what is built ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"loss": "1%"}, "limit 1000000 loss random 1%"),
        ({"loss": "1% 25%"}, "limit 1000000 loss random 1% 25%"),
        ({"loss": "gemodel 1% 10%"}, "limit 1000000 loss gemodel 1% 10% 100% 0%"),
        ({"delay": "10ms"}, "limit 1000000 delay 10000.000us"),
        ({"delay": "10ms", "jitter": "1500ns"}, "limit 1000000 delay 10000.000us 1.500us rate 10tbit"),
        ({"jitter": "1ms", "jitter_reorders": True}, "limit 1000000 delay 0.000us 1000.000us"),
        (
            {"delay": "9ms", "jitter": "1ms", "distribution": "normal", "limit": 7},
            "limit 7 delay 9000.000us 1000.000us distribution normal rate 10tbit",
        ),
        ({"duplicate": "2%"}, "limit 1000000 duplicate 2%"),
        ({"delay": "5ms", "reorder": "25% 50%", "gap": 3}, "limit 1000000 delay 5000.000us reorder 25% 50% gap 3"),
    ],
)
def test_a_wire_is_netems_words(asked: dict[str, Any], words: str) -> None:
    (hop,) = planned(wire(**asked)).hops
    assert (" ".join(hop.netem), hop.link) == (words, None)


def test_hops_stand_in_the_row_where_packets_meet_them() -> None:
    plan = planned(
        wire("last"),
        link("isp", before="bottleneck"),
        link("between", after="isp"),
        link("modem", direction="up"),
        link("first", direction="up", before="bottleneck"),
    )
    named = {
        direction: [None if place is None else plan.hops[place].name for place in row]
        for direction, row in plan.rows.items()
    }
    assert named == {"down": ["isp", "between", None, "last"], "up": ["first", None, "modem"]}


def does(plan: Plan, direction: str) -> list[tuple[str, str]]:
    """Return what packets of ``direction`` meet, node by node."""
    row = nodes(plan) if direction == "down" else nodes(plan)[::-1]
    met = [(node, step) for node in row for step in node.steps if step.direction == direction]
    return [(step.does.name, "bottleneck" if step.place is None else plan.hops[step.place].name) for _, step in met]


def test_a_bottleneck_alone_is_a_router_between_two_wires() -> None:
    plan = planned()
    assert [node.name for node in nodes(plan)] == ["server", "wan1", "router", "access1", "client"]
    assert does(plan, "down") == does(plan, "up") == [("QUEUE", "bottleneck"), ("PROPAGATE", "bottleneck")]
    assert captured(plan) == [("router", "r-wan"), ("router", "r-cli")]


def test_each_link_but_the_last_has_a_node_for_its_transmissions() -> None:
    plan = planned(link("isp", before="bottleneck"), wire("air"), link("modem", direction="up"))
    assert does(plan, "down") == [
        ("QUEUE", "isp"),
        ("TRANSMIT", "isp"),
        ("QUEUE", "bottleneck"),
        ("TRANSMIT", "bottleneck"),
        ("WIRE", "air"),
        ("PROPAGATE", "air"),
    ]
    assert does(plan, "up") == [
        ("QUEUE", "bottleneck"),
        ("TRANSMIT", "bottleneck"),
        ("QUEUE", "modem"),
        ("PROPAGATE", "modem"),
    ]
    devices = [device for _, device in captured(plan)]
    assert devices[0] == "server-cli"
    assert devices[-1] == "client-wan"
    assert {"r-wan", "r-cli"} < set(devices), "the bottleneck's are where they always are"


def test_flows_that_do_not_cross_a_hop_pass_its_disciplines_by() -> None:
    traffic = [{"kind": "bulk"}, {"kind": "bulk", "name": "near", "hops": ["bottleneck"]}]
    plan = planned(link("second"), traffic=traffic)
    assert [(route.rtt_s, route.skips) for route in plan.routes] == [(0.01, []), (0.01, [0])]
    assert [flow.route for flow in plan.flows] == [0, 1]
    lines = [" ".join(words) for words in commands.step("x", Step(Does.QUEUE, "down", 0), plan)]
    assert lines[:4] == [
        f"qdisc add dev x root handle f000: prio bands 2 priomap{' 0' * 16}",
        "filter add dev x parent f000: protocol ip prio 1 u32 match ip dport 34816 0xf800 flowid f000:2",
        "filter add dev x parent f000: protocol ip prio 1 u32 match ip sport 34816 0xf800 flowid f000:2",
        "qdisc add dev x parent f000:1 handle 1: htb default 1",
    ]
    behind = [" ".join(words) for words in commands.step("x", Step(Does.PROPAGATE, "down", 0), plan)]
    assert [line.partition(" netem ")[2] for line in behind if "netem" in line] == [
        "delay 5000.000us rate 20000000bit limit 1000000",
        "delay 5000.000us limit 1000000",  # this one did not cross such a link
    ]
    alone = commands.step("x", Step(Does.QUEUE, "down", None), plan)
    assert alone[0][:5] == ["qdisc", "add", "dev", "x", "root"], "all cross the bottleneck"


def test_a_ways_speed_is_that_of_the_narrowest_link_that_it_crosses() -> None:
    """A home router with Gigabit ports behind 50 Mbit/s carries 50 Mbit/s, so the virtual machine can run it."""
    traffic = [{"kind": "bulk"}, {"kind": "bulk", "name": "near", "hops": ["isp"]}]
    isp = link("isp", "50mbit", before="bottleneck")
    plan = planned(isp, bottleneck={"rate": "1gbit", "qdisc": "codel", "up": {"rate": "30mbit"}}, traffic=traffic)
    assert [plan.narrowest_bps("down", route) for route in plan.routes] == [50_000_000, 50_000_000]
    assert [plan.narrowest_bps("up", route) for route in plan.routes] == [30_000_000, None]
    assert plan.load_bps == 2 * 50_000_000 + 30_000_000
    assert Plan.from_json(plan.to_json()) == plan


# --- what changes ----------------------------------------------------------------------------------------------------


def test_a_change_of_the_rate_is_one_of_the_shaper_and_of_the_transmission_behind_it() -> None:
    change = [{"at": "1s", "rate": "5mbit"}, {"at": "2s", "rate": "10mbit", "qdisc": "codel target 9ms"}]
    found = changing.due(planned(change=change))
    told = [(one.at_s, one.space, [" ".join(words) for words in one.lines]) for one in found]
    shaped = "class change dev r-cli parent 1: classid 1:1 htb rate {0}bit burst {1}b cburst {1}b quantum 1514"
    behind = "qdisc change dev access1-cli root handle 1: netem delay 5000.000us rate {0}bit limit 1000000"
    anew = "qdisc change dev r-cli parent 1:1 handle 10: codel limit 1000 target 9000us interval 100000us ecn"
    assert [(at_s, space) for at_s, space, _ in told] == [(1, "router"), (1, "access1"), (2, "router"), (2, "access1")]
    assert [lines for *_, lines in told[:2]] == [[shaped.format(5_000_000, 30)], [behind.format(5_000_000)]]
    # Back to the first rate is a change, too.
    assert told[2][2][0] == shaped.format(10_000_000, 30)
    assert re.sub(" no?ecn", " ecn", told[2][2][1]) == anew
    assert told[3][2] == [behind.format(10_000_000)]


def test_a_hop_and_the_way_up_change_where_they_stand() -> None:
    change = [{"at": "1s", "hop": "second", "rate": "5mbit"}, {"at": "2s", "direction": "up", "rate": "1mbit"}]
    plan = planned(link("second"), change=change)
    assert (plan.down.changes, plan.up.changes) == ([], [Change(2.0, 1_000_000)])
    assert plan.hops[0].link is not None
    assert plan.hops[0].link.rates() == [(0.0, 20_000_000), (1.0, 5_000_000)]


def test_a_file_of_rates_is_changes(tmp_path: Path) -> None:
    (tmp_path / "rates").write_text("0s 5mbit\n1s 2mbit\n2s repeat\n")
    bottleneck = {"trace": str(tmp_path / "rates"), "qdisc": "codel", "up": {"rate": "1mbit"}}
    plan = planned(bottleneck=bottleneck, duration="4s")
    assert plan.down.rates() == [(0, 5_000_000), (1, 2_000_000), (2, 5_000_000), (3, 2_000_000)]
    assert plan.captures_ends, "when a packet arrives does not follow from when it left"
    (tmp_path / "rates").unlink()
    scenario.resolve(json.loads(plan.scenario))  # the hosts' machine does not have the file


# --- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "refusal"),
    [
        ({"bottleneck": BOTTLENECK | {"ring": 8}}, "bottleneck.ring: found 8; accepted by the kernel engine: none, as"),
        (
            {"bottleneck": BOTTLENECK | {"access": "docsis", "up": {"rate": "1mbit"}}},
            'bottleneck.access: found "docsis map 2ms ',
        ),
        (
            {"bottleneck": BOTTLENECK | {"bursts": "4ms", "up": {"rate": "1mbit"}}},
            'bottleneck.bursts: found "4ms"; accepted by the kernel engine: a rate or a file of rates',
        ),
        ({"hop": [link("m", ring=8)]}, "hop[0].ring: found 8; accepted by the kernel engine: none, as"),
        (
            {"hop": [wire()], "traffic": [{"kind": "ping"}, {"kind": "bulk", "hops": ["air"]}]},
            'traffic[1].hops: found air, where "bulk/0" sends through no link; accepted by the kernel engine: a link',
        ),
        (
            {"bottleneck": BOTTLENECK | {"rx_usecs": 50, "up": {"rate": "1mbit"}}},
            "bottleneck.rx_usecs: found 50; accepted by the kernel engine: none, as its cards are virtual",
        ),
        (
            {"hop": [link("m", gro=True)]},
            "hop[0].rx_usecs: found 0; accepted by the kernel engine: none, as its cards are virtual",
        ),
        ({"hop": [link("m") | {"qdisc": "pi"}]}, 'hop[0].qdisc: found "pi", which its kernels have not'),
        (
            {"hop": [link("m")], "change": [{"at": "1s", "hop": "m", "qdisc": "tbf rate 5mbit child codel"}]},
            "change[0]",
        ),
        (
            {"change": [{"at": "1s", "rtt": "90ms"}]},
            "change[0].rtt: found 90ms; accepted by the kernel engine: a rate or a qdisc, as it sets delays before",
        ),
        (
            {"hop": [wire()], "change": [{"at": "1s", "hop": "air", "jitter": "9ms"}]},
            "change[0].jitter: found 9ms; accepted by the kernel engine: a rate or a qdisc",
        ),
        (
            {"hop": [wire() | {"distribution": "wifi"}]},
            'hop[0].distribution: found "wifi"; accepted by the kernel engine: uniform, normal',
        ),
    ],
)
def test_what_linux_has_not_is_refused_by_name(changes: dict[str, Any], refusal: str) -> None:
    with pytest.raises(UserError) as raised:
        planning.plan(resolved(**changes))
    assert str(raised.value).startswith(refusal)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("content", "refusal"),
    [
        ("1\n2\n", "delivery opportunities; accepted by the kernel engine: rates over time"),
        ("0s 5mbit\n1s 0mbit\n2s 5mbit\n", "a rate of 0 at 1s in"),
        ("0s 5mbit\n1s 2mbit\n1.005s 5mbit\n", "a rate for 0.005s at 1s in"),
    ],
)
def test_a_file_that_a_shaper_cannot_follow_is_refused(tmp_path: Path, content: str, refusal: str) -> None:
    (tmp_path / "rates").write_text(content)
    bottleneck = {"trace": str(tmp_path / "rates"), "qdisc": "codel", "up": {"rate": "1mbit"}}
    with pytest.raises(UserError, match=r"^bottleneck\.trace: found ") as raised:
        planned(bottleneck=bottleneck)
    assert refusal in str(raised.value)


# --- what is measured ------------------------------------------------------------------------------------------------


def packets(rows: list[tuple[float, float | None]], copies: tuple[tuple[float, float], ...] = ()) -> Packets:
    """Return packets with these arrivals and departures in ms, 1250 bytes each, and copies."""

    def column(times: Any) -> Any:
        return np.array([nanoseconds(ms / 1000) for ms in times], dtype=np.int64)

    def filled(count: int, value: int) -> Any:
        return np.full(count, value, dtype=np.int64)

    left = np.array([departure is not None for _, departure in rows])
    return Packets(
        arrival=column(at for at, _ in rows),
        departure=column(-1 if at is None else at for _, at in rows),
        left=left,
        length=filled(len(rows), 1250),
        flow=filled(len(rows), 0),
        marked=left & False,
        copy_arrival=column(at for at, _ in copies),
        copy_departure=column(at for _, at in copies),
        copy_length=filled(len(copies), 1250),
        copy_flow=filled(len(copies), 0),
    )


MEASURED = (nanoseconds(0.1), nanoseconds(0.2))


def test_a_wire_by_hand() -> None:
    """Two packets are lost, the second since two are in the wire. One packet is duplicated."""
    rows = [(95, 105), (110, 120), (115, None), (130, 150), (131, 151), (132, None), (195, 205)]
    hop = elements.hop(packets(rows, ((130, 152),)), Hop("air", "down", limit=3), {"kind": "wire"}, MEASURED)
    counts = {"offered": 6, "delivered": 5, "lost": 2, "over_limit": 1, "duplicated": 1}
    assert hop["packets"] == counts | {"held_at_start": 1, "held_at_end": 1}
    assert hop["loss_percent"] == pytest.approx(100 * 2 / 6, abs=1e-6)


def test_a_link_whose_rate_changes_is_used_by_what_it_could_have_sent() -> None:
    """40 000 bits of 50 000 + 100 000. At one rate, 40 ms of 100 ms: 1250 bytes take 10 ms at 1 Mbit/s."""
    changed = Shaper(1_000_000, "htb", [], [Change(0.15, 2_000_000)])
    seen = packets([(100, 100), (110, 110), (149, 149), (160, 160)])
    share = elements.queue(seen, changed, {"qdisc": "pfifo"}, MEASURED)["utilisation_percent"]
    assert share == pytest.approx(100 * 40 / 150, abs=1e-6)
    fixed = Shaper(1_000_000, "htb", [])
    assert elements.queue(seen, fixed, {"qdisc": "pfifo"}, MEASURED)["utilisation_percent"] == 40.0


@pytest.mark.parametrize(
    ("name", "mean", "deviation"), [("normal", 0, 1), ("pareto", -0.0335, 0.8197), ("paretonormal", -0.0253, 0.8339)]
)
def test_distributions_are_those_of_iproute2s_tables(name: str, mean: float, deviation: float) -> None:
    table = [number / 8192 for number in distributions.table(name)]
    assert len(table) == 4096
    assert (fmean(table), stdev(table)) == (pytest.approx(mean, abs=0.002), pytest.approx(deviation, abs=0.002))


@pytest.mark.long
@pytest.mark.kernel
@pytest.mark.needs("qemu", "image")
def test_links_and_wires_do_on_linux_what_they_do_in_the_simulator() -> None:
    """Some calls cross a link whose rate changes and a wire, others only the link, others only the wire."""
    hops = [link("second", "2mbit"), wire(delay="20ms", jitter="4ms", distribution="normal", loss="5%", duplicate="5%")]
    calls = {"kind": "voip", "count": 5, "start_spread": "20ms"}
    asked = {
        "duration": "6s",
        "warmup": "1s",
        "bottleneck": {"rate": "10mbit", "qdisc": "pfifo limit 100"},
        "path": {"rtt": "20ms"},
        "hop": hops,
        "traffic": [
            calls | {"name": "all"},
            calls | {"name": "near", "hops": ["bottleneck", "second"]},
            calls | {"name": "far", "hops": ["air"]},
        ],
        # From 3 s on the ten calls send more than the link carries: its queue is full.
        "change": [{"at": "3s", "hop": "second", "rate": "500kbit"}],
        "series": {"interval": "500ms"},
    }
    ours, linux = (
        json.loads(next(iter(engines.run_many(name, [scenario.resolve(asked)])))) for name in ("sim", "kernel")
    )
    assert [hop["name"] for hop in linux["hops"]] == ["second", "air"]
    (link_here, air_here), (link_there, air_there) = ours["hops"], linux["hops"]
    assert link_there["packets"]["offered"] == pytest.approx(link_here["packets"]["offered"], abs=2)
    assert link_there["packets"]["dropped"] == pytest.approx(link_here["packets"]["dropped"], rel=0.03)
    assert link_there["delay_ms"]["mean"] == pytest.approx(link_here["delay_ms"]["mean"], rel=0.02)
    assert link_there["utilisation_percent"] == pytest.approx(link_here["utilisation_percent"], abs=0.5)
    assert linux["queues"]["down"]["packets"]["offered"] == ours["queues"]["down"]["packets"]["offered"]
    counts = air_there["packets"]
    came = counts["held_at_start"] + counts["offered"] + counts["duplicated"]
    # A copy that netem loses alone counts as neither in captures.
    assert came == counts["delivered"] + counts["lost"] + counts["held_at_end"]
    assert counts["offered"] == pytest.approx(air_here["packets"]["offered"], rel=0.02)
    for name in ("lost", "duplicated"):
        n = counts["offered"]
        assert counts[name] / n == pytest.approx(0.05, abs=4 * (0.05 * 0.95 / n) ** 0.5), name
    delays: dict[str, list[list[float]]] = {}
    for record in (ours, linux):
        for route in ("all", "near", "far"):
            of_route = [app["delay_ms"] for app in record["apps"] if app["name"].startswith(route)]
            delays.setdefault(route, []).append([fmean(one[key] for one in of_route) for key in ("min", "p50", "max")])
    for route, (here, there) in delays.items():
        assert [there[0], there[2]] == pytest.approx([here[0], here[2]], rel=0.15), f"{route}: of five calls each"
    assert delays["far"][1][1] == pytest.approx(delays["far"][0][1], rel=0.03), "the median, where no queue is"
    assert linux["series"]["hops"].keys() == {"second"}
    assert linux["kernel"]["hops"]["air"]["shaper"] is None
