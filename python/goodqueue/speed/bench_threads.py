"""The speed of one run by its number of threads, in seconds of the clock."""

import hashlib
import json
import statistics
import time
from dataclasses import dataclass

from goodqueue.record import Scenario
from goodqueue.speed.bench import CASES, QUICK, Case, apart

PROVIDER = "provider"
"""The evening of subscribers, as `scenario` builds it."""

SUBSCRIBERS = 300
"""Subscribers with 50/10 Mbit/s behind a link with 1 Mbit/s for each of them."""

CROWD = Case("5000 flows", 5000, "10gbit", "20ms", "fq_codel", 4, 0)
"""As many flows as a core router sees: long at one thread."""

NAMES = ("i", "ii", "iii", "iv", CROWD.name, PROVIDER)
"""The cases: the standard cases, many flows, and the evening of a provider's subscribers."""

AUTO = "auto"
"""In place of a number of threads: the run chooses, as `goodqueue run` without ``--threads``."""


@dataclass(frozen=True, slots=True)
class ThreadsResult:
    """The cost of one case on some number of threads: medians of rounds in which all numbers take turns."""

    case: str
    threads: int | None
    """None: the run chose."""
    wall_s: float
    cpu_s: float
    times_one: float
    """How many times as fast as the first number of threads: the median of the rounds' ratios."""
    same: bool
    """Whether the record has the bytes of the first number of threads."""


def scenario(name: str, quick: bool) -> Scenario:
    """Return the scenario of the case ``name``, a tenth as long if ``quick``."""
    if name != PROVIDER:
        (case,) = (case for case in (*CASES, CROWD) if case.name == name)
        return case.scenario(quick)
    return {
        "duration": f"{20 / (QUICK if quick else 1):g}s",
        "warmup": "0s",
        "seed": 1,
        "bottleneck": {"rate": f"{SUBSCRIBERS}mbit", "qdisc": "fq_codel"},
        "path": {"rtt": "20ms"},
        "subscriber": [
            {"name": "home", "count": SUBSCRIBERS, "down": "50mbit", "up": "10mbit", "traffic": "household"}
        ],
    }


def measure(name: str, quick: bool, threads: int | None) -> dict[str, float]:
    """Run the case on ``threads`` threads in this process, or on as many as it chooses.

    Return its seconds, and the record's digest as a number.
    """
    from goodqueue._goodqueue import Simulation

    simulation = Simulation(json.dumps(scenario(name, quick)))
    wall, cpu = time.perf_counter(), time.process_time()
    if threads != 1 and (why := simulation.cut(threads)) and threads:
        raise ValueError(why)
    simulation.advance(simulation.duration_s)
    wall_s, cpu_s = time.perf_counter() - wall, time.process_time() - cpu
    digest = hashlib.sha256(simulation.record().encode()).digest()
    return {"wall_s": wall_s, "cpu_s": cpu_s, "digest": float(int.from_bytes(digest[:6]))}


def run_case(name: str, threads: list[int | None], quick: bool, rounds: int = 3) -> list[ThreadsResult]:
    """Measure the case on each number of ``threads``, in turns; with None the run chooses. Raises UserError."""
    call = "bench_threads.measure({!r}, {}, {})"
    runs = [
        [apart("bench_threads", call.format(name, quick, count), f"case {name}") for count in threads]
        for _ in range(1 if quick else rounds)
    ]
    results = []
    for index, count in enumerate(threads):
        own_runs = [turn[index] for turn in runs]
        results.append(
            ThreadsResult(
                name,
                count,
                statistics.median(run["wall_s"] for run in own_runs),
                statistics.median(run["cpu_s"] for run in own_runs),
                statistics.median(turn[0]["wall_s"] / max(turn[index]["wall_s"], 1e-9) for turn in runs),
                all(run["digest"] == runs[0][0]["digest"] for run in own_runs),
            )
        )
    return results
