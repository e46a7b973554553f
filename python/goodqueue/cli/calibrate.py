"""``goodqueue calibrate``: how far the numbers of real measuring programs can be trusted."""

from typing import Annotated

import typer

from goodqueue.cli import planned
from goodqueue.cli.options import Force, Json, whole
from goodqueue.cli.planned import StoreDir


def calibrate(
    quick: Annotated[bool, typer.Option("--quick", help="Four cells, shorter: a look, in a minute.")] = False,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="WORD", help="A program, path, line or PATH/LINE: iperf3, 5mbit-20ms, codel; repeatable."),
    ] = None,
    repeats: Annotated[
        int | None,
        typer.Option(parser=whole("repeats", 1, 100), metavar="N", help="How often each cell is measured. [1]"),
    ] = None,
    out: Annotated[str | None, typer.Option(metavar="DIR", help="Write the tables and all numbers.")] = None,
    force: Force = False,
    store: StoreDir = None,
    workers: Annotated[
        int | None,
        typer.Option(parser=whole("workers"), metavar="N", help="Links that run at the same time. [1]"),
    ] = None,
    json: Json = False,
) -> None:
    """Measure how far measuring programs are from the queue.

    \b
    Examples:
      goodqueue calibrate --quick
      goodqueue calibrate --store runs --out calibration --repeats 2
      goodqueue calibrate --only iperf3 --only fq_codel --store runs
      goodqueue calibrate --only 10mbit-20ms/pfifo --json

    iperf3, irtt, ping, Flent and mach run over `goodqueue link`, on 30 paths under each of five disciplines. The record
    of the link has the truth: each packet's delay in the queue, each drop, each flow's goodput. A table per program has
    the bias of each of its numbers, the interval of that bias, and the spread. A program that is not installed is left
    out, in one line that says how to get it. With --store the same command continues a calibration that was ended, and
    measures no run twice, unless the machine was busy. --out needs --store beside it. A repeat of all takes an hour
    with one worker. As root the links and the programs take precedence over all others.
    """
    import tempfile

    from goodqueue import engines, options
    from goodqueue.errors import UserError, warn

    engines.need_linux("calibrate")

    from goodqueue.calibrate import cells, keeping, pages, programs, running, show
    from goodqueue.files import output
    from goodqueue.show import terminal

    planned.check_beside(out, force, store)
    plan = cells.load(quick)
    chosen_cells, names = cells.pick(plan, only or [], [one.name for one in programs.PROGRAMS])
    there = running.installed(programs.wanted(names), warn)
    if not there:
        raise UserError("calibrate", "found none of its programs; accepted: one at least")
    with tempfile.TemporaryDirectory() as nowhere:
        kept = keeping.Kept(nowhere if store is None else store)
        versions = {one.name: one.version_in_words() for one in there}
        wanted = running.runs(plan, chosen_cells, there, versions, repeats or 1)
        with (
            planned.continues(store),
            terminal.progress(f"{len(wanted)} runs over {len(chosen_cells)} cells") as progress,
        ):
            results = running.carry_out(plan, wanted, kept, workers or 1, progress)
    found = pages.Calibration(results, there, versions, pages.machine(plan))
    written = None
    if out is not None:
        command = options.command("calibrate", quick=quick, only=only, repeats=repeats)
        written, _ = output.write(out, force, lambda folder: pages.fill(folder, found, command))
    if json:
        terminal.emit_json(pages.as_json(found))
    else:
        terminal.show([*show.tables(found.figures, there), *show.sentences(results, found.agreements)])
        if written is not None:
            terminal.say(f"\nWritten: {written}/{pages.TABLE}, with results.json beside it.")
    if out is not None and written is not None and written != out:
        raise output.appeared(out, written, force=force)
