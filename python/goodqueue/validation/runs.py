"""Executes the runs of a set on both engines. Each record is stored as soon as it exists."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

from goodqueue import engines, executors, running
from goodqueue.engines import identity
from goodqueue.engines.identity import Run, build
from goodqueue.engines.kernel import image, making, process_build, vm
from goodqueue.record import Record
from goodqueue.store import Store, completing
from goodqueue.validation import result
from goodqueue.validation.cells import Set
from goodqueue.validation.result import Validation

COSTS = {"sim": 0.015, "again": 0.015, "kernel": 0.97}
"""The approximate share of the work in each part. `again` is the simulator with other seeds."""


def check(cell_set: Set, on: Sequence[str]) -> None:
    """Raise UserError if one of the engines ``on`` cannot run a cell, before anything runs."""
    for cell in cell_set.cells:
        for engine in on:
            engines.check(engine, cell.scenario)


def carry_out(
    cell_set: Set,
    store: Store | None,
    workers: int | None = None,
    progress: running.Progress | None = None,
    on: Sequence[str] = result.ENGINES,
) -> Validation:
    """Execute the runs of ``cell_set`` that ``store`` lacks, and return the measurements of all runs.

    ``on`` are the simulator and the kernel engine, perhaps with a release of Linux.

    Raises UserError if an engine fails, OSError if a record cannot be written.
    """
    by_engine = _parts(cell_set, store, workers, progress, on, COSTS)
    about = result.kernel_of(by_engine["kernel"])
    about |= _made_by(about["where"], engines.release(on[1]))
    by_part = _by_cell(cell_set, by_engine)
    sides = zip(*(by_part[part] for part in ("sim", "kernel", "again")), strict=True)
    results = [result.of_records(cell, *records) for cell, records in zip(cell_set.cells, sides, strict=True)]
    return _validation(cell_set, about, results)


def carry_out_again(
    earlier: Validation,
    cell_set: Set,
    store: Store | None,
    workers: int | None = None,
    progress: running.Progress | None = None,
) -> Validation:
    """Execute the simulator's runs of ``cell_set`` that ``store`` lacks, beside the kernel's numbers in ``earlier``.

    ``cell_set`` is the set of `again.cells_of` for ``earlier``. Raises UserError if the simulator fails, OSError if a
    record cannot be written.
    """
    by_part = _by_cell(cell_set, _parts(cell_set, store, workers, progress, ("sim",), {"sim": 0.5, "again": 0.5}))
    cells = zip(cell_set.cells, earlier.results, by_part["sim"], by_part["again"], strict=True)
    results = [result.beside(before, cell, sim, again) for cell, before, sim, again in cells]
    return _validation(cell_set, earlier.kernel, results)


def _parts(
    cell_set: Set,
    store: Store | None,
    workers: int | None,
    progress: running.Progress | None,
    on: Sequence[str],
    costs: Mapping[str, float],
) -> dict[str, list[Record]]:
    """Return the records of each part in ``costs``, in the order of cells and seeds."""
    by_part: dict[str, list[Record]] = {}
    begun = 0.0
    for part, share in costs.items():
        seeds = cell_set.other_seeds if part == "again" else cell_set.seeds
        scenarios = [{**cell.scenario, "seed": seed} for cell in cell_set.cells for seed in seeds]
        runs = [identity.of(on[part == "kernel"], scenario) for scenario in scenarios]
        shown = completing.part(progress or (lambda _: None), begun, share)
        by_part[part] = _records(runs, store, workers, shown)
        begun += share
    return by_part


def _by_cell(cell_set: Set, parts: Mapping[str, Sequence[Record]]) -> dict[str, list[Sequence[Record]]]:
    """Return the records of each part, cell by cell."""
    count = len(cell_set.seeds)
    starts = range(0, len(cell_set.cells) * count, count)
    return {part: [records[start : start + count] for start in starts] for part, records in parts.items()}


def _validation(cell_set: Set, kernel: Mapping[str, str], results: Sequence[result.Result]) -> Validation:
    from goodqueue._goodqueue import VERSION

    today = datetime.now(UTC).date().isoformat()
    return Validation(today, VERSION, build(), kernel, cell_set.quick, tuple(cell_set.seeds), results, cell_set.drawn)


def _made_by(where: str, release: str | None) -> dict[str, str]:
    """Return what makes the kernel's runs besides Linux. It is part of their keys too, so it was the same for all."""
    ours = {"laboratory": making.laboratory()}
    if where == "host":
        return ours
    ours["image"] = image.wanted(release)
    if where == "process":
        return ours | {"built": process_build.recipe_of(release)}
    return ours | {"qemu": vm.said().removeprefix("version ")}


def _records(runs: Sequence[Run], store: Store | None, workers: int | None, progress: running.Progress) -> list[Record]:
    """Return the records of ``runs``, which are all of one engine. Runs that are not stored are executed."""
    records: dict[str, Record] = {}

    def seen(run: Run, text: str) -> None:
        records[run.key] = json.loads(text)

    @contextmanager
    def missing(count: int) -> Iterator[running.Progress]:
        yield lambda share: progress(1 - (1 - share) * count / len(runs))

    completing.complete(store, runs, executors.local(workers), seen, missing)
    return [records[run.key] for run in runs]
