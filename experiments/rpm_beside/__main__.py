"""Sets mach's RPM beside that of the simulator's client: ``.venv/bin/python -m experiments.rpm_beside DIR``.

DIR is the folder of ``goodqueue calibrate --only mach --store DIR``. The simulator runs the same paths and lines, with
the same bytes unsent and `SEEDS`. The table goes below the mark of docs/results/rpm-beside-mach.md.
"""

import json
import statistics
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from experiments import kept
from goodqueue import running
from goodqueue import scenario as scenarios
from goodqueue.calibrate import cells

PAGE = kept.PAGES / "rpm-beside-mach.md"
HERE = Path(__file__).parent
SEEDS = range(1, 6)
NEAR_PERCENT = 10.0

AHEAD_BYTES = 193_000
"""What the server has written ahead of an answer and TCP has not sent, the median of a capture: the 131,072 of its
socket (TCP_NOTSENT_LOWAT), and what Node holds above that."""


def simulated(cell: cells.Cell, seed: int) -> float:
    """Return the RPM down that the simulator's client finds."""
    client = {"kind": "rpm", "client": "cf-mach", "unsent": f"{AHEAD_BYTES}B"}
    scenario: dict[str, Any] = {
        "duration": "22s",
        "seed": seed,
        "bottleneck": {"rate": cell.rate, "up": {"rate": cell.up_rate}},
        "path": {"rtt": cell.rtt},
        "traffic": [client],
    }
    for key, value in cell.bottleneck.items():
        scenarios.apply_set(scenario, f"bottleneck.{key}={value}")
    rpm = running.one(scenarios.resolve(scenario))["apps"][0]["rpm"]
    assert rpm is not None, "a test of 20 s has values"
    return rpm


def main() -> None:
    """Run the simulator, and write the table."""
    by_id = {cell.id: cell for cell in cells.load().cells}
    found: dict[str, list[float]] = defaultdict(list)
    for file in sorted((Path(sys.argv[1]) / "runs").glob("*_mach_*.json")):
        one = json.loads(file.read_text(encoding="utf-8"))
        if "mach" in one["told"] and not one["is_busy"]:
            found[f"{one['path']}/{one['line']}"].append(one["told"]["mach"]["rpm"])
    rows, apart = [], {}
    for name, cell in by_id.items():
        if name in found:
            ours = statistics.median(simulated(cell, seed) for seed in SEEDS)
            real = statistics.median(found[name])
            apart[name] = 100 * (ours / real - 1)
            rows.append(f"| {cell.path} | `{cell.line}` | {real:.0f} | {ours:.0f} | {apart[name]:+.0f} % |")
    near = sum(abs(one) <= NEAR_PERCENT for one in apart.values())
    head = ["| path | line | mach | simulator | difference |", "|---|---|---:|---:|---:|"]
    said = f"In {near} of {len(apart)} cells the simulator is within {NEAR_PERCENT:g} % of mach; the median difference"
    said += f" is {statistics.median(apart.values()):+.1f} %, and {statistics.median(map(abs, apart.values())):.1f} %"
    kept.below(PAGE, HERE, [f"{said} without its sign.", "", *head, *rows])


if __name__ == "__main__":
    main()
