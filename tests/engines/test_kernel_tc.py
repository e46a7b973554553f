"""Every translated line, given to a real `tc` on a real kernel, shows the parameters that the scenario named."""

import json
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from goodqueue import scenario
from goodqueue.engines.kernel import image, planning, tc, vm

LINES: dict[str, dict[str, Any]] = {
    "pfifo limit 50": {"limit": 50},
    "bfifo limit 60000": {"limit": 60000},
    "pfifo_head_drop limit 77": {"limit": 77},
    "pfifo_fast": {"bands": 3},
    "prio": {"bands": 3, "priomap": [1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1]},
    "prio bands 4 priomap 3 2 1 0": {"bands": 4, "priomap": [3, 2, 1, 0, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1]},
    "fq": {
        "limit": 10000,
        "flow_limit": 100,
        "buckets": 1024,
        "orphan_mask": 1023,
        "quantum": 3028,
        "initial_quantum": 15140,
        "low_rate_threshold": 68750,
        "refill_delay": 40000,
        "timer_slack": 10000,
        "horizon": 10_000_000,
        "horizon_drop": None,
    },
    "fq limit 300 flow_limit 20 maxrate 20mbit buckets 2000 quantum 600 initial_quantum 1500 orphan_mask 255"
    " refill_delay 80ms low_rate_threshold 800kbit timer_slack 20us horizon 2s horizon_cap ce_threshold 3ms nopacing": {
        "limit": 300,
        "flow_limit": 20,
        "maxrate": 2_500_000,
        "buckets": 2048,
        "orphan_mask": 255,
        "quantum": 600,
        "initial_quantum": 1500,
        "low_rate_threshold": 100_000,
        "refill_delay": 80000,
        "timer_slack": 20000,
        "horizon": 2_000_000,
        "horizon_cap": None,
        "ce_threshold": 3000,
        "pacing": False,
    },
    "codel": {"limit": 1000, "target": 5000, "interval": 100000, "ecn": None},
    "codel limit 200 target 2ms interval 40ms ecn ce_threshold 1ms": {
        "limit": 200,
        "target": 2000,
        "interval": 40000,
        "ecn": True,
        "ce_threshold": 1000,
    },
    "fq_codel": {
        "limit": 10240,
        "flows": 1024,
        "quantum": 1514,
        "ecn": True,
        "memory_limit": 32 << 20,
        "drop_batch": 64,
    },
    "fq_codel limit 600 flows 64 quantum 300 noecn memory_limit 4mb drop_batch 8 ce_threshold 800us"
    " ce_threshold_selector 0x1/0x3": {
        "limit": 600,
        "flows": 64,
        "quantum": 300,
        "ecn": None,
        "memory_limit": 4 << 20,
        "drop_batch": 8,
        "ce_threshold": 800,
        "ce_threshold_selector": 1,
        "ce_threshold_mask": 3,
    },
    "fq_nocodel": {"limit": 127, "target": 100_000_000},
    "cake": {
        "bandwidth": "unlimited",
        "diffserv": "diffserv3",
        "flowmode": "triple-isolate",
        "rtt": 100000,
        "raw": True,
    },
    "cake bandwidth 5mbit besteffort flowblind rtt 30ms overhead 18 mpu 64 atm ingress wash memlimit 2mb": {
        "bandwidth": 625000,
        "diffserv": "besteffort",
        "flowmode": "flowblind",
        "rtt": 30000,
        "overhead": 18,
        "mpu": 64,
        "atm": "atm",
        "ingress": True,
        "wash": True,
        "memlimit": 2 << 20,
    },
    "cake diffserv4 dual-dsthost lan ptm overhead -4": {
        "diffserv": "diffserv4",
        "flowmode": "dual-dsthost",
        "rtt": 1000,
        "atm": "ptm",
        "overhead": -4,
    },
    "cake bandwidth 5mbit autorate-ingress nat ack-filter no-split-gso fwmark 0xff docsis": {
        "nat": True,
        "ack-filter": "enabled",
        "split_gso": False,
        "overhead": 18,
        "mpu": 64,
    },
    "fq_pie": {"limit": 10240, "flows": 1024, "target": 15000, "alpha": 2, "beta": 20, "quantum": 1514, "ecn_prob": 10},
    "fq_pie limit 300 flows 32 target 20ms tupdate 32ms alpha 4 beta 15 quantum 300 memory_limit 1mb ecn_prob 5 ecn"
    " bytemode dq_rate_estimator": {
        "limit": 300,
        "flows": 32,
        "target": 20000,
        "tupdate": 32000,
        "alpha": 4,
        "beta": 15,
        "quantum": 300,
        "memory_limit": 1 << 20,
        "ecn_prob": 5,
        "ecn": True,
        "bytemode": True,
        "dq_rate_estimator": True,
    },
    "sfq": {"limit": 127, "quantum": 1514, "depth": 127, "divisor": 1024, "headdrop": None},
    "sfq limit 90 depth 60 divisor 256 quantum 3000 perturb 5 headdrop": {
        "limit": 90,
        "depth": 60,
        "divisor": 256,
        "quantum": 3000,
        "perturb": 5,
        "headdrop": True,
    },
    "sfq redflowlimit 100000 min 8000 max 60000 burst 20 probability 0.05 ecn harddrop": {
        "min": 8000,
        "max": 60000,
        "ewma": 5,
        "probability": 0.05,
        "ecn": True,
        "harddrop": True,
    },
    "pie": {"limit": 1000, "target": 15000, "tupdate": 16000, "alpha": 2, "beta": 20, "ecn": None},  # 15 ms in jiffies
    "pie limit 300 target 20ms tupdate 32ms alpha 4 beta 15 ecn bytemode dq_rate_estimator": {
        "limit": 300,
        "target": 20000,
        "tupdate": 32000,
        "alpha": 4,
        "beta": 15,
        "ecn": True,
        "bytemode": True,
        "dq_rate_estimator": True,
    },
    "red": {"limit": 1514000, "min": 126166, "max": 378500, "ecn": False, "adaptive": False},
    "red limit 400000 min 30000 max 90000 burst 55 probability 0.1 ecn harddrop": {
        "limit": 400000,
        "min": 30000,
        "max": 90000,
        "ecn": True,
        "harddrop": True,
    },
    "red limit 400000 min 30000 ecn nodrop": {"max": 90000, "nodrop": True, "adaptive": False},
    "sfb": {"rehash": 600_000_000, "db": 60_000_000, "limit": 1000, "max": 25, "target": 20, "increment": 0.0005},
    "sfb rehash 10000 db 1000 limit 300 max 30 target 25 increment 0.001 decrement 0.0001 penalty_rate 20"
    " penalty_burst 30": {
        "rehash": 10_000_000,
        "db": 1_000_000,
        "limit": 300,
        "max": 30,
        "target": 25,
        "increment": 0.001,
        "decrement": 0.0001,
        "penalty_rate": 20,
        "penalty_burst": 30,
    },
    "choke": {"limit": 1000, "min": 83, "max": 250, "ecn": False},
    "choke limit 300 min 20 max 60 burst 30 probability 0.05 ecn": {"limit": 300, "min": 20, "max": 60, "ecn": True},
    "netem delay 20ms 5ms 25% distribution normal loss 1% 25% ecn": {
        "limit": 1000,
        "delay": {"delay": 0.02, "jitter": 0.005, "correlation": 0.25},
        "loss-random": {"loss": 0.01, "correlation": 0.25},
        "ecn": True,
    },
    # Without `duplicate`, which Linux refuses beside another netem under the same root.
    "netem limit 500 delay 1ms corrupt 1% reorder 25% 50% gap 5 rate 5mbit 20 48 5": {
        "limit": 500,
        "corrupt": {"corrupt": 0.01, "correlation": 0},
        "reorder": {"reorder": 0.25, "correlation": 0.5},
        "gap": 5,
        "rate": {"rate": 625000, "packetoverhead": 20, "cellsize": 48, "celloverhead": 5},
    },
    "netem loss state 1% 10% 1% 50% 1% slot 10ms 20ms packets 3 bytes 9000": {
        "loss-state": {"p13": 0.01, "p31": 0.1, "p32": 0.01, "p23": 0.5, "p14": 0.01},
        "slot": {"min-delay": 0.01, "max-delay": 0.02, "packets": 3, "bytes": 9000},
    },
    "netem loss gemodel 1% 10% 70% 0.1%": {"loss-gemodel": {"p": 0.01, "r": 0.1, "1-h": 0.7, "1-k": 0.001}},
    "tbf rate 5mbit burst 10kb latency 50ms": {"rate": 625000, "burst": 10240, "lat": 50000},
    "tbf child codel target 7ms": {"rate": 1250000, "burst": 5120},
    "htb rate 5mbit child fq_codel limit 100": {"default": "0x1"},
}
"""Lines, and what `tc` shows of them: times in microseconds, rates in bytes per second. None: `tc` shows nothing."""

