"""The workers of a Dask cluster: finds those with the same build as ours, and whether any is left.

A worker without goodqueue, or with another build, would fail each of its runs, so it gets none. Every wait in this
module has a limit, since a cluster may stop answering at any time.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, TypeVar

from goodqueue.engines.identity import Maker, Run
from goodqueue.errors import UserError, one_line
from goodqueue.record import Scenario

if TYPE_CHECKING:
    from distributed import Client

PATIENCE_S = 6.0
"""How long in seconds a scheduler may take to answer, and may be without a worker that we can use."""

ANSWER_S = 60.0
"""How long in seconds a worker may take to say which build it has: it imports goodqueue for that, and may be busy."""

LOOK_S = 1.0
"""The time between two looks at the workers, in seconds."""

Result = TypeVar("Result")


def within(seconds: float, call: Callable[[], Result]) -> Result:
    """Return what ``call`` returns, or raise what it raises. Raises TimeoutError after ``seconds``.

    Ctrl-C ends the wait at once, whereas it would not end the call itself.
    """
    results: list[Result] = []
    failed: list[BaseException] = []
    ended = Event()

    def work() -> None:
        try:
            results.append(call())
        except BaseException as error:  # noqa: BLE001 - it is raised below
            failed.append(error)
        ended.set()

    Thread(target=work, daemon=True).start()
    if not ended.wait(seconds):
        raise TimeoutError
    if failed:
        raise failed[0]
    return results[0]


def asking() -> Callable[[str, Sequence[Scenario]], object]:
    """Return the function that asks a worker which build it would run each scenario with, or why it cannot."""

    # It is nested and takes only Python's own types, so that it is sent as code: a worker may have no goodqueue.
    def ask(engine: str, scenarios: Sequence[Scenario]) -> object:
        try:
            from goodqueue.engines import identity

            makers = [identity.maker(engine, scenario) for scenario in scenarios]
            return [[maker.version, maker.build, maker.code] for maker in makers]
        except ModuleNotFoundError as error:
            return "no goodqueue" if (error.name or "").partition(".")[0] == "goodqueue" else str(error)
        except Exception as error:  # noqa: BLE001 - the answer describes any error
            return f"{type(error).__name__}: {error}"

    return ask


class _Question:
    """A question that a worker is asked. Nobody waits for its answer, so a worker that is slow delays no other."""

    def __init__(self, call: Callable[[], Mapping[str, Any]], address: str) -> None:
        """Ask the worker at ``address``."""
        self._ends = time.monotonic() + ANSWER_S
        self._call, self._address = call, address
        self._answers: list[object] = []
        Thread(target=self._ask, daemon=True).start()

    def _ask(self) -> None:
        with suppress(Exception):  # what is no answer is asked for until the time is over
            self._answers.append(self._call()[self._address])

    def answer(self) -> object | None:
        """Return the answer. None: it may still come."""
        if self._answers:
            return self._answers[0]
        return "no answer" if time.monotonic() > self._ends else None


class Fleet:
    """The workers that can execute some runs."""

    def __init__(
        self, client: "Client", origin: str, engine: str, runs: Sequence[Run], warn: Callable[[str], None]
    ) -> None:
        """Ask no worker yet: the first `look` does."""
        self._client, self._origin, self._engine, self._warn = client, origin, engine, warn
        self._samples = {run.made_by: run.scenario for run in runs}
        self._asked: dict[str, _Question] = {}
        self._refused: dict[str, str] = {}
        self._looked = -LOOK_S
        self._empty_since: float | None = None
        self.usable: Mapping[str, int] = {}
        """The number of threads by address."""

    def look(self) -> None:
        """Look for new and lost workers, at most once per `LOOK_S` unless one is being asked.

        Raises UserError if the scheduler is lost, or there was no worker that we can use for `PATIENCE_S`.
        """
        now = time.monotonic()
        if now - self._looked < LOOK_S and not self._asked:
            return
        self._looked = now
        there = _threads(self._client, self._origin)
        for known in (self._asked, self._refused):
            for address in known.keys() - there.keys():
                del known[address]
        for address in there.keys() - self.usable.keys() - self._refused.keys() - self._asked.keys():
            self._asked[address] = _Question(self._question(address), address)
        self._hear()
        out = self._refused.keys() | self._asked.keys()
        self.usable = {address: threads for address, threads in there.items() if address not in out}
        if self.usable or self._asked:
            self._empty_since = None
        elif self._empty_since is None:
            self._empty_since = now
        if self._empty_since is not None and (self._refused or now - self._empty_since >= PATIENCE_S - 2 * LOOK_S):
            raise UserError(self._origin, self._nobody())

    def _question(self, address: str) -> Callable[[], Mapping[str, Any]]:
        """Return the call that asks a worker which build it would run our scenarios with."""
        arguments = (self._engine, list(self._samples.values()))
        return lambda: self._client.run(asking(), *arguments, workers=[address], on_error="return")

    def _hear(self) -> None:
        """Hear the answers that have come. A worker with another build than ours, or without an answer, is refused."""
        ours = [[sample.version, sample.build, sample.code] for sample in self._samples]
        for address, question in list(self._asked.items()):
            if (answer := question.answer()) is None:
                continue
            del self._asked[address]
            if answer != ours:
                self._refused[address] = why = self._why(answer)
                self._warn(f"{self._origin}: the worker {address} has {why}; it gets no runs")

    def _why(self, answer: object) -> str:
        if isinstance(answer, list) and len(answer) == len(self._samples):
            theirs, ours = next(
                (Maker(*maker), mine)
                for maker, mine in zip(answer, self._samples, strict=True)
                if Maker(*maker) != mine
            )
            return f"{_version_words(theirs)}, and not {_version_words(ours)}"
        return one_line(str(answer))[:200]

    def _nobody(self) -> str:
        if self._refused:
            address, why = next(iter(self._refused.items()))
            return f"none of its workers ({len(self._refused)}) can be used: {address} has {why}"
        return "its workers are gone; with --out the same command goes on where it was"


def _version_words(maker: Maker) -> str:
    code = f", disciplines {maker.code}" if maker.code else ""
    return f"goodqueue {maker.version}, build {maker.build}{code}"


def wait_for_one(client: "Client", origin: str) -> None:
    """Wait until the scheduler has a worker. Raises UserError after `PATIENCE_S`, or if the scheduler is lost."""
    began = time.monotonic()
    while not _threads(client, origin):
        if time.monotonic() - began >= PATIENCE_S:
            raise UserError(origin, "the scheduler has no workers; accepted: one at least (`dask worker`)")
        time.sleep(0.1)


def _threads(client: "Client", origin: str) -> Mapping[str, int]:
    """Return the number of threads of each worker, by its address. Raises UserError if the scheduler is lost."""
    try:
        threads: Mapping[str, int] = within(PATIENCE_S, client.nthreads)
    except Exception:  # noqa: BLE001 - distributed raises many kinds of errors; each means that there is no answer
        raise gone(origin) from None
    return threads


def gone(origin: str) -> UserError:
    """Return the error for a scheduler that no longer answers."""
    return UserError(origin, "the scheduler went away; with --out the same command goes on where it was")
