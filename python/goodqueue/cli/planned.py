"""Code that verbs with ``--store`` share: options, executing the runs, and writing the page."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from goodqueue import extras
from goodqueue.cli import options
from goodqueue.cli.options import whole
from goodqueue.errors import UserError

if TYPE_CHECKING:
    from goodqueue.running import Progress
    from goodqueue.show.table import Table
    from goodqueue.store import Store

Made = TypeVar("Made")

Quick = Annotated[bool, typer.Option("--quick", help="Shorter runs, fewer seeds: a look, in seconds.")]
Seeds = Annotated[
    int | None,
    typer.Option("--seeds", parser=whole("seeds"), metavar="N", help="Seeds per cell. [its own number]"),
]
StoreDir = Annotated[
    str | None, typer.Option("--store", metavar="DIR", help="Keeps each run; what is in it is not run again.")
]

DataDir = Annotated[str | None, typer.Option("--out", metavar="DIR", help="Write a report and the data.")]
Method = Annotated[str, typer.Option("--method", metavar="NAME", help="tpe, random, or nsga2.")]
DrawSeed = Annotated[
    int,
    typer.Option(
        "--draw-seed", parser=whole("draw_seed", 0, 2**32 - 1), metavar="N", help="Draws what the search tries."
    ),
]


def check(out: str | None, force: bool, read: Sequence[Path], *others: str | None) -> bool:
    """Return whether there is a folder ``out`` to write a page into. It must spare the files that were ``read``.

    ``force`` may also be for ``others``. Raises UserError if the folder cannot be written.
    """
    from goodqueue.files import output

    options.check_force(force, out, *others)
    if out is None:
        return False
    output.check(out, force)
    extras.needed("matplotlib", f"--out {out}")
    output.spare(out, read)
    return True


def check_beside(out: str | None, force: bool, store: str | None) -> bool:
    """Return whether to write a folder ``out`` beside the folder ``store``, which keeps the runs.

    Before 0.1 ``--out`` of ``sweep``, ``calibrate`` and ``validate`` was the folder that kept the runs. So ``--out``
    is refused without ``--store``, and no command of that time does something else now. Raises UserError, also if the
    folder ``out`` must not be written.
    """
    from goodqueue.files import output

    options.check_force(force, out)
    if out is None:
        return False
    if store is None:
        accepted = "accepted: --store DIR alone, which keeps the runs, or both, with another folder for --out"
        raise UserError(f"--out {out}", f"found without --store; {accepted}")
    if output.are_same(out, store):
        raise UserError(f"--out {out}", "found the folder of --store; accepted: another one")
    output.check(out, force)
    return True


def carry_out(label: str, store: str | None, work: "Callable[[Progress, Store | None], Made]") -> Made:
    """Return the result of ``work``, with a progress bar called ``label``. It stores its runs in the folder ``store``.

    Raises UserError if the store cannot be written.
    """
    from goodqueue import store as stores
    from goodqueue.show import terminal

    origin = f"--store {store}"
    kept = stores.create(Path(store), origin) if store is not None else None
    with terminal.progress(label) as progress:
        try:
            return work(progress, kept)
        except OSError as error:
            stays = "what is stored stays, and the same command goes on from there"
            raise UserError(origin, f"cannot be written: {error.strerror or error}; {stays}") from error


def teller(
    json: bool, as_json: Callable[[str], object], parts: "Callable[[], Iterable[str | Table]]"
) -> Callable[[str | None], None]:
    """Return the function that prints a result as ``json`` or in ``parts``, and then the files that were written."""
    from goodqueue._goodqueue import VERSION
    from goodqueue.show import terminal

    def tell(written: str | None) -> None:
        if json:
            terminal.emit_json(as_json(VERSION))
            return
        terminal.show(parts())
        if written is not None:
            terminal.say(f"\nWritten: {written}.")

    return tell


def write(
    out: str | None,
    force: bool,
    pages: "Callable[[Path, Progress], UserError | None]",
    data: Sequence[str],
    tell: Callable[[str | None], None],
) -> None:
    """Let ``pages`` write the folder ``out``, if any, and call ``tell`` with the list of files, or None.

    ``data`` names the files beside report.html. Raises UserError if figures failed, or if the folder got another name.
    """
    from goodqueue.files import output
    from goodqueue.show import terminal

    if out is None:
        tell(None)
        return
    with terminal.progress("figures and page") as progress:
        place, failed = output.write(out, force, lambda folder: pages(folder, progress))
    *more, last = ["its figures", *data]
    whole = f"report.html, with {', '.join(more)} and {last} beside it"
    tell(f"{place}/{' and '.join(data) if failed else whole}")
    if failed:
        raise failed
    if place != out:
        raise output.appeared(out, place, force=force)
