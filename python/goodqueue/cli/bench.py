"""``goodqueue bench``: how fast it is here."""

from typing import Annotated

import typer

from goodqueue.cli.options import Json


def bench(
    quick: Annotated[bool, typer.Option("--quick", help="A tenth of the work: rougher figures in seconds.")] = False,
    peers: Annotated[bool, typer.Option("--peers", help="Run the other simulators even with --quick.")] = False,
    json: Json = False,
) -> None:
    """Measure the speed on this machine.

    Packets per CPU second: four standard cases run single-threaded, each in three fresh processes; the median is
    shown. The first one again, in turns with ns-2 and ns-3 where they are installed (left out by --quick). Then
    nanoseconds: each qdisc's cost of one enqueue and one dequeue, the median of five, against the number of flows, the
    backlog, and when it overflows.

    \b
    Examples:
      goodqueue bench
      goodqueue bench --quick --json
    """
    from goodqueue import bench as measuring
    from goodqueue import bench_tables, terminal

    beside = peers or not quick
    total = len(measuring.CASES) + 1 + beside
    with terminal.progress("bench") as progress:
        results = []
        for result in measuring.cases(quick):
            results.append(result)
            progress(len(results) / total)
        others = measuring.run_peers(quick) if beside else None
        progress((total - 1) / total)
        costs = list(measuring.qdiscs(quick))
    if json:
        from json import dumps

        terminal.emit(dumps(measuring.as_json(results, costs, quick, others)) + "\n")
        return
    for table in bench_tables.bench_tables(results, costs, others):
        terminal.print_table(table)
