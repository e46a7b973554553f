"""``goodqueue bench``: measures the speed on this machine."""

from collections.abc import Callable
from dataclasses import asdict
from json import dumps
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from goodqueue.cli.options import Json, prepared, whole
from goodqueue.errors import UserError, warn

Number = TypeVar("Number")
Quick = Annotated[bool, typer.Option("--quick", help="A tenth of the work: rougher figures in seconds.")]

HELP = """Measure the speed on this machine.

The first table has packets per CPU second: four standard cases, single-threaded, each in three new processes; it shows
the median. Beside it stands what a packet's memory alone would take. A fifth case has web users, and shows connections
per CPU second. If ns-2 or ns-3 is installed (docs/results/benchmarks.md), the cases run in turns with it, and
PackMime's web traffic with ns-2. --quick leaves both out. --htsim adds a third simulator. The last table has
nanoseconds for one enqueue and one dequeue of each qdisc: the median of five, by number of flows, by backlog, and while
the queue overflows.

\b
Examples:
  goodqueue bench
  goodqueue bench --quick --json
  goodqueue bench flows 1000,10000,100000
  goodqueue bench users 1000,10000,100000
  goodqueue bench wifi
  goodqueue bench runs
  goodqueue bench threads 1,2,auto
"""

app = typer.Typer(help=HELP, invoke_without_command=True, rich_markup_mode=None)


@app.callback()
@prepared
def bench(
    ctx: typer.Context,
    quick: Quick = False,
    peers: Annotated[bool, typer.Option("--peers", help="Run the other simulators even with --quick.")] = False,
    htsim: Annotated[
        Path | None, typer.Option("--htsim", metavar="FOLDER", help="A checkout of htsim, built, to run beside them.")
    ] = None,
    json: Json = False,
) -> None:
    """Measure the standard cases and the disciplines, unless a sub-command measures something else."""
    from os import name as system

    if system == "nt":
        raise UserError("bench", "found Windows; accepted: Linux or macOS, which report the memory of a process")
    if ctx.invoked_subcommand is not None and (quick or peers or json or htsim):
        raise UserError("bench", f"found an option before {ctx.invoked_subcommand}; accepted: after it")
    if ctx.invoked_subcommand is None:
        _warn_of_build()
        _standard(quick, peers, htsim, json)


@app.command("flows")
@prepared
def flows(
    counts: Annotated[str, typer.Argument(metavar="N[,N...]", help="Numbers of flows.")],
    quick: Quick = False,
    json: Json = False,
) -> None:
    """Measure the speed, and the memory per flow, by number of flows."""
    numbers = _counts("flows", counts, whole("flows", 1, 1_000_000))
    _warn_of_build()
    _crowds(numbers, quick, json)


@app.command("users")
@prepared
def users(
    counts: Annotated[str, typer.Argument(metavar="N[,N...]", help="Numbers of web users.")],
    quick: Quick = False,
    json: Json = False,
) -> None:
    """Measure the speed by number of web users, on a link of matching rate."""
    numbers = _counts("users", counts, whole("users", 1, 1_000_000))
    _warn_of_build()
    _users(numbers, quick, json)


@app.command("wifi")
@prepared
def wifi(quick: Quick = False, json: Json = False) -> None:
    """Measure Wi-Fi cells: beside ns-3, and by number of stations."""
    _warn_of_build()
    _cells(quick, json)


@app.command("runs")
@prepared
def runs(quick: Quick = False, json: Json = False) -> None:
    """Measure runs as users have them, their start-up apart."""
    _warn_of_build()
    _runs(quick, json)


@app.command("threads")
@prepared
def threads(
    counts: Annotated[
        str, typer.Argument(metavar="N[,N...]", help="Numbers of threads, or `auto`: as many as a run chooses.")
    ],
    quick: Quick = False,
    json: Json = False,
) -> None:
    """Measure single runs by number of threads."""
    number = whole("threads")
    numbers = _counts("threads", counts, lambda word: None if word == "auto" else number(word))
    _warn_of_build()
    _threads(numbers, quick, json)


def _warn_of_build() -> None:
    """Say that another build of this machine would be faster."""
    from goodqueue._goodqueue import HAS_PROFILE

    if not HAS_PROFILE:
        warn("this build has no profile of what is hot, which costs it speed; `make bench` measures one that has")


