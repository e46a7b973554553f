"""Speed: bottleneck packets per CPU second in four standard cases, and nanoseconds per qdisc operation.

Each case runs in its own process, with one thread. Only the simulation itself is timed, in CPU time. The printed figure
is the median of several processes. Times depend on the machine: compare them only on the same machine. Beside it stands
the roofline: the time of a loop that only moves the same packets and touches the same connections.
"""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from goodqueue.errors import UserError
from goodqueue.record import Record, Scenario
from goodqueue.record.dotted import walk
from goodqueue.speed import peers
from goodqueue.traffic import BULK

QUICK = 10
"""``--quick`` divides the simulated time and the operations by this."""


@dataclass(frozen=True, slots=True)
class Case:
    """A standard case: CUBIC flows, or web users, behind one bottleneck."""

    name: str
    flows: int
    rate: str
    rtt: str
    qdisc: str
    duration_s: float
    floor_mpps: float
    """The project's requirement, in million packets per CPU second."""
    users: int = 0
    """The number of web users instead of bulk flows. Each connection has its own base RTT, up to 150 ms."""
    connections_per_s: int = 0
    """The rate of PackMime's web connections, instead of bulk flows."""

    def scenario(self, quick: bool) -> Scenario:
        """Return the scenario, a tenth as long if ``quick``."""
        return {
            "duration": f"{self.duration_s / (QUICK if quick else 1):g}s",
            "warmup": "0s",
            "seed": 1,
            "bottleneck": {"rate": self.rate, "qdisc": self.qdisc},
            "path": {"rtt": self.rtt},
            "traffic": [self._traffic()],
        }

    def _traffic(self) -> dict[str, Any]:
        if self.users:
            return {"kind": "web_users", "users": self.users, "rtt_max": "150ms"}
        if self.connections_per_s:
            return {"kind": "packmime", "rate": float(self.connections_per_s)}
        # Spread the starts: flows that start together stay in step in fq_codel, each in its own queue.
        return {"kind": BULK, "count": self.flows, "cc": "cubic", "start_spread": "100ms"}


CASES = (
    Case("i", 1, "100mbit", "50ms", "codel", 100, 3),
    Case("ii", 10, "100mbit", "50ms", "fq_codel", 100, 3),
    Case("iii", 100, "1gbit", "20ms", "fq_codel", 20, 2),
    Case("iv", 1000, "1gbit", "20ms", "fq_codel", 10, 2),
)

WEB = Case("v", 1, "100mbit", "10ms", "pfifo", 60, 0, users=11_500)
"""The fifth case: users who load the link to 90 % of its rate with short connections."""

PACKMIME = Case("packmime", 1, "100mbit", "80ms", "pfifo limit 1000", 60, 0, connections_per_s=1100)
"""A similar case that other simulators can run: as many connections, but at a rate, and with one RTT for all."""

USER_BPS = 8700
"""The link's rate per user of `--users`. The users load it as the users of `WEB` do."""

CROWDED = ("fq_codel", "pfifo")
"""The disciplines with which many flows are measured, at 1 Gbit/s for 10 s."""

REPEATS = 3
"""The number of fresh processes per case, and of rounds of the peers."""

FLOWS = (1, 64, 1024, 10_000)
BACKLOG = 100
"""The packets of these flows in the queue: fewer than the smallest default limit of the registry."""

BACKLOGS = (1, 100, 1000)
"""The packets of a single flow in the queue."""

OVERFLOW = (10_000, 20_000)
"""The flows, and the packets that would be in the queue if its limit were not lower."""

LOSS = 0.01
"""If a larger share of packets is dropped, the queue does not hold the backlog."""

TARGET_MS = 5
"""The queue of the roofline: CoDel's target."""

MOVED = 4_000_000
"""The number of packets that the roofline moves."""

PAIRS = 200_000
"""The number of enqueues and dequeues per timing."""


@dataclass(frozen=True, slots=True)
class CaseResult:
    """The median of a case's processes."""

    case: str
    description: str
    packets: int
    """The number of packets that the bottleneck down forwarded."""
    cpu_s: float
    packets_per_cpu_s: float
    floor_packets_per_cpu_s: float
    memory_ns: float
    """The nanoseconds per packet of a loop that only moves the packets, and touches the connections' memory."""
    max_rss_mb: float
    """The greatest resident memory of the process, with the interpreter, in 10^6 bytes."""


@dataclass(frozen=True, slots=True)
class CrowdResult:
    """The cost of many flows: the median of the case's processes."""

    flows: int
    qdisc: str
    packets: int
    """The number of packets that the bottleneck down forwarded."""
    sent_packets: int
    """The number that reached it. The more flows share a link, the more of their packets it drops."""
    cpu_s: float
    packets_per_cpu_s: float
    ns_per_sent_packet: float
    bytes_per_flow: float
    """The greatest growth of the process's memory, from before the set-up to the end of the run."""


