"""Hosts on the kernel engine: Linux's cake shares between the hosts that a scenario names, as the simulator's does."""

import dataclasses
import json
from typing import Any, cast
from unittest import mock

import numpy as np
import pytest

from goodqueue import engines, scenario
from goodqueue.engines.kernel import measure, planning
from goodqueue.engines.kernel.sightings import Journey, Packets, Sightings

CAKE = "cake bandwidth 8mbit besteffort"


def household(**bottleneck: Any) -> dict[str, Any]:
    """Return a scenario in which bob has four times as many flows as alice, in both directions.

    His flows have two RTTs, and some have ECN. Neither may make two hosts of him. The ping, the page and the requests
    are other programs of the laboratory, which must use the same addresses.
    """
    bulk = {"kind": "bulk", "start_spread": "100ms"}
    bob = bulk | {"host": "bob"}
    return scenario.resolve(
        {
            "duration": "6s",
            "warmup": "2s",
            "bottleneck": {"rate": "20mbit"} | bottleneck,
            "path": {"rtt": "20ms"},
            "traffic": [
                bulk | {"host": "alice"},
                bob | {"count": 2},
                bob | {"count": 2, "rtt": "40ms", "ecn": True},
                bulk | {"host": "alice", "direction": "up"},
                bob | {"count": 4, "direction": "up", "server": "backup"},
                {"kind": "ping", "host": "alice"},
                {"kind": "page", "host": "bob", "objects": [{"response": "1kB"}], "server": "backup"},
                {"kind": "rr", "request": "100B", "response": "1kB", "host": "bob"},
            ],
        }
    )


def shares(record: Any) -> dict[str, float]:
    return {
        f"{host['name']} {direction}": mbps
        for host in record["hosts"]
        for direction, mbps in host["goodput_mbps"].items()
    }


@pytest.mark.long
@pytest.mark.kernel
@pytest.mark.needs("qemu", "image")
def test_linux_shares_between_the_same_hosts(capsys: pytest.CaptureFixture[str]) -> None:
    """Alice's flow gets what her host has, as far as CUBIC fills it. If bob were several hosts, she would get less."""
    asked = household(qdisc=f"{CAKE} dual-dsthost", up={"qdisc": f"{CAKE} dual-srchost"})
    records = {name: json.loads(engines.run_many(name, [asked])[0]) for name in ("sim", "kernel")}
    ours, linux = (shares(record) for record in records.values())
    with capsys.disabled():
        print(f"\nsim {ours}\nkernel {linux}", end="")
    assert linux.keys() == ours.keys()
    third = 8 * 1448 / 1514 / 3
    for name in ("alice down", "bob down", "alice up", "bob up", "backup up"):
        assert linux[name] == pytest.approx(ours[name], rel=0.04), name
        assert linux[name] > 1.1 * third, "alice beside two hosts of bob's"
    for record in records.values():
        assert [(host["name"], host["role"], host["flows"]) for host in record["hosts"]] == [
            ("alice", "host", 2), ("bob", "host", 10), ("backup", "server", 5),
        ]  # fmt: skip
        assert record["fairness"]["jain_hosts"] > 0.97
        ping, page, exchange = record["apps"]
        assert min(ping["received"], page["completed"], exchange["completed"]) > 0


def test_a_hosts_goodput_is_that_of_its_flows_together() -> None:
    """Two flows of one host take turns. The sum of their rates would be twice what the host got."""
    one = {"kind": "bulk", "host": "alice"}
    traffic = [one | {"stop": "2s"}, one | {"start": "2s"}, {"kind": "bulk"}]
    asked = scenario.resolve(
        {
            "duration": "3s",
            "warmup": "1s",
            "bottleneck": {"rate": "10mbit", "qdisc": "pfifo"},
            "path": {"rtt": "10ms"},
            "traffic": traffic,
        }
    )
    plan = planning.plan(asked)
    none = np.array([], dtype=np.int64)
    journeys = [Journey(np.array([at]), np.array([125_000]), none, none, none) for at in (1.5e9, 2.5e9, 2.5e9)]
    packets = Packets(*[cast("Any", none)] * len(dataclasses.fields(Packets)))
    seen = Sightings({}, {}, {"down": packets}, journeys)
    measuring = measure._Measuring(mock.Mock(), asked, plan, {}, seen)
    (alice,) = measuring._hosts("host")
    assert (alice["name"], alice["flows"], alice["loss_percent"]) == ("alice", 2, None)
    assert alice["goodput_mbps"] == {"down": 1.0, "up": None}, "2 Mbit in 2 s"
    assert measuring._hosts("server") == []
