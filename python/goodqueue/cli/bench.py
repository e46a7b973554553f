"""``goodqueue bench``: how fast it is here."""

from typing import Annotated

import typer

from goodqueue.cli.options import Json


def bench(
    quick: Annotated[bool, typer.Option("--quick", help="A tenth of the work: rougher figures in seconds.")] = False,
    json: Json = False,
) -> None:
    """Measure the speed on this machine.

    Packets per CPU second: four standard cases run single-threaded, each in three fresh processes; the median is
    shown. Then nanoseconds: each qdisc's cost of one enqueue and one dequeue, the median of five.

    \b
    Examples:
      goodqueue bench
      goodqueue bench --quick --json
    """
    from goodqueue import bench as measuring
    from goodqueue import tables, terminal

    total = len(measuring.CASES) + 1
    with terminal.progress("bench") as progress:
        results = []
        for result in measuring.cases(quick):
            results.append(result)
            progress(len(results) / total)
        costs = list(measuring.qdiscs(quick))
    if json:
        from json import dumps

        terminal.emit(dumps(measuring.as_json(results, costs, quick)) + "\n")
        return
    for table in tables.bench_tables(results, costs):
        terminal.print_table(table)
