"""Looks for ten published failures, blind: ``python -m experiments.known_failures``, then ``--kernel`` for the finds.

Each row of the table is what a paper, a standard or a test suite published. The search knows the property alone, and
the bounds that all rows share. Writes experiments/known_failures/results.json after each search, and the table of
docs/results/known-failures.md; the same command goes on from there.
"""

import argparse
import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments import kept
from goodqueue import engines, executors
from goodqueue.search.attack import answer, plan, work
from goodqueue.search.attack.question import Attack
from goodqueue.search.attack.work import Plan
from goodqueue.search.evaluating import Evaluator
from goodqueue.search.runner import Runner

PAGE = kept.PAGES / "known-failures.md"
HERE = Path(__file__).parent
EVALUATIONS = 1000
SEEDS = (1, 2, 3)
METHODS = ("tpe", "random")


@dataclass(frozen=True)
class Row:
    """A published failure, and how it is asked for."""

    name: str
    source: str
    subject: str
    property: tuple[str, ...]
    bounds: tuple[str, ...] = ()
    without: str | None = None
    lines: tuple[str, ...] = ()
    ccs: tuple[str, ...] = ()
    ecn: bool = False
    linux: str = "6.1"
    """The release of Linux that runs the find."""


FIXED = "red limit 400000 min 30000 max 90000 avpkt 1000 burst 55 probability 0.02"

ROWS = (
    Row("BBR stalls after a disturbance", "CC-Fuzz, HotNets 2022; picoquic 839", "bbr",
        ("after_percent < 50", "after_percent of cubic >= 80"), bounds=("flows=1..1",)),
    Row("BBR starves flows with a shorter RTT", "Starvation in End-to-End Congestion Control, SIGCOMM 2022", "bbr",
        ("share <= 0.2",), ccs=("bbr",), without="cbr,jitter,loss,bursts,changes"),
    Row("BBR loses in shallow buffers", "Experimental Evaluation of BBR, ICNP 2017; IMC 2019", "bbr",
        ("drop_percent >= 3", "drop_percent >= 5 x cubic")),
    Row("CUBIC leaves slow start early through jitter", "draft-chung-ccwg-search; RFC 9406", "cubic",
        ("completion_p50_ms >= 1.5 x cubic nohystart",)),
    Row("a delay-based control starves through jitter", "SIGCOMM 2022, as above", "vegas",
        ("share <= 0.1",), ccs=("vegas",), bounds=("jitter=0.5..10",)),
    Row("PIE is slow after a load step", "Evaluation of ARED, CoDel and PIE, 2014", "pie",
        ("recovery_ms >= 500", "recovery_ms >= 2 x codel")),
    Row("CoDel under unresponsive load", "RFC 8289; Piece of CAKE", "codel",
        ("delay_targets > 10", "delay_targets of pie < 5")),
    Row("RED's fixed line against the number of flows", "Adaptive RED, 2001; The New AQM Kids on the Block", FIXED,
        ("delay_mean_ms >= 3 x traffic.0.count=1",)),
    Row("DualPI2: unresponsive ECT squeezes all others", "RFC 9332, 4.2.2", "dualpi2 any_ect",
        ("silence",), ccs=("cubic", "prague"), linux="7.3"),
    Row("Prague beside a Classic control in one ECN queue", "l4s-tests, scenario 6", "prague",
        ("share <= 0.1", "mark_percent > 0"),
        ccs=("cubic",), lines=("codel ecn", "pie ecn", "fq_codel flows 1"), ecn=True, without="jitter,loss"),
)  # fmt: skip

CONTROLS = (
    Row("BBRv3 shares between RTTs", "row 2 with bbr3", "bbr3",
        ("share <= 0.2",), ccs=("bbr3",), without="cbr,jitter,loss,bursts,changes"),
    Row("CUBIC without HyStart", "row 4 with cubic nohystart", "cubic nohystart",
        ("completion_p50_ms >= 1.5 x cubic nohystart",)),
    Row("PIE under unresponsive load", "row 7 with pie", "pie", ("delay_targets > 10", "delay_targets of pie < 5")),
)  # fmt: skip
"""What must not be found."""


def planned(row: Row, method: str, seed: int) -> tuple[Plan, Evaluator]:
    """Return the plan of a search, and what judges its scenarios."""
    question = Attack(
        subject=row.subject,
        property=row.property,
        bound=row.bounds,
        without=row.without,
        qdisc=row.lines,
        cc=row.ccs,
        ecn=row.ecn,
        evaluations=EVALUATIONS,
        method=method,
        draw_seed=seed,
    )
    searched = plan.of(question)
    return searched, Evaluator(searched.subject, searched.broken.conditions, Runner(executors.local(None)))


