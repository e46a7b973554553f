"""Linux as a process beside Debian's own binary in qemu: how far apart two kernels of one release are, and by chance.

Both ran the same cells. Their difference in a cell is chance, unless it is larger than that of the simulator under
other seeds, or one machine is always on one side.
"""

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import mean, median, stdev
from typing import Any

from page import ROOT

from goodqueue.show import markdown as markdowns
from goodqueue.show.table import Column, Table, number

VALIDATION = ROOT / "experiments" / "validation"
SETS = (
    ("the fixed set, 7.3", "process/fixed-7.3", "fixed-7.3"),
    ("drawn at random, 7.3", "process/drawn-7.3", "drawn-7.3"),
    ("the fixed set, 6.1", "process/fixed-6.1", "."),
    ("drawn at random, 6.1", "process/drawn-6.1", "drawn"),
)
NUMBERS = (
    ("mean delay, %", "delay_mean_ms", True),
    ("95th percentile, %", "delay_p95_ms", True),
    ("use of the link, points", "utilisation_percent", False),
    ("goodput, %", "goodput_mbps", True),
    ("drops, %", "dropped", True),
)
"""What is compared: the heading, the key, and whether a ratio is taken."""
FEW_DROPS = 20
"""With fewer drops in both runs a ratio says nothing."""


def markdown() -> str:
    """Return the table: a row for each set and number, with the differences of the kernels and those of chance."""
    headings = ("set", "number", "cells", "median off by", "by chance", "mean", "by chance", "t")
    rows = [row for name, *folders in SETS for row in _rows(name, *(VALIDATION / one for one in folders))]
    return markdowns.table(Table("", [Column(one, at > 1) for at, one in enumerate(headings)], rows, [], names=2))


def _rows(name: str, process: Path, qemu: Path) -> Iterator[list[str]]:
    files = [folder / "results.json" for folder in (process, qemu)]
    if not all(file.exists() for file in files):
        return
    results = [json.loads(file.read_bytes()) for file in files]
    ours, theirs = ({cell["id"]: cell for cell in result["cells"]} for result in results)
    runs = len(results[0]["seeds"])
    if results[1]["seeds"][:runs] != results[0]["seeds"]:
        raise ValueError(f"{files[1]}: found other seeds than in {files[0]}")
    cells = [name for name in ours if name in theirs]
    for heading, key, is_ratio in NUMBERS:
        off = [_off(ours[one]["kernel"], theirs[one]["kernel"], key, is_ratio, runs) for one in cells]
        chance = [_off(ours[one]["sim"], ours[one]["again"], key, is_ratio, runs) for one in cells]
        judged, by_chance = ([value for value in values if value is not None] for values in (off, chance))
        if len(judged) < 2 or len(by_chance) < 2:
            continue
        spread = stdev(judged) / math.sqrt(len(judged))
        values = [median(map(abs, judged)), median(map(abs, by_chance)), mean(judged), mean(by_chance)]
        t = mean(judged) / spread if spread else 0.0
        yield [name, heading, str(len(judged)), *(number(value, 2) for value in values), number(t, 1)]


def _off(one: Mapping[str, Any], other: Mapping[str, Any], key: str, is_ratio: bool, runs: int) -> float | None:
    """Return the difference of the means over the first ``runs`` seeds, or 100 times the logarithm of their ratio."""
    values = [[value for value in side["values"][key][:runs] if value is not None] for side in (one, other)]
    if not all(values):
        return None
    first, second = (mean(side) for side in values)
    if not is_ratio:
        return first - second
    if min(first, second) <= 0 or (key == "dropped" and max(first, second) < FEW_DROPS):
        return None
    return 100 * math.log(first / second)
