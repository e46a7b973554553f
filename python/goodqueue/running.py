"""Runs one scenario, or several on all cores.

The core releases the interpreter's lock while it simulates, so threads are enough. Only runs with a discipline
written in Python take turns. Results have the order of the scenarios, and the same bytes for any number of workers:
runs share nothing.
"""

import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from goodqueue import endpoints, interrupts, threads
from goodqueue.capture import Trace
from goodqueue.capture import check as check_traced
from goodqueue.errors import Option, UserError, warn
from goodqueue.record import Record, Scenario
from goodqueue.scenario import discipline, to_json

if TYPE_CHECKING:
    from goodqueue._goodqueue import Simulation

Progress = Callable[[float], None]
"""Called from time to time with the finished share of the work, from 0 to 1."""

Finished = Callable[[int, str], None]
"""Called with the index of a scenario and its record, as soon as it exists, always by the same thread."""

Failed = Callable[[int, BaseException], None]
"""Called with the index of a scenario and the exception that ended its run, by the same thread as `Finished`."""

Engine = Callable[[Scenario, Progress, threading.Event], str]
"""Runs one scenario and returns its record's JSON. Raises StoppedError soon after the event is set."""

SLICE_S = 0.05
"""Wall-clock seconds to simulate between two checks of the progress and of Ctrl-C."""


STUCK_S = 1.0
"""The time in seconds that a run may take to stop before it counts as stuck."""

MOST_EVENTS = 300_000
"""The most events between two checks: traffic may begin within a slice that was empty."""

MOST_SLICES = 100_000
"""The number of slices of a run, where each takes longer than it should."""


class StoppedError(Exception):
    """Raised if a run was told to stop before its end."""


def one(scenario: Scenario) -> Record:
    """Run ``scenario`` (as `goodqueue.scenario.load` returns it) and return its record.

    Raises goodqueue._goodqueue.ScenarioError, a ValueError, if the scenario is refused, and UserError if a discipline
    written in Python fails.
    """
    record: Record = json.loads(one_text(scenario))
    return record


def one_text(scenario: Scenario, progress: Progress | None = None) -> str:
    """Run ``scenario`` like `one`, but return the core's own JSON. Its bytes depend only on scenario and seed."""
    return simulate(scenario, progress or (lambda _: None), threading.Event())


def many(
    scenarios: Sequence[Scenario],
    workers: int | None = None,
    progress: Progress | None = None,
    engine: Engine | None = None,
    finished: Finished | None = None,
) -> list[str]:
    """Run each of ``scenarios`` and return their records as JSON, in the same order.

    ``workers`` is the number of threads, by default one per usable core. ``engine`` runs one scenario, by default
    `simulate`. On Ctrl-C the current runs stop within about `SLICE_S` and KeyboardInterrupt is raised. The first
    refusal (ScenarioError) also ends all runs.
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
    """Run the scenarios like `many`, but only pass each record to ``finished``, and keep none.

    With ``failed``, a failed run is reported there, and the others continue.
    """
    shares = [0.0] * len(scenarios)
    stop = threading.Event()
    under_way: dict[int, int] = {}

    def work(index: int) -> str:
        def note(share: float) -> None:
            shares[index] = share

        under_way[index] = threading.get_ident()
        try:
            if stop.is_set():
                raise StoppedError
            return (engine or simulate)(scenarios[index], note, stop)
        finally:
            del under_way[index]

    def tell(index: int, error: BaseException) -> None:
        if failed is None:
            raise error
        shares[index] = 1.0
        failed(index, error)

    def look() -> None:
        if progress:
            progress(sum(shares) / len(shares))

    try:
        threads.share(len(scenarios), work, finished, tell, number=workers or cores(), stop=stop, look=look)
    except BaseException:
        _end(under_way)
        raise


def _end(under_way: dict[int, int]) -> None:
    """Wait until the runs that threads have ``under_way`` have stopped, as they were told.

    Those that are stuck in a discipline's Python are interrupted. Those that even then stay there, since they sleep or
    are in C, are given up.
    """
    began = interrupted = time.monotonic()
    while under_way:
        time.sleep(SLICE_S)
        now = time.monotonic()
        if now - interrupted <= STUCK_S:
            continue
        interrupted = now
        with _in_python_lock:
            if now - began >= interrupts.GRACE_S and _in_python.issuperset(under_way.values()):
                interrupts.give_up()
                return
            for thread in _in_python:
                _raise_in(thread)


def _raise_in(thread: int) -> None:
    """Raise KeyboardInterrupt in another thread, at its next Python instruction. No `except Exception` catches it."""
    import ctypes

    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(KeyboardInterrupt))


_in_python: set[int] = set()
"""The threads that may be in a discipline written in Python, which may have an infinite loop."""

_in_python_lock = threading.Lock()


@contextmanager
def _python_runs() -> Iterator[None]:
    """Mark this thread as running a discipline's Python until the end of the context."""
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


