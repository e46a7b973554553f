"""Code that verbs with ``--store`` share: options, checks of what is written, and executing the runs."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from goodqueue.ask import shared
from goodqueue.cli import options
from goodqueue.errors import UserError

if TYPE_CHECKING:
    from goodqueue.running import Progress
    from goodqueue.store import Store

Made = TypeVar("Made")

Quick = Annotated[bool, typer.Option("--quick", help=shared.QUICK)]
StoreDir = Annotated[str | None, typer.Option("--store", metavar="DIR", help=shared.STORE)]


def check(out: str | None, force: bool, *others: str | None) -> None:
    """Check the folder ``out`` that a page is written into, if any.

    ``force`` may also be for ``others``. Raises UserError if the folder cannot be written.
    """
    from goodqueue.files import output

    options.check_force(force, out, *others)
    if out is not None:
        output.check(out, force)


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


@contextmanager
def continues(store: str | None) -> Iterator[None]:
    """Let Ctrl-C within the block say how the work goes on, if the folder ``store`` keeps its runs."""
    try:
        yield
    except KeyboardInterrupt:
        if store is None:
            raise
        raise KeyboardInterrupt(f"the same command continues it from {store}") from None


def carry_out(label: str, store: str | None, work: "Callable[[Progress, Store | None], Made]") -> Made:
    """Return the result of ``work``, with a progress bar called ``label``. It stores its runs in the folder ``store``.

    Raises UserError if the store cannot be written.
    """
    from goodqueue.show import terminal

    origin = f"--store {store}"
    kept = None
    if store is not None:
        from goodqueue import store as stores

        kept = stores.create(Path(store), origin)
    with continues(store), terminal.progress(label) as progress:
        try:
            return work(progress, kept)
        except OSError as error:
            stays = "what is stored stays, and the same command goes on from there"
            raise UserError(origin, f"cannot be written: {error.strerror or error}; {stays}") from error
