"""Times the simulator of this tree beside that of other versions, in turns.

The runs are those of `goodqueue bench` and `goodqueue bench runs`, each as long as the first version needs some tenths
of a second for. A cell has the CPU time per packet that the bottleneck forwards down, in nanoseconds: the median of the
rounds. Behind it stands how many times as fast this tree is: the median of the ratios of the rounds. A version may be a
tree with a `crates/netsim/examples/packets.rs`, or a program that was built from one.

    python3 benches/pairs.py OTHER [OTHER ...] [--rounds N] [--seconds S] [--runs TEXT]
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from digests import program
from instructions import ROOT
from instructions import scenario as standard

from goodqueue.speed import bench_runs
from goodqueue.speed.bench import CASES

#: A run is not made longer than this many times its usual length.
LONGEST = 20.0


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("others", type=Path, nargs="+", metavar="OTHER")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="runs of each version [5]")
    parser.add_argument("--seconds", type=float, default=0.25, metavar="S", help="CPU seconds of a run, or more [0.25]")
    parser.add_argument("--runs", default="", metavar="TEXT", help="only the runs whose names have this in them")
    asked = parser.parse_args()
    programs = [program(tree) for tree in (*asked.others, ROOT)]
    heads = [tree.resolve().name for tree in asked.others]
    print("| ns per packet | " + " | ".join([*heads, "this tree"]) + " |\n|---|" + "---|" * len(programs))
    for name, run, length in runs():
        if asked.runs in name:
            scenario = long_enough(programs[0], run, length, asked.seconds)
            print(f"| {name} | " + " | ".join(row(programs, scenario, asked.rounds)) + " |", flush=True)
    return 0


def runs() -> Iterator[tuple[str, dict[str, Any], float]]:
    """Yield each run with its name and its usual length in seconds."""
    for case in CASES:
        run = json.loads(standard(case, 10))
        yield f"({case.name})", run, float(str(run["duration"]).removesuffix("s"))
    for name, (length, run) in bench_runs.scenarios().items():
        yield name, run, length


def long_enough(first: Path, run: dict[str, Any], length: float, seconds: float) -> str:
    """Return ``run`` as JSON, as long as the program ``first`` needs so many CPU ``seconds`` for."""
    cpu_s, _ = once(first, json.dumps(bench_runs.lasting(run, length)))
    times = min(max(seconds / max(cpu_s, 0.01), 1.0), LONGEST)
    return json.dumps(bench_runs.lasting(run, length * times))


def row(programs: list[Path], scenario: str, rounds: int) -> Iterator[str]:
    """Yield the cells of a run. The last program is this tree's."""
    taken = [[nanoseconds(program, scenario) for program in programs] for _ in range(rounds)]
    for at in range(len(programs)):
        median = statistics.median(times[at] for times in taken)
        faster = statistics.median(times[at] / times[-1] for times in taken)
        yield f"{median:.0f}" if at == len(programs) - 1 else f"{median:.0f}, {faster:.2f} ×"


def nanoseconds(program: Path, scenario: str) -> float:
    """Return the CPU time per packet of a run."""
    cpu_s, packets = once(program, scenario)
    return 1e9 * cpu_s / packets


def once(program: Path, scenario: str) -> tuple[float, int]:
    """Run ``scenario``, and return the user's CPU seconds and the number of packets."""
    process = subprocess.Popen([program, scenario], stdout=subprocess.PIPE, text=True)
    assert process.stdout
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"pairs: {program} ended with status {process.returncode}")
    return usage.ru_utime, int(output.split()[0])


if __name__ == "__main__":
    sys.exit(main())
