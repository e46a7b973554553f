"""The stack of a host, as Python shows it and refuses it."""

from typing import Any

import pytest

from goodqueue import capture, running, scenario
from goodqueue.errors import UserError
from goodqueue.show import describe
from goodqueue.store import checking

STACK: dict[str, Any] = {
    "duration": "4s",
    "bottleneck": {"rate": "10mbit", "qdisc": "pfifo", "up": {"rate": "5mbit"}},
    "path": {"rtt": "20ms"},
    "host": [{"name": "alice", "rate": "1gbit", "qdisc": "fq", "ring": 16, "bql": "dynamic"}, {}],
    "traffic": [{"kind": "bulk", "direction": "up", "host": "alice"}, {"kind": "bulk"}],
}


def test_an_interface_is_a_hop_of_the_record_and_not_of_the_scenario() -> None:
    record = running.one(scenario.resolve(STACK))
    (hop,) = record["hops"]
    assert (hop["name"], hop["direction"]) == ("host alice", "up")
    assert "hop" not in record["scenario"]
    assert [host["small_queues"] for host in record["scenario"]["host"]] == [True, True]
    assert scenario.resolve(record["scenario"]) == record["scenario"]
    checking.record(record, "here")


def test_an_interface_is_said_in_a_line() -> None:
    words = describe.whole(scenario.resolve(STACK))
    assert words.startswith("10mbit down, 5mbit up, host alice (1gbit below a ring of 16 fq), base RTT 20ms; "), words


def test_a_capture_knows_one_queue_per_direction() -> None:
    with pytest.raises(UserError, match=r"^host: found one with an interface; accepted at the point sender: none"):
        capture.check(scenario.resolve(STACK), ["sender"])
    capture.check(scenario.resolve(STACK | {"host": [{}]}), ["sender"])
