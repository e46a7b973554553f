"""Names and numbers in the reports of studies, so that a reader needs no identifiers.

A study names its algorithms, metrics and points in ``[words]`` and ``[places]``. For anything else the identifier
itself is split into words, and its last word is the unit.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

UNITS = {"ms": "ms", "s": "s", "percent": "%", "mbps": "Mbit/s", "points": "points", "packets": "packets"}
"""Units by the last word of a metric's or parameter's name."""


def as_text(value: object) -> str:
    """Return the ``value`` of a parameter in TOML notation, but a text without quotes."""
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True, slots=True)
class Name:
    """The name of a metric or a parameter in words, and its unit."""

    words: str
    """The words of a table's head, which may have several lines."""
    unit: str

    @property
    def line(self) -> str:
        """The words in one line, for a sentence."""
        return self.words.replace("\n", " ")

    def __str__(self) -> str:
        return f"{self.words} ({self.unit})" if self.unit else self.words


def named(identifier: str) -> Name:
    """Return the words and the unit of a published name: ``delay_mean_ms`` is delay mean, in ms."""
    head, _, tail = identifier.rpartition("_")
    if tail in UNITS and head:
        return Name(head.replace("_", " "), UNITS[tail])
    return Name(identifier.replace("_", " "), "")


@dataclass(frozen=True, slots=True)
class Words:
    """A study's words for its algorithms, metrics, parameters and points."""

    names: Mapping[str, str] = field(default_factory=dict)
    """Words by identifier."""
    places: Mapping[str, str | Mapping[str, str]] = field(default_factory=dict)
    """By parameter, words in which ``{}`` is the value, or words for each value."""

    def algorithm(self, identifier: str) -> str:
        """Return the name of the algorithm."""
        return self.names.get(identifier, identifier)

    def name(self, identifier: str) -> Name:
        """Return the name of the metric or parameter."""
        plain = named(identifier)
        return Name(self.names.get(identifier, plain.words), plain.unit)

    def place(self, parameter: str, value: object) -> str:
        """Return "``parameter`` is ``value``" in words: ``at 10 Mbit/s``."""
        word = self.places.get(parameter)
        if isinstance(word, Mapping):
            word = word.get(as_text(value))
        if word is not None:
            return word.replace("{}", as_text(value))
        name = self.name(parameter)
        return f"at {name.words} {as_text(value)} {name.unit}".rstrip()

    def point(self, at: Mapping[str, object]) -> str:
        """Return the point ``at`` in words, its parameters in the order of `places`."""
        order = list(self.places)
        names = sorted(at, key=lambda name: order.index(name) if name in order else len(order))
        return " ".join(self.place(name, at[name]) for name in names)


def bounds(low: float | None, high: float | None) -> str:
    """Return a range in words; None and infinity are open ends: ``20 to 30``, ``25 or more``, ``at most 0.1``."""
    least = None if low is None or math.isinf(low) else f"{low:g}"
    most = None if high is None or math.isinf(high) else f"{high:g}"
    if least is None:
        return "–" if most is None else f"at most {most}"
    return f"{least} or more" if most is None else f"{least} to {most}"


def digits_apart(values: Sequence[float], least: int = 3) -> int:
    """Return the number of significant digits, from ``least`` to 6, that make different ``values`` look different."""
    for digits in range(least, 6):
        if len({significant(value, digits) for value in values}) == len(set(values)):
            return digits
    return 6


def significant(value: float, digits: int = 3) -> str:
    """Return ``value`` with ``digits`` significant digits, and without an exponent if it is large."""
    return f"{value:.0f}" if abs(value) >= 10 ** (digits - 1) else f"{value:.{digits}g}"


def quantity(value: str, unit: str) -> str:
    """Return a printed number with its unit."""
    return f"{value} {unit}" if unit else value
