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


class Fleet:
    """The workers that can execute some runs."""

    def __init__(
        self, client: "Client", origin: str, engine: str, runs: Sequence[Run], warn: Callable[[str], None]
    ) -> None:
        """Ask no worker yet: the first `look` does."""
        self._client, self._origin, self._engine, self._warn = client, origin, engine, warn
        self._samples = {run.made_by: run.scenario for run in runs}
        self._refused: dict[str, str] = {}
        self._looked = -LOOK_S
        self._empty_since: float | None = None
        self.usable: Mapping[str, int] = {}
        """The number of threads by address."""

    def look(self) -> None:
        """Look for new and lost workers, at most once per `LOOK_S`.

        Raises UserError if the scheduler is lost, or there was no worker that we can use for `PATIENCE_S`.
        """
        now = time.monotonic()
        if now - self._looked < LOOK_S:
            return
        self._looked = now
        there = _threads(self._client, self._origin)
        self._ask([address for address in there if address not in self.usable and address not in self._refused])
        for address in self._refused.keys() - there.keys():
            del self._refused[address]
        self.usable = {address: threads for address, threads in there.items() if address not in self._refused}
        if self.usable:
            self._empty_since = None
        elif self._empty_since is None:
            self._empty_since = now
        if self._empty_since is not None and (self._refused or now - self._empty_since >= PATIENCE_S - 2 * LOOK_S):
            raise UserError(self._origin, self._nobody())

    def _ask(self, new: list[str]) -> None:
        """Ask each worker once which build it would run our scenarios with."""
        if not new:
            return
        answers: dict[str, Any] = dict.fromkeys(new, "no answer")
        with suppress(Exception):  # an error leaves "no answer", which is what the warning says
            arguments = (self._engine, list(self._samples.values()))
            answers |= within(
                PATIENCE_S / 2,
                lambda: self._client.run(asking(), *arguments, workers=new, on_error="return"),
            )
        ours = [[sample.version, sample.build, sample.code] for sample in self._samples]
        for address, answer in answers.items():
            if answer == ours:
                continue
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
