"""``goodqueue validate``: compares the simulator with a real Linux kernel."""

from typing import TYPE_CHECKING, Annotated

import typer

from goodqueue.cli import planned
from goodqueue.cli.options import Force, Json, Kernel, Workers, prepared, whole
from goodqueue.cli.planned import StoreDir

if TYPE_CHECKING:
    from goodqueue.validation.cells import Set
    from goodqueue.validation.result import Validation


HELP = """Compare the simulator with Linux on a set of scenarios.

\b
Examples:
  goodqueue validate --quick
  goodqueue validate --store runs --out validation
  goodqueue validate --only fq_codel --only rtt=200ms --seeds 5 --store runs
  goodqueue validate --drawn 33 --draw-seed 3 --store runs --out drawn
  goodqueue validate lines 2000 --json
  goodqueue validate --drawn 33 --kernel 7.3
  goodqueue validate --again validation/results.json --store runs --out after

The base scenario (10 Mbit/s, 50 ms, 4 CUBIC flows) runs under each of pfifo, red, pie, codel, sfq and fq_codel.
Every other scenario changes one thing: flows, cc, rate, rtt, ecn, loaded. Bursts, transfers and paths with other
hops come in addition. The whole set takes hours on the kernel. --drawn runs another set, for which the model was
not made: 1 to 50 Mbit/s, 5 to 200 ms, 1 to 8 flows of CUBIC, Reno and BBR, and also the qdiscs cake, fq_pie and
choke. The number in brackets is what chance alone gives: the simulator against itself with other seeds. With
--store the same command continues a validation that was interrupted, and repeats no run. --out needs --store beside
it. --kernel compares with another
release of Linux; the simulator's TCP is then that release's. --again takes the cells, the seeds and the kernel's
numbers of an earlier validation: it takes minutes, and shows what a change of the simulator does.
"""

app = typer.Typer(help=HELP, invoke_without_command=True, rich_markup_mode=None)


@app.callback()
@prepared
def validate(
    ctx: typer.Context,
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
    again: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="A results.json: only the simulator runs, beside the kernel's numbers there."
        ),
    ] = None,
    seeds: Annotated[int | None, typer.Option(parser=whole("seeds"), metavar="N", help="Seeds per cell. [3]")] = None,
    out: Annotated[str | None, typer.Option(metavar="DIR", help="Write the tables, figures and all numbers.")] = None,
    force: Force = False,
    store: StoreDir = None,
    kernel: Kernel = None,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Compare the simulator with Linux on a set of scenarios, unless a sub-command compares something else."""
    from pathlib import Path

    from goodqueue import engines
    from goodqueue.engines import releases
    from goodqueue.errors import Option, UserError

    engines.need_linux("validate")
    if ctx.invoked_subcommand is not None:
        if quick or only or drawn or draw_seed or again or seeds or out or force or store or kernel or workers or json:
            raise UserError("validate", f"found an option before {ctx.invoked_subcommand}; accepted: after it")
        return
    if kernel is not None:
        releases.parse(kernel, Option("kernel"), several=False)
    on = engines.parse("sim,kernel", linux=kernel)

    from goodqueue import store as stores
    from goodqueue.files import output
    from goodqueue.show import terminal
    from goodqueue.validation import judging, pages, runs, show

    earlier, wanted = _asked(again, drawn, draw_seed, quick, only, seeds, kernel)
    planned.check_beside(out, force, store)
    if store is not None:
        stores.check(Path(store), f"--store {store}")
    if earlier is None:
        runs.check(wanted, on)
    shape = f"{len(wanted.cells)} cells x {len(wanted.seeds)} seeds x 2" + (" engines" if earlier is None else "")
    validation = planned.carry_out(
        shape,
        store,
        lambda progress, kept: (
            runs.carry_out(wanted, kept, workers, progress, on)
            if earlier is None
            else runs.carry_out_again(earlier, wanted, kept, workers, progress)
        ),
    )
    judgement = judging.judge(validation.results)
    written = None
    if out is not None:
        written, _ = output.write(out, force, lambda folder: pages.write(folder, validation, judgement))
    if json:
        terminal.emit_json(pages.as_json(validation, judgement))
    else:
        tables = show.tables(validation, judgement)
        terminal.show([show.describe(validation), "", *tables, *show.headline(validation, judgement)])
        if written is not None:
            terminal.say(f"\nWritten: {written}/table.md, with figures and results.json beside it.")
    if out is not None and written is not None and written != out:
        raise output.appeared(out, written, force=force)


@app.command("lines")
@prepared
def lines(
    count: Annotated[str, typer.Argument(metavar="N", help="Lines of tc to compare.")],
    draw_seed: Annotated[
        int, typer.Option(parser=whole("draw_seed", 1), metavar="S", help="Which lines are drawn.")
    ] = 1,
    kernel: Kernel = None,
    json: Json = False,
) -> None:
    """Compare how goodqueue reads lines of tc with how tc reads them.

    The lines are made at random, and the tc of the kernel engine's machine reads them. The answer lists where goodqueue
    refuses another line, or understands another value.
    """
    from goodqueue import options
    from goodqueue.engines import releases
    from goodqueue.errors import Option
    from goodqueue.validation import lines_show

    number = options.whole(Option("lines"), count, 1, 200_000)
    if kernel is not None:
        releases.parse(kernel, Option("kernel"), several=False)
    lines_show.show(number, draw_seed, json, kernel)


def _asked(
    again: str | None,
    drawn: int | None,
    draw_seed: int | None,
    quick: bool,
    only: list[str] | None,
    seeds: int | None,
    kernel: str | None,
) -> "tuple[Validation | None, Set]":
    """Return the earlier validation, if there is one, and the set. Raises UserError."""
    from goodqueue.errors import UserError
    from goodqueue.validation import again as before
    from goodqueue.validation import cells, drawing

    if again is not None:
        if quick or only or drawn or draw_seed or seeds or kernel:
            raise UserError(
                "--again", "found with a choice of cells, seeds or kernel; accepted: alone, as its file says it"
            )
        earlier = before.read(again)
        return earlier, before.cells_of(earlier, again)
    if drawn is not None and quick:
        raise UserError("--quick", "found with --drawn; accepted: one of them")
    if drawn is None and draw_seed is not None:
        raise UserError("--draw-seed", "found without --drawn; accepted: with --drawn N")
    if drawn is not None:
        wanted = drawing.load(cells.Draw(drawn, draw_seed or 1), only or [], seeds)
    else:
        wanted = cells.load(quick, only or [], seeds)
    return None, cells.on_release(wanted, kernel) if kernel is not None else wanted