def _standard(quick: bool, peers: bool, htsim: Path | None, as_json: bool) -> None:
    """Measure the standard cases and the disciplines."""
    from goodqueue.show import terminal
    from goodqueue.speed import bench as measuring
    from goodqueue.speed import bench_peers, bench_tables

    beside = peers or not quick or htsim is not None
    total = len(measuring.CASES) + 2 + 2 * beside
    with terminal.progress("bench") as progress:
        results = []
        for result in measuring.cases(quick):
            results.append(result)
            progress(len(results) / total)
        web = measuring.run_users(measuring.WEB, quick)
        progress((len(results) + 1) / total)
        others = bench_peers.run_cases(quick, htsim) if beside else None
        web_others = bench_peers.run_web(quick) if beside else None
        progress((total - 1) / total)
        costs = list(measuring.qdiscs(quick))
    if as_json:
        terminal.emit(dumps(measuring.as_json(results, costs, quick, others, web, web_others)) + "\n")
        return
    terminal.show(bench_tables.bench_tables(results, costs, others, web, web_others))


def _counts(what: str, text: str, read: Callable[[str], Number]) -> list[Number]:
    """Return the numbers in a list with commas. Raises UserError."""
    try:
        return [read(word) for word in text.split(",")]
    except UserError as error:
        raise UserError(f"bench {what}", error.parts[-1]) from None


def _users(counts: list[int], quick: bool, as_json: bool) -> None:
    """Measure the speed for each number of web users in ``counts``."""
    from goodqueue.show import terminal
    from goodqueue.speed import bench as measuring
    from goodqueue.speed import bench_tables

    found = []
    with terminal.progress("bench") as progress:
        for count in counts:
            found.append(measuring.run_users(measuring.of_users(count), quick))
            progress(len(found) / len(counts))
    if as_json:
        terminal.emit(dumps({"schema": 1, "quick": quick, "users": [asdict(one) for one in found]}) + "\n")
        return
    terminal.print_table(bench_tables.users_table(found, "Users of the web simulated by one thread"))


def _cells(quick: bool, as_json: bool) -> None:
    """Measure Wi-Fi cells."""
    from goodqueue.show import terminal
    from goodqueue.speed import bench, bench_tables, bench_wifi

    cells, growth = [], []
    total = len(bench_wifi.CELLS) + len(bench_wifi.STATIONS)
    with terminal.progress("bench") as progress:
        for cell in bench_wifi.CELLS:
            cells.append(bench_wifi.run_cell(cell, 1 if quick else bench.REPEATS))
            progress(len(cells) / total)
        for stations in bench_wifi.STATIONS:
            growth.append(bench_wifi.run_growth(stations, quick))
            progress((len(cells) + len(growth)) / total)
    if as_json:
        found = {"cells": [asdict(one) for one in cells], "stations": [asdict(one) for one in growth]}
        terminal.emit(dumps({"schema": 1, "quick": quick, **found}) + "\n")
        return
    terminal.show(bench_tables.cell_tables(cells, growth))


def _runs(quick: bool, as_json: bool) -> None:
    """Measure runs as users have them."""
    from goodqueue.show import terminal
    from goodqueue.speed import bench_runs, bench_tables

    found = []
    names = bench_runs.names()
    with terminal.progress("bench") as progress:
        for name in names:
            found.append(bench_runs.run(name, quick))
            progress(len(found) / len(names))
    if as_json:
        terminal.emit(dumps({"schema": 1, "quick": quick, "runs": [asdict(one) for one in found]}) + "\n")
        return
    terminal.print_table(bench_tables.runs_table(found))


def _threads(counts: list[int | None], quick: bool, as_json: bool) -> None:
    """Measure single runs on each number of threads in ``counts``."""
    from goodqueue.show import terminal
    from goodqueue.speed import bench_tables, bench_threads

    found = []
    with terminal.progress("bench") as progress:
        for done, name in enumerate(bench_threads.NAMES, 1):
            found += bench_threads.run_case(name, counts, quick)
            progress(done / len(bench_threads.NAMES))
    if as_json:
        terminal.emit(dumps({"schema": 1, "quick": quick, "threads": [asdict(one) for one in found]}) + "\n")
        return
    terminal.print_table(bench_tables.threads_table(found))


def _crowds(counts: list[int], quick: bool, as_json: bool) -> None:
    """Measure each number of flows in ``counts`` in each of the disciplines."""
    from goodqueue.show import terminal
    from goodqueue.speed import bench as measuring
    from goodqueue.speed import bench_tables

    cases = [(count, qdisc) for count in counts for qdisc in measuring.CROWDED]
    crowds = []
    with terminal.progress("bench") as progress:
        for count, qdisc in cases:
            crowds.append(measuring.run_crowd(count, qdisc, quick))
            progress(len(crowds) / len(cases))
    if as_json:
        terminal.emit(dumps({"schema": 1, "quick": quick, "flows": [asdict(crowd) for crowd in crowds]}) + "\n")
        return
    terminal.print_table(bench_tables.crowd_table(crowds))
