"""Executes the runs of a set on both engines. Each record is stored as soon as it exists."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

from goodqueue import engines, executors, run
from goodqueue.engines import identity
from goodqueue.engines.identity import Run, build
from goodqueue.engines.kernel import image, making, vm
from goodqueue.record import Record
from goodqueue.store import Store, completing
from goodqueue.validation import result
from goodqueue.validation.cells import Set
from goodqueue.validation.result import Validation

COSTS = {"sim": 0.015, "again": 0.015, "kernel": 0.97}
"""The approximate share of the work in each part. `again` is the simulator with other seeds."""


def check(wanted: Set, on: Sequence[str]) -> None:
    """Raise UserError if one of the engines ``on`` cannot run a cell, before anything runs."""
    for cell in wanted.cells:
        for engine in on:
            engines.check(engine, cell.scenario)


def carry_out(
    wanted: Set,
    store: Store | None,
    workers: int | None = None,
    progress: run.Progress | None = None,
    on: Sequence[str] = result.ENGINES,
) -> Validation:
    """Execute the runs of ``wanted`` that ``store`` lacks, and return the measurements of all runs.

    ``on`` are the simulator and the kernel engine, perhaps with a release of Linux.

    Raises UserError if an engine fails, OSError if a record cannot be written.
    """
    from goodqueue._goodqueue import VERSION

    found: dict[str, list[Record]] = {}
    begun = 0.0
    for part, share in COSTS.items():
        seeds = wanted.other_seeds if part == "again" else wanted.seeds
        scenarios = [{**cell.scenario, "seed": seed} for cell in wanted.cells for seed in seeds]
        runs = [identity.of(on[part == "kernel"], scenario) for scenario in scenarios]
        shown = completing.part(progress or (lambda _: None), begun, share)
        found[part] = _records(runs, store, workers, shown)
        begun += share
    count = len(wanted.seeds)
    results = []
    for position, cell in enumerate(wanted.cells):
        own = slice(position * count, (position + 1) * count)
        results.append(result.of_records(cell, found["sim"][own], found["kernel"][own], found["again"][own]))
    today = datetime.now(UTC).date().isoformat()
    about = result.kernel_of(found["kernel"])
    about |= _made_by(about["where"], engines.release(on[1]))
    return Validation(today, VERSION, build(), about, wanted.quick, tuple(wanted.seeds), results, wanted.drawn)


def _made_by(where: str, release: str | None) -> dict[str, str]:
    """Return what makes the kernel's runs besides Linux. It is part of their keys too, so it was the same for all."""
    ours = {"laboratory": making.laboratory()}
    return (
        ours | {"image": image.wanted(release), "qemu": vm.said().removeprefix("version ")} if where == "vm" else ours
    )


def _records(runs: Sequence[Run], store: Store | None, workers: int | None, progress: run.Progress) -> list[Record]:
    """Return the records of ``runs``, which are all of one engine. Runs that are not stored are executed."""
    found: dict[str, Record] = {}

    def seen(one: Run, text: str) -> None:
        found[one.key] = json.loads(text)

    @contextmanager
    def missing(count: int) -> Iterator[run.Progress]:
        yield lambda share: progress(1 - (1 - share) * count / len(runs))

    completing.complete(store, runs, executors.local(workers), seen, missing)
    return [found[one.key] for one in runs]
