"""What becomes of ``--out`` and ``--store`` of a question: what is refused before its work, and the work."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from goodqueue.errors import UserError

if TYPE_CHECKING:
    from goodqueue.running import Progress
    from goodqueue.store import Store

Made = TypeVar("Made")


def check(out: str | None, force: bool, *others: str | None) -> None:
    """Check the folder ``out`` that a page is written into, if any.

    ``force`` may also be for ``others``. Raises UserError if the folder cannot be written.
    """
    from goodqueue.files import output

    output.check_force(force, out, *others)
    if out is not None:
        output.check(out, force)


def check_beside(out: str | None, store: str | None) -> None:
    """Check that the folder ``out``, if any, stands beside another folder ``store``, which keeps the runs.

    Before 0.1 ``--out`` of ``sweep``, ``calibrate`` and ``validate`` was the folder that kept the runs. So ``--out``
    is refused without ``--store``, and no command of that time does something else now. Raises UserError.
    """
    from goodqueue.files import output

    if out is None:
        return
    if store is None:
        accepted = "accepted: --store DIR alone, which keeps the runs, or both, with another folder for --out"
        raise UserError(f"--out {out}", f"found without --store; {accepted}")
    if output.are_same(out, store):
        raise UserError(f"--out {out}", "found the folder of --store; accepted: another one")


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

    with terminal.progress(label) as progress:
        if store is None:
            return work(progress, None)

        from goodqueue import store as stores

        origin = f"--store {store}"
        kept = stores.create(Path(store), origin)
        try:
            return work(progress, kept)
        except OSError as error:
            stays = "what is stored stays, and the same command goes on from there"
            raise UserError(origin, f"cannot be written: {error.strerror or error}; {stays}") from error
