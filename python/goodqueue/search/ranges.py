"""Keys of a scenario that vary within a range: ``path.rtt=10ms..100ms``, ``traffic.0.count=1..16``."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from goodqueue import scenario as scenarios
from goodqueue.errors import Option, UserError, quoted
from goodqueue.record import Scenario
from goodqueue.search.facts import Number

LOG_FROM = 10.0
"""If the upper end is so many times the lower one, values are drawn on a logarithmic scale."""

ACCEPTED = "KEY=LOW..HIGH with the same unit, as path.rtt=10ms..100ms"

_END = re.compile(r"([0-9]+(?:\.[0-9]+)?)([A-Za-z%]*)")


@dataclass(frozen=True, slots=True)
class Range:
    """A key and the values that it may have."""

    key: str
    fact: Number

    @property
    def said(self) -> str:
        """The range as it was written."""
        return f"{self.key}={self.fact.low:g}{self.fact.unit}..{self.fact.high:g}{self.fact.unit}"

    def at(self, share: float) -> float:
        """Return the value at ``share`` of the range, from 0 to 1."""
        low, high = self.fact.low, self.fact.high
        value = low * (high / low) ** share if self.fact.is_log else low + (high - low) * share
        return self.fact.rounded(value)

    def text(self, value: float) -> str:
        """Return ``value`` as it is written in a scenario."""
        return f"{value:.6g}{self.fact.unit}"


@dataclass(frozen=True, slots=True)
class Choice:
    """A key and the words that it may have: ``bottleneck.qdisc=pfifo,codel,pie``."""

    key: str
    words: tuple[str, ...]

    @property
    def said(self) -> str:
        """The choice as it was written."""
        return f"{self.key}={','.join(self.words)}"


def read_all(texts: Sequence[str]) -> tuple[list[Range], list[Choice]]:
    """Return the ranges ``KEY=LOW..HIGH`` and the choices ``KEY=WORD,WORD``. Raises UserError."""
    choices = []
    for text in texts:
        key, equals, words = (part.strip() for part in text.partition("="))
        if ".." in words or not equals:
            continue
        values = tuple(dict.fromkeys(filter(None, (" ".join(word.split()) for word in words.split(",")))))
        if len(values) < 2 or not all(key.split(".")):
            raise UserError(Option("vary", text), f"found {quoted(text)}; accepted: {ACCEPTED}, or KEY=WORD,WORD")
        choices.append(Choice(key, values))
    numbers = read([text for text in texts if text.partition("=")[0].strip() not in {choice.key for choice in choices}])
    return numbers, choices


def read(texts: Sequence[str]) -> list[Range]:
    """Return the ranges ``KEY=LOW..HIGH``. Raises UserError."""
    ranges_read: list[Range] = []
    for text in texts:
        where = Option("vary", text)
        key, equals, span = (part.strip() for part in text.partition("="))
        low, dots, high = span.partition("..")
        ends = [_END.fullmatch(end.strip()) for end in (low, high)]
        if not (equals and dots and all(key.split("."))) or None in ends:
            raise UserError(where, f"found {quoted(text)}; accepted: {ACCEPTED}")
        (first_text, unit), (other, other_unit) = (end.groups() for end in ends if end)
        if unit != other_unit:
            raise UserError(where, f"found the units {quoted(unit)} and {quoted(other_unit)}; accepted: {ACCEPTED}")
        first, last = float(first_text), float(other)
        if not first < last:
            raise UserError(where, f"found {quoted(span)}; accepted: a lower end before a higher one")
        if key in {range_.key for range_ in ranges_read}:
            raise UserError(where, f"found {quoted(key)} twice; accepted: each key once")
        ranges_read.append(between(key, first, last, unit, is_whole=not unit and "." not in first_text + other))
    return ranges_read


def between(key: str, low: float, high: float, unit: str, *, is_whole: bool = False) -> Range:
    """Return the range of ``key`` from ``low`` to ``high``, on a logarithmic scale if it is wide."""
    return Range(key, Number(key, low, high, low, unit, low > 0 and high / low >= LOG_FROM, is_whole))


def put(scenario: Scenario, ranges: Sequence[Range], values: Sequence[float]) -> None:
    """Set each key of ``ranges`` to its value, in place. Raises UserError."""
    # Parameters of a line are set after the lines, since another key may set the line.
    for range_, value in sorted(zip(ranges, values, strict=True), key=lambda pair: ".qdisc." in pair[0].key):
        scenarios.apply_set(scenario, f"{range_.key}={range_.text(value)}")
