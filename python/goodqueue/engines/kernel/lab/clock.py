"""The run's clock: when the run began, by the clock for scheduling and by the clock that stamps captures."""

import os
import time
from dataclasses import dataclass
from pathlib import Path


def nanoseconds(seconds: float) -> int:
    """Return ``seconds`` of a run in whole nanoseconds, the unit of clocks and captures."""
    return round(seconds * 1e9)


@dataclass(frozen=True, slots=True)
class Clock:
    """The instant 0 of the run."""

    monotonic_ns: int
    realtime_ns: int

    @staticmethod
    def starting_in(seconds: float) -> "Clock":
        """Return the clock of a run that begins in ``seconds``."""
        ahead = nanoseconds(seconds)
        return Clock(time.monotonic_ns() + ahead, time.time_ns() + ahead)

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
