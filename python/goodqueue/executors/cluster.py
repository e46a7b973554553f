"""Runs scenarios on a Dask cluster. Each run is one task, which gets a scenario and returns its record.

A worker with another build than ours would store its result under our key. Such a worker gets no runs (`fleet`), and
would refuse them. If a worker is lost, its tasks are given to others.
"""

import asyncio
import concurrent.futures
import logging
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING, Any

from goodqueue import engines, extras, running
from goodqueue.engines import identity
from goodqueue.engines.identity import Maker, Run
from goodqueue.errors import UserError
from goodqueue.executors import Executor, fleet
from goodqueue.executors.fleet import Fleet
from goodqueue.record import Scenario

if TYPE_CHECKING:
    from distributed import Client, Future

CANCELLED = (asyncio.CancelledError, concurrent.futures.CancelledError)
"""The exceptions of a task that the scheduler has forgotten."""

AHEAD = 8
"""Tasks per thread that are submitted at a time: enough that no thread waits, and few if a worker comes or goes."""

POLL_S = 0.02
"""The time between two looks at the tasks, in seconds. Ctrl-C takes effect at a look."""


def connect(host: str, port: int, name: str, warn: Callable[[str], None] = lambda _: None) -> Executor:
    """Return the executor on the scheduler at ``host`` and ``port``. ``name`` is the user's name for it.

    ``warn`` is called about workers that cannot be used. Raises UserError if the package is missing or no scheduler
    answers.
    """
    client = _client(host, port, f"--executor {name}")

    def execute(
        engine: str,
        scenarios: Sequence[Scenario],
        progress: running.Progress,
        finished: running.Finished,
        failed: running.Failed | None = None,
    ) -> None:
        runs = [identity.of(engine, scenario) for scenario in scenarios]
        tasks = _Tasks(client, Fleet(client, f"--executor {name}", engine, runs, warn), runs)
        try:
            for done, (index, outcome) in enumerate(tasks.outcomes(f"--executor {name}"), 1):
                if isinstance(outcome, str):
                    finished(index, outcome)
                elif failed is None:
                    raise outcome
                else:
                    failed(index, outcome)
                progress(done / len(runs))
        finally:
            tasks.cancel()

    return execute


def _client(host: str, port: int, origin: str) -> "Client":
    extras.needed("distributed", origin)
    from distributed import Client

    for name in list(logging.root.manager.loggerDict):
        if name.startswith(("distributed", "tornado")):  # hide their log of lost workers: we print one line instead
            logging.getLogger(name).setLevel(logging.CRITICAL)
    warnings.filterwarnings("ignore", module="distributed")  # about versions: we report what does not work

    class Quiet(Client):  # type: ignore[misc]
        def __del__(self) -> None:
            """Do nothing. A client that never connected would close itself with a traceback, after a long wait."""

    try:
        patience = fleet.PATIENCE_S
        client = fleet.within(patience, lambda: Quiet(f"tcp://{host}:{port}", timeout=patience, set_as_default=False))
    except Exception:  # noqa: BLE001 - the server may be anything, and distributed may raise anything
        accepted = "HOST:PORT of a running `dask scheduler`"
        raise UserError(origin, f"no scheduler answers; accepted: {accepted}") from None
    fleet.wait_for_one(client, origin)
    return client


@dataclass(slots=True)
class _Task:
    index: int
    """The index of the run."""
    future: "Future"
    workers: frozenset[str]
    """The workers that may take it."""


class _Tasks:
    """The runs of an execution, some of them submitted."""

    def __init__(self, client: "Client", workers: Fleet, runs: Sequence[Run]) -> None:
        self._client, self._fleet, self._wanted = client, workers, runs
        self._waiting = list(range(len(runs)))[::-1]
        self._given: list[_Task] = []
        self._attempts = [0] * len(runs)

    def outcomes(self, origin: str) -> Iterator[tuple[int, str | BaseException]]:
        """Yield the position of each run as it ends, with its record or its error.

        Raises UserError if the scheduler is lost, or no worker is left.
        """
        while self._waiting or self._given:
            self._fleet.look()
            try:
                self._take_back()
                self._give()
                ended = [task for task in self._given if task.future.status != "pending"]
                for task in ended:
                    self._given.remove(task)
                    outcome = self._outcome(task)
                    if outcome is not None:
                        yield task.index, outcome
            except (OSError, *CANCELLED):
                raise fleet.gone(origin) from None
            if not ended:
                time.sleep(POLL_S)

    def cancel(self) -> None:
        """Cancel all submitted tasks on the cluster."""
        with suppress(Exception):  # the cluster may be gone
            fleet.within(1.0, lambda: self._client.cancel([task.future for task in self._given], force=True))

    def _give(self) -> None:
        usable = self._fleet.usable
        most = AHEAD * sum(usable.values())
        while usable and self._waiting and len(self._given) < most:
            index = self._waiting.pop()
            run = self._wanted[index]
            # A task's name is never used twice, since the scheduler may still know a lost task.
            key = f"goodqueue-{run.key}-{self._attempts[index]}"
            self._attempts[index] += 1
            made_by = (run.made_by.version, run.made_by.build, run.made_by.code)
            future = self._client.submit(
                tasking(), run.engine, run.scenario, made_by, key=key, workers=list(usable), allow_other_workers=False
            )
            self._given.append(_Task(index, future, frozenset(usable)))

    def _take_back(self) -> None:
        """Take back the tasks that only lost workers may run."""
        for task in [task for task in self._given if task.workers.isdisjoint(self._fleet.usable)]:
            self._given.remove(task)
            self._waiting.append(task.index)
            with suppress(Exception):
                fleet.within(1.0, task.future.cancel)

    def _outcome(self, task: _Task) -> str | BaseException | None:
        """Return the record or the error of a task that has ended, or None if the task is repeated."""
        try:
            error: Any = fleet.within(fleet.PATIENCE_S, task.future.exception)
            if error is None:
                text: str = fleet.within(fleet.PATIENCE_S, task.future.result)
                return text
        except TimeoutError:  # the worker is lost, and the record with it
            self._waiting.append(task.index)
            return None
        if isinstance(error, CANCELLED):
            raise error
        return _in_our_words(error)


def _in_our_words(error: BaseException) -> BaseException:
    """Return ``error`` in our own words."""
    if type(error).__name__ == "KilledWorker":
        return UserError("its workers died, one after another, whenever they ran it")
    return error


def tasking() -> Callable[[str, Scenario, tuple[str, str | None, str | None]], str]:
    """Return the function that a worker runs for one task."""

    # It is nested and takes only Python's own types, so that it is sent as code: the scheduler may have no goodqueue.
    def task(engine: str, scenario: Scenario, made_by: tuple[str, str | None, str | None]) -> str:
        from goodqueue.engines.identity import Maker
        from goodqueue.executors import cluster  # noqa: PLW0406 - it runs on another machine

        return cluster.work(engine, scenario, Maker(*made_by))

    return task


def work(engine: str, scenario: Scenario, made_by: Maker) -> str:
    """Run ``scenario`` in this worker and return its record. Raises UserError if this build is not ``made_by``.

    ``made_by`` is part of the run's key: another build would store another record under that key.
    """
    here = identity.maker(engine, scenario)
    if here != made_by:
        has = f"the worker has goodqueue {here.version}, build {here.build}, disciplines {here.code}"
        needs = f"what the sweep has: {made_by.version}, {made_by.build}, {made_by.code}"
        raise UserError(f"{has}; accepted: {needs}")
    return engines.find(engine)(scenario, lambda _: None, Event())
