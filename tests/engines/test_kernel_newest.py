"""Disciplines that only Linux 7.3 has, beside the simulator. The first run compiles DualPI2's module."""

import json
from statistics import mean, stdev
from typing import Any

import pytest

from goodqueue import engines, scenario
from goodqueue.record import Record

pytestmark = [pytest.mark.long, pytest.mark.kernel, pytest.mark.needs("qemu", "image-7.3")]

BESIDE = {"cc": "dctcp", "ecn": True}
DUALPI2: list[tuple[str, list[dict[str, Any]]]] = [
    ("dualpi2", [{}, {"ecn": True}]),
    ("dualpi2 any_ect step_thresh 5ms", [{}, BESIDE]),
    ("dualpi2 any_ect step_thresh 5p", [{}, BESIDE]),
    ("dualpi2 any_ect step_thresh 5ms drop_enqueue overflow", [{}, BESIDE]),
    ("dualpi2", [{"ecn": "accecn"}, {"cc": "reno", "ecn": "accecn"}]),
]


def records(
    engine: str, seeds: int, rate: str, qdisc: str, traffic: list[dict[str, Any]], one_way: bool = False
) -> list[Record]:
    """Return the records of seeds 1 to ``seeds``, with the TCP of Linux 7.3."""
    asked = {
        "duration": "12s",
        "warmup": "4s",
        "bottleneck": {"rate": rate, "qdisc": qdisc} | ({"up": {"rate": rate, "qdisc": "pfifo"}} if one_way else {}),
        "path": {"rtt": "20ms"},
        "linux": {"release": "7.3"},
    }
    each = [{"kind": "bulk", "stack": "linux-7.3"} | one for one in traffic]
    made = [scenario.resolve(asked | {"traffic": each, "seed": seed}) for seed in range(1, seeds + 1)]
    return [json.loads(text) for text in engines.run_many(engine, made, 1)]


def measures(record: Record) -> dict[str, float]:
    """Return what a class has: the delay is in its flow's RTT."""
    down = record["queues"]["down"]
    found: dict[str, Any] = {"delay": down["delay_ms"]["mean"], "used": down["utilisation_percent"]}
    found |= {fate: down["packets"][fate] for fate in ("dropped", "marked")}
    for flow in record["flows"]:
        found[f"{flow['name']} rtt"] = flow["rtt_ms"]["mean"]
        found[f"{flow['name']} goodput"] = flow["goodput_mbps"]
    return found


@pytest.mark.parametrize(("line", "traffic"), DUALPI2)
def test_dualpi2_is_linux_s(line: str, traffic: list[dict[str, Any]]) -> None:
    """The mean of three runs lies where three runs of the simulator would lie, or within 1 %."""
    ours = [measures(record) for record in records("sim", 30, "10mbit", line, traffic)]
    theirs = [measures(record) for record in records("kernel-7.3", 3, "10mbit", line, traffic)]
    for name in ours[0]:
        values = [one[name] for one in ours]
        chance = 3 * stdev(values) / 3**0.5
        found = mean(one[name] for one in theirs)
        assert found == pytest.approx(mean(values), rel=0.01, abs=chance), name


def test_queues_of_cake_mq_share_as_linux_s() -> None:
    """Each flow is alone in its queue, and has half of the rate. Which queue it gets is chance, on both engines."""
    line, traffic = "cake_mq txqueues 4 bandwidth 8mbit", [{}, {"name": "other"}]
    ours, theirs = (records(engine, 1, "100mbit", line, traffic, one_way=True)[0] for engine in ("sim", "kernel-7.3"))
    for record in (ours, theirs):
        assert record["queues"]["down"]["throughput_mbps"] == pytest.approx(8.0, rel=0.01)
        assert [flow["goodput_mbps"] for flow in record["flows"]] == pytest.approx([3.83, 3.83], rel=0.02)
    stats = theirs["kernel"]["qdisc_stats"]["down"]  # type: ignore[typeddict-item]
    assert [one["kind"] for one in stats] == ["cake_mq", *["cake"] * 4]
    assert sum(one["packets"] for one in stats[1:]) == pytest.approx(stats[0]["packets"], abs=4)
