"""The bufferbloat letter (after DSLReports, its FAQ 17930): the mean of the latency that a load adds down and up."""

from bisect import bisect_right

from goodqueue.measures.stats import Estimate

LIMITS_MS = (5.0, 30.0, 60.0, 200.0, 400.0)
LETTERS = ("A+", "A", "B", "C", "D", "F")

SAYS = "A bufferbloat test would say"
"""The beginning of each sentence that has a letter."""


def letter(added_ms: float) -> str:
    """Return the letter of a mean added latency."""
    return LETTERS[bisect_right(LIMITS_MS, added_ms)]


def letters(added_ms: Estimate) -> str:
    """Return the letter of an estimate, or the best and the worst one within its interval: ``A or B``."""
    half = added_ms.half_width or 0.0
    best, worst = letter(max(added_ms.mean - half, 0.0)), letter(added_ms.mean + half)
    return best if best == worst else f"{best} or {worst}" if _are_next(best, worst) else f"{best} to {worst}"


def _are_next(best: str, worst: str) -> bool:
    return LETTERS.index(worst) - LETTERS.index(best) == 1
