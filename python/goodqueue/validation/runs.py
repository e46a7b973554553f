"""Doing the runs of a set on both engines. Each record is kept as soon as there is one."""

from datetime import UTC, datetime

from goodqueue import engines, run
from goodqueue.record import Record, Scenario
from goodqueue.validation import result
from goodqueue.validation.cells import Set
from goodqueue.validation.records import Records, build
from goodqueue.validation.result import Validation

COSTS = {"sim": 0.03, "kernel": 0.97}
"""The share of the work that each engine is, about."""


def check(wanted: Set) -> None:
    """Refuse what an engine cannot run, before anything runs. Raises UserError."""
    for cell in wanted.cells:
        for engine in result.ENGINES:
            engines.check(engine, cell.scenario)


def carry_out(
    wanted: Set, records: Records, workers: int | None = None, progress: run.Progress | None = None
) -> Validation:
    """Do those of the runs of ``wanted`` that are not among ``records``, and return what all of them measured.

    Raises UserError where an engine fails, OSError where a record cannot be written.
    """
    from goodqueue._goodqueue import VERSION

    everything = [{**cell.scenario, "seed": seed} for cell in wanted.cells for seed in wanted.seeds]
    found: dict[str, list[Record]] = {}
    begun = 0.0
    for engine in result.ENGINES:
        _complete(engine, everything, records, workers, progress, begun)
        begun += COSTS[engine]
        found[engine] = [record for scenario in everything if (record := records.get(engine, scenario))]
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


def _complete(
    engine: str,
    everything: list[Scenario],
    records: Records,
    workers: int | None,
    progress: run.Progress | None,
    begun: float,
) -> None:
    """Run on ``engine`` what has no record yet."""
    missing = [scenario for scenario in everything if records.get(engine, scenario) is None]

    def note(share: float) -> None:
        if progress:
            done = 1 - (1 - share) * len(missing) / len(everything)
            progress(begun + COSTS[engine] * done)

    if missing:
        engines.run_many(engine, missing, workers, note, lambda index, text: records.put(engine, missing[index], text))
