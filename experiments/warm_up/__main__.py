"""Checks the intervals of `goodqueue advise` against longer runs: ``.venv/bin/python -m experiments.warm_up``.

Draws ``--links`` links with ``--seed``, and takes three stated ones. On each it measures the link as it is now, as
`advise` does, and cake's line that is fair between users; and then both again in longer runs: they leave out all that
was measured, and measure four times as long. An interval holds if the mean of the longer runs lies in it. ``--methods``
runs five links with three queues for two minutes, and writes what MSER-5 says of the first minute and of both.

Writes experiments/warm_up/results.json after each link, and the tables of docs/results/warm-up.md; the same command
goes on from there.
"""

import argparse
import json
import math
import random
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from experiments import kept
from goodqueue import engines
from goodqueue.advice import candidates, choosing, lengths, reading, scenarios
from goodqueue.advice.choosing import Values
from goodqueue.advice.lengths import Times
from goodqueue.advice.links import LINKS
from goodqueue.advice.question import Advise
from goodqueue.advice.scenarios import Truth
from goodqueue.advice.trying import Bench
from goodqueue.measures import ratios, stats
from goodqueue.show.table import decimals

PAGE = kept.PAGES / "warm-up.md"
HERE = Path(__file__).parent

STATED = (("50mbit", "10mbit"), ("250mbit", "25mbit"), ("500mbit", "50mbit"))
"""The links with which the old warm-up was found too short."""

TIMES = 4
"""How much longer the reference is measured."""

MOST_BITS = 2e11
"""What the longer runs of a line may carry: the two fastest links have fewer seeds there."""

LEAST_MBPS, MOST_MBPS = 2, 25

DRAWN, SEEDS = 20, (1, 2)
"""The number of links that each of these seeds draws."""

METHOD_LINKS = (
    ("8mbit", "1mbit"),
    ("20mbit", "5mbit"),
    ("50mbit", "10mbit"),
    ("100mbit", "20mbit"),
    ("250mbit", "25mbit"),
)
METHOD_LINES = ("nothing typed", "cake, fair between users", "htb + fq_codel")
METHOD_SEEDS = 3
METHOD_S = 120


