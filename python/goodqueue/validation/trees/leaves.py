"""Lines of the disciplines at the leaves of a tree, drawn at random."""

import random
from collections.abc import Callable, Sequence

Words = Sequence[tuple[float, Sequence[str]]]
"""Parts of a line: how often each is there, and of what one is chosen."""


def rate(r: random.Random, bps: float) -> str:
    """Return a rate near ``bps``, as people write it."""
    kind = r.random()
    if kind < 0.5 and bps >= 1e6:
        return f"{max(1, round(bps / 1e6))}mbit"
    if kind < 0.9:
        return f"{max(8, round(bps / 1e3))}kbit"
    if kind < 0.95:
        return f"{max(1, round(bps / 8e3))}kbps"
    return f"{max(64, int(bps) // 8 * 8)}bit"


def _drawn(r: random.Random, name: str, words: Words) -> str:
    parts = [r.choice(choices) for share, choices in words if r.random() < share]
    return " ".join([name, *parts])


_FIFOS: Words = [(0.7, [f"limit {limit}" for limit in (1, 2, 5, 10, 30, 100)])]
_BYTES: Words = [(0.7, [f"limit {limit}" for limit in (1514, 3000, 20_000, 100_000)])]
_CODEL: Words = [
    (0.4, ["target 1ms interval 10ms", "target 2ms interval 20ms", "target 20ms interval 200ms"]),
    (0.3, ["limit 5", "limit 40"]),
    (0.3, ["ecn", "noecn"]),
    (0.15, ["ce_threshold 1ms"]),
]
_FQ_CODEL: Words = [
    (0.4, ["limit 20", "limit 60", "limit 200"]),
    (0.4, ["target 1ms interval 10ms", "target 500us interval 20ms"]),
    (0.3, ["quantum 300", "quantum 1514", "quantum 6000"]),
    (0.3, ["flows 1", "flows 2", "flows 8", "flows 64"]),
    (0.2, ["noecn"]),
    (0.15, ["ce_threshold 1ms"]),
    (0.15, ["drop_batch 1", "drop_batch 8"]),
]
_SFQ: Words = [
    (0.5, ["limit 10", "limit 40", "limit 127"]),
    (0.3, ["quantum 1514", "quantum 3000"]),
    (0.3, ["divisor 16", "divisor 256"]),
    (0.3, ["headdrop"]),
    (0.3, ["depth 5", "depth 20"]),
    (0.2, ["perturb 1", "perturb 5"]),
    (0.2, ["redflowlimit 60000 min 4000 max 12000 avpkt 1000 burst 6 probability 0.1"]),
]
_RED: Words = [
    (
        1,
        [
            "limit 60000 min 5000 max 15000 avpkt 1000 burst 8 probability 0.1",
            "limit 100000 min 15000 max 45000 avpkt 1000 burst 25 probability 0.05 ecn",
            "limit 40000 min 3000 max 9000 avpkt 600 burst 10 probability 0.3 ecn harddrop",
            "limit 60000 min 5000 max 15000 avpkt 1000 burst 8 probability 0.2 ecn nodrop",
            "limit 200000 min 10000 max 40000 avpkt 1000 burst 20 probability 0.02",
        ],
    ),
    (1, ["bandwidth 1mbit", "bandwidth 10mbit"]),
]
_CHOKE: Words = [
    (1, ["limit 100 min 10 max 40 avpkt 1000 burst 20", "limit 60 min 5 max 15 avpkt 1000 burst 8"]),
    (1, ["bandwidth 1mbit", "bandwidth 10mbit"]),
    (0.5, ["probability 0.1"]),
    (0.3, ["ecn"]),
]
_PIE: Words = [
    (0.4, ["target 5ms tupdate 8ms", "target 20ms tupdate 30ms", "tupdate 16ms"]),
    (0.3, ["limit 20", "limit 100"]),
    (0.3, ["ecn"]),
    (0.2, ["bytemode"]),
    (0.3, ["dq_rate_estimator"]),
    (0.2, ["alpha 1 beta 10"]),
]
_FQ_PIE: Words = [
    (0.4, ["limit 50", "limit 200"]),
    (0.3, ["flows 1", "flows 16"]),
    (0.4, ["target 5ms tupdate 8ms", "tupdate 16ms"]),
    (0.3, ["ecn"]),
    (0.2, ["quantum 300", "quantum 3000"]),
]
_FQ: Words = [
    (0.3, ["limit 20", "limit 100"]),
    (0.3, ["flow_limit 5", "flow_limit 20"]),
    (0.3, ["quantum 1514", "quantum 6000"]),
    (0.2, ["initial_quantum 3000"]),
    (0.3, ["maxrate 1mbit", "maxrate 10mbit"]),
    (0.2, ["ce_threshold 1ms"]),
    (0.2, ["orphan_mask 7"]),
]
_CAKE: Words = [
    (0.6, ["besteffort", "diffserv3", "diffserv4", "diffserv8", "precedence"]),
    (
        0.6,
        ["flowblind", "srchost", "dsthost", "hosts", "flows", "dual-srchost", "dual-dsthost", "triple-isolate"],
    ),
    (0.3, ["nat", "nonat"]),
    (0.3, ["wash", "nowash"]),
    (0.3, ["ack-filter", "ack-filter-aggressive", "no-ack-filter"]),
    (0.3, ["rtt 20ms", "metro", "internet", "satellite"]),
    (0.3, ["overhead 44 atm mpu 96", "overhead 22 ptm", "overhead 38 mpu 84", "raw", "conservative"]),
    (0.2, ["fwmark 0xf", "fwmark 0xff00"]),
    (0.2, ["ingress"]),
]
_NETEM: Words = [
    (
        1,
        [
            "delay 5ms",
            "delay 20ms 5ms",
            "delay 10ms 3ms 25%",
            "delay 5ms reorder 10% 50%",
            "delay 10ms reorder 25%",
            "",
        ],
    ),
    (0.4, ["loss 1%", "loss 5% 25%", "loss gemodel 2% 30%", "loss state 2% 40%"]),
    (0.3, ["limit 20", "limit 100"]),
]
_DUALPI2: Words = [
    (0.3, ["limit 50", "limit 200"]),
    (0.3, ["target 5ms tupdate 8ms"]),
    (0.3, ["drop_on_overload", "overflow"]),
    (0.2, ["step_thresh 2ms", "classic_protection 20"]),
    (0.2, ["drop_enqueue"]),
]


