"""Ratios of two means as text."""

from goodqueue.measures.ratios import Ratio
from goodqueue.show.table import number

NOT_KNOWN = "not known"
"""What stands for a change whose size no number of seeds so far can tell."""


def change(ratio: Ratio | None) -> str:
    """Return the change in percent: ``-89 ± 9 %``, or its interval alone if that is lopsided: ``+64 to +265 %``."""
    if ratio is None:
        return NOT_KNOWN
    percent = 100 * (ratio.value - 1)
    if ratio.low is None or ratio.high is None:
        return f"{_signed(percent, 0)} %"
    low, high = 100 * (ratio.low - 1), 100 * (ratio.high - 1)
    digits = 0 if high - low >= 1 else 1
    below, above = number(percent - low, digits), number(high - percent, digits)
    if below == above:
        return f"{_signed(percent, digits)} ± {above} %"
    return f"{_signed(low, digits)} to {_signed(high, digits)} %"


def _signed(percent: float, digits: int) -> str:
    text = number(percent, digits)
    return text if text.startswith("-") or float(text) == 0 else f"+{text}"
