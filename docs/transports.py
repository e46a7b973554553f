"""Runs a QUIC stack under each discipline: ``.venv/bin/python docs/transports.py quinn``, after ``make transports``.

Writes its rows into docs/transports.json, and the tables of all stacks to the end of docs/transports.md.
"""

import argparse
import json
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import kept

import goodqueue_transports
from goodqueue import run
from goodqueue.record import Record, Scenario
from goodqueue.scenario import to_json

PAGE = Path(__file__).parent / "transports.md"
DISCIPLINES = ("pfifo", "codel ecn", "fq_codel", "pie ecn", "dualpi2", "cake")
RTT, RATE, SECONDS, WARMUP = "40ms", "50mbit", 30, 5


def scenario(stack: str, cc: str, qdisc: str, beside: bool) -> Scenario:
    """Return the scenario of one cell: the connection alone, or beside a flow of Linux's CUBIC."""
    cubic = [{"kind": "bulk", "cc": "cubic", "ecn": True}] if beside else []
    return {
        "duration": f"{SECONDS}s",
        "warmup": f"{WARMUP}s",
        "bottleneck": {"rate": RATE, "qdisc": qdisc},
        "path": {"rtt": RTT},
        "traffic": [{"kind": "quic", "stack": stack, "cc": cc}, *cubic],
    }


def cells(record: Record, beside: bool) -> list[str]:
    """Return the numbers of a run: utilisation, delay, marks, and beside CUBIC the share of the goodput."""
    queue, (app,) = record["queues"]["down"], record["apps"]
    if app["rtt_ms"] is None:
        return ["closed", "–", "–", *(["–"] if beside else [])]
    goodputs = [flow["goodput_mbps"] for flow in record["flows"]]
    share = [f"{100 * goodputs[0] / sum(goodputs):.0f}"] if beside else []
    delay: Any = queue["delay_ms"]
    return [f"{queue['utilisation_percent']:.1f}", f"{delay['p95']:.1f}", str(app["marks_heard"]), *share]


def speed(stack: str, cc: str) -> list[str]:
    """Return how much faster than real time a run is, and the CPU time per datagram of sender and receiver."""
    asked = to_json(scenario(stack, cc, "fq_codel", beside=False))
    began = time.process_time()
    run.one(json.loads(asked))
    took = time.process_time() - began
    timed = goodqueue_transports.Simulation(asked, cpu=True)
    timed.advance(timed.duration_s)
    ((_, _, ends),) = timed.cpu()
    return [f"{SECONDS / took:.0f}", *(f"{1e6 * seconds / datagrams:.1f}" for seconds, datagrams in ends)]


def main() -> None:
    """Run the cells of a stack, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stack", choices=goodqueue_transports.STACKS)
    stack = parser.parse_args().stack
    release, ccs = goodqueue_transports.STACKS[stack]
    name = f"{stack} {release or version(stack)}"
    rows: list[str] = []
    for cc in ccs:
        for qdisc in DISCIPLINES:
            numbers: list[str] = []
            for beside in (False, True):
                numbers += cells(run.one(scenario(stack, cc, qdisc, beside)), beside)
            rows.append(f"| {name} | {cc} | {qdisc} | {' | '.join(numbers)} |")
            print(rows[-1], flush=True)
    fast = f"| {name} | {ccs[0]} | {' | '.join(speed(stack, ccs[0]))} |"
    print(fast, flush=True)
    found = kept.load(PAGE)
    found[stack] = {"rows": rows, "speed": fast}
    kept.keep(PAGE, found)
    write([row for one in found.values() for row in one["rows"]], [one["speed"] for one in found.values()])


def write(rows: list[str], speeds: list[str]) -> None:
    """Write the tables into the page, behind its mark."""
    text = [
        "## Stack by discipline",
        "",
        f"{RATE}, {RTT}, {SECONDS} s, the first {WARMUP} s left out, one seed. Alone, and beside one flow of Linux's",
        "CUBIC with ECN: the share is the QUIC connection's, in percent of both goodputs. Delays are the queue's (ms).",
        "",
        "| stack | cc | discipline | used % | p95 | marks | beside: used % | p95 | marks | share % |",
        "|---|---|---|---:|---:|---:|---:|---:|---:|---:|",
        *rows,
        "",
        "## Speed",
        "",
        "A connection alone under `fq_codel`: simulated seconds per second of CPU time, and microseconds of CPU time",
        "in the stack's calls per datagram sent or received (reading the clock included).",
        "",
        "| stack | cc | × real time | sender µs | receiver µs |",
        "|---|---|---:|---:|---:|",
        *speeds,
    ]
    kept.below(PAGE, "transports.py", text)


if __name__ == "__main__":
    main()