def search(row: Row, method: str, seed: int) -> dict[str, Any]:
    """Return the result of one search, with the CPU seconds that it took."""
    began = time.process_time()
    found = answer.of(work.carry_out(*planned(row, method, seed), lambda _: None)).data
    return {
        "evaluations": found["evaluations"],
        "runs": found["runs"],
        "cpu_s": round(time.process_time() - began, 1),
        "find": found["finds"][0] if found["finds"] else None,
    }


def confirmed(row: Row, find: Mapping[str, Any]) -> dict[str, Any]:
    """Return what Linux says of a find."""
    (engine,) = engines.parse("kernel", several=False, linux=row.linux)
    return answer.confirmed_data(work.confirm(engine, planned(row, "tpe", 1)[1], find["scenario"]))


def main() -> None:
    """Run what is missing, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernel", action="store_true", help="let Linux run the find of each row's first search")
    parser.add_argument("--row", type=int, help="this row alone")
    asked = parser.parse_args()
    results = kept.load(HERE)
    searches = [(row, method, seed) for seed in SEEDS for method in METHODS for row in ROWS]
    searches += [(row, "tpe", 1) for row in CONTROLS]
    for row, method, seed in searches:
        key = f"{row.name}/{method}/{seed}"
        if asked.row not in (None, ROWS.index(row) + 1 if row in ROWS else 0):
            continue
        if key not in results:
            results[key] = search(row, method, seed)
            print(key, results[key]["evaluations"], sentence(results[key]["find"]), flush=True)
            kept.keep(HERE, results)
        find = results[key]["find"]
        if asked.kernel and (method, seed) == ("tpe", 1) and row in ROWS and find and find["kernel"] is None:
            find["kernel"] = confirmed(row, find)
            print(key, _linux(find), flush=True)
            kept.keep(HERE, results)
    write(results)


def sentence(find: dict[str, Any] | None) -> str:
    """Return what is left of a find after shrinking."""
    return "not found" if find is None else answer.sentence(find["facts"], find["facts"])


def write(results: dict[str, Any]) -> None:
    """Write the tables below the mark."""
    lines = ["| | failure | published in | after (this search) | after (random) | seeds that show it | Linux |",
             "|---|---|---|---|---|---|---|"]  # fmt: skip
    for number, row in enumerate(ROWS, 1):
        own = {method: [results.get(f"{row.name}/{method}/{seed}") for seed in SEEDS] for method in METHODS}
        first = own["tpe"][0]
        find = first["find"] if first else None
        lines.append(
            f"| {number} | {row.name} | {row.source} | {_after(own['tpe'])} | {_after(own['random'])} | "
            f"{'–' if find is None else _holds(find)} | {_linux(find)} |"
        )
    lines += ["", "What is left of each first find after shrinking:", ""]
    for number, row in enumerate(ROWS, 1):
        first = results.get(f"{row.name}/tpe/1")
        if first and first["find"]:
            lines.append(f"- {number}: {sentence(first['find'])}")
    lines += ["", "What must not be found, among as many scenarios:", ""]
    for row in CONTROLS:
        first = results.get(f"{row.name}/tpe/1")
        if first:
            lines.append(f"- {row.name} ({row.source}): {'found' if first['find'] else 'not found'}")
    kept.below(PAGE, HERE, lines)


def _after(found: list[dict[str, Any] | None]) -> str:
    """Return the median number of scenarios until the find, with all of them in brackets."""
    known = [one for one in found if one is not None]
    if not known:
        return "–"
    afters = [one["find"]["after"] if one["find"] else None for one in known]
    shown = ", ".join(str(one) if one is not None else f"> {EVALUATIONS}" for one in afters)
    middle = statistics.median(one if one is not None else EVALUATIONS + 1 for one in afters)
    return f"{f'> {EVALUATIONS}' if middle > EVALUATIONS else f'{middle:g}'} ({shown})"


def _holds(find: dict[str, Any]) -> str:
    return "the same for all seeds" if find["of"] == 1 else f"{find['holds']} of {find['of']}"


def _linux(find: dict[str, Any] | None) -> str:
    linux = find["kernel"] if find else None
    if not linux:
        return "–"
    release = linux["engine"].removeprefix("kernel-")
    why = str(linux["refusal"] or "").partition(";")[0]  # without what the engine accepts
    return f"refused: {why}" if why else f"{release}: {linux['holds']} of {linux['of']}"


if __name__ == "__main__":
    main()
