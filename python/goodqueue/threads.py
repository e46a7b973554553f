"""Tasks that threads share. Where the machine starts fewer threads than asked for, those that there are do them all."""

import threading
import time
from collections import deque
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import TypeVar

from goodqueue import interrupts

LOOK_S = 0.1
"""The time in seconds between two looks at the progress and at signals."""

NO_THREAD = "can't start new thread"
"""What Python's RuntimeError says if the machine, or a limit such as ``ulimit -u``, allows no further thread."""

Result = TypeVar("Result")


def start(number: int, work: Callable[[], None]) -> int:
    """Start ``number`` threads that call ``work``, or as many as can be started. Return how many there are."""
    for started in range(number):
        try:
            threading.Thread(target=work).start()
        except RuntimeError:  # NO_THREAD
            return started
    return number


def share(
    tasks: int,
    work: Callable[[int], Result],
    done: Callable[[int, Result], None],
    failed: Callable[[int, BaseException], None],
    *,
    number: int,
    stop: threading.Event,
    look: Callable[[], None] = lambda: None,
) -> None:
    """Call ``work`` with each number below ``tasks``, on at most ``number`` threads, or on this one if none starts.

    This thread passes what it returns to ``done``, and what it raises to ``failed``, with the task's number, and calls
    ``look`` about every `LOOK_S`. After a signal, or if one of these raises an exception, ``stop`` is set and no
    further task begins: whoever calls this waits for those under way.
    """
    waiting = deque(range(tasks))
    ended: SimpleQueue[tuple[int, Result | None, BaseException | None]] = SimpleQueue()

    def follow() -> None:
        while not stop.is_set():
            try:
                task = waiting.popleft()
            except IndexError:
                return
            try:
                ended.put((task, work(task), None))
            except BaseException as error:  # noqa: BLE001 - the other thread raises it, or reports it
                ended.put((task, None, error))

    def tell(task: int, result: Result | None, error: BaseException | None) -> None:
        if error is None:
            done(task, result)  # type: ignore[arg-type] # None only if `work` returns that
        else:
            failed(task, error)

    try:  # from here on, since a task may be under way before all threads are started
        # A thread that starts, and the main thread, take the same locks.
        with interrupts.held():
            started = start(min(number, tasks), follow)
            looked, left = time.monotonic(), tasks
            while started and left:
                try:
                    batch = [ended.get(timeout=LOOK_S)]
                    while not ended.empty():
                        batch.append(ended.get())
                except Empty:
                    batch = []
                interrupts.check()
                for task, result, error in sorted(batch, key=lambda one: one[0]):
                    left -= 1
                    tell(task, result, error)
                if time.monotonic() - looked >= LOOK_S or not left:
                    looked = time.monotonic()
                    look()
        if not started:
            for task in range(tasks):
                try:
                    result = work(task)
                except Exception as error:  # noqa: BLE001 - a signal's exception is none of these
                    failed(task, error)
                else:
                    done(task, result)
                look()
    except BaseException:
        stop.set()
        raise