EXACT = ("limit", "flows", "quantum", "depth", "divisor", "min", "max", "memory_limit", "memlimit", "overhead", "mpu")
"""The kernel keeps the others in its own units, such as 1.024 us or 2^-16."""


def resolved(line: str) -> dict[str, Any]:
    bottleneck = {"rate": "10mbit", "qdisc": line}
    asked = {"duration": "200ms", "bottleneck": bottleneck, "path": {"rtt": "0s"}, "traffic": [{"kind": "ping"}]}
    return scenario.resolve(asked)


def near(value: Any) -> Any:
    """Return a value that equals ``value`` within the resolution of the kernel's units."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return pytest.approx(value, abs=1.5) if value >= 1 else pytest.approx(value, rel=0.1)


@pytest.mark.kernel
@pytest.mark.needs("qemu", "image")
def test_each_line_comes_back_from_tc_with_the_same_parameters(tmp_path: Path) -> None:
    """All lines are in one machine at once, each in its own class beside the class of the traffic."""
    plan = planning.plan(resolved("pfifo"))
    words = list(plan.down.tc)
    for number, line in enumerate(LINES, 2):
        rate = ["htb", "rate", "1mbit", "quantum", "1514"]
        words.append(["class", "parent", "1:", "classid", f"1:{number:x}", *rate])
        canonical = resolved(line)["bottleneck"]["qdisc"]
        words += tc.translate(canonical, 10_000_000, f"1:{number:x}", f"{number * 0x100:x}:")
    plan = replace(plan, down=replace(plan.down, tc=words))
    system = image.find()
    assert system is not None
    vm.run(system, plan, tmp_path, lambda _: None, threading.Event())
    lab = json.loads((tmp_path / "results" / "lab.json").read_text())
    shown = {qdisc["handle"]: qdisc for qdisc in lab["qdisc_stats"]["down"][0]["qdiscs"]}
    for number, (line, expected) in enumerate(LINES.items(), 2):
        qdisc = shown[f"{number * 0x100:x}:"]
        assert qdisc["kind"] == line.split()[0].replace("fq_nocodel", "fq_codel")
        for name, value in expected.items():
            assert qdisc["options"].get(name) == (value if name in EXACT else near(value)), f"{line}: {name}"
    inner = {qdisc.get("parent"): qdisc for qdisc in shown.values()}
    tbf, htb = (list(LINES).index(line) + 2 for line in list(LINES)[-2:])
    assert inner[f"{tbf * 0x100:x}:1"]["options"]["target"] == pytest.approx(7000, abs=1.5)
    assert inner[f"{htb * 0x100:x}:1"]["options"]["limit"] == 100
