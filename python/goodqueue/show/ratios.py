"""Ratios of two means as text."""

from goodqueue.measures.ratios import Ratio
from goodqueue.show.table import number

NOT_KNOWN = "not known"
"""What stands for a change whose size no number of seeds so far can tell."""


def change(ratio: Ratio | None) -> str:
    """Return the change in percent with its interval: ``-89 ± 9 %``, or ``+131 % (64 to 265)`` if it is lopsided."""
    if ratio is None:
        return NOT_KNOWN
    percent = 100 * (ratio.value - 1)
    text = f"{'+' if percent > 0 else ''}{number(percent, 0)}"
    if ratio.low is None or ratio.high is None:
        return f"{text} %"
    below, above = 100 * (ratio.value - ratio.low), 100 * (ratio.high - ratio.value)
    if number(below, 0) == number(above, 0):
        return f"{text} ± {number(above, 0)} %"
    return f"{text} % ({number(percent - below, 0)} to {number(percent + above, 0)})"
