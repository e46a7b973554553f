"""What computes a number of a study from a record, since no single field holds it and no number has its options."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from goodqueue.measures import needs
from goodqueue.measures.needs import Need
from goodqueue.record import Record

Course = tuple[float, ...]
"""A number over the time of a run. The run's number is the one where the mean of all seeds peaks (`at_peak`)."""

Options = Mapping[str, str | float]
"""The values of a computation's options."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a computation."""

    kind: Literal["text", "number"]
    default: str | float | None = None
    """None: the option is required."""
    words: tuple[str, ...] = ()
    """What a text may be. Empty: anything."""


@dataclass(frozen=True, slots=True)
class Computation:
    """A number that is computed from a record."""

    options: Mapping[str, Option]
    of: Callable[[Record, Options], float | Course | None]
    """Takes a record and the options, and returns a number or a course. None if the run does not show it."""
    help: str
    needs: tuple[Need, ...] = ()
    """What a scenario must have so that a run of it shows the number."""


TEXT, NUMBER = Option("text"), Option("number")
SINCE = {"from_s": NUMBER}
WINDOW = dict.fromkeys(("from_s", "to_s"), NUMBER)
ABOVE = {"percentile": NUMBER, "above": Option("number", -1.0)}
TIME, PACKETS = (needs.SERIES,), (needs.PACKETS,)
"""What of ``[series]`` a computation needs."""
