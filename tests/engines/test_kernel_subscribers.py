"""Trees of classes and subscribers on the kernel engine: commands, addresses, and what each subscriber got."""

import json
from typing import Any

import numpy as np
import pytest

from goodqueue import engines, scenario
from goodqueue.engines.kernel import planning, subscribers, trees
from goodqueue.engines.kernel.lab import addresses, changing, commands
from goodqueue.engines.kernel.lab.plan import Plan
from goodqueue.engines.kernel.sightings import Packets
from goodqueue.errors import UserError

MS = 1_000_000
TREE = (
    "tc qdisc add dev eth0 root handle 1: htb default 2",
    "tc class add dev eth0 parent 1: classid 1:1 htb rate 8mbit",
    "tc class add dev eth0 parent 1:1 classid 1:2 htb rate 2mbit ceil 8mbit",
    "tc qdisc add dev eth0 parent 1:2 handle 20: drr",
    "tc class add dev eth0 parent 20: classid 20:3 drr",
    "tc qdisc add dev eth0 parent 20:3 fq_codel limit 50",
    "tc filter add dev eth0 parent 20: protocol ip matchall flowid 20:3",
)


def provider(**more: Any) -> dict[str, Any]:
    """Return a provider of three subscribers. Two of them have a node of 6 Mbit/s, so that all kinds of class limit."""
    down = {"down": "4mbit", "up": "1mbit", "traffic": [{"kind": "bulk"}, {"kind": "bulk", "direction": "up"}]}
    return scenario.resolve(
        {
            "duration": "6s",
            "warmup": "2s",
            "bottleneck": {"rate": "12mbit", "qdisc": "fq_codel", "up": {"rate": "4mbit"}},
            "path": {"rtt": "20ms"},
            "node": [{"name": "tower", "down": "6mbit", "up": "4mbit"}],
            "subscriber": [down | {"name": "far", "count": 2, "parent": "tower"}, down | {"name": "near"}],
        }
        | more
    )


def test_a_tree_has_the_laboratorys_numbers() -> None:
    """Linux's commands stay as they are. The root stands below the shaper, and no number is the shaper's own."""
    bottleneck: dict[str, Any] = {"rate": "12mbit", "tc": list(TREE), "up": {"qdisc": "pfifo"}}
    asked = {"duration": "2s", "bottleneck": bottleneck, "path": {"rtt": "20ms"}, "traffic": [{"kind": "bulk"}]}
    plan = planning.plan(scenario.resolve(asked))
    lines = [" ".join(line) for line in commands.link("v0", plan.down, ["root"])]
    assert plan.down.shaper == "cbs"
    assert lines[1] == "qdisc add dev v0 parent 1:1 handle 10: htb default 0x2 r2q 10 direct_qlen 1000"
    assert lines[2].startswith("class add dev v0 parent 10: classid 10:1 htb prio 0 ")
    assert "qdisc add dev v0 parent 10:2 handle 11: drr" in lines
    assert any(line.startswith("qdisc add dev v0 parent 11:3 handle 12: fq_codel limit 50 ") for line in lines)
    assert any(line.startswith("filter add dev v0 parent 11: protocol ip ") and "11:3" in line for line in lines)
    bottleneck["tc"] = ["tc qdisc add dev eth0 root handle 1: mq"]
    with pytest.raises(UserError, match=r'bottleneck\.qdisc: found "mq" alone'):
        planning.plan(scenario.resolve(asked))


@pytest.mark.parametrize(
    ("written", "made"),
    [("classid 0x1:0x2", "classid 10:0x2"), ("flowid 10002", "flowid 10:0002"), ("flowid 7:2", "flowid 0:2")],
)
def test_a_filter_names_classes_as_tc_reads_them(written: str, made: str) -> None:
    """A class that no command makes must not become one of the laboratory's."""
    tree = [*TREE[:3], f"tc filter add dev eth0 parent 1: protocol ip flower {written}"]
    asked = {
        "duration": "2s",
        "bottleneck": {"rate": "12mbit", "tc": tree, "up": {"qdisc": "pfifo"}},
        "path": {"rtt": "20ms"},
        "traffic": [{"kind": "bulk"}],
    }
    plan = planning.plan(scenario.resolve(asked))
    lines = [" ".join(line) for line in commands.link("v0", plan.down, ["root"])]
    assert any(line.endswith(f"flower {made}") for line in lines)


