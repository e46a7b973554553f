"""Measures QUIC stacks for docs/results/transports.md, after ``make transports``.

``python -m experiments.transports quinn`` runs the stack under each discipline. With ``--speed`` it measures its CPU
time alone, and with ``--suite bbr`` it runs a whole suite with it. ``tcp --suite bbr bbr3`` runs one with a congestion
control of goodqueue's own. Results are kept in experiments/transports/results.json, and the tables of all results are
written to the end of the page.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import goodqueue_transports
from experiments import kept
from goodqueue import running
from goodqueue.record import Record, Scenario
from goodqueue.scenario import to_json

PAGE = kept.PAGES / "transports.md"
HERE = Path(__file__).parent
DISCIPLINES = ("pfifo", "codel ecn", "fq_codel", "pie ecn", "dualpi2", "cake")
RTT, RATE, SECONDS, WARMUP = "40ms", "50mbit", 30, 5
SLOWER = {"aioquic": "10mbit"}
"""The rates of stacks whose runs take too long at `RATE`."""
TIMED_SECONDS, TIMES = 10, 3
"""How long the runs are that measure a speed, and how many."""
TCP = "tcp"
"""The name of goodqueue's own congestion controls, where a suite is asked for."""
VERDICTS = ("passes", "fails", "open", "measured", "not run")
"""The verdicts of suites of congestion controls."""


