"""Instructions that a packet costs, as valgrind's callgrind counts them.

Unlike nanoseconds they do not depend on what else the machine does. Each number is the difference between a run and
one of twice its length, so that starting up and filling the queue cancel out. Counts depend on the compiler and on
what else the registry holds: compare within a table, and the simulator of two commits on one machine.

First the whole simulator, on the standard cases of `goodqueue bench` at a tenth of their length: per packet that the
bottleneck forwards down, with its share of ACKs, retransmissions and timers. Then each discipline, in and out. There
the benchmark's own loop is inside (`pfifo` shows how little that can be), and so are the timers: with a backlog of one
packet a millisecond passes a packet. A discipline whose limit is below the backlog drops packets besides, which count,
too (`goodqueue_conformance::bench`).

    python3 benches/instructions.py [cases | LINE ...]
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "python"))  # the cases are data: nothing has to be built for them but what is counted

from goodqueue.bench import CASES as STANDARD_CASES  # noqa: E402
from goodqueue.bench import Case  # noqa: E402

PAIRS = 20_000
#: Flows and standing backlog in packets.
CASES = [(1, 1), (1, 100), (1024, 2000), (10_000, 20_000)]


def main(lines: list[str]) -> int:
    """Print the tables, or the one that is asked for."""
    for tool in ("valgrind", "cargo"):
        if shutil.which(tool) is None:
            print(f"bench-instructions: no {tool} on PATH; Debian has it in {tool}", file=sys.stderr)
            return 1
    if lines in ([], ["cases"]):
        print_cases()
    if lines != ["cases"]:
        print_disciplines(lines)
    return 0


def print_cases() -> None:
    """Print what a packet costs the whole simulator."""
    program = build("goodqueue-netsim", "packets")
    print("instructions a packet, the whole simulator")
    for case in STANDARD_CASES:
        short, long = (count([str(program), scenario(case, times)]) for times in (1, 2))
        flows = f"{case.flows} flow{'s' * (case.flows > 1)}"
        print(f"{case.name:>3}  {flows:10}  {case.rate:>8}  {case.qdisc:8}  {per_packet(short, long):8.1f}", flush=True)
    print()


def scenario(case: Case, times: int) -> str:
    """Return the scenario of ``case`` as JSON, so many tenths as long."""
    quick = case.scenario(quick=True)
    return json.dumps(quick | {"duration": f"{float(str(quick['duration']).removesuffix('s')) * times:g}s"})


def print_disciplines(lines: list[str]) -> None:
    """Print what a packet costs in each discipline of ``lines``, or of the registry."""
    program = build("goodqueue-conformance", "bench")
    lines = lines or disciplines(program)
    width = max(len(line) for line in lines)
    heads = [f"{flows} flow{'s' * (flows > 1)}, backlog {backlog}" for flows, backlog in CASES]
    print(f"instructions a packet, in and out\n{'qdisc':{width}}  " + "  ".join(f"{head:>24}" for head in heads))
    for line in lines:
        counts = [in_and_out(program, line, flows, backlog) for flows, backlog in CASES]
        print(f"{line:{width}}  " + "  ".join(f"{count:24.1f}" for count in counts), flush=True)


def build(package: str, example: str) -> Path:
    """Build an example and return its path."""
    command = ["cargo", "build", "--release", "-p", package, "--example", example]
    command += ["--message-format", "json-render-diagnostics"]
    output = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    messages = [json.loads(line) for line in output.splitlines()]
    return next(Path(message["executable"]) for message in messages if message.get("executable"))


def disciplines(program: Path) -> list[str]:
    """Return the registry's names: its refusal of an unknown one lists them."""
    refusal = subprocess.run([program, "?", "1", "0", "1"], capture_output=True, text=True, check=False).stderr
    return re.sub(r'.*accepted: |"\)?$', "", refusal.strip()).split(", ")


def in_and_out(program: Path, line: str, flows: int, backlog: int) -> float:
    """Return the instructions of a packet in the discipline of ``line``."""
    pairs = max(PAIRS, 5 * backlog)  # the first pass is the same, then: it is no longer than 4 * backlog + 1000
    words = [str(program), line, str(flows), str(backlog)]
    short, long = (count([*words, str(pairs * times)]) for times in (1, 2))
    return per_packet(short, long)


def per_packet(short: tuple[int, int], long: tuple[int, int]) -> float:
    """Return the instructions of a packet, given those and the packets of two runs."""
    return (long[0] - short[0]) / (long[1] - short[1])


def count(command: list[str]) -> tuple[int, int]:
    """Return the instructions of one run, and the packets that it prints."""
    valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    result = subprocess.run(valgrind + command, capture_output=True, text=True, check=False)
    found = re.search(r"Collected : (\d+)", result.stderr)
    if result.returncode or found is None:
        last = (result.stderr.strip().splitlines() or ["no message"])[-1]
        raise SystemExit(f"bench-instructions: {command[1]}: {last}")
    return int(found[1]), int(result.stdout)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
