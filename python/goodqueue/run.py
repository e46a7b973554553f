"""Runs: one scenario, or many of them on all cores.

The core releases the interpreter's lock while it simulates, so threads are enough; only runs with a discipline written
in Python take turns. Results come back in the order of
the scenarios and hold the same bytes whatever the number of workers: a run shares nothing with its neighbours.
"""

import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, TypeVar

from goodqueue.calling import calls
from goodqueue.capture import Trace
from goodqueue.capture import check as check_traced
from goodqueue.errors import UserError
from goodqueue.record import Record, Scenario
from goodqueue.scenario import discipline, paths, to_json

if TYPE_CHECKING:
    from goodqueue._goodqueue import Simulation

Progress = Callable[[float], None]
"""Called from time to time with the share of the work that is done, from 0 to 1."""

Finished = Callable[[int, str], None]
"""Called with the position of a scenario and its record, as soon as there is one; by one thread."""

Failed = Callable[[int, BaseException], None]
"""Called with the position of a scenario and what ended its run; by the same thread as `Finished`."""

Engine = Callable[[Scenario, Progress, threading.Event], str]
"""Runs one scenario and returns its record's JSON; raises StoppedError soon after the event is set."""

SLICE_S = 0.05
"""Wall-clock seconds to simulate between two looks at the progress and at Ctrl-C."""


STUCK_S = 1.0
"""How long a run may take to stop before it is taken to be stuck."""

MOST_FRAMES = 200_000
"""That the link may carry between two such looks: traffic may begin within a slice, which was empty until then."""


class StoppedError(Exception):
    """A run was told to stop before its end."""


def one(scenario: Scenario) -> Record:
    """Run ``scenario`` (as `goodqueue.scenario.load` returns it) and return its record.

    Raises goodqueue._goodqueue.ScenarioError, a ValueError, where the scenario is refused, and UserError where a
    discipline written in Python fails.
    """
    record: Record = json.loads(one_text(scenario))
    return record


def one_text(scenario: Scenario, progress: Progress | None = None) -> str:
    """As `one`, but return the record as the core's own JSON, whose bytes depend on scenario and seed alone."""
    return simulate(scenario, progress or (lambda _: None), threading.Event())


def many(
    scenarios: Sequence[Scenario],
    workers: int | None = None,
    progress: Progress | None = None,
    engine: Engine | None = None,
    finished: Finished | None = None,
) -> list[str]:
    """Run each of ``scenarios`` and return their records as JSON, in the same order.

    ``workers`` is the number of threads, by default one a usable core; ``engine`` runs one of them, by default
    `simulate`. On Ctrl-C the runs under way stop within about `SLICE_S` and KeyboardInterrupt is raised. The first
    refusal (ScenarioError) ends all of them likewise.
    """
    texts = [""] * len(scenarios)

    def keep(index: int, text: str) -> None:
        texts[index] = text
        if finished:
            finished(index, text)

    each(scenarios, keep, workers, progress, engine)
    return texts


def each(
    scenarios: Sequence[Scenario],
    finished: Finished,
    workers: int | None = None,
    progress: Progress | None = None,
    engine: Engine | None = None,
    failed: Failed | None = None,
) -> None:
    """As `many`, but only hand each record to ``finished``; no record is held longer than that.

    With ``failed`` a run that fails is told there, and the others go on.
    """
    from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

    shares = [0.0] * len(scenarios)
    stop = threading.Event()
    under_way: set[int] = set()

    def work(index: int, scenario: Scenario) -> str:
        def note(share: float) -> None:
            shares[index] = share

        under_way.add(index)
        try:
            if stop.is_set():
                raise StoppedError
            return (engine or simulate)(scenario, note, stop)
        finally:
            under_way.discard(index)

    pool = ThreadPoolExecutor(max_workers=workers or cores())
    try:  # from here on, as a run may be under way before all are handed over
        futures = {pool.submit(work, index, scenario): index for index, scenario in enumerate(scenarios)}
        while futures:
            done, _ = wait(futures, timeout=0.1, return_when=FIRST_COMPLETED)
            if progress:
                progress(sum(shares) / len(shares))
            for future in sorted(done, key=futures.__getitem__):
                index = futures.pop(future)
                if failed and (error := future.exception()):
                    shares[index] = 1.0
                    failed(index, error)
                else:
                    finished(index, future.result())
    except BaseException:
        stop.set()
        pool.shutdown(wait=False, cancel_futures=True)
        _end(under_way)
        raise
    pool.shutdown()


