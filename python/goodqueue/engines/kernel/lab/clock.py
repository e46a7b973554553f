"""The run's clock: when the run began, by the clock for scheduling and by the clock that stamps captures."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

_TICK_NS = 4_000_000
TICK_S = _TICK_NS / 1e9
"""The length of a tick of Linux's timers."""
_TURN_NS = 512 * _TICK_NS
"""The ticks after which the wheel of timers begins again, for timers of up to 16 s."""
_FIRST_TURN_NS = 75_000 % 512 * _TICK_NS
"""The first turn after the boot, when Linux counts 75000 ticks below zero (``INITIAL_JIFFIES``)."""


def nanoseconds(seconds: float) -> int:
    """Return ``seconds`` of a run in whole nanoseconds, the unit of clocks and captures."""
    return round(seconds * 1e9)


@dataclass(frozen=True, slots=True)
class Clock:
    """The instant 0 of the run."""

    monotonic_ns: int
    realtime_ns: int

    @staticmethod
    def starting_in(seconds: float, at_turn: bool = False) -> "Clock":
        """Return the clock of a run that begins in ``seconds``, or after them, when the wheel of timers turns.

        Linux's timers count ticks of 4 ms. Those of more than 64 ticks fire at multiples of 8 ticks, and so on. So when
        a timer fires depends on the number of the tick at which the run began. The simulator begins with tick 0.
        """
        now, realtime = time.monotonic_ns(), time.time_ns()
        ahead = nanoseconds(seconds)
        if at_turn:
            ahead += (_FIRST_TURN_NS - now - ahead) % _TURN_NS
        return Clock(now + ahead, realtime + ahead)

    def at(self, seconds: float) -> int:
        """Return the monotonic time at ``seconds`` of the run."""
        return self.monotonic_ns + nanoseconds(seconds)

    def sleep_until(self, seconds: float) -> None:
        """Sleep until ``seconds`` of the run."""
        time.sleep(max(0.0, seconds - self.now()))

    def now(self) -> float:
        """Return the seconds since the run began."""
        return (time.monotonic_ns() - self.monotonic_ns) / 1e9


class Idle:
    """How long this system's processors have been idle since now."""

    def __init__(self, clock: Clock) -> None:
        """Begin to count."""
        self._clock, self._since, self._before = clock, clock.now(), _idle_s()

    def share(self) -> float:
        """Return the share of the time since the beginning."""
        return (_idle_s() - self._before) / (self._clock.now() - self._since)


def _idle_s() -> float:
    """Return how long all processors together have been idle, the fourth number of proc(5)'s ``cpu``."""
    words = Path("/proc/stat").read_text(encoding="ascii").split(maxsplit=5)
    return int(words[4]) / os.sysconf("SC_CLK_TCK")
