"""Asks whether ``goodqueue fit`` names the queue of a modem: ``.venv/bin/python -m experiments.modems``.

Draws modems at random, measures each with an RRUL test, adds the errors that a measurement has, and fits. Writes
experiments/modems/results.json after each modem, and the tables of docs/results/modems.md; the same command goes on
from there.
"""

import math
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from experiments import kept
from goodqueue import executors
from goodqueue import scenario as scenarios
from goodqueue.errors import UserError
from goodqueue.scenario import toml
from goodqueue.search.fit import answer, plan, work
from goodqueue.search.fit.question import Fit
from goodqueue.search.runner import Runner

PAGE = kept.PAGES / "modems.md"
HERE = Path(__file__).parent
MODEMS = 30
EVALUATIONS = 1000
SEED = 2026

FEW = 20
"""With fewer effective samples the intervals are too narrow."""


def drawn(number: int) -> dict[str, Any]:
    """Return the scenario of a modem: its discipline, rates, base RTT and buffer are drawn until all fit."""
    random = np.random.default_rng([SEED, number])
    while True:
        made = _drawn(random, number)
        try:
            scenarios.resolve(made)
        except UserError:
            continue
        return made


def _drawn(random: np.random.Generator, number: int) -> dict[str, Any]:
    qdisc = str(random.choice(plan.LINES))

    def log(low: float, high: float) -> float:
        return float(f"{math.exp(random.uniform(math.log(low), math.log(high))):.3g}")

    down = log(2, 40)
    up = float(f"{down / log(1, 8):.3g}")
    rtt, buffer = log(8, 100), log(1, 20)
    times = {"start": "3s", "stop": "28s", "start_spread": "200ms"}
    return {
        "duration": "30s",
        "bottleneck": {
            "rate": f"{down:g}mbit",
            "qdisc": qdisc,
            "up": {"rate": f"{up:g}mbit"},
            **({"buffer": {"bdp": buffer}} if qdisc.startswith("pfifo") else {}),
        },
        "path": {"rtt": f"{rtt:g}ms"},
        "series": {"interval": "200ms", "tcp": True},
        "traffic": [{"kind": "rrul", **times}],
        "seed": 100 + number,
    }


def measured(scenario: dict[str, Any], folder: Path) -> str:
    """Run a modem, and return the file of Flent's that the measurement is."""
    (folder / "modem.toml").write_text(toml.to_toml(scenario), encoding="utf-8")
    for words in (
        ("sweep", "modem.toml", "--seeds", "1", "--store", "runs"),
        ("export", "--flent", "runs", "--out", "f"),
    ):
        subprocess.run([sys.executable, "-m", "goodqueue", *words], cwd=folder, check=True, capture_output=True)
    (file,) = (folder / "f").glob("*.flent.gz")
    return str(file)


def fitted(number: int) -> dict[str, Any]:
    """Return what a fit says of a modem, beside the truth."""
    scenario = drawn(number)
    with tempfile.TemporaryDirectory() as folder:
        file = measured(scenario, Path(folder))
        planned = plan.of(Fit(source=file, evaluations=EVALUATIONS, draw_seed=number))
    random = np.random.default_rng([SEED, number, 1])
    noisy = [replace(one, value=max(0.0, one.value + float(random.normal(0, one.error)))) for one in planned.observed]
    found = work.carry_out(replace(planned, observed=noisy), Runner(executors.local(None)), lambda _: None)
    said = answer.of(found).data()
    return {
        "truth": scenario["bottleneck"] | {"rtt": scenario["path"]["rtt"]},
        **{key: said[key] for key in ("settings", "choices", "answer", "effective_samples", "runs")},
    }


def main() -> None:
    """Fit the modems that are missing, and write the tables."""
    results = kept.load(HERE)
    for number in range(MODEMS):
        if str(number) not in results:
            results[str(number)] = fitted(number)
            print(number, results[str(number)]["truth"], results[str(number)]["answer"], flush=True)
            kept.keep(HERE, results)
    write([results[number] for number in sorted(results, key=int)])


def write(results: list[dict[str, Any]]) -> None:
    """Write the tables below the mark."""
    named = [max(one["choices"]["bottleneck.qdisc"], key=one["choices"]["bottleneck.qdisc"].get) for one in results]
    right = [name == one["truth"]["qdisc"] for name, one in zip(named, results, strict=True)]
    within = [_chance(one) >= 0.1 for one in results]
    said = f"In {sum(right)} of {len(named)} modems the right discipline is the most likely one"
    few = sum(one["effective_samples"] < FEW for one in results)
    lines = [
        f"{said}, and in {sum(within)} it is likelier than 10 %.",
        f"In {few} of them the answer rests on fewer than {FEW} effective samples.",
        "",
        "| setting | of | the 90 % interval holds the truth | told | within 10 % of the truth | median error |",
        "|---|---|---|---|---|---|",
    ]
    for key in ("bottleneck.rate", "bottleneck.up.rate", "path.rtt", "bottleneck.buffer.bdp"):
        own = [(one["settings"][key], truth) for one in results if (truth := _truth(one, key)) is not None]
        holds = sum(setting["low"] <= truth <= setting["high"] for setting, truth in own)
        told = [(setting, truth) for setting, truth in own if setting["is_told"]]
        errors = [abs(setting["median"] / truth - 1) for setting, truth in told]
        middle = f"{100 * float(np.median(errors)):.1f} %" if errors else "–"
        near = sum(error <= 0.1 for error in errors)
        lines.append(f"| `{key}` | {len(own)} | {holds} | {len(told)} | {near} | {middle} |")
    lines += ["", "| | truth | most likely | probability of the truth | effective samples |", "|---|---|---|---|---|"]
    for number, (name, one) in enumerate(zip(named, results, strict=True), 1):
        truth = one["truth"]
        buffer = f", buffer {truth['buffer']['bdp']:g} BDP" if "buffer" in truth else ""
        where = f"{truth['qdisc']}, {truth['rate']} down, {truth['up']['rate']} up, {truth['rtt']}{buffer}"
        lines.append(f"| {number} | {where} | {name} | {_chance(one):.2f} | {one['effective_samples']:.0f} |")
    kept.below(PAGE, HERE, lines)


def _chance(one: dict[str, Any]) -> float:
    return float(one["choices"]["bottleneck.qdisc"][one["truth"]["qdisc"]])


def _truth(one: dict[str, Any], key: str) -> float | None:
    """Return the true value of a setting. A buffer is none of a discipline whose own law decides: FIFOs alone count."""
    truth = one["truth"]
    if key == "bottleneck.buffer.bdp":
        return float(truth["buffer"]["bdp"]) if truth["qdisc"].startswith("pfifo") else None
    text = {"bottleneck.rate": truth["rate"], "bottleneck.up.rate": truth["up"]["rate"], "path.rtt": truth["rtt"]}[key]
    return float(text.removesuffix("mbit").removesuffix("ms"))


if __name__ == "__main__":
    main()