def main() -> None:
    """Run what is missing, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--links", type=int, default=DRAWN, help="The number of links to draw.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--methods", action="store_true", help="Only MSER-5 for five links and three queues.")
    options = parser.parse_args()
    results = kept.load(HERE) or {"links": {}, "methods": {}}
    if options.methods:
        _methods(results, options.workers)
    else:
        for asked in [*_drawn(options.links, options.seed), *({"down": down, "up": up} for down, up in STATED)]:
            key = _key(asked)
            if key not in results["links"]:
                results["links"][key] = _held(asked, options.workers)
                kept.keep(HERE, results)
                print(key, *_counts([results["links"][key]]), flush=True)
    kept.below(PAGE, HERE, _tables(results))


def _drawn(count: int, seed: int) -> list[dict[str, str]]:
    """Return the options of ``count`` links: kind, rates, RTT and queue, each at random."""
    draw = random.Random(seed)
    links = []
    for _ in range(count):
        kind = draw.choice(list(LINKS))
        down = math.exp(draw.uniform(math.log(LEAST_MBPS), math.log(MOST_MBPS)))
        up = max(down / math.exp(draw.uniform(0, math.log(12))), 0.5)
        link = {"link": kind, "down": f"{down:.3g}mbit", "up": f"{up:.3g}mbit"}
        link["rtt"] = f"{math.exp(draw.uniform(math.log(10), math.log(120))):.0f}ms"
        buffer = f"{math.exp(draw.uniform(math.log(60), math.log(500))):.0f}ms"
        links.append(link if kind == "wifi" else link | {"buffer": buffer})
    return links


def _key(asked: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in asked.items())


def _held(asked: Mapping[str, str], workers: int) -> dict[str, Any]:
    """Return each number of the link ``asked``, with its interval, beside the mean of longer runs."""
    question = reading.ask(Advise.read(dict(asked)))
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(question, Path(folder), workers, lambda _: None)
        lines = candidates.of(question)
        line = next((one for one in lines if one.fair), lines[2])
        (now,), length = bench.settled(lines[:1], lengths.long(question), 0, 1)
        now, then, length = bench.both(lines[0], line, now, length)
        longer = Times(length.times.whole_s, TIMES * length.times.measured_s)
        found: dict[str, Any] = {"times": [length.times.warmup_s, length.times.whole_s]}
        found |= {"settled_s": length.settled_s, "is_settled": length.is_settled}
        bits = longer.whole_s * (question.down_bps + question.up_bps)
        seeds = max(2, round(MOST_BITS / bits))
        reference = {}
        for name, candidate in (("now", lines[0]), ("then", line)):
            runs = [
                scenarios.scenario(question, candidate, seed, Truth(), Path(folder), longer)
                for seed in question.seeds[:seeds]
            ]
            records = [json.loads(text) for text in engines.run_many("sim", runs, workers)]
            reference[name] = {key: _mean(values) for key, values in choosing.numbers(records).items()}
    found["now"] = {key: _interval(values, reference["now"][key]) for key, values in now.items()}
    found["then"] = {"line": line.label} | {key: _interval(then[key], reference["then"][key]) for key in then}
    found["change"] = {key: _ratio(then, now, key, reference) for key in then}
    return found


def _mean(values: Any) -> float:
    return math.fsum(values) / len(values)


def _interval(values: Any, reference: float) -> list[float | None]:
    found = stats.estimate(values)
    assert found is not None, "there is a seed"
    return [found.mean, found.low, found.high, reference]


def _ratio(then: Values, now: Values, key: str, reference: Mapping[str, Mapping[str, float]]) -> list[float | None]:
    found = ratios.ratio(then[key], now[key])
    true = reference["then"][key] / reference["now"][key] if reference["now"][key] else None
    return [None, None, None, true] if found is None else [found.value, found.low, found.high, true]


def _numbers(row: Mapping[str, Any], what: str) -> list[tuple[str, list[float]]]:
    return [(key, found) for key, found in row[what].items() if isinstance(found, list) and None not in found]


def _counts(rows: list[Any]) -> list[str]:
    """Return how many intervals hold the reference, of now, of then and of the change; in brackets those as printed."""
    texts = []
    for what in ("now", "then", "change"):
        every = [number for row in rows for number in _numbers(row, what)]
        held = sum(low <= true <= high for _, (_, low, high, true) in every)
        printed = "" if what == "change" else f" ({sum(_holds_as_printed(*number) for number in every)})"
        texts.append(f"{held}{printed} of {len(every)}")
    return texts


def _holds_as_printed(key: str, found: list[float]) -> bool:
    """Return whether the reference lies in the interval if both have the decimals that `advise` prints."""
    mean, low, high, true = found
    digits = 2 if key == "call_mos" else 0 if key.endswith("_ms") and mean >= 100 else decimals([mean])
    half = round((high - low) / 2, digits)
    return abs(round(true, digits) - round(mean, digits)) <= half + 0.01 / 10**digits


def _methods(results: dict[str, Any], workers: int) -> None:
    """Run five links with three queues, and keep what MSER-5 says of one minute and of two."""
    for down, up in METHOD_LINKS:
        question = reading.ask(Advise.read({"down": down, "up": up, "seeds": METHOD_SEEDS}))
        for label in METHOD_LINES:
            key = f"{down}, {up}: {label}"
            if key in results["methods"]:
                continue
            line = next(one for one in candidates.of(question) if one.label == label)
            ends = {}
            for whole_s in (METHOD_S // 2, METHOD_S):
                with tempfile.TemporaryDirectory() as folder:
                    bench = Bench(question, Path(folder), workers, lambda _: None)
                    values, settled_s = bench.long(line, Times(whole_s / 2, whole_s / 2), 0, 1)
                    ends[str(whole_s)] = {
                        "settled_s": settled_s,
                        "single": _mean(values[choosing.SINGLE_KEY]),
                        "ping": _mean(values["ping_rtt_p95_ms"]),
                    }
            results["methods"][key] = ends
            kept.keep(HERE, results)
            print(key, ends, flush=True)


def _tables(results: Mapping[str, Any]) -> list[str]:
    every = results["links"]
    lines = [
        f"Of {len(every)} links, the intervals that hold the mean of the longer runs; in brackets those that do when",
        "both are rounded as they are printed:",
        "",
    ]
    lines += ["| links | now | then | change |", "|---|---|---|---|"]
    stated = {key: row for key, row in every.items() if "link" not in key}
    groups = {
        "all": every,
        **{
            f"drawn with seed {seed}": {key: every[key] for one in _drawn(DRAWN, seed) if (key := _key(one)) in every}
            for seed in SEEDS
        },
        "stated": stated,
        "stationary by MSER-5": {key: row for key, row in every.items() if row["is_settled"]},
        "not stationary": {key: row for key, row in every.items() if not row["is_settled"]},
    }
    lines += [
        f"| {name} ({len(rows)}) | {' | '.join(_counts(list(rows.values())))} |"
        for name, rows in groups.items()
        if rows
    ]
    lines += ["", "By number:", "", "| number | now | then | change |", "|---|---|---|---|"]
    for key in dict.fromkeys(key for row in every.values() for key, _ in _numbers(row, "now")):
        alone = [{what: {key: row[what].get(key)} for what in ("now", "then", "change")} for row in every.values()]
        lines.append(f"| `{key}` | {' | '.join(_counts(alone))} |")
    lines += ["", "By link:", "", "| link | measured, s | stationary after, s | now | then | change |"]
    lines.append("|---|---|---|---|---|---|")
    for key, row in every.items():
        begin, end = row["times"]
        after = f"{row['settled_s']:g}" + ("" if row["is_settled"] else " (too late)")
        lines.append(f"| {key} | {begin:g} to {end:g} | {after} | {' | '.join(_counts([row]))} |")
    if results["methods"]:
        lines += [
            "",
            f"MSER-5 in runs of one and of two minutes, {METHOD_SEEDS} seeds. The numbers are of the second half:",
            "",
        ]
        lines.append("| link and queue | in 60 s: after | in 120 s: after | single Mbit/s | ping p95 ms |")
        lines.append("|---|---|---|---|---|")
        for key, ends in results["methods"].items():
            one, two = ends.values()
            cells = (f"{one['settled_s']:g} s", f"{two['settled_s']:g} s", f"{one['single']:.3g}, {two['single']:.3g}")
            lines.append(f"| {key} | {' | '.join(cells)} | {one['ping']:.3g}, {two['ping']:.3g} |")
    return lines


if __name__ == "__main__":
    main()
