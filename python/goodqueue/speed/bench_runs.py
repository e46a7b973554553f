"""The speed of runs as users have them, in CPU seconds, with the start-up apart."""

import json
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from goodqueue import endpoints, examples, extras
from goodqueue.errors import UserError
from goodqueue.record import Record, Scenario
from goodqueue.record.dotted import walk
from goodqueue.speed.bench import QUICK, REPEATS, apart
from goodqueue.speed.bench_threads import PROVIDER
from goodqueue.speed.bench_threads import scenario as threads_scenario
from goodqueue.traffic import BULK, kinds

VERBS = {
    "compare": ("compare", "codel", "fq_codel", "--rate", "10mbit"),
    "advise": ("advise", "--down", "50mbit", "--up", "10mbit", "--rtt", "30ms", "--link", "docsis"),
}
"""Commands of the README, by their names here. They run on all cores."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """The cost of a run: the median of fresh processes."""

    run: str
    simulated_s: float
    """0 for a verb, which has many runs."""
    packets: int
    """The number of packets that the bottleneck down forwarded; 0 for a verb."""
    start_up_s: float
    """The CPU seconds of the interpreter, and of what builds the run."""
    cpu_s: float
    """The CPU seconds after that."""


def scenarios() -> dict[str, tuple[float, Scenario]]:
    """Return each run with its usual length in seconds, by its name."""
    bulk: dict[str, Any] = {"kind": BULK, "start_spread": "100ms", "cc": "cubic"}
    two = [bulk | {"count": 5}, bulk | {"count": 5, "name": "b"}]

    def at_100_mbps(
        traffic: list[dict[str, Any]], qdisc: str = "fq_codel", rtt: str = "50ms"
    ) -> tuple[float, Scenario]:
        link = {"rate": "100mbit", "qdisc": qdisc}
        return 20, {"warmup": "0s", "seed": 1, "bottleneck": link, "path": {"rtt": rtt}, "traffic": traffic}

    def example(name: str) -> tuple[float, Scenario]:
        return 20, tomllib.loads(examples.read(name)) | {"warmup": "0s"}

    ten = [bulk | {"count": 10}]
    return {
        "ten flows and a ping": at_100_mbps([*ten, {"kind": "ping"}]),
        "two base RTTs": at_100_mbps([two[0], two[1] | {"rtt": "80ms"}]),
        "both ways": at_100_mbps([two[0], two[1] | {"direction": "up"}]),
        "BBR": at_100_mbps([ten[0] | {"cc": "bbr"}]),
        "sfq": at_100_mbps(ten, "sfq"),
        "cake": at_100_mbps(ten, "cake"),
        "pie": at_100_mbps(ten, "pie"),
        "rrul": at_100_mbps([{"kind": "rrul"}]),
        "household": example("household"),
        "a hidden buffer": example("hidden-buffer"),
        "Wi-Fi": example("wifi"),
        "web users": at_100_mbps([{"kind": "web_users", "users": 11_500, "rtt_max": "150ms"}], "pfifo", "10ms"),
        "a street": example("street"),
        "300 subscribers": (4, threads_scenario(PROVIDER, quick=False)),
    }


def with_stacks() -> dict[str, tuple[float, Scenario]]:
    """Return the runs of `scenarios`. If the package with QUIC stacks is installed, one more run has such a stack."""
    quic = next(kind for kind in kinds().values() if kind.package)
    beside = [{"kind": quic.name, "stack": "quinn"}, {"kind": BULK, "cc": "cubic"}]
    link = {"rate": "50mbit", "qdisc": "codel"}
    run = {"warmup": "0s", "seed": 1, "bottleneck": link, "path": {"rtt": "40ms"}, "traffic": beside}
    is_there = extras.has(quic.package.replace("-", "_"))
    return scenarios() | ({"QUIC beside CUBIC": (20, run)} if is_there else {})


def names() -> list[str]:
    """Return the names of the runs, and of the verbs."""
    return [*with_stacks(), *VERBS]


def lasting(scenario: Scenario, seconds: float) -> Scenario:
    """Return ``scenario`` with another length."""
    return scenario | {"duration": f"{seconds:g}s"}


def measure(name: str, quick: bool) -> dict[str, float]:
    """Do the run called ``name`` in this process, and return its length, packets and CPU seconds."""
    from goodqueue._goodqueue import Simulation

    seconds, scenario = with_stacks()[name]
    make = endpoints.module(scenario).Simulation if endpoints.package(scenario) else Simulation
    simulation = make(json.dumps(lasting(scenario, seconds / (QUICK if quick else 1))))
    start_up_s = time.process_time()
    simulation.advance(simulation.duration_s)
    cpu_s = time.process_time() - start_up_s
    record: Record = json.loads(simulation.record())
    packets = walk(record, "queues.down.packets.forwarded") or 0
    return {"simulated_s": simulation.duration_s, "packets": packets, "start_up_s": start_up_s, "cpu_s": cpu_s}


def measure_verb(name: str, quick: bool) -> dict[str, float]:
    """Do the verb called ``name`` in a process of its own, and return its CPU seconds."""
    start_up_s = _cpu_s(["--version"])
    whole_s = _cpu_s([*VERBS[name], *(["--quick"] if quick else [])])
    return {"simulated_s": 0, "packets": 0, "start_up_s": start_up_s, "cpu_s": whole_s - start_up_s}


def _cpu_s(words: Iterable[str]) -> float:
    """Return the CPU seconds of the command with these ``words``. Raises UserError."""
    import resource  # not on Windows

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "goodqueue", *words]
    process = subprocess.run(command, check=False, capture_output=True, text=True)
    if process.returncode:
        last = (process.stderr.strip().splitlines() or ["no message"])[-1]
        raise UserError(f"bench {' '.join(command[2:])}", last)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run(name: str, quick: bool) -> RunResult:
    """Measure the run or verb called ``name``, and return the result of median CPU time. Raises UserError."""
    if name in VERBS:
        results = [measure_verb(name, quick)]
    else:
        call = f"bench_runs.measure({name!r}, {quick})"
        results = [apart("bench_runs", call, f"run {name}") for _ in range(1 if quick else REPEATS)]
    middle = sorted(results, key=lambda result: result["cpu_s"])[len(results) // 2]
    return RunResult(
        run=name,
        simulated_s=middle["simulated_s"],
        packets=int(middle["packets"]),
        start_up_s=middle["start_up_s"],
        cpu_s=middle["cpu_s"],
    )
