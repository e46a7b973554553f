"""Runs on a Dask cluster: each is one task, which gets a scenario and gives back its record.

A worker that computes with another build than ours would store its result under our key; it refuses instead. Where a
worker is lost, the scheduler gives its tasks to others.
"""

import asyncio
import concurrent.futures
import logging
from collections.abc import Iterator, Sequence
from contextlib import suppress
from threading import Event
from typing import TYPE_CHECKING, Any

from goodqueue import engines, run
from goodqueue.errors import UserError
from goodqueue.executors import Executor
from goodqueue.record import Scenario
from goodqueue.store import identity
from goodqueue.store.identity import Maker

if TYPE_CHECKING:
    from distributed import Client

CANCELLED = (asyncio.CancelledError, concurrent.futures.CancelledError)
"""What a task ends with when nobody knows of it any more."""

PATIENCE_S = 10.0
"""How long a scheduler may take to answer, and to have a worker."""


def connect(host: str, port: int, name: str) -> Executor:
    """Return the executor on the scheduler at ``host`` and ``port``; ``name`` is what the user called it.

    Raises UserError where the package is missing or nobody answers.
    """
    client = _client(host, port, f"--executor {name}")

    def execute(
        engine: str,
        scenarios: Sequence[Scenario],
        progress: run.Progress,
        finished: run.Finished,
        failed: run.Failed | None = None,
    ) -> None:
        _execute(client, f"--executor {name}", engine, scenarios, progress, finished, failed)

    return execute


def _client(host: str, port: int, origin: str) -> "Client":
    try:
        from distributed import Client
    except ImportError:
        raise UserError(origin, "needs dask.distributed; accepted: local, or install goodqueue[dask]") from None
    for name in list(logging.root.manager.loggerDict):
        if name.startswith(("distributed", "tornado")):  # their reports of what is lost; what matters we say in a line
            logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        client = Client(f"tcp://{host}:{port}", timeout=PATIENCE_S, set_as_default=False)
    except (OSError, ValueError):
        accepted = "HOST:PORT of a running `dask scheduler`"
        raise UserError(origin, f"no scheduler answers; accepted: {accepted}") from None
    try:
        client.wait_for_workers(1, timeout=PATIENCE_S)
    except TimeoutError:
        client.close()
        raise UserError(origin, "the scheduler has no workers; accepted: one at least (`dask worker`)") from None
    return client


def _execute(
    client: "Client",
    origin: str,
    engine: str,
    scenarios: Sequence[Scenario],
    progress: run.Progress,
    finished: run.Finished,
    failed: run.Failed | None,
) -> None:
    wanted = [identity.of(engine, scenario) for scenario in scenarios]
    futures = {
        client.submit(work, engine, one.scenario, one.made_by, key=f"goodqueue-{one.key}"): index
        for index, one in enumerate(wanted)
    }
    try:
        for done, (index, outcome) in enumerate(_outcomes(client, futures, origin), 1):
            if isinstance(outcome, str):
                finished(index, outcome)
            elif failed is None:
                raise outcome
            else:
                failed(index, outcome)
            progress(done / len(scenarios))
    finally:
        with suppress(OSError):
            client.cancel(list(futures))


def _outcomes(client: "Client", futures: dict[Any, int], origin: str) -> Iterator[tuple[int, str | BaseException]]:
    """Yield the position and the record of each of ``futures`` as it ends, or what it failed with; forget it then.

    Raises UserError where the scheduler is lost.
    """
    from distributed import as_completed

    try:
        for future in as_completed(list(futures), loop=client.loop):
            error = future.exception()
            if isinstance(error, CANCELLED):
                raise error
            yield futures.pop(future), future.result() if error is None else _said(error)
    except (OSError, *CANCELLED):
        raise UserError(origin, "the scheduler went away; with --out the same command goes on where it was") from None


def _said(error: BaseException) -> BaseException:
    """Return ``error`` in our words."""
    if type(error).__name__ == "KilledWorker":
        return UserError("its workers died, one after another, whenever they ran it")
    return error


def work(engine: str, scenario: Scenario, made_by: Maker) -> str:
    """Run ``scenario`` in this worker and return its record. Raises UserError where this is not what ``made_by`` says.

    ``made_by`` is what the run's key holds: another build here would give another record under that key.
    """
    here = identity.maker(engine, scenario)
    if here != made_by:
        found = f"the worker has goodqueue {here.version}, build {here.build}, disciplines {here.code}"
        wanted = f"what the sweep has: {made_by.version}, {made_by.build}, {made_by.code}"
        raise UserError(f"{found}; accepted: {wanted}")
    return engines.find(engine)(scenario, lambda _: None, Event())