@dataclass(frozen=True, slots=True)
class UsersResult:
    """The cost of web users: the median of the case's processes."""

    users: int
    rate: str
    simulated_s: float
    packets: int
    """The number of packets that the bottleneck down forwarded."""
    connections: int
    cpu_s: float
    connections_per_cpu_s: float
    packets_per_cpu_s: float
    utilisation_percent: float
    bytes_per_user: float
    """The greatest growth of the process's memory, from before the set-up to the end of the run."""
    max_rss_mb: float
    """The greatest resident memory of the process, with the interpreter, in 10^6 bytes."""


@dataclass(frozen=True, slots=True)
class QdiscResult:
    """The median cost of one enqueue and one dequeue. None if the discipline refuses to run with its defaults."""

    qdisc: str
    pair_ns: dict[str, float | None]
    """Nanoseconds by the number of flows, with `BACKLOG` packets in the queue."""
    backlog_ns: dict[str, float | None]
    """Nanoseconds by the number of packets of one flow in the queue. None if the queue does not hold as many."""
    overflow_ns: float | None
    """Nanoseconds per offered packet while `OVERFLOW` overflows the queue. None if it does not."""


def measure(case: Case, quick: bool = False) -> dict[str, float]:
    """Simulate ``case`` in this process and return packets, CPU seconds and maximum resident bytes.

    The start-up is what this process took until then, the interpreter included.
    """
    from goodqueue._goodqueue import Simulation

    empty_bytes = peak_bytes()
    simulation = Simulation(json.dumps(case.scenario(quick)))
    before = time.process_time()
    simulation.advance(simulation.duration_s)
    cpu_s = time.process_time() - before
    simulation_bytes = peak_bytes() - empty_bytes
    record: Record = json.loads(simulation.record())
    return {
        "packets": walk(record, "queues.down.packets.forwarded") or 0.0,
        "sent_packets": walk(record, "queues.down.packets.offered") or 0.0,
        "utilisation_percent": walk(record, "queues.down.utilisation_percent") or 0.0,
        "connections": (walk(record, "apps.0.connections") or 0.0) if record["apps"] else 0.0,
        "responses": (walk(record, "apps.0.completed") or 0.0) if record["apps"] else 0.0,
        "cpu_s": cpu_s,
        "start_up_s": before,
        "simulation_bytes": simulation_bytes,
        "max_rss_bytes": peak_bytes(),
    }


def peak_bytes() -> int:
    """Return the greatest resident memory of this process in bytes.

    On Linux, ``ru_maxrss`` starts at the parent's memory when it started this process. ``VmHWM`` is the process's own.
    """
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024
    except (OSError, IndexError, ValueError):
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def measure_apart(case: Case, quick: bool) -> dict[str, float]:
    """Return the result of `measure` in a fresh process. Raises UserError."""
    return apart("bench", f"bench.measure(bench.{case!r}, {quick})", f"case {case.name}")


def apart(module: str, call: str, name: str) -> dict[str, float]:
    """Return the result of ``call`` to a function of ``module`` in a fresh process. Error messages name it ``name``.

    Raises UserError.
    """
    code = f"import json; from goodqueue.speed import {module}; print(json.dumps({call}))"
    process = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    if process.returncode:
        last = (process.stderr.strip().splitlines() or ["no message"])[-1]
        raise UserError(f"bench {name}", last)
    figures: dict[str, float] = json.loads(process.stdout)
    return figures


