"""The stack of hosts on the kernel engine: Linux's own queues of hosts and TCP small queues, beside the simulator's."""

import json
import struct
from pathlib import Path
from typing import Any

import pytest

from goodqueue import engines, scenario
from goodqueue.engines.kernel import planning, sightings
from goodqueue.engines.kernel.lab import cards
from goodqueue.engines.kernel.lab.plan import Plan
from goodqueue.errors import UserError

ALICE = {"name": "alice", "rate": "5mbit", "qdisc": "pfifo_fast", "tso": False}


def resolved(hosts: list[dict[str, Any]], **changes: Any) -> dict[str, Any]:
    """Return a scenario in which alice and the router upload, and alice and carol ping."""
    asked = {
        "duration": "8s",
        "warmup": "3s",
        "bottleneck": {"rate": "40mbit", "qdisc": "pfifo", "up": {"rate": "10mbit", "qdisc": "pfifo limit 1000"}},
        "path": {"rtt": "40ms"},
        "traffic": [
            {"kind": "bulk", "direction": "up", "host": "alice"},
            {"kind": "bulk", "direction": "up", "host": "router", "server": "cloud"},
            {"kind": "ping", "direction": "up", "host": "alice"},
            {"kind": "ping", "direction": "up", "host": "carol"},
        ],
    }
    return scenario.resolve(asked | {"host": hosts} | changes)


def planned(*hosts: dict[str, Any]) -> Plan:
    return planning.plan(resolved(list(hosts)))


def test_a_table_is_for_the_hosts_that_it_names_or_for_those_that_no_other_names() -> None:
    every, server = {"tso": False}, {"role": "server", "name": "cloud", "tso": False}
    plan = planned(ALICE, every, server)
    assert [(stack.side, stack.hosts) for stack in plan.stacks] == [
        ("client", [1]),
        ("client", [2, 4]),
        ("server", [2]),
    ]
    alice, *others = plan.stacks
    assert (alice.name, alice.direction) == ("host alice", "up")
    assert alice.link is not None
    assert (alice.link.rate_bps, alice.link.tc[0][-1]) == (5_000_000, "pfifo_fast")
    assert [stack.link for stack in others] == [None, None], "the first hop is their queue"
    assert Plan.from_json(plan.to_json()) == plan


def test_packets_of_a_card_are_captured_where_they_come_by_it() -> None:
    """Captures at the router's and the host's interface lack them, and a flow would have sent nothing."""
    plan = planned({"name": "router", "tso": False}, ALICE)
    router, alice = cards.cards(plan)
    assert (router.beside.name, alice.beside.name) == ("router", "access1")
    assert cards.joined(plan) == {
        "client-wan.pcap": ["host0.pcap", "host1.pcap"],
        "r-cli.pcap": ["host0.pcap"],
        "access1-cli.pcap": ["host1-in.pcap"],
    }
    devices = [device for _, device in cards.captured(plan)]
    assert devices == ["server-cli", "r-wan", "r-cli", "client-wan", "host0", "host1", "host1-out"]
    assert alice.captures() == ("host1-out.pcap", "host1.pcap"), "what leaves the queue goes towards the server"


def test_a_joined_capture_is_in_the_order_of_time(tmp_path: Path) -> None:
    def packet(at_s: int, text: bytes) -> bytes:
        return struct.pack("<IIII", at_s, 0, len(text), len(text)) + text

    head = b"h" * 24
    (tmp_path / "a.pcap").write_bytes(head + packet(1, b"one") + packet(3, b"three"))
    (tmp_path / "b.pcap").write_bytes(head + packet(2, b"two") + packet(4, b""))
    whole = sightings._whole(tmp_path, "a.pcap", ["b.pcap"])
    assert whole.read_bytes() == head + packet(1, b"one") + packet(2, b"two") + packet(3, b"three") + packet(4, b"")
    assert sightings._whole(tmp_path, "a.pcap", []) == tmp_path / "a.pcap"


@pytest.mark.parametrize(
    ("host", "complaint"),
    [
        (ALICE | {"tso": True}, "host[0].tso: found true; accepted by the kernel engine: false, as its interfaces"),
        (ALICE | {"small_queues": False}, "host[0].small_queues: found false; accepted by the kernel engine: true,"),
        (ALICE | {"pacing_shift": 7}, "host[0].pacing_shift: found 7; accepted by the kernel engine: 10,"),
        (ALICE | {"ring": 64}, "host[0].ring: found 64; accepted by the kernel engine: none,"),
        (ALICE | {"rx_usecs": 50}, "host[0].rx_usecs: found 50; accepted by the kernel engine: 0, as its cards"),
        (ALICE | {"reads_after_poll": True}, "host[0].reads_after_poll: found true; accepted by the kernel engine: f"),
        (ALICE | {"gro": True}, "host[0].gro: found true; accepted by the kernel engine: false, as it switches"),
        (ALICE | {"ring": 64, "bql": "dynamic"}, "host[0].ring: found 64; accepted by the kernel engine: none,"),
    ],
)
def test_what_linux_cannot_do_here_is_refused_by_key(host: dict[str, Any], complaint: str) -> None:
    with pytest.raises(UserError) as refused:
        planned(host)
    assert str(refused.value).startswith(complaint)


def test_hosts_are_limited_since_each_has_buffers() -> None:
    many = [{"kind": "ping", "host": f"h{number}"} for number in range(17)]
    hosts = [{"name": f"h{number}", "tso": False} for number in range(17)]
    with pytest.raises(UserError, match="host: found 17 hosts; accepted by the kernel engine: at most 16"):
        planning.plan(resolved(hosts, traffic=many))


def ping_ms(record: Any, name: str) -> float:
    (found,) = [app["rtt_ms"]["mean"] for app in record["apps"] if app["name"] == name]
    return float(found)


@pytest.mark.long
@pytest.mark.kernel
@pytest.mark.needs("qemu", "image")
@pytest.mark.parametrize("asked", [resolved([ALICE, {"name": "router", "tso": False}])])
def test_small_queues_hold_as_much_on_linux(asked: dict[str, Any]) -> None:
    """One host uploads through its own interface, one into the bottleneck's queue. Without small queues: seconds."""
    sim, kernel = (json.loads(engines.run_many(name, [asked])[0]) for name in ("sim", "kernel"))
    for name in ("ping/0", "ping/1"):
        assert ping_ms(kernel, name) == pytest.approx(ping_ms(sim, name), rel=0.03), name
    for ours, theirs in zip(sim["flows"], kernel["flows"], strict=True):
        assert theirs["rtt_ms"]["mean"] == pytest.approx(ours["rtt_ms"]["mean"], rel=0.03), ours["name"]
    (own,) = kernel["hops"]
    assert (own["name"], own["packets"]["dropped"]) == ("host alice", 0)
    assert kernel["kernel"]["hops"]["host alice"]["qdisc_stats"][-1]["kind"] == "pfifo_fast"
