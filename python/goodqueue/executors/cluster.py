"""Runs on a Dask cluster: each is one task, which gets a scenario and gives back its record.

A worker that computes with another build than ours would store its result under our key; it refuses instead. Where a
worker is lost, the scheduler gives its tasks to others.
"""

from collections.abc import Sequence
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
    import logging

    for noisy in ("distributed", "tornado"):  # their reports of a scheduler that is gone; we say it in a line
        logging.getLogger(noisy).setLevel(logging.CRITICAL)
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
    from distributed import as_completed

    wanted = [identity.of(engine, scenario) for scenario in scenarios]
    futures = {
        client.submit(work, engine, one.scenario, one.made_by, key=f"goodqueue-{one.key}"): index
        for index, one in enumerate(wanted)
    }
    done = 0
    try:
        for future in as_completed(list(futures), loop=client.loop):
            index = futures.pop(future)
            if future.status == "finished":
                finished(index, future.result())
            elif future.status in ("cancelled", "lost"):
                raise UserError(origin, "the scheduler went away; with --out the same command goes on where it was")
            elif failed is None:
                raise _error(future)
            else:
                failed(index, _error(future))
            done += 1
            progress(done / len(scenarios))
    finally:
        client.cancel(list(futures))


def _error(future: Any) -> BaseException:
    error: BaseException = future.exception()
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
