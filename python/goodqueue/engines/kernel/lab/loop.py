"""One event loop per side: it waits for sockets that are ready and for times that are due."""

import heapq
import select
import time
from collections.abc import Callable

from .libc import wake_on_time

_COARSE_NS = 3_000_000
"""epoll waits in whole milliseconds. If the next due time is nearer than this, select waits, in microseconds."""


class Loop:
    """Calls back when a descriptor is ready or a time has come. Times are nanoseconds of CLOCK_MONOTONIC."""

    def __init__(self) -> None:
        """Make a loop that waits for nothing."""
        wake_on_time()
        self._epoll = select.epoll()
        self._ready: dict[int, Callable[[], None]] = {}
        self._due: list[tuple[int, int, Callable[[], None]]] = []
        self._order = 0

    def watch(self, descriptor: int, events: int, ready: Callable[[], None]) -> None:
        """Call ``ready`` whenever ``descriptor`` has one of ``events``."""
        self._ready[descriptor] = ready
        self._epoll.register(descriptor, events)

    def forget(self, descriptor: int) -> None:
        """Watch ``descriptor`` no longer."""
        if self._ready.pop(descriptor, None) is not None:
            self._epoll.unregister(descriptor)

    def at(self, when_ns: int, due: Callable[[], None]) -> None:
        """Call ``due`` at ``when_ns``. Callbacks with equal times run in the order of the calls of `at`."""
        self._order += 1
        heapq.heappush(self._due, (when_ns, self._order, due))

    def run(self, until_ns: int) -> None:
        """Run until ``until_ns``.

        What is due comes before what is ready. At the end of a run the other side may close its sockets first. The
        sender that wakes late is then due to stop, and must not take the reset for a failure.
        """
        self.at(until_ns, self._stop)
        self._running = True
        while self._running:
            ahead = self._due[0][0] - time.monotonic_ns()
            if ahead <= 0:
                heapq.heappop(self._due)[2]()
                continue
            if ahead > _COARSE_NS:
                events = self._epoll.poll((ahead - _COARSE_NS / 2) / 1e9)
            else:
                select.select([self._epoll], [], [], ahead / 1e9)
                events = self._epoll.poll(0)
            if self._due[0][0] <= time.monotonic_ns():
                continue  # epoll names the ready descriptors again
            for descriptor, _ in events:
                if (ready := self._ready.get(descriptor)) is not None:
                    ready()

    def _stop(self) -> None:
        self._running = False