def _tbf(r: random.Random, bps: float) -> str:
    bps = max(bps, 100_000)  # `tc` counts the burst's time in 32 bits
    burst = r.choice(["1600", "2000", "5000", "20000"])
    words: Words = [(1, ["latency 50ms", "limit 30000", "limit 3000"])]
    return _drawn(r, f"tbf rate {rate(r, bps * r.uniform(0.05, 0.6))} burst {burst}", words)


def _cake(r: random.Random, bps: float) -> str:
    shaped = [(0.5, [f"bandwidth {rate(r, bps * r.uniform(0.2, 0.8))}"])]
    return _drawn(r, "cake", [*shaped, *_CAKE])


def _of(name: str, words: Words) -> Callable[[random.Random, float], str]:
    return lambda r, _: _drawn(r, name, words)


LEAVES: dict[str, tuple[float, Callable[[random.Random, float], str]]] = {
    "pfifo": (2, _of("pfifo", _FIFOS)),
    "bfifo": (1, _of("bfifo", _BYTES)),
    "pfifo_head_drop": (0.5, _of("pfifo_head_drop", _FIFOS)),
    "pfifo_fast": (0.5, _of("pfifo_fast", [])),
    "codel": (2, _of("codel", _CODEL)),
    "fq_codel": (4, _of("fq_codel", _FQ_CODEL)),
    "sfq": (2, _of("sfq", _SFQ)),
    "red": (2, _of("red", _RED)),
    "choke": (1, _of("choke", _CHOKE)),
    "pie": (1.5, _of("pie", _PIE)),
    "fq_pie": (1, _of("fq_pie", _FQ_PIE)),
    "fq": (1, _of("fq", _FQ)),
    "cake": (2, _cake),
    "netem": (1, _of("netem", _NETEM)),
    "tbf": (1.5, _tbf),
    "dualpi2": (1, _of("dualpi2", _DUALPI2)),
}
"""How often each discipline is drawn, and how its line is."""

SINCE_7 = ("dualpi2", "fq")
"""Disciplines that Linux 6.1 lacks, or that have the law of later releases here."""


def leaf(r: random.Random, release: str, bps: float, without: Sequence[str] = ()) -> str:
    """Return the line of a leaf whose class gets about ``bps``."""
    known = {
        name: share
        for name, (share, _) in LEAVES.items()
        if name not in without and not (name in SINCE_7 and release.startswith("6."))
    }
    name = r.choices(list(known), list(known.values()))[0]
    return LEAVES[name][1](r, bps)
