"""Facts of a scenario that a search may choose: numbers within bounds, and words out of a list.

A scenario is built by a function that asks a `Choose` for one fact after the other. The same function serves the
search, which draws the facts, and everything that repeats a scenario, which has their values.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

Value = float | str
"""The value of a fact."""

Facts = Mapping[str, Value]
"""The facts of a scenario by name, in the order in which they were asked for."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number within bounds."""

    name: str
    low: float
    high: float
    simplest: float
    """The value that a person would write if the number did not matter."""
    unit: str = ""
    is_log: bool = False
    """Whether the search draws its logarithm."""
    is_whole: bool = False

    def rounded(self, value: float) -> float:
        """Return ``value`` with three digits, or as a whole number, within the bounds."""
        near = float(round(value)) if self.is_whole else float(f"{value:.3g}")
        return min(max(near, self.low), self.high)

    def within(self, low: float, high: float) -> "Number":
        """Return the same fact within narrower bounds."""
        return replace(self, low=low, high=high, simplest=min(max(self.simplest, low), high))

    def between(self, low: float, other: float) -> float:
        """Return the middle of two values."""
        return math.sqrt(low * other) if self.is_log else (low + other) / 2


@dataclass(frozen=True, slots=True)
class Word:
    """One of several words. The first is the simplest."""

    name: str
    choices: tuple[str, ...]

    @property
    def simplest(self) -> str:
        """The first word."""
        return self.choices[0]


Fact = Number | Word

Choose = Callable[[Fact], Value]
"""Returns the value of a fact."""


class Chosen:
    """Chooses the values that are given, and the simplest for all others. It notes what it was asked for."""

    def __init__(self, facts: Facts) -> None:
        """Choose from ``facts``."""
        self._values = facts
        self.asked: dict[str, Fact] = {}
        self.facts: dict[str, Value] = {}

    def __call__(self, fact: Fact) -> Value:
        """Return the value of ``fact``."""
        self.asked[fact.name] = fact
        value = self._values.get(fact.name, fact.simplest)
        self.facts[fact.name] = value
        return value