def test_a_tree_changes_by_the_scenario_s_commands() -> None:
    """Guards against words that the scenario's command leaves out: Linux would take their defaults for changes."""
    leaf = "tc qdisc change dev eth0 parent 20:3 fq_codel target 1ms"
    told = (
        f"tc class change dev eth0 classid 20:3 drr quantum 3000; {leaf}",
        "tc class change dev eth0 classid 1:2 htb rate 1mbit",
    )
    change = [{"at": f"{place}s", "qdisc": commands} for place, commands in enumerate(told, 1)]
    bottleneck = {"rate": "12mbit", "tc": list(TREE), "up": {"qdisc": "pfifo"}}
    asked = {"duration": "4s", "bottleneck": bottleneck, "path": {"rtt": "20ms"}, "traffic": [{"kind": "bulk"}]}
    resolved = scenario.resolve(asked | {"change": change})
    plan = planning.plan(resolved)
    assert Plan.from_json(plan.to_json()) == plan
    first, second = changing.due(plan)
    device = first.lines[0][3]
    assert (first.at_s, second.at_s) == (1.0, 2.0)
    assert [" ".join(line) for line in first.lines] == [
        f"class change dev {device} classid 11:3 drr quantum 3000",
        f"qdisc change dev {device} parent 11:3 handle 12: fq_codel target 1ms",
    ]
    (line,) = second.lines
    assert line[:7] == ["class", "change", "dev", device, "classid", "10:2", "htb"]
    assert line[-2:] == ["rate", "1mbit"]
    # The slowest class says how long a full queue takes to drain.
    assert trees.slowest_bps(resolved["bottleneck"]["qdisc"], 10**8, plan.down.changes[1].tc) == 10**6


def test_a_subscribers_address_is_that_of_its_hosts() -> None:
    """The tree's filters compare it. Both flows of a subscriber have it, and the other end is the laboratory's."""
    plan = planning.plan(provider())
    found = [addresses.ends(plan, place).addresses for place in range(len(plan.flows))]
    assert [one["client"] for one in found] == [f"100.64.0.{host}" for host in (1, 1, 2, 2, 3, 3)]
    assert {one["server"][:5] for one in found} == {"10.9."}
    assert len({flow.name for flow in plan.flows}) == len(plan.flows)
    assert addresses.everybody(plan, "client") == ["10.8.0.0/16", "100.64.0.1/32", "100.64.0.2/31"]
    assert addresses.of_host(plan, "client", plan.flows[2].user) == "100.64.0.2"
    filters = [line for line in plan.down.tc if line[0] == "filter"]
    assert [line[line.index("dst") + 1] for line in filters] == [f"100.64.0.{host}/32" for host in (1, 2, 3)]


def test_a_filter_at_cake_keeps_the_number_that_is_a_host() -> None:
    """Other filters get the laboratory's numbers. `flow` would take that of the handle, and so it gets the tree's."""
    tc = [
        "tc qdisc add dev e root handle 1: prio",
        "tc qdisc add dev e parent 1:1 handle 500: cake",
        "tc filter add dev e parent 1: matchall flowid 1:1",
        "tc filter add dev e parent 500: prio 1 matchall flowid 7:5",
        "tc filter add dev e parent 500: prio 2 handle 1 flow map key dst",
    ]
    path = {"rtt": "10ms"}
    asked = {"bottleneck": {"rate": "10mbit", "tc": tc}, "path": path, "duration": "2s", "traffic": [{"kind": "bulk"}]}
    line = scenario.resolve(asked)["bottleneck"]["qdisc"]
    filters = [words for words in trees.translate(line, 10**7) if words[0] == "filter"]
    places = [(words[2], words[-1]) for words in filters]
    assert places == [("10:", "10:1"), ("11:", "7:5"), ("11:", "500:1")]


