"""Runs: one scenario, or many of them on all cores.

The core releases the interpreter's lock while it simulates, so threads are enough; only runs with a discipline written
in Python take turns. Results come back in the order of
the scenarios and hold the same bytes whatever the number of workers: a run shares nothing with its neighbours.
"""

import json
import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from goodqueue import discipline
from goodqueue.record import Record, Scenario
from goodqueue.scenario import to_json
from goodqueue.trace import Trace

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

    def work(index: int, scenario: Scenario) -> str:
        def note(share: float) -> None:
            shares[index] = share

        return (engine or simulate)(scenario, note, stop)

    with ThreadPoolExecutor(max_workers=workers or cores()) as pool:
        futures = {pool.submit(work, index, scenario): index for index, scenario in enumerate(scenarios)}
        try:
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
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def simulate(scenario: Scenario, progress: Progress, stop: threading.Event, trace: Trace | None = None) -> str:
    """Run one scenario in slices of about `SLICE_S` of wall-clock time, until ``stop`` is set: then StoppedError.

    Slices do not change the result. With ``trace`` the run is captured; its file is there when this returns, and not if
    it raises. Raises UserError where it cannot be written.
    """
    from goodqueue._goodqueue import Simulation, TraceError

    files: list[str] = []

    def make(line: str, link: object) -> tuple[object, str, str]:
        files.append(discipline.split(line.split(maxsplit=1)[0])[0])
        return discipline.make(line, link)

    simulation = Simulation(to_json(scenario), make)
    try:
        if trace is not None:
            simulation.trace(trace.path, list(trace.points), trace.snap_bytes)
        _advance(simulation, progress, stop, files)
        simulation.finish_trace()
    except TraceError as error:
        assert trace is not None
        raise trace.refusal(error) from None
    finally:
        simulation.discard_trace()
    return simulation.record()


def _advance(simulation: "Simulation", progress: Progress, stop: threading.Event, files: list[str]) -> None:
    from goodqueue._goodqueue import TraceError

    end = simulation.duration_s
    at, step = 0.0, end / 1000
    while at < end:
        if stop.is_set():
            raise StoppedError
        at = min(end, at + step)
        began = time.perf_counter()
        try:
            simulation.advance(at)
        except (Exception, SystemExit) as error:
            if not files or isinstance(error, TraceError):
                raise  # no discipline's doing; SystemExit: the process is told to end
            raise discipline.blame(error, files) from error
        took = time.perf_counter() - began
        step *= min(4.0, max(0.25, SLICE_S / max(took, 1e-9)))
        progress(at / end)
