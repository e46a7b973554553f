"""The bufferbloat letter (after DSLReports, its FAQ 17930): the mean of the latency that a load adds down and up."""

from bisect import bisect_right

LIMITS_MS = (5.0, 30.0, 60.0, 200.0, 400.0)
LETTERS = ("A+", "A", "B", "C", "D", "F")


def letter(added_ms: float) -> str:
    """Return the letter of a mean added latency."""
    return LETTERS[bisect_right(LIMITS_MS, added_ms)]