def test_the_discipline_of_a_queue_takes_the_place_of_mq() -> None:
    batch = ["tc qdisc add dev e root handle 7fff: mq", "tc qdisc add dev e parent 7fff:1 handle 1: prio"]
    more = ["tc qdisc add dev e parent 1:1 handle 2: codel", "tc filter add dev e parent 1: matchall flowid 1:2"]
    link = {"bottleneck": {"rate": "10mbit"}, "path": {"rtt": "9ms"}, "duration": "2s", "traffic": [{"kind": "bulk"}]}
    found = []
    for tc in ([*batch, *more], [batch[1].replace("parent 7fff:1", "root"), *more]):
        link["bottleneck"] = {"rate": "10mbit", "tc": tc}
        found.append(trees.translate(scenario.resolve(link)["bottleneck"]["qdisc"], 10**7))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("hosts", "found"),
    [
        ({"host": "127.0.0.1"}, 'traffic.host: found "127.0.0.1"'),
        ({"host": "10.8.0.1"}, 'traffic.host: found "10.8.0.1"'),
        ({"host": "192.0.2.1", "server": "192.0.2.2"}, 'traffic.server: found "192.0.2.2" beside'),
    ],
)
def test_an_address_that_the_laboratory_cannot_have_is_refused(hosts: dict[str, str], found: str) -> None:
    asked = {
        "duration": "2s",
        "bottleneck": {"rate": "12mbit", "qdisc": "pfifo"},
        "path": {"rtt": "20ms"},
        "traffic": [{"kind": "bulk", **hosts}],
    }
    with pytest.raises(UserError) as raised:
        planning.plan(scenario.resolve(asked))
    assert str(raised.value).startswith(found)


def test_what_a_subscriber_got_is_counted_from_its_packets() -> None:
    """Two packets of the first subscriber leave in one second, and the third is dropped. Others count for nobody."""
    arrival = np.array([2100, 2200, 2300, 2400, 2500, 100]) * MS
    departure = np.array([2110, 2230, 0, 2404, 2500, 3000]) * MS
    left = np.array([True, True, False, True, True, True])
    flow, length = np.array([0, 0, 0, 2, -1, 0]), np.full(6, 1000)
    none = np.array([], dtype=np.int64)
    packets = Packets(arrival, departure, left, length, flow, np.zeros(6, bool), none, none, none, none)
    asked = provider()
    found = subscribers.measured(asked, {"down": packets, "up": packets}, (2000 * MS, 6000 * MS))
    first, second, third = (one["down"] for one in found["subscribers"])
    assert first["throughput_mbps"] == pytest.approx(3 * 8e-3 / 4)
    assert first["peak_mbps"] == pytest.approx(2 * 8e-3), "the packet at three seconds is alone in its second"
    assert first["drop_percent"] == pytest.approx(100 / 3, abs=1e-3)
    assert second["delay_ms"] is not None
    assert second["delay_ms"]["p50"] == pytest.approx(4.0)
    assert third.get("delay_ms") is None
    assert [node["subscribers"] for node in found["nodes"]] == [3, 2]
    assert found["nodes"][0]["down"]["limiting_percent"] is None, "Linux does not say it"


@pytest.mark.long
@pytest.mark.kernel
@pytest.mark.needs("qemu", "image")
def test_linux_gives_subscribers_what_the_simulator_gives() -> None:
    """All three are limited in both directions: two by their node, one by the rate sold."""
    records = {name: json.loads(engines.run_many(name, [provider()])[0]) for name in ("sim", "kernel")}
    assert records["kernel"]["queues"]["down"]["qdisc"] == records["sim"]["queues"]["down"]["qdisc"]
    for ours, linux in zip(*(records[name]["isp"]["subscribers"] for name in ("sim", "kernel")), strict=True):
        assert (ours["name"], ours["address"]) == (linux["name"], linux["address"])
        for way in ("down", "up"):
            assert linux[way]["throughput_mbps"] == pytest.approx(ours[way]["throughput_mbps"], rel=0.03)
            frame_ms = 1514 * 8 / ours[way]["sold_mbps"] / 1e3  # less than a packet's time is no difference
            assert linux[way]["delay_ms"]["p95"] == pytest.approx(ours[way]["delay_ms"]["p95"], abs=frame_ms)
