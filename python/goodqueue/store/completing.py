"""Executes the runs that are not stored yet. Each is stored as soon as it ends, so no run is repeated."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from goodqueue import executors, running
from goodqueue.engines.identity import Run
from goodqueue.store import DamagedError, Store
from goodqueue.store.index import Index

Seen = Callable[[Run, str], None]
"""Called with each run and its record, both for stored runs and for new ones."""

Missing = Callable[[int], AbstractContextManager[running.Progress]]
"""Called with the number of missing runs. Returns the display of their progress."""


def complete(
    store: Store | None,
    runs_wanted: Sequence[Run],
    execute: executors.Executor,
    seen: Seen,
    missing: Missing,
    failed: Callable[[Run, BaseException], None] | None = None,
    warn: Callable[[str], None] = lambda _: None,
) -> int:
    """Call ``seen`` once for each run of ``runs_wanted``, execute those that ``store`` lacks, and return their number.

    A long ``runs_wanted`` may make each run when it is asked for: only the keys are kept.

    A broken file of the store is moved away, ``warn`` is called, and its run is repeated. With ``failed``, a failed run
    is reported there and the others continue. Raises OSError if a record cannot be written, UserError if an engine
    fails.
    """
    wanted = {due.key: place for place, due in enumerate(runs_wanted)}
    todo: dict[str, list[Run]] = {}
    index = Index(store) if store else None

    def note(due: Run, text: str) -> None:
        if index:
            index.note(due.key, due.made_by.build, text)
        seen(due, text)

    try:
        for key, _, text in index.rows(wanted) if index else ():
            seen(runs_wanted[wanted.pop(key)], text)
        for due in (runs_wanted[place] for place in wanted.values()):
            stored = _stored(store, due, warn) if store else None
            if stored is not None:
                note(due, stored)
            else:
                todo.setdefault(due.engine, []).append(due)
        count = sum(map(len, todo.values()))
        if count:
            with missing(count) as progress:
                done = 0
                for engine, runs in todo.items():
                    share = part(progress, done / count, len(runs) / count)
                    _execute(engine, runs, store, execute, note, share, failed)
                    done += len(runs)
    finally:
        if index:
            index.write()
    return count


def _execute(
    engine: str,
    runs: Sequence[Run],
    store: Store | None,
    execute: executors.Executor,
    seen: Seen,
    progress: running.Progress,
    failed: Callable[[Run, BaseException], None] | None,
) -> None:
    def finished(index: int, text: str) -> None:
        if store:
            store.put(runs[index], text)
        seen(runs[index], text)

    def note(index: int, error: BaseException) -> None:
        assert failed is not None
        failed(runs[index], error)

    execute(engine, [run.scenario for run in runs], progress, finished, note if failed else None)


def part(progress: running.Progress, begin: float, share: float) -> running.Progress:
    """Return the progress of a part of the work."""
    return lambda done: progress(begin + share * done)


def _stored(store: Store, run: Run, warn: Callable[[str], None]) -> str | None:
    """Return the stored record of ``run``, or None if there is no intact one."""
    try:
        return store.get(run)
    except DamagedError as damaged:
        store.set_aside(damaged)
        warn(f"{damaged}; it is set aside and its run is done again")
        return None
