"""``goodqueue validate``: compares the simulator with a real Linux kernel."""

from typing import Annotated

import typer

from goodqueue import extras
from goodqueue.cli.options import Force, Json, Kernel, Workers, whole


def validate(
    quick: Annotated[bool, typer.Option("--quick", help="Eight cells, shorter, one seed: a look.")] = False,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="QDISC, CHANGE or QDISC/CHANGE: codel, rtt=10ms, codel/base; repeatable."),
    ] = None,
    drawn: Annotated[
        int | None,
        typer.Option(parser=whole("drawn", 1, 1000), metavar="N", help="N scenarios drawn at random instead."),
    ] = None,
    draw_seed: Annotated[
        int | None,
        typer.Option(parser=whole("draw_seed", 1), metavar="S", help="Which ones are drawn, with --drawn. [1]"),
    ] = None,
    lines: Annotated[
        int | None,
        typer.Option(parser=whole("lines", 1, 200_000), metavar="N", help="N lines of tc, read by tc itself instead."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(parser=whole("seed", 1), metavar="S", help="Which lines, with --lines. [1]")
    ] = None,
    seeds: Annotated[int | None, typer.Option(parser=whole("seeds"), metavar="N", help="Seeds per cell. [3]")] = None,
    out: Annotated[
        str | None, typer.Option(metavar="DIR", help="Keep each run there, and write tables and figures.")
    ] = None,
    force: Force = False,
    kernel: Kernel = None,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Compare the simulator with Linux on a set of scenarios.

    \b
    Examples:
      goodqueue validate --quick
      goodqueue validate --out validation
      goodqueue validate --only fq_codel --only rtt=200ms --seeds 5 --out validation
      goodqueue validate --drawn 33 --draw-seed 3 --out drawn
      goodqueue validate --lines 2000 --json
      goodqueue validate --drawn 33 --kernel 7.3

    The base scenario (10 Mbit/s, 50 ms, 4 CUBIC flows) runs under each of pfifo, red, pie, codel, sfq and fq_codel.
    Every other scenario changes one thing: flows, cc, rate, rtt, ecn, loaded. Bursts, transfers and paths with other
    hops come in addition. The whole set takes hours on the kernel. --drawn runs another set, for which the model was
    not made: 1 to 50 Mbit/s, 5 to 200 ms, 1 to 8 flows of CUBIC, Reno and BBR, and also the qdiscs cake, fq_pie and
    choke. The number in brackets is what chance alone gives: the simulator against itself with other seeds. With
    --out the same command continues a validation that was interrupted, and repeats no run. --force adds to a validation
    that was complete. --lines compares no runs: it gives lines, made at random, to the tc of the kernel engine's
    machine, and lists where goodqueue refuses another line or understands another value. --kernel compares with another
    release of Linux; the simulator's TCP is then that release's.
    """
    from pathlib import Path

    from goodqueue import engines
    from goodqueue.engines import releases
    from goodqueue.errors import Option, UserError

    engines.need_linux("validate")
    if kernel is not None:
        releases.parse(kernel, Option("kernel"), several=False)
    on = engines.parse("sim,kernel", linux=kernel)

    from goodqueue import store
    from goodqueue.show import terminal
    from goodqueue.validation import cells, drawing, judging, lines_show, pages, runs, show

    if seed is not None and lines is None:
        raise UserError("--seed", "found without --lines; accepted: with --lines N")
    if lines is not None:
        if quick or only or drawn or seeds or out:
            raise UserError("--lines", "found with another choice; accepted: --lines alone, with --seed and --json")
        lines_show.show(lines, seed or 1, json, kernel)
        return

    if drawn is not None and quick:
        raise UserError("--quick", "found with --drawn; accepted: one of them")
    if drawn is None and draw_seed is not None:
        raise UserError("--draw-seed", "found without --drawn; accepted: with --drawn N")
    if drawn is not None:
        wanted = drawing.load(cells.Draw(drawn, draw_seed or 1), only or [], seeds)
    else:
        wanted = cells.load(quick, only or [], seeds)
    if kernel is not None:
        wanted = cells.on_release(wanted, kernel)
    if out is not None:
        extras.needed("matplotlib", f"--out {out}")
        pages.check(Path(out), force)
    runs.check(wanted, on)
    try:
        if out is not None:
            pages.claim(Path(out))
        kept = store.create(Path(out) / pages.FOLDER, f"--out {out}") if out is not None else None
        with terminal.progress(f"{len(wanted.cells)} cells x {len(wanted.seeds)} seeds x 2 engines") as progress:
            validation = runs.carry_out(wanted, kept, workers, progress, on)
        judgement = judging.judge(validation.results)
        if out is not None:
            pages.write(Path(out), validation, judgement)
    except OSError as error:
        raise UserError(f"--out {out}", f"cannot be written: {error.strerror or error}") from error
    if json:
        terminal.emit_json(pages.as_json(validation, judgement))
        return
    tables = show.tables(validation, judgement)
    terminal.show([show.describe(validation), "", *tables, *show.headline(validation, judgement)])
    if out is not None:
        terminal.say(f"\nWritten: {out}/table.md, with figures, results.json and the store of its runs beside it.")
