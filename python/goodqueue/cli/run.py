"""``goodqueue run``: one scenario, once."""

from typing import Annotated

import typer

from goodqueue.cli.options import Json, Sets, whole

ENGINES = ("sim", "kernel", "gateway")


def run(
    scenario: Annotated[str, typer.Argument(metavar="SCENARIO.toml", help="The scenario file.")],
    engine: Annotated[str, typer.Option(metavar="sim", help="What runs it: the simulator.")] = "sim",
    seed: Annotated[
        int | None, typer.Option(parser=whole("--seed", 0), metavar="N", help="Seed of the draws. [the file's]")
    ] = None,
    sets: Sets = None,
    trace: Annotated[str | None, typer.Option(metavar="FILE", hidden=True)] = None,
    json: Json = False,
) -> None:
    """Run one scenario and show what it measured.

    \b
    Examples:
      goodqueue run one-flow.toml
      goodqueue run one-flow.toml --set bottleneck.qdisc="pie target 20ms" --seed 7
      goodqueue run one-flow.toml --set traffic.0.count=4 --set traffic.0.cc=reno
      goodqueue run one-flow.toml --json > record.json

    \b
    A small scenario:
      duration = "70s"
      warmup = "10s"            # left out of the statistics
      [bottleneck]
      rate = "25mbit"
      qdisc = "codel target 5ms"   # the words after `tc qdisc add dev X root`
      [path]
      rtt = "50ms"              # without queueing
      [[traffic]]
      kind = "bulk"             # `goodqueue list traffic`

    With --json the output is the run's record; the same scenario and seed give the same bytes.
    """
    from goodqueue import terminal
    from goodqueue.errors import UserError, quoted
    from goodqueue.run import one_text
    from goodqueue.scenario import from_file

    if engine != "sim":
        what = "not built yet in this version" if engine in ENGINES else f"found {quoted(engine)}"
        raise UserError(f"--engine {engine}" if engine in ENGINES else "--engine", f"{what}; accepted: sim")
    if trace is not None:
        raise UserError("--trace", "not built yet in this version; accepted: --json, which has no single packets")
    resolved = from_file(scenario, sets or (), seed)
    with terminal.progress("simulating") as progress:
        text = one_text(resolved, progress)
    if json:
        terminal.emit(text + "\n")
    else:
        _show(scenario, text)


def _show(name: str, text: str) -> None:
    from json import loads

    from goodqueue import tables, terminal
    from goodqueue.record import Record
    from goodqueue.scenario import seconds

    record: Record = loads(text)
    resolved = record["scenario"]
    warmup = resolved.get("warmup", "0s")
    left_out = f" (the first {warmup} left out)" if seconds(warmup) > 0 else ""
    parts = [f"{resolved['duration']}{left_out}", f"seed {record['seed']}", f"engine {record['engine']}"]
    terminal.say(f"{name}: {', '.join(parts)}")
    terminal.say()
    for table in tables.run_tables(record):
        terminal.print_table(table)
    delays = [
        (direction, [value for value in queue["delay_percentiles_ms"] or () if value is not None])
        for direction, queue in record["queues"].items()
    ]
    shown = [(direction, delay) for direction, delay in delays if len(delay) == 101 and delay[-1] > 0]
    if shown:
        terminal.print_picture("Queueing delay", shown)