def middle_run(case: Case, quick: bool, repeats: int) -> dict[str, float]:
    """Measure ``case`` in ``repeats`` fresh processes and return the run of median speed. Raises UserError."""
    runs = [measure_apart(case, quick) for _ in range(repeats)]
    for run in runs:
        run["packets_per_cpu_s"] = run["packets"] / max(run["cpu_s"], 1e-9)
    return sorted(runs, key=lambda run: run["packets_per_cpu_s"])[repeats // 2]


def run_crowd(flows: int, qdisc: str, quick: bool, repeats: int = REPEATS) -> CrowdResult:
    """Measure ``flows`` CUBIC flows in ``qdisc``. Raises UserError."""
    middle = middle_run(Case("flows", flows, "1gbit", "100ms", qdisc, 10, 0), quick, repeats)
    return CrowdResult(
        flows=flows,
        qdisc=qdisc,
        packets=int(middle["packets"]),
        sent_packets=int(middle["sent_packets"]),
        cpu_s=middle["cpu_s"],
        packets_per_cpu_s=middle["packets_per_cpu_s"],
        ns_per_sent_packet=1e9 * middle["cpu_s"] / max(middle["sent_packets"], 1),
        bytes_per_flow=middle["simulation_bytes"] / flows,
    )


def run_users(case: Case, quick: bool, repeats: int = REPEATS) -> UsersResult:
    """Measure the users of ``case``. Raises UserError."""
    middle = middle_run(case, quick, repeats)
    return UsersResult(
        users=case.users,
        rate=case.rate,
        simulated_s=case.duration_s / (QUICK if quick else 1),
        packets=int(middle["packets"]),
        connections=int(middle["connections"]),
        cpu_s=middle["cpu_s"],
        connections_per_cpu_s=middle["connections"] / max(middle["cpu_s"], 1e-9),
        packets_per_cpu_s=middle["packets_per_cpu_s"],
        utilisation_percent=middle["utilisation_percent"],
        bytes_per_user=middle["simulation_bytes"] / case.users,
        max_rss_mb=middle["max_rss_bytes"] / 1e6,
    )


def of_users(users: int) -> Case:
    """Return the case with ``users`` users, on a link whose rate grows with them."""
    return Case("users", 1, f"{users * USER_BPS}bit", "10ms", "pfifo", 60, 0, users=users)


def run_case(case: Case, quick: bool, repeats: int = REPEATS) -> CaseResult:
    """Measure ``case`` and return the result of median speed. Raises UserError."""
    middle = middle_run(case, quick, repeats)
    duration = case.duration_s / (QUICK if quick else 1)
    per_ms = middle["packets"] / duration / 1e3
    sizes = f"{case.flows}, {int(TARGET_MS * per_ms)}, {int(float(case.rtt.removesuffix('ms')) / 2 * per_ms)}"
    memory = [apart("bench", f"bench.memory_ns({sizes}, {quick})", f"case {case.name}") for _ in range(repeats)]
    plural = "flow" if case.flows == 1 else "flows"
    return CaseResult(
        case=case.name,
        description=f"{case.flows} {plural}, {case.rate}, {case.rtt}, {case.qdisc}, {duration:g} s",
        packets=int(middle["packets"]),
        cpu_s=middle["cpu_s"],
        packets_per_cpu_s=middle["packets_per_cpu_s"],
        floor_packets_per_cpu_s=case.floor_mpps * 1e6,
        memory_ns=statistics.median(sample["ns"] for sample in memory),
        max_rss_mb=middle["max_rss_bytes"] / 1e6,
    )


def memory_ns(flows: int, waiting: int, on_the_way: int, quick: bool) -> dict[str, float]:
    """Return the nanoseconds per packet that only the memory of a run takes. The numbers are of packets."""
    from goodqueue._goodqueue import roofline_ns

    return {"ns": roofline_ns(flows, waiting, on_the_way, MOVED // (QUICK if quick else 1))}


def run_qdisc(line: str, quick: bool, repeats: int = 5) -> QdiscResult:
    """Time the discipline ``line`` under each load, the median of ``repeats``."""
    from goodqueue import _goodqueue

    @cache
    def measured(flows: int, backlog: int) -> tuple[float, float] | None:
        pairs = PAIRS // (QUICK if quick else 1)
        try:
            runs = [_goodqueue.qdisc_pair_ns(line, flows, backlog, pairs) for _ in range(repeats)]
        except ValueError:
            return None
        return statistics.median(ns for ns, _ in runs), statistics.median(share for _, share in runs)

    def ns(flows: int, backlog: int, drops: bool | None = None) -> float | None:
        ns_and_share = measured(flows, backlog)
        return None if ns_and_share is None or drops not in (None, ns_and_share[1] > LOSS) else ns_and_share[0]

    return QdiscResult(
        line,
        pair_ns={str(flows): ns(flows, BACKLOG) for flows in FLOWS},
        backlog_ns={str(backlog): ns(1, backlog, drops=False) for backlog in BACKLOGS},
        overflow_ns=ns(*OVERFLOW, drops=True),
    )


def cases(quick: bool) -> Iterator[CaseResult]:
    """Yield the result of each standard case."""
    return (run_case(case, quick) for case in CASES)


def qdiscs(quick: bool) -> Iterator[QdiscResult]:
    """Yield the cost of each discipline of the registry, with its default parameters."""
    from goodqueue import _goodqueue

    return (run_qdisc(qdisc["name"], quick) for qdisc in json.loads(_goodqueue.qdiscs()))


def as_json(
    case_results: list[CaseResult],
    qdisc_results: list[QdiscResult],
    quick: bool,
    peer_results: list[peers.PeerResult] | None = None,
    web: UsersResult | None = None,
    web_peers: list[peers.PeerResult] | None = None,
) -> dict[str, Any]:
    """Return the results in the format of ``bench --json``. Results of peers are null if they were not asked for."""
    from goodqueue._goodqueue import HAS_PROFILE

    return {
        "schema": 1,
        "quick": quick,
        "has_profile": HAS_PROFILE,
        "cases": [asdict(result) for result in case_results],
        "web": None if web is None else asdict(web),
        "peers": None if peer_results is None else [asdict(result) for result in peer_results],
        "web_peers": None if web_peers is None else [asdict(result) for result in web_peers],
        "qdisc_pair_ns": [asdict(result) for result in qdisc_results],
        "backlog_packets": BACKLOG,
        "overflow": dict(zip(("flows", "packets"), OVERFLOW, strict=True)),
    }