def simulate(
    scenario: Scenario,
    progress: Progress,
    stop: threading.Event,
    trace: Trace | None = None,
    threads: int | None = 1,
) -> str:
    """Run one scenario in slices of about `SLICE_S` of wall-clock time. Once ``stop`` is set, raise StoppedError.

    Slices and ``threads`` do not change the result. With None, a long run tries a thread per idle core.
    With ``trace`` the run is captured, on one thread. The file exists when this returns, and does not if it raises.
    Raises UserError if the file cannot be written.
    """
    from goodqueue._goodqueue import ScenarioError, Simulation, TraceError

    if endpoints.package(scenario):
        if trace is not None:
            raise UserError(Option("trace"), "found with endpoints of another package; accepted: without them")
        if threads not in (None, 1):
            warn("one thread: another package has a flow's endpoints")
        return with_endpoints(scenario, progress, stop)
    if trace is not None:
        check_traced(scenario, trace.points)
    files: list[str] = []
    try:
        with _python_runs(), discipline.blaming(files, UserError):
            simulation = Simulation(to_json(scenario), discipline.Maker(files))
    except ScenarioError as error:
        if not files:
            raise
        # Only the class says which ECN it needs.
        raise UserError(str(error)) from None
    try:
        if trace is not None:
            simulation.trace(trace.path, list(trace.points), trace.snap_bytes)
        elif threads != 1 and (why := simulation.cut(threads)) and threads:
            warn(f"one thread: {why}")
        _advance(simulation, progress, stop, files)
        simulation.finish_trace()
    except TraceError as error:
        assert trace is not None
        raise trace.refusal(error) from None
    finally:
        simulation.discard_trace()
    return simulation.record()


def with_endpoints(scenario: Scenario, progress: Progress, stop: threading.Event, qlog: str | None = None) -> str:
    """Run a scenario whose endpoints another package has. ``qlog`` is a folder for the qlogs of its stacks.

    Raises UserError, also if an endpoint fails.
    """
    simulation = endpoints.simulation(scenario, qlog=qlog)
    try:
        _advance(simulation, progress, stop, [])
        record: str = simulation.record()
        for line in simulation.failures():
            warn(f"the connection {line}")
        simulation.finish_qlog()
    except ValueError as error:
        raise UserError(str(error)) from None
    finally:
        simulation.discard_qlog()
    return record


def _advance(simulation: "Simulation", progress: Progress, stop: threading.Event, files: list[str]) -> None:
    end = simulation.duration_s
    at, step = 0.0, end / 1000
    python = _python_runs if files else nullcontext
    while at < end:
        if stop.is_set():
            raise StoppedError
        until = min(end, at + step)
        began = time.perf_counter()
        with python(), discipline.blaming(files):
            at = simulation.advance(until, MOST_EVENTS)
        took = time.perf_counter() - began
        # Without a least step, slices that always take longer than they should would never reach the end.
        step = max(end / MOST_SLICES, step * min(4.0, max(0.25, SLICE_S / max(took, 1e-9))))
        progress(at / end)
