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
    sign = "+" if percent > 0 else ""
    if ratio.low is None or ratio.high is None:
        return f"{sign}{number(percent, 0)} %"
    low, high = 100 * (ratio.low - 1), 100 * (ratio.high - 1)
    digits = 0 if high - low >= 1 else 1
    below, above = number(percent - low, digits), number(high - percent, digits)
    text = f"{sign}{number(percent, digits)}"
    if below == above:
        return f"{text} ± {above} %"
    return f"{text} % ({number(low, digits)} to {number(high, digits)})"
