"""Measures how the cost of a command grows with its work: CPU seconds at several sizes, and the exponent.

``.venv/bin/python -m experiments.growth`` measures the goodqueue that Python finds, as ``now``; with another word, such
as ``before`` and the PYTHONPATH of an older checkout, under that word. It writes experiments/growth/results.json and
the table of docs/results/growth.md. A further word names the only case to measure.
"""

import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments import kept
from experiments.growth import makers

PAGE = kept.PAGES / "growth.md"
HERE = Path(__file__).parent
CODE = """
import resource, sys
from goodqueue import cli
try:
    cli.main(sys.argv[1:])
except SystemExit as ended:
    status = ended.code
used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print("\\nCPU", sum(one.ru_utime + one.ru_stime for one in used))
sys.exit(status)
"""
"""Carries out a command, and prints its CPU seconds last."""

MOST = 1.1
"""The greatest exponent that passes."""


@dataclass(frozen=True)
class Case:
    """Work of several sizes."""

    name: str
    sizes: tuple[int, ...]
    make: Callable[[int, Path], list[str]]
    """Writes the files of a size into a folder, and returns the words of the command."""
    warm: bool = False
    """Whether the command is carried out once before it is measured."""


CASES = (
    Case("`import` of iperf3's intervals", (10_000, 20_000, 40_000), makers.intervals),
    Case("`run` with classes of hfsc below each other", (5_000, 10_000, 20_000), makers.classes),
    Case("`run` with a table of circuits", (4_000, 8_000, 16_000), makers.circuits),
    Case("`run` with devices of one circuit", (4_000, 8_000, 16_000), makers.devices),
    Case("`run` with subscribers", (2_000, 4_000, 8_000), makers.subscribers),
    Case("`run` with flows of 1 Mbit/s each", (1_000, 10_000, 100_000), makers.flows),
    Case("`run` with filters of `u32`", (2_000, 4_000, 8_000), makers.filters("u32", "match ip dst")),
    Case("`run` with filters of `flower`", (2_000, 4_000, 8_000), makers.filters("flower", "dst_ip")),
    Case("`sweep` whose runs are all stored", (1_000, 2_000, 4_000), makers.stored_sweep, warm=True),
    Case("`plot lines` of a store's runs", (1_000, 2_000, 4_000), makers.stored_plot, warm=True),
)


def cpu_s(words: list[str], folder: Path) -> float:
    """Return the CPU seconds of a command of goodqueue, children included. Raises SystemExit if it fails."""
    done = subprocess.run([sys.executable, "-c", CODE, *words], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)}: {done.stderr[-500:]}")
    return float(done.stdout.rpartition("CPU ")[2])


def measured(case: Case) -> dict[str, Any]:
    """Return the CPU seconds by size, without those of the smallest work, and the exponent between first and last."""
    times = {}
    for size in (1, *case.sizes):
        with tempfile.TemporaryDirectory() as name:
            words = case.make(size, Path(name))
            times[size] = [cpu_s(words, Path(name)) for _ in range(2 if case.warm else 1)][-1]
            print(f"{case.name}: {size}: {times[size]:.2f} s", flush=True)
    least = times.pop(1)
    own = {size: max(1e-3, time - least) for size, time in times.items()}
    first, last = case.sizes[0], case.sizes[-1]
    return {
        "cpu_s": {str(size): round(time, 2) for size, time in own.items()},
        "exponent": round(math.log(own[last] / own[first]) / math.log(last / first), 2),
    }


def write(results: dict[str, Any]) -> None:
    """Write the table below the mark."""
    lines = ["| work | sizes | CPU before, s | exponent | CPU now, s | exponent |", "|---|---|---|---|---|---|"]
    for case in CASES:
        sides = [results.get(side, {}).get(case.name) for side in ("before", "now")]
        cells = [
            f"{', '.join(f'{time:g}' for time in side['cpu_s'].values())} | {side['exponent']:g}" if side else "– | –"
            for side in sides
        ]
        lines.append(f"| {case.name} | {', '.join(f'{size:,}' for size in case.sizes)} | {' | '.join(cells)} |")
    kept.below(PAGE, HERE, lines)


def main(side: str = "now", only: str = "") -> int:
    """Measure, write, and return the status: 1 if an exponent of ``now`` is above the bound."""
    results = kept.load(HERE)
    for case in CASES:
        if only in case.name:
            results.setdefault(side, {})[case.name] = measured(case)
            kept.keep(HERE, results)
            write(results)
    above = [name for name, case in results.get("now", {}).items() if case["exponent"] > MOST]
    print(json.dumps(results.get(side), indent=1), *above, sep="\n")
    return bool(above and side == "now")


if __name__ == "__main__":
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    sys.exit(main(*sys.argv[1:]))
