"""Instructions that a packet costs in each discipline, in and out, as valgrind's callgrind counts them.

Unlike nanoseconds they do not depend on what else the machine does. Each number is the difference between a run and one
of twice its length, so that starting up and filling the queue cancel out. The benchmark's own loop is inside (`pfifo`
shows how little that can be), and so are the timers: with a backlog of one packet a millisecond passes a packet. A
discipline whose limit is below the backlog drops packets besides, which count, too (`goodqueue_conformance::bench`).
Counts depend on the compiler and on what else the registry holds: compare within a table.

    python3 benches/instructions.py [LINE ...]
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAIRS = 20_000
#: Flows and standing backlog in packets.
CASES = [(1, 1), (1, 100), (1024, 2000), (10_000, 20_000)]


def main(lines: list[str]) -> int:
    """Print the table."""
    for tool in ("valgrind", "cargo"):
        if shutil.which(tool) is None:
            print(f"bench-instructions: no {tool} on PATH; Debian has it in {tool}", file=sys.stderr)
            return 1
    program = build()
    lines = lines or disciplines(program)
    width = max(len(line) for line in lines)
    heads = [f"{flows} flow{'s' * (flows > 1)}, backlog {backlog}" for flows, backlog in CASES]
    print(f"instructions a packet, in and out\n{'qdisc':{width}}  " + "  ".join(f"{head:>24}" for head in heads))
    for line in lines:
        counts = [per_packet(program, line, flows, backlog) for flows, backlog in CASES]
        print(f"{line:{width}}  " + "  ".join(f"{count:24.1f}" for count in counts), flush=True)
    return 0


def build() -> Path:
    """Build the benchmark and return its path."""
    command = ["cargo", "build", "--release", "-p", "goodqueue-conformance", "--example", "bench"]
    command += ["--message-format", "json-render-diagnostics"]
    output = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    messages = [json.loads(line) for line in output.splitlines()]
    return next(Path(message["executable"]) for message in messages if message.get("executable"))


def disciplines(program: Path) -> list[str]:
    """Return the registry's names: its refusal of an unknown one lists them."""
    refusal = subprocess.run([program, "?", "1", "0", "1"], capture_output=True, text=True, check=False).stderr
    return re.sub(r'.*accepted: |"\)?$', "", refusal.strip()).split(", ")


def per_packet(program: Path, line: str, flows: int, backlog: int) -> float:
    """Return the instructions of a packet, in and out."""
    pairs = max(PAIRS, 5 * backlog)  # the first pass is the same, then: it is no longer than 4 * backlog + 1000
    short, long = (count(program, line, flows, backlog, pairs * times) for times in (1, 2))
    return (long[0] - short[0]) / (long[1] - short[1])


def count(program: Path, line: str, flows: int, backlog: int, pairs: int) -> tuple[int, int]:
    """Return the instructions of one run, and the packets that it offered."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", str(program)]
    command += [line, str(flows), str(backlog), str(pairs)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    found = re.search(r"Collected : (\d+)", result.stderr)
    if result.returncode or found is None:
        raise SystemExit(f"bench-instructions: {line}: {result.stderr.strip().splitlines()[-1]}")
    return int(found[1]), int(result.stdout)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