def _end(under_way: set[int]) -> None:
    """Wait until runs that were told to stop have done so; interrupt what is stuck in a discipline's Python."""
    waited = 0.0
    while under_way:
        time.sleep(SLICE_S)
        waited += SLICE_S
        if waited > STUCK_S:
            waited = 0.0
            with _in_python_lock:
                for thread in _in_python:
                    _raise_in(thread)


def _raise_in(thread: int) -> None:
    """Raise KeyboardInterrupt in another thread, at its next step in Python. No `except Exception` catches it there."""
    import ctypes

    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(KeyboardInterrupt))


_in_python: set[int] = set()
"""The threads that may be in a discipline written in Python, which may have an endless loop."""

_in_python_lock = threading.Lock()


@contextmanager
def _python_runs() -> Iterator[None]:
    """Note that this thread is in a discipline's Python."""
    thread = threading.get_ident()
    with _in_python_lock:
        _in_python.add(thread)
    try:
        yield
    finally:
        with _in_python_lock:
            _in_python.discard(thread)


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def simulate(scenario: Scenario, progress: Progress, stop: threading.Event, trace: Trace | None = None) -> str:
    """Run one scenario in slices of about `SLICE_S` of wall-clock time, until ``stop`` is set: then StoppedError.

    Slices do not change the result. With ``trace`` the run is captured; its file is there when this returns, and not if
    it raises. Raises UserError where it cannot be written.
    """
    from goodqueue._goodqueue import Simulation, TraceError

    if trace is not None:
        check_traced(scenario, trace.points)
    files: list[str] = []

    def make(line: str, link: object) -> tuple[object, str, str]:
        files.append(discipline.split(line.split(maxsplit=1)[0])[0])
        return discipline.make(line, link)

    with _python_runs():
        simulation = blamed(lambda: Simulation(to_json(scenario), make), files, UserError)
    try:
        if trace is not None:
            simulation.trace(trace.path, list(trace.points), trace.snap_bytes)
        _advance(simulation, _most_s(scenario), progress, stop, files)
        simulation.finish_trace()
    except TraceError as error:
        assert trace is not None
        raise trace.refusal(error) from None
    finally:
        simulation.discard_trace()
    return simulation.record()


def _most_s(scenario: Scenario) -> float:
    """Return how much of its own time a run may go on between two looks: that in which `MOST_FRAMES` leave."""
    changes = (table for table in scenario.get("change", ()) if table.get("rate") or table.get("trace"))
    fastest = max(paths.busiest_bps(table) for table in (*(link for _, link in paths.links(scenario)), *changes))
    return MOST_FRAMES * 1514 * 8 / max(fastest, 1)


def _advance(
    simulation: "Simulation", most_s: float, progress: Progress, stop: threading.Event, files: list[str]
) -> None:
    end = simulation.duration_s
    at, step = 0.0, min(end / 1000, most_s / 1000)
    python = _python_runs if files else nullcontext
    while at < end:
        if stop.is_set():
            raise StoppedError
        at = min(end, at + step)
        began = time.perf_counter()
        with python():
            blamed(lambda until=at: simulation.advance(until), files)  # type: ignore[misc]
        took = time.perf_counter() - began
        step = min(most_s, step * min(4.0, max(0.25, SLICE_S / max(took, 1e-9))))
        progress(at / end)


Made = TypeVar("Made")


def blamed(call: Callable[[], Made], files: list[str], *said: type[Exception]) -> Made:
    """Return what ``call`` returns. Raises UserError where a discipline in one of ``files`` fails in it.

    Exceptions of the types ``said`` say already what is wrong where.
    """
    from goodqueue._goodqueue import ScenarioError, TraceError

    try:
        return call()
    except (Exception, SystemExit) as error:
        if not files or isinstance(error, (ScenarioError, TraceError, *said)):
            raise  # no discipline's doing; SystemExit: the process is told to end
        raise discipline.blame(error, files) from error


calls(__name__, "goodqueue.api.run", "run")
