"""The run's clock: when the run began, by the clock for scheduling and by the clock that stamps captures."""

import time
from dataclasses import dataclass


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
