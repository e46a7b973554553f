"""Counts instructions per packet with valgrind's callgrind and, for the whole simulator, cache misses per packet.

Unlike nanoseconds, these counts do not depend on the machine's other work. Each number is the difference between a run
and a run of twice the length, so that startup and the filling of the queue cancel out. Counts depend on the compiler
and on the other disciplines in the registry. So compare within one table, or the simulator of two commits on one
machine.

The first table is the whole simulator, on the standard cases of `goodqueue bench` at a tenth of their length. It shows
the instructions per packet that the bottleneck forwards down, including the packet's share of ACKs, retransmissions and
timers, and the misses of a first-level data cache of 32 kB. The table can be printed for other trees of the project, if
they have this tree's `crates/netsim/examples/packets.rs`.

The second table is each discipline, for one enqueue and one dequeue. It includes the benchmark's own loop (`pfifo`
shows how little that can be) and the timers: with a backlog of one packet, one millisecond passes per packet. A
discipline whose limit is below the backlog also drops packets, and these count, too (`goodqueue_conformance::bench`).

``users`` prints the first table for the runs of `goodqueue bench runs`, in place of the standard cases.

    python3 benches/instructions.py [cases [TREE ...] | users [TREE ...] | LINE ...]
"""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "python"))  # the cases are data, so only the counted programs are built

from goodqueue.speed import bench_runs  # noqa: E402
from goodqueue.speed.bench import CASES as STANDARD_CASES  # noqa: E402
from goodqueue.speed.bench import Case  # noqa: E402

__all__ = ["STANDARD_CASES", "Case", "build", "scenario"]  # benches/parts.py takes them from here

PAIRS = 20_000
#: The shorter run of a user is this part of its usual length. In less, lists become counts at different times.
SHARE = 2
#: The simulated caches, the same on every machine.
CACHES = ["--cache-sim=yes", "--I1=32768,8,64", "--D1=32768,8,64", "--LL=33554432,16,64"]
#: Flows and standing backlog in packets.
CASES = [(1, 1), (1, 100), (1024, 2000), (10_000, 20_000)]


class Counts(NamedTuple):
    """The counts of one run."""

    instructions: int
    misses: int
    """Read and write misses of the first-level data cache; 0 if no caches were simulated."""
    packets: int


def main(lines: list[str]) -> int:
    """Print both tables, or the one that ``lines`` selects."""
    for tool in ("valgrind", "cargo"):
        if shutil.which(tool) is None:
            print(f"bench-instructions: no {tool} on PATH; Debian has it in {tool}", file=sys.stderr)
            return 1
    word = lines[0] if lines else ""
    if word in ("", "cases", "users"):
        for tree in [Path(word) for word in lines[1:]] or [ROOT]:
            (print_users if word == "users" else print_cases)(tree)
    if word not in ("cases", "users"):
        print_disciplines(lines)
    return 0


def print_cases(tree: Path) -> None:
    """Print the instructions and misses per packet of the whole simulator in ``tree``."""
    program = build("goodqueue-netsim", "packets", tree)
    print(f"instructions and data cache misses a packet, the whole simulator in {tree.resolve().name}")
    for case in STANDARD_CASES:
        short, long = (count([str(program), scenario(case, times)], CACHES) for times in (1, 2))
        instructions, misses = per_packet(short, long)
        flows = f"{case.flows} flow{'s' * (case.flows > 1)}"
        head = f"{case.name:>3}  {flows:10}  {case.rate:>8}  {case.qdisc:8}"
        print(f"{head}  {instructions:8.1f}  {misses:6.2f}", flush=True)
    print()


def print_users(tree: Path) -> None:
    """Print the same of runs as users have them. A run of twice the length costs their start-up only once."""
    program = build("goodqueue-netsim", "packets", tree)
    print(f"instructions and data cache misses a packet, runs of users in {tree.resolve().name}")
    for name, (seconds, run) in bench_runs.scenarios().items():
        lengths = [seconds / SHARE * times for times in (1, 2)]
        commands = [[str(program), json.dumps(bench_runs.lasting(run, length))] for length in lengths]
        instructions, misses = per_packet(*(count(command, CACHES) for command in commands))
        print(f"{name:32}  {instructions:8.1f}  {misses:6.2f}", flush=True)
    print()


def scenario(case: Case, times: int) -> str:
    """Return the scenario of ``case`` as JSON, at ``times`` tenths of its length."""
    quick = case.scenario(quick=True)
    return json.dumps(quick | {"duration": f"{float(str(quick['duration']).removesuffix('s')) * times:g}s"})


def print_disciplines(lines: list[str]) -> None:
    """Print the instructions per packet in each discipline of ``lines``, or of the registry."""
    program = build("goodqueue-conformance", "bench")
    lines = lines or disciplines(program)
    width = max(len(line) for line in lines)
    heads = [f"{flows} flow{'s' * (flows > 1)}, backlog {backlog}" for flows, backlog in CASES]
    print(f"instructions a packet, in and out\n{'qdisc':{width}}  " + "  ".join(f"{head:>24}" for head in heads))
    for line in lines:
        counts = [in_and_out(program, line, flows, backlog) for flows, backlog in CASES]
        print(f"{line:{width}}  " + "  ".join(f"{count:24.1f}" for count in counts), flush=True)


def build(package: str, example: str, tree: Path = ROOT, extra: Sequence[str] = ()) -> Path:
    """Build an example of ``tree``, with ``extra`` words for Cargo, and return its path."""
    command = ["cargo", "build", "--release", "-p", package, "--example", example, *extra]
    command += ["--message-format", "json-render-diagnostics"]
    output = subprocess.run(command, cwd=tree, check=True, stdout=subprocess.PIPE, text=True).stdout
    messages = [json.loads(line) for line in output.splitlines()]
    return next(Path(message["executable"]) for message in messages if message.get("executable"))


def disciplines(program: Path) -> list[str]:
    """Return the registry's names, which its refusal of an unknown name lists."""
    refusal = subprocess.run([program, "?", "1", "0", "1"], capture_output=True, text=True, check=False).stderr
    return re.sub(r'.*accepted: |"\)?$', "", refusal.strip()).split(", ")


def in_and_out(program: Path, line: str, flows: int, backlog: int) -> float:
    """Return the instructions per packet in the discipline of ``line``."""
    pairs = max(PAIRS, 5 * backlog)  # then the first pass is equal in both runs: it takes at most 4 * backlog + 1000
    words = [str(program), line, str(flows), str(backlog)]
    short, long = (count([*words, str(pairs * times)]) for times in (1, 2))
    return per_packet(short, long)[0]


def per_packet(short: Counts, long: Counts) -> tuple[float, float]:
    """Return the instructions and the misses per packet, given the counts of two runs."""
    packets = long.packets - short.packets
    return (long.instructions - short.instructions) / packets, (long.misses - short.misses) / packets


def count(command: list[str], caches: Sequence[str] = ()) -> Counts:
    """Return the counts of one run of ``command``, which prints its number of packets."""
    valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *caches]
    result = subprocess.run(valgrind + command, capture_output=True, text=True, check=False)
    found = re.search(r"Collected : ([\d ]+)", result.stderr)
    if result.returncode or found is None:
        last = (result.stderr.strip().splitlines() or ["no message"])[-1]
        raise SystemExit(f"bench-instructions: {command[1]}: {last}")
    events = [int(word) for word in found[1].split()]  # Ir Dr Dw I1mr D1mr D1mw ...
    return Counts(events[0], sum(events[4:6]), int(result.stdout))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
