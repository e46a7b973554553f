"""Doing the runs of a set on both engines. Each record is kept as soon as there is one."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

from goodqueue import engines, executors, run
from goodqueue.record import Record
from goodqueue.store import Store, completing, identity
from goodqueue.store.identity import Run, build
from goodqueue.validation import result
from goodqueue.validation.cells import Set
from goodqueue.validation.result import Validation

COSTS = {"sim": 0.03, "kernel": 0.97}
"""The share of the work that each engine is, about."""


def check(wanted: Set) -> None:
    """Refuse what an engine cannot run, before anything runs. Raises UserError."""
    for cell in wanted.cells:
        for engine in result.ENGINES:
            engines.check(engine, cell.scenario)


def carry_out(
    wanted: Set, store: Store | None, workers: int | None = None, progress: run.Progress | None = None
) -> Validation:
    """Do those of the runs of ``wanted`` that ``store`` lacks, and return what all of them measured.

    Raises UserError where an engine fails, OSError where a record cannot be written.
    """
    from goodqueue._goodqueue import VERSION

    everything = [{**cell.scenario, "seed": seed} for cell in wanted.cells for seed in wanted.seeds]
    found: dict[str, list[Record]] = {}
    begun = 0.0
    for engine in result.ENGINES:
        runs = [identity.of(engine, scenario) for scenario in everything]
        found[engine] = _records(runs, store, workers, progress or (lambda _: None), begun)
        begun += COSTS[engine]
    count = len(wanted.seeds)
    results = []
    for position, cell in enumerate(wanted.cells):
        own = slice(position * count, (position + 1) * count)
        results.append(result.of_records(cell, found["sim"][own], found["kernel"][own]))
    today = datetime.now(UTC).date().isoformat()
    about = result.kernel_of(found["kernel"])
    if about["where"] == "vm":
        about["qemu"] = _qemu()
    return Validation(today, VERSION, build(), about, wanted.quick, tuple(wanted.seeds), results)


def _qemu() -> str:
    """Return the version of this machine's qemu."""
    import subprocess

    from goodqueue.engines.kernel import vm

    try:
        said = subprocess.run([vm.QEMU, "--version"], check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return said.splitlines()[0].removeprefix("QEMU emulator version ")


def _records(
    runs: Sequence[Run], store: Store | None, workers: int | None, progress: run.Progress, begun: float
) -> list[Record]:
    """Return the records of ``runs``, which are all of one engine; those that are not stored are done."""
    found: dict[str, Record] = {}

    def seen(one: Run, text: str) -> None:
        found[one.key] = json.loads(text)

    @contextmanager
    def missing(count: int) -> Iterator[run.Progress]:
        whole = COSTS[runs[0].engine]
        yield lambda share: progress(begun + whole * (1 - (1 - share) * count / len(runs)))

    completing.complete(store, runs, executors.local(workers), seen, missing)
    return [found[one.key] for one in runs]
