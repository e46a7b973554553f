"""Says in which parts of the simulator the instructions of a packet are, by valgrind's callgrind.

The counts are differences between a run and a run of twice the length, as in `instructions.py`. A function that the
compiler inlined counts where it was written. So code of Rust's standard library (rings, comparisons, checked
arithmetic) is a part of its own, whoever calls it.

    python3 benches/parts.py
"""

import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from instructions import STANDARD_CASES, Case, build, scenario

#: The first expression that a file's path matches names the part.
PARTS = {
    "TCP that sends: ACKs, scoreboard, congestion control, pacing": r"tcp/src/(sender|scoreboard|cc|rtt|rack|prr|rate|"
    r"pacing|offload|send_buffer|small_queue|tlp|undo|window|wheel)",
    "TCP that receives: order, delayed ACKs, its window": r"tcp/src/(receiver|delack|receive_window)",
    "TCP, both: connections, segments, sequence numbers, ECN": r"tcp/src/",
    "queue disciplines": r"qdisc/src/",
    "links, wires and pipes": r"netsim/src/(link|pipe|path|ring)",
    "measures: histograms, counts": r"(netsim|hosts)/src/(probe|ledger|tally|record)",
    "events, flows and packets": r"(netsim|hosts|units)/src/",
    "Rust's standard library, inlined in all of these": r"",
}

#: In a file of callgrind, a position (absolute, relative or the same) and its count.
COST = re.compile(r"[+\-*]?\d* (\d+)")
NAME = re.compile(r"\((\d+)\)(?: (.*))?")


def main() -> int:
    """Print the table."""
    debug = ["--config", 'profile.release.debug="line-tables-only"', "--target-dir", "target/parts"]
    program = build("goodqueue-netsim", "packets", extra=debug)
    columns = [per_packet(program, case) for case in STANDARD_CASES]
    names = [case.name for case in STANDARD_CASES]
    print("| instructions per packet | " + " | ".join(names) + " |\n|---|" + "---|" * len(names))
    for part in PARTS:
        print(f"| {part} | " + " | ".join(f"{column[part]:.0f}" for column in columns) + " |")
    print("| all | " + " | ".join(f"{sum(column.values()):.0f}" for column in columns) + " |")
    return 0


def per_packet(program: Path, case: Case) -> dict[str, float]:
    """Return the instructions per packet of each part in ``case``."""
    (short, few), (long, many) = (count([str(program), scenario(case, times)]) for times in (1, 2))
    return {part: (long[part] - short[part]) / (many - few) for part in PARTS}


def count(command: list[str]) -> tuple[Counter[str], int]:
    """Return the instructions of each part in a run of ``command``, and its number of packets."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        valgrind = ["valgrind", "--tool=callgrind", "--dump-line=yes", f"--callgrind-out-file={out}"]
        packets = subprocess.run([*valgrind, *command], capture_output=True, text=True, check=True).stdout
        with out.open(encoding="utf-8", errors="replace") as lines:
            return by_part(lines), int(packets)


def by_part(lines: Iterator[str]) -> Counter[str]:
    """Return the instructions of each part, given callgrind's file (its manual, "Callgrind Format Specification")."""
    found: Counter[str] = Counter()
    files: dict[str, str] = {}
    part, is_call = "", False
    for line in lines:
        key, _, value = line.rstrip().partition("=")
        if key in ("fl", "fi", "fe", "cfi", "cfl") and (name := NAME.fullmatch(value)):
            if name[2]:
                files[name[1]] = next(part for part, expression in PARTS.items() if re.search(expression, name[2]))
            if not key.startswith("c"):
                part = files[name[1]]
        elif key == "calls":
            is_call = True  # the next line has the cost of the function that is called, which is counted there
        elif cost := COST.fullmatch(key):
            found[part] += 0 if is_call else int(cost[1])
            is_call = False
    return found


if __name__ == "__main__":
    sys.exit(main())
