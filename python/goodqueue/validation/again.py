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
    cell_set = drawing.load(earlier.drawn, (), count) if earlier.drawn else cells.load(earlier.quick, (), count)
    release = releases.of(earlier.kernel["release"])
    if release != OLDEST:
        cell_set = cells.on_release(cell_set, release)
    if tuple(cell_set.seeds) != tuple(earlier.seeds):
        raise UserError(file, f"found the seeds {_listed(earlier.seeds)}; accepted: {_listed(cell_set.seeds)}")
    by_id = {cell.id: cell for cell in cell_set.cells}
    return replace(cell_set, cells=[_cell(by_id, result.id, result.line, file) for result in earlier.results])


def _cell(by_id: dict[str, Cell], name: str, line: str, file: str) -> Cell:
    if name not in by_id:
        raise UserError(file, f"found the cell {name}, which the set does not have any more; accepted: its cells")
    qdisc = by_id[name].scenario["bottleneck"]["qdisc"]
    if qdisc != line:
        raise UserError(file, f"found {line!r} in the cell {name}; accepted: {qdisc!r}, the set's line")
    return by_id[name]


def _listed(seeds: Sequence[int]) -> str:
    return ", ".join(str(seed) for seed in seeds)
