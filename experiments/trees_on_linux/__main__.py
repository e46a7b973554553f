"""Runs files in the simulator and on Linux: ``.venv/bin/python -m experiments.trees_on_linux FILE ... --release 6.1``.

Writes the goodput of both into ``results.json`` after each file, and the tables of docs/results/trees-on-linux.md. A
file is a scenario, or a page whose first block of TOML is a link. What is missing there comes from `REST`. A file
again replaces its results of that release.
"""

import argparse
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from statistics import mean
from threading import Event
from typing import Any

from experiments import kept
from goodqueue import engines, scenario
from goodqueue.engines.releases import RELEASES
from goodqueue.errors import UserError
from goodqueue.files import inputs
from goodqueue.record import Record, Scenario
from goodqueue.scenario import paths, seconds

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGE = kept.PAGES / "trees-on-linux.md"

REST: Scenario = {
    "duration": "6s",
    "warmup": "1s",
    "path": {"rtt": "20ms"},
    "traffic": [{"kind": "bulk", "host": "plain"}, {"kind": "bulk", "host": "marked", "dscp": 46}],
}
"""A scenario without a link. One of its flows has the codepoint that the filters of many trees look for."""

MOST_HOSTS = 8
"""The most hosts of which each has a row."""

WITHIN = 1.0
"""The difference in percent that is small enough."""

CHANCE_SEEDS = 20
"""The runs of the simulator that show by how much one run differs from their mean."""


def main() -> None:
    """Run the files that the command names on each release, and write the page's tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="*", type=Path)
    parser.add_argument("--release", action="append", choices=list(RELEASES), default=[])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--longest", default="5s", help="the most time that is measured")
    asked = parser.parse_args()
    results = kept.load(HERE)
    for release in asked.release:
        for file in asked.file:
            name = os.path.relpath(file, ROOT)
            results.setdefault(name, {})[release] = found = outcome(file, release, asked.seeds, asked.longest)
            kept.keep(HERE, results)
            print(f"{name} on {release}: {said(found)}", flush=True)
    kept.below(PAGE, HERE, list(page(results)))


def outcome(file: Path, release: str, seeds: int, longest: str) -> dict[str, Any]:
    """Return the goodputs of ``file`` in the simulator and on ``release``, or why it does not run there."""
    try:
        resolved = of_file(file, release, longest)
        engines.check(f"kernel-{release}", resolved)
        by_engine = {
            "sim": [run("sim", resolved, seed) for seed in range(1, 1 + max(seeds, CHANCE_SEEDS))],
            "kernel": [run(f"kernel-{release}", resolved, seed) for seed in range(1, 1 + seeds)],
        }
    except UserError as error:
        return {"refused": str(error).replace(str(ROOT.parent), "..")}
    groups: dict[str, dict[str, list[float]]] = {}
    for engine, records in by_engine.items():
        for record in records:
            for group, goodput in goodputs(record):
                groups.setdefault(group, {}).setdefault(engine, []).append(round(goodput, 3))
    kernel = by_engine["kernel"][0]["kernel"]
    return {
        "linux": kernel["release"].split()[0],
        "tc": kernel["tc"],
        "said": kernel.get("tc_said", []),
        "time": f"{resolved['duration']} (the first {resolved['warmup']} left out)",
        "groups": groups,
    }


def of_file(file: Path, release: str, longest: str) -> Scenario:
    """Return the resolved scenario in ``file``, as Linux ``release`` has its disciplines and TCP."""
    if file.suffix == ".md":
        block = re.search(r"^```toml\n(.*?)^```", file.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        asked = inputs.toml(block[1]) if block else {}
    else:
        asked = scenario.load(file)
    paths.rebase(asked, file.parent)
    asked = REST | asked
    end = seconds(asked["warmup"]) + seconds(longest)
    if end < seconds(asked["duration"]):
        asked["duration"] = f"{end:g}s"
    return scenario.resolve(asked | {"linux": asked.get("linux", {}) | {"release": release}}, str(file))


def run(engine: str, resolved: Scenario, seed: int) -> Record:
    """Return the record of one run."""
    record: Record = json.loads(engines.find(engine)(resolved | {"seed": seed}, lambda _: None, Event()))
    return record


def goodputs(record: Record) -> Iterator[tuple[str, float]]:
    """Yield the goodput of each direction, and of each host if there are several and not many."""
    for direction in ("down", "up"):
        of_direction = [flow["goodput_mbps"] for flow in record["flows"] if flow["direction"] == direction]
        if of_direction:
            yield direction, sum(of_direction)
    hosts = record.get("hosts", [])
    if 1 < len(hosts) <= MOST_HOSTS:
        for host in hosts:
            for direction, goodput in host["goodput_mbps"].items():
                if goodput is not None:
                    yield f"{host['name']}, {direction}", goodput


def compared(goodput: dict[str, list[float]]) -> tuple[float, float, float, float]:
    """Return the means of the simulator and of the kernel over the kernel's seeds, their difference, and chance.

    The last two are in percent of the kernel's mean. Chance is the most by which a mean of as many of the simulator's
    runs is off all its runs' mean.
    """
    count = len(goodput["kernel"])
    sim, kernel = mean(goodput["sim"][:count]), mean(goodput["kernel"])
    all_runs = mean(goodput["sim"])
    parts = [mean(goodput["sim"][at : at + count]) for at in range(0, len(goodput["sim"]) - count + 1, count)]
    scale = 100 / kernel if kernel else 0.0
    return sim, kernel, (sim - kernel) * scale, max(abs(part - all_runs) for part in parts) * scale


def said(found: dict[str, Any]) -> str:
    """Return one line on what was found of a file."""
    if "refused" in found:
        return f"refused: {found['refused']}"
    parts = []
    for name, goodput in found["groups"].items():
        sim, kernel, off, chance = compared(goodput)
        parts.append(f"{name} {sim:.3f} {kernel:.3f} Mbit/s {off:+.2f} % (chance {chance:.2f})")
    return "; ".join([*parts, *found["said"]])


def page(results: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of the tables: of one release after the other."""
    for release in RELEASES:
        of_release = {name: found[release] for name, found in sorted(results.items()) if release in found}
        ran = {name: found for name, found in of_release.items() if "groups" in found}
        if not of_release:
            continue
        tools = sorted(
            {f"Linux {found['linux']}, {found['tc'].removeprefix('tc utility, ')}" for found in ran.values()}
        )
        yield f"## Linux {release}"
        yield from ("", "; ".join(tools) + ".", "")
        yield "| file | goodput of | seeds | simulator Mbit/s | Linux Mbit/s | off % | by chance % |"
        yield "|---|---|---:|---:|---:|---:|---:|"
        for name, found in ran.items():
            for group, goodput in found["groups"].items():
                sim, kernel, off, chance = compared(goodput)
                mark = "**" if abs(off) > max(WITHIN, chance) else ""
                numbers = f"{len(goodput['kernel'])} | {sim:.3f} | {kernel:.3f} | {mark}{off:+.2f}{mark} | {chance:.2f}"
                yield f"| {name} | {group} | {numbers} |"
        yield ""
        if warnings := {name: found["said"] for name, found in ran.items() if found["said"]}:
            yield from ("`tc` said:", "")
            yield from (f"- {name}: {line}" for name, lines in warnings.items() for line in dict.fromkeys(lines))
            yield ""
        if refused := {name: found["refused"] for name, found in of_release.items() if "refused" in found}:
            yield from ("Not run:", "")
            yield from (f"- {name}: {why}" for name, why in refused.items())
            yield ""


if __name__ == "__main__":
    main()
