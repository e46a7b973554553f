"""Filters at `cake` share the link as on Linux."""

import json
import threading

import pytest

from goodqueue import engines, scenario

OTHERS = "prio 9 matchall flowid"


def of(port: int, classid: str) -> str:
    """Return the words of a filter of one server's port."""
    return f"prio 1 u32 match ip sport {port} 0xffff flowid {classid}"


@pytest.mark.parametrize(
    ("isolation", "filters", "shares"),
    [
        ("flows", [of(80, ":5"), of(81, ":5")], {(0, 1): 9.61, (2,): 9.51}),
        ("dual-dsthost", [of(80, "1:0"), f"{OTHERS} 2:0"], {(0,): 9.41, (1,): 3.26, (2,): 3.23, (3,): 3.24}),
        (
            "dual-dsthost",
            [of(80, "1:1"), of(81, "1:2"), of(82, "2:3"), of(83, "1:4")],
            {(0,): 3.21, (1,): 3.31, (2,): 9.25, (3,): 3.35},
        ),
        ("flows", [of(80, "1:401"), of(81, "401:401"), f"{OTHERS} :400"], {(0,): 6.39, (1,): 6.38, (2, 3): 6.37}),
        ("hosts", [of(80, "1:0"), f"{OTHERS} 2:0"], {(0, 1, 2, 3): 19.14}),
        ("dsthost", [of(80, ":1"), f"{OTHERS} :2"], {(0,): 9.49, (1, 2, 3): 9.64}),
    ],
)
def test_filters_choose_flows_and_hosts(
    isolation: str, filters: list[str], shares: dict[tuple[int, ...], float]
) -> None:
    """Each number is the goodput of the flows of one queue on Linux 6.1.192 in user mode (2026-11-29)."""
    user = {"host": "one"} if isolation == "dsthost" else {}
    count = sum(map(len, shares))
    commands = [f"qdisc add dev e root handle 1: cake besteffort {isolation}"]
    commands += [f"filter add dev e parent 1: protocol ip {words}" for words in filters]
    asked = {
        "duration": "12s",
        "warmup": "2s",
        "path": {"rtt": "20ms"},
        "bottleneck": {"rate": "20mbit", "tc": [f"tc {words}" for words in commands], "up": {"qdisc": "pfifo"}},
        "traffic": [{"kind": "bulk", "port": 80 + flow} | user for flow in range(count)],
    }
    record = json.loads(engines.find("sim")(scenario.resolve(asked), lambda _: None, threading.Event()))
    for flows, of_linux in shares.items():
        goodput = sum(record["flows"][flow]["goodput_mbps"] for flow in flows)
        assert goodput == pytest.approx(of_linux, rel=0.05), flows
