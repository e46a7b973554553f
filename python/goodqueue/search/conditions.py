"""Conditions on the numbers of a run, as ``drop_percent >= 3`` or ``completion_ms >= 1.5 x cubic nohystart``.

A condition compares a number of a run with a bound. ``x OTHER`` multiplies the bound with the same number of another
run: the same scenario with ``OTHER`` in place of what is attacked, or with a key changed (``x traffic.0.count=1``).
``NUMBER of OTHER`` takes the number itself from that run: ``delay_targets of pie < 5``.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from goodqueue.errors import Place, UserError, quoted
from goodqueue.measures import numbers
from goodqueue.measures.metrics import Metric
from goodqueue.record import Record

FURTHEST = 3.0
"""The margin of a condition that is far from true, and of one without a number."""

NEAR_ZERO = 1e-3
"""Added to both sides, so that a number of 0 has a margin."""

ACCEPTED = "as in 'drop_percent >= 3', 'completion_ms >= 1.5 x cubic' or 'delay_targets of pie < 5'"

_CONDITION = re.compile(
    r"\s*(?P<number>[\w.]+)(\s+of\s+(?P<of>[^<>]+?))?\s*(?P<sign><=|>=|<|>)\s*(?P<bound>[0-9.eE+-]+)"
    r"(\s*x\s+(?P<times>.+?))?\s*"
)


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition."""

    text: str
    number: str
    """Its key, or its path, as `numbers.find` takes it."""
    sign: str
    bound: float
    of: str = ""
    """The other run whose number is compared. Empty: the run of what is attacked."""
    times: str = ""
    """The other run with whose number the bound is multiplied, or empty."""

    @property
    def metric(self) -> Metric:
        """The number."""
        return numbers.find([self.number])[0]

    @property
    def others(self) -> tuple[str, ...]:
        """The other runs that it needs."""
        return tuple(filter(None, (self.of, self.times)))

    def values(self, runs: dict[str, Record]) -> tuple[float | None, float | None]:
        """Return the number and what it is compared with. ``runs`` has the runs by the name of the other, or ``""``."""
        pick = self.metric.pick
        bound: float | None = self.bound
        if self.times:
            theirs = pick(runs[self.times])
            bound = None if theirs is None else self.bound * theirs
        return pick(runs[self.of]), bound

    def holds(self, runs: dict[str, Record]) -> bool:
        """Return whether the condition is true. Without a number on both sides it is not."""
        value, bound = self.values(runs)
        if value is None or bound is None:
            return False
        return {">": value > bound, ">=": value >= bound, "<": value < bound, "<=": value <= bound}[self.sign]

    def margin(self, runs: dict[str, Record]) -> float:
        """Return how far the condition is from being false: the logarithm of the ratio of both sides, at most 0.5.

        It is negative if the condition is false.
        """
        value, bound = self.values(runs)
        if value is None or bound is None:
            return -FURTHEST
        ratio = math.log((max(value, 0.0) + NEAR_ZERO) / (max(bound, 0.0) + NEAR_ZERO))
        signed = ratio if self.sign.startswith(">") else -ratio
        if self.holds(runs):
            return min(max(signed, 0.0), 0.5)
        return max(min(signed, -1e-9), -FURTHEST)


def parse(texts: Sequence[str], where: Place) -> list[Condition]:
    """Return the conditions. Raises UserError with ``where``."""
    return [_condition(text, where) for text in texts]


def _condition(text: str, where: Place) -> Condition:
    match = _CONDITION.fullmatch(text)
    if match is None:
        raise UserError(where, f"found {quoted(text)}; accepted: a condition, {ACCEPTED}")
    try:
        bound = float(match["bound"])
    except ValueError:
        raise UserError(where, f"found the bound {quoted(match['bound'])}; accepted: a number") from None
    if not math.isfinite(bound):
        raise UserError(where, f"found the bound {quoted(match['bound'])}; accepted: a finite number")
    numbers.find([match["number"]], where)
    others = {name: " ".join((match[name] or "").split()) for name in ("of", "times")}
    return Condition(" ".join(text.split()), match["number"], match["sign"], bound, **others)
