"""By how much a line is better than another, and whether somebody would feel it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from goodqueue.measures import stats
from goodqueue.measures.stats import Estimate

NOTICED = 2.0
"""The points in one use from which on somebody feels a gain: a fifth of the time of a page or of a ping.

Users notice a difference of a fifth in a time (Seow, Designing and Engineering Time, 2008: the 20 % rule). Nobody feels
a gain that is spread over several uses, a little in each."""


@dataclass(frozen=True, slots=True)
class Gain:
    """By how much a candidate is better than another, in points, paired by seed."""

    points: Estimate
    use: str
    """The use in which it gains the most."""
    most: Estimate
    """The points that it gains in that use."""

    @property
    def is_told_apart(self) -> bool:
        """Whether the seeds tell that it is better, on the whole and in the use in which it gains the most."""
        return all(estimate.mean > 0 and is_told(estimate) for estimate in (self.points, self.most))

    @property
    def is_felt(self) -> bool:
        """Whether somebody would feel the mean gain in one use."""
        return self.points.mean > 0 and self.most.mean >= NOTICED

    @property
    def is_worth_it(self) -> bool:
        """Whether the candidate takes the place of the other, although the other may be simpler."""
        return self.is_told_apart and self.is_felt


def gain(points: Mapping[str, Sequence[float]], over: Mapping[str, Sequence[float]]) -> Gain:
    """Return the gain of ``points`` over ``over``, each with its points by use, one number per seed."""
    each = {use: difference(points[use], over[use]) for use in points}
    use = max(each, key=lambda name: each[name].mean)
    return Gain(difference(total(points), total(over)), use, each[use])


def total(points: Mapping[str, Sequence[float]]) -> list[float]:
    """Return the points of all uses together, one number per seed."""
    return [sum(each) for each in zip(*points.values(), strict=True)]


def is_told(estimate: Estimate) -> bool:
    """Return whether the seeds tell a difference from none. A single seed cannot deny it."""
    return estimate.half_width is None or estimate.excludes_zero


def difference(values: Sequence[float], reference: Sequence[float]) -> Estimate:
    """Return the difference ``values`` − ``reference``, paired by seed."""
    estimate = stats.paired(values, reference)
    assert estimate is not None, "there is a seed"
    return estimate