def scenario(stack: str, cc: str, qdisc: str, beside: bool) -> Scenario:
    """Return the scenario of one cell: the connection alone, or beside a flow of Linux's CUBIC."""
    cubic = [{"kind": "bulk", "cc": "cubic", "ecn": True}] if beside else []
    return {
        "duration": f"{SECONDS}s",
        "warmup": f"{WARMUP}s",
        "bottleneck": {"rate": SLOWER.get(stack, RATE), "qdisc": qdisc},
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
    """Return how much faster than real time a run is, and the CPU time per datagram: of all, of sender and receiver.

    All are CPU time, the least of `TIMES` runs: what else the machine does makes a run slower, never faster.
    """
    asked = to_json(scenario(stack, cc, "fq_codel", beside=False) | {"duration": f"{TIMED_SECONDS}s"})
    whole: list[float] = []
    ends: list[list[float]] = []
    for _ in range(TIMES):
        began = time.process_time()
        running.one(json.loads(asked))
        whole.append(time.process_time() - began)
        timed = goodqueue_transports.Simulation(asked, cpu=True)
        timed.advance(timed.duration_s)
        ((_, _, counted),) = timed.cpu()
        ends.append([1e6 * seconds / datagrams for seconds, datagrams in counted])
    each = (1e6 * min(whole) / counted[0][1], *map(min, zip(*ends, strict=True)))
    return [f"{TIMED_SECONDS / min(whole):.0f}", *(f"{one:.1f}" for one in each)]


def run_stack(stack: str, only_speed: bool) -> dict[str, Any]:
    """Run the cells of ``stack`` and measure its speed, or only the latter. Return the rows of both tables."""
    release, ccs = goodqueue_transports.STACKS[stack]
    name = f"{stack} {release or version(stack)}" + (f", {SLOWER[stack]}" if stack in SLOWER else "")
    made = {}
    if not only_speed:
        rows: list[str] = []
        for cc in ccs:
            for qdisc in DISCIPLINES:
                numbers: list[str] = []
                for beside in (False, True):
                    numbers += cells(running.one(scenario(stack, cc, qdisc, beside)), beside)
                rows.append(f"| {name} | {cc} | {qdisc} | {' | '.join(numbers)} |")
                print(rows[-1], flush=True)
        made["rows"] = rows
    made["speed"] = [f"| {name} | {cc} | {' | '.join(speed(stack, cc))} |" for cc in ccs]
    print(*made["speed"], sep="\n", flush=True)
    return made


def run_suite(stack: str, suite: str, ccs: Sequence[str]) -> dict[str, Any]:
    """Run ``suite`` whole as a user does. Return its verdicts with reasons, and how long it took, by what it tested."""
    chosen = [] if stack == TCP else ["--stack", stack]
    command = [str(Path(sys.executable).parent / "goodqueue"), "suite", suite, *ccs, *chosen, "--json"]
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    sheet = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    wall_s, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    made = {}
    for tested, verdicts in sheet["summary"].items():
        rows = [(row, row["verdicts"][tested]) for row in sheet["rows"]]
        made[f"{suite} | {tested}"] = {
            "runs": sheet["runs"],
            "cpu_s": round(cpu_s),
            "wall_s": round(wall_s),
            "verdicts": verdicts,
            "reasons": [
                [f"{row['section']} {row['title']}", verdict, reason]
                for row, verdict in rows
                if verdict in ("fails", "open", "not run")
                for reason in reasons(row, tested, verdict)
            ],
        }
        print(suite, tested, sheet["runs"], f"{cpu_s:.0f} s of CPU, {wall_s:.0f} s", verdicts, flush=True)
    return made


def reasons(row: dict[str, Any], tested: str, verdict: str) -> list[str]:
    """Return why a row has its ``verdict``: the checks that decide it. None for a row that no run here answers."""
    if row["not_run"]:
        return [row["not_run"]] if row["not_run"].startswith("a connection") else []
    checks = [check for check in row["checks"] if check["tested"] == tested]
    if verdict == "fails":
        checks = [check for check in checks if check["verdict"] == "fails" and check["certain"] is not False]
    if verdict == "open":
        checks = [check for check in checks if check["verdict"] == "not_run" or check["certain"] is False]
    return [f"{check['statement']}. {check['why']}" for check in checks]


def main() -> None:
    """Run what is asked for, and write all tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stack", choices=(*goodqueue_transports.STACKS, TCP))
    parser.add_argument("--speed", action="store_true", help="measure only the CPU time")
    parser.add_argument("--suite", nargs="+", metavar=("SUITE", "CC"), help="run a suite whole")
    asked = parser.parse_args()
    made = (
        run_suite(asked.stack, asked.suite[0], asked.suite[1:]) if asked.suite else run_stack(asked.stack, asked.speed)
    )
    found = kept.load(HERE)  # now: another command may have written meanwhile
    if asked.suite:
        found["suites"] |= made
    else:
        found["stacks"][asked.stack] = found["stacks"].get(asked.stack, {}) | made
    kept.keep(HERE, found)
    write(found)


def write(found: dict[str, Any]) -> None:
    """Write the tables into the page, behind its mark."""
    stacks, suites = found["stacks"].values(), found["suites"].items()
    text = [
        "## Whole suites",
        "",
        "A command each, as in [Suites](../guides/transports.md#suites): every row, with the suite's own durations and",
        "seeds. The runs of `rfc9743` and `c4` include the congestion controls that the suite compares with.",
        "",
        f"| suite | tested | runs | CPU s | wall s | {' | '.join(VERDICTS)} |",
        f"|---|---|---:|---:|---:|{'---:|' * len(VERDICTS)}",
        *(
            f"| {key} | {one['runs']} | {one['cpu_s']} | {one['wall_s']} "
            f"| {' | '.join(str(one['verdicts'][verdict]) for verdict in VERDICTS)} |"
            for key, one in suites
        ),
        "",
        "Why rows fail, are open, or were not run. Rows that no run answers, for TCP neither, are left out.",
        "",
        "| suite | tested | row | verdict | reason |",
        "|---|---|---|---|---|",
        *(f"| {key} | {' | '.join(reason)} |" for key, one in suites for reason in one["reasons"]),
        "",
        "## Stack by discipline",
        "",
        f"{RATE} if a row has no other rate, {RTT}, {SECONDS} s, the first {WARMUP} s left out, one seed. Alone, and",
        "beside one flow of Linux's CUBIC with ECN: the share is the QUIC connection's, in percent of both goodputs.",
        "Delays are the queue's (ms).",
        "",
        "| stack | cc | discipline | used % | p95 | marks | beside: used % | p95 | marks | share % |",
        "|---|---|---|---:|---:|---:|---:|---:|---:|---:|",
        *(row for one in stacks for row in one["rows"]),
        "",
        "## Speed",
        "",
        f"A connection alone under `fq_codel`, {RATE} if a row has no other rate, {TIMED_SECONDS} s, all in CPU time,",
        f"the least of {TIMES} runs:",
        "simulated seconds per second, microseconds of the whole run per datagram (both directions), and microseconds",
        "in the calls of the stack per datagram that an end sends or receives (reading the clock included).",
        "",
        "| stack | cc | × real time | whole run µs | sender µs | receiver µs |",
        "|---|---|---:|---:|---:|---:|",
        *(row for one in stacks for row in one["speed"]),
    ]
    kept.below(PAGE, HERE, text)


if __name__ == "__main__":
    main()
