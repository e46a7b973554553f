"""The picture of an answer: each number now and with the lines, and the letter of a bufferbloat test."""

from typing import TYPE_CHECKING

from goodqueue.advice.choosing import ADDED_KEY, FELT_BY_KEY
from goodqueue.advice.result import Advice, Change
from goodqueue.measures.scores import letter
from goodqueue.measures.stats import Estimate
from goodqueue.plot import pairs
from goodqueue.plot.pairs import Bar, Pair
from goodqueue.show.table import decimals, number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEAST = {"": 1.0}
"""The least value by unit, where a bar begins, if that is not 0: a MOS is at least 1."""


def figure(advice: Advice) -> "Figure":
    """Draw the changes: delays, which are better short, and quality and goodput, which are better high."""
    idle = advice.tried[0].is_choice
    added = [tried.means[ADDED_KEY] for tried in (advice.tried[:1] if idle else (advice.tried[0], advice.choice))]
    groups = []
    for name, better in (("Time: a short bar is better", "low"), ("Quality and rate: a long bar is better", "high")):
        found = [change for change in advice.changes if FELT_BY_KEY[change.metric].number.better == better]
        if found:
            groups.append((name, [_pair(change, idle) for change in found]))
    return pairs.figure([letter.letters(one) for one in added], "The letter of a bufferbloat test", groups)


def _pair(change: Change, idle: bool) -> Pair:
    values = [change.now] if idle else [change.now, change.then]
    least = LEAST.get(change.unit, 0.0)
    longest = max(value.mean for value in values) - least or 1.0
    bars = [_bar(value, least, longest, change.unit) for value in values]
    return Pair(change.what, bars[0], None if idle else bars[1])


def _bar(value: Estimate, least: float, longest: float, unit: str) -> Bar:
    mean, half = value.mean, value.half_width or 0.0
    words = number(mean, 0 if unit == "ms" and mean >= 100 else decimals([mean]))
    return Bar((mean - least) / longest, min(half, mean - least) / longest, f"{words} {unit}".rstrip())
