"""The ratio of two means over the same seeds, with an interval that holds the uncertainty of both.

A difference whose interval is divided by the reference's mean takes that mean for exact. Where the reference varies
from seed to seed, such an interval is too narrow, and it may say that a time falls by more than all of it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from goodqueue.measures.stats import t_quantile


@dataclass(frozen=True, slots=True)
class Ratio:
    """A ratio of two means with its 95 % interval, which is not symmetric."""

    value: float
    low: float | None
    high: float | None
    """The ends of the interval. Both are None for a single pair."""
    n: int
    """The number of pairs."""


def ratio(values: Sequence[float], reference: Sequence[float]) -> Ratio | None:
    """Return the mean of ``values`` over the mean of ``reference``, paired seed by seed.

    None if the ratio is not known: the interval of the reference's mean includes 0. The interval is Fieller's: all
    ratios r for which Student's t test does not tell the mean of ``values - r · reference`` from 0 (E. C. Fieller,
    "Some problems in interval estimation", Journal of the Royal Statistical Society B 16 (1954) 175-185). A ratio of
    what is never negative is not negative: nothing falls by more than all of it.

    Raises ValueError for lists of different length, and for none.
    """
    n = len(values)
    pairs = list(zip(values, reference, strict=True))
    mean, base = (math.fsum(side) / n for side in (values, reference))
    if n == 1:
        return Ratio(mean / base, None, None, 1) if base else None
    # The squares and the product of the means, each less t² times its variance: the coefficients of a parabola in r.
    weight = t_quantile(n - 1) ** 2 / (n * (n - 1))
    first = mean**2 - weight * math.fsum((value - mean) ** 2 for value in values)
    both = mean * base - weight * math.fsum((value - mean) * (other - base) for value, other in pairs)
    last = base**2 - weight * math.fsum((other - base) ** 2 for other in reference)
    if last <= 0:
        return None
    reach = math.sqrt(max(both**2 - first * last, 0.0))
    least = 0.0 if min(*values, *reference) >= 0 else -math.inf
    return Ratio(mean / base, max((both - reach) / last, least), (both + reach) / last, n)
