"""Runs files in the simulator and on Linux: ``.venv/bin/python -m experiments.trees_on_linux FILE ... --release 6.1``.

Writes the goodput of both into ``results.json`` after each file, and the tables of docs/results/trees-on-linux.md. A
file is a scenario, or a page whose first block of TOML is a link. What is missing there comes from `REST`. A file
again replaces its results of that release. ``--machine process`` runs Linux as a process, which is faster.
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
from goodqueue.engines.machines import MACHINES
from goodqueue.engines.releases import RELEASES
from goodqueue.errors import UserError
from goodqueue.files import inputs
from goodqueue.record import Record, Scenario
from goodqueue.scenario import seconds

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGE = kept.PAGES / "trees-on-linux.md"

REST: Scenario = {
    "duration": "6s",
    "warmup": "1s",
    "path": {"rtt": "20ms"},
}
"""A scenario without a link and without traffic."""

BULK = [{"kind": "bulk"}]

OF_A_PAGE = [{"kind": "bulk", "host": "plain"}, {"kind": "bulk", "host": "marked", "dscp": 46}]
"""The traffic of a page's link. One flow has the codepoint that the filters of trees look for most."""

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
    parser.add_argument("--machine", choices=list(MACHINES), help="the machine in which Linux runs")
    parser.add_argument("--seeds", type=int, default=1, help="runs on Linux, if the simulator's runs differ by seed")
    parser.add_argument("--longest", default="5s", help="the most time that is measured")
    asked = parser.parse_args()
    results = kept.load(HERE)
    for release in asked.release:
        for file in asked.file:
            name = os.path.relpath(file, ROOT)
            engine = "-".join(filter(None, ["kernel", release, asked.machine]))
            results.setdefault(name, {})[release] = found = outcome(file, engine, asked.seeds, asked.longest)
            kept.keep(HERE, results)
            print(f"{name} on {release}: {said(found)}", flush=True)
    kept.below(PAGE, HERE, list(page(results)))


def outcome(file: Path, engine: str, seeds: int, longest: str) -> dict[str, Any]:
    """Return the goodputs of ``file`` in the simulator and in ``engine``, or why it does not run there."""
    try:
        resolved = of_file(file, engines.release(engine) or "", longest)
        engines.check(engine, resolved)
        sim = [run("sim", resolved, seed) for seed in (1, 2)]
        if any(before != after for before, after in zip(*map(goodputs, sim), strict=True)):
            sim += [run("sim", resolved, seed) for seed in range(3, 1 + max(seeds, CHANCE_SEEDS))]
        else:
            seeds = 1  # nothing is random
        by_engine = {"sim": sim, "kernel": [run(engine, resolved, seed) for seed in range(1, 1 + seeds)]}
    except UserError as error:
        return {"refused": str(error).replace(str(ROOT.parent), "..")}
    by_group: dict[str, dict[str, list[float]]] = {}
    for kind, records in by_engine.items():
        for record in records:
            for group, goodput in goodputs(record):
                by_group.setdefault(group, {}).setdefault(kind, []).append(goodput)
    kernel = by_engine["kernel"][0]["kernel"]
    return {
        "linux": kernel["release"].split()[0],
        "tc": kernel["tc"],
        "said": kernel.get("tc_said", []),
        "time": f"{resolved['duration']} (the first {resolved['warmup']} left out)",
        "groups": {name: compared(of_group["sim"], of_group["kernel"]) for name, of_group in by_group.items()},
    }


def of_file(file: Path, release: str, longest: str) -> Scenario:
    """Return the resolved scenario in ``file``, as Linux ``release`` has its disciplines and TCP."""
    if file.suffix == ".md":
        block = re.search(r"^```toml\n(.*?)^```", file.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        asked = {"traffic": OF_A_PAGE} | (inputs.toml(block[1]) if block else {})
    else:
        asked = scenario.load(file)
    asked = REST | ({} if {"subscriber", "isp"} & set(asked) else {"traffic": BULK}) | asked
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


def compared(sim: list[float], kernel: list[float]) -> dict[str, Any]:
    """Return the goodputs of both for the same seeds, the difference of their means, and chance, in percent.

    Chance is the most by which the mean of as many runs of the simulator is off the mean of all its runs.
    """
    count = len(kernel)
    means = [mean(sim[at : at + count]) for at in range(0, len(sim) - count + 1, count)]
    scale = 100 / mean(kernel) if mean(kernel) else 0.0
    return {
        "sim_mbps": [round(goodput, 3) for goodput in sim[:count]],
        "kernel_mbps": [round(goodput, 3) for goodput in kernel],
        "off_percent": round((means[0] - mean(kernel)) * scale, 2),
        "chance_percent": round(max(abs(one - mean(sim)) for one in means) * scale, 2),
    }


def said(found: dict[str, Any]) -> str:
    """Return one line on what was found of a file."""
    if "refused" in found:
        return f"refused: {found['refused']}"
    parts = []
    for name, group in found["groups"].items():
        goodput = f"{mean(group['sim_mbps']):.3f} {mean(group['kernel_mbps']):.3f} Mbit/s"
        parts.append(f"{name} {goodput} {group['off_percent']:+.2f} % (chance {group['chance_percent']:.2f})")
    return "; ".join([*parts, *found["said"]])


def page(results: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of the tables: of one release after the other."""
    for release in RELEASES:
        of_release = {name: found[release] for name, found in sorted(results.items()) if release in found}
        ran = {name: found for name, found in of_release.items() if "groups" in found}
        if not of_release:
            continue
        tools = sorted({f"Linux {found['linux']}, {found['tc'].split(', ')[1]}" for found in ran.values()})
        yield f"## Linux {release}"
        yield from ("", "; ".join(tools) + ".", "")
        yield "| file | goodput of | seeds | simulator Mbit/s | Linux Mbit/s | off % | by chance % |"
        yield "|---|---|---:|---:|---:|---:|---:|"
        for name, found in ran.items():
            for group, goodput in found["groups"].items():
                off, chance = goodput["off_percent"], goodput["chance_percent"]
                mark = "**" if abs(off) > max(WITHIN, chance) else ""
                sim, kernel = goodput["sim_mbps"], goodput["kernel_mbps"]
                numbers = f"{len(kernel)} | {mean(sim):.3f} | {mean(kernel):.3f}"
                yield f"| {name} | {group} | {numbers} | {mark}{off:+.2f}{mark} | {chance:.2f} |"
        yield ""
        if warnings := {name: found["said"] for name, found in ran.items() if found["said"]}:
            yield from ("`tc` said, without an end to the run:", "")
            yield from (f"- {name}: {lines[0]}{_more(lines)}" for name, lines in warnings.items())
            yield ""
        if refused := {name: found["refused"] for name, found in of_release.items() if "refused" in found}:
            yield from ("Not run:", "")
            yield from (f"- {name}: {why}" for name, why in refused.items())
            yield ""


def _more(lines: list[str]) -> str:
    return f" (and {len(lines) - 1} more)" if len(lines) > 1 else ""


if __name__ == "__main__":
    main()
