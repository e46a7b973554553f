"""The set of an earlier validation, so that the simulator runs again beside the kernel's numbers of then.

A change of the simulator changes nothing on Linux, whose runs take a hundred times as long.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from goodqueue.engines import releases
from goodqueue.errors import UserError
from goodqueue.validation import cells, drawing, pages
from goodqueue.validation.cells import Cell, Set
from goodqueue.validation.result import Validation

OLDEST = "6.1"
"""The release whose TCP and disciplines the simulator has if a scenario names none."""


def read(file: str) -> Validation:
    """Return the validation in ``file``, a results.json of `goodqueue validate`. Raises UserError."""
    return pages.load(Path(file))[0]


def cells_of(earlier: Validation, file: str) -> Set:
    """Return the cells and the seeds of ``earlier``, in its order. ``file`` names it in errors.

    Raises UserError if a cell is no longer in the set, or has another line or other seeds now.
    """
    count = len(earlier.seeds)
    wanted = drawing.load(earlier.drawn, (), count) if earlier.drawn else cells.load(earlier.quick, (), count)
    release = releases.of(earlier.kernel["release"])
    if release != OLDEST:
        wanted = cells.on_release(wanted, release)
    if tuple(wanted.seeds) != tuple(earlier.seeds):
        raise UserError(file, f"found the seeds {_listed(earlier.seeds)}; accepted: {_listed(wanted.seeds)}")
    known = {cell.id: cell for cell in wanted.cells}
    return replace(wanted, cells=[_cell(known, one.id, one.line, file) for one in earlier.results])


def _cell(known: dict[str, Cell], name: str, line: str, file: str) -> Cell:
    if name not in known:
        raise UserError(file, f"found the cell {name}, which the set does not have any more; accepted: its cells")
    own = known[name].scenario["bottleneck"]["qdisc"]
    if own != line:
        raise UserError(file, f"found {line!r} in the cell {name}; accepted: {own!r}, the set's line")
    return known[name]


def _listed(seeds: Sequence[int]) -> str:
    return ", ".join(str(seed) for seed in seeds)
