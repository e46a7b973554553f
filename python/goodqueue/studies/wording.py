"""How reports of studies name things and print numbers, so that a reader needs no identifier.

A study says in its ``[words]`` and ``[places]`` what its algorithms, metrics and points are called. What it does not
say goes by the words of its own name, and by the unit at the end of the name.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

UNITS = {"ms": "ms", "s": "s", "percent": "%", "mbps": "Mbit/s", "points": "points", "packets": "packets"}
"""The last word of a metric's or parameter's name, as a unit."""


@dataclass(frozen=True, slots=True)
class Name:
    """What a metric or a parameter is called, and its unit."""

    words: str
    unit: str

    def __str__(self) -> str:
        return f"{self.words} ({self.unit})" if self.unit else self.words


def named(identifier: str) -> Name:
    """Take a published name apart: ``delay_mean_ms`` is delay mean, in ms."""
    head, _, tail = identifier.rpartition("_")
    if tail in UNITS and head:
        return Name(head.replace("_", " "), UNITS[tail])
    return Name(identifier.replace("_", " "), "")


@dataclass(frozen=True, slots=True)
class Words:
    """What a study calls its algorithms, metrics, parameters and points."""

    names: Mapping[str, str] = field(default_factory=dict)
    """Identifier to words."""
    places: Mapping[str, str | Mapping[str, str]] = field(default_factory=dict)
    """Parameter to words in which ``{}`` is the value, or to those of each value."""

    def algorithm(self, identifier: str) -> str:
        """Return what the algorithm is called."""
        return self.names.get(identifier, identifier)

    def name(self, identifier: str) -> Name:
        """Return what the metric or parameter is called."""
        plain = named(identifier)
        return Name(self.names.get(identifier, plain.words), plain.unit)

    def place(self, parameter: str, value: object) -> str:
        """Return in words that ``parameter`` is ``value``: ``at 10 Mbit/s``."""
        said = self.places.get(parameter)
        if isinstance(said, Mapping):
            said = said.get(str(value).lower() if isinstance(value, bool) else str(value))  # as TOML writes it
        if said is not None:
            return said.replace("{}", str(value))
        name = self.name(parameter)
        return f"at {name.words} {value} {name.unit}".rstrip()

    def point(self, at: Mapping[str, object]) -> str:
        """Return the point ``at`` in words, its parameters in the order of `places`."""
        order = list(self.places)
        known = sorted(at, key=lambda name: order.index(name) if name in order else len(order))
        return " ".join(self.place(name, at[name]) for name in known)


def bounds(low: float | None, high: float | None) -> str:
    """Return a range in words, where None and infinity are open ends: ``20 to 30``, ``25 or more``, ``at most 0.1``."""
    least = None if low is None or math.isinf(low) else f"{low:g}"
    most = None if high is None or math.isinf(high) else f"{high:g}"
    if least is None:
        return "–" if most is None else f"at most {most}"
    return f"{least} or more" if most is None else f"{least} to {most}"


def digits_apart(values: Sequence[float], least: int = 3) -> int:
    """Return how many significant digits, from ``least`` to 6, tell those of ``values`` apart that differ."""
    for digits in range(least, 6):
        if len({significant(value, digits) for value in values}) == len(set(values)):
            return digits
    return 6


def significant(value: float, digits: int = 3) -> str:
    """Return ``value`` with ``digits`` significant digits, and without an exponent where it is large."""
    return f"{value:.0f}" if abs(value) >= 10 ** (digits - 1) else f"{value:.{digits}g}"


def quantity(value: str, unit: str) -> str:
    """Return a printed number with its unit."""
    return f"{value} {unit}" if unit else value
