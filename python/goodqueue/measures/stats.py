"""Statistics over a few seeds: means, medians, confidence intervals, paired differences, pooled distributions.

Seeds are independent repeats of one scenario. Two disciplines that ran on the same seeds saw the same random draws,
so they are compared seed by seed (common random numbers): the variation that both share cancels.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

CONFIDENCE = 0.95

LEAST_STARRED = 3
"""The fewest seeds for a star. With two there is one degree of freedom, and the test is worth little."""

_T = (
    math.nan,
    12.706204736174694, 4.302652729749462, 3.1824463052837078, 2.7764451051977934, 2.5705818356363146,
    2.4469118511449786, 2.364624251592784, 2.306004135204166, 2.262157162798205, 2.228138851986274, 2.200985160091639,
    2.1788128296672284, 2.1603686564627913, 2.144786687917804, 2.131449545559776, 2.1199052992212546,
    2.1098155778333156, 2.1009220402410382, 2.0930240544083087, 2.085963447265864, 2.0796138447276795,
    2.0738730679040254, 2.0686576104190486, 2.0638985616280245, 2.0595385527532972, 2.0555294386428735,
    2.0518305164802846, 2.0484071417952454, 2.045229642132703, 2.0422724563012378,
)  # fmt: skip
"""The two-sided quantiles of Student's t at `CONFIDENCE` for 1 to 30 degrees of freedom, to the last digit as scipy has
them. The import of scipy takes 0.3 to 0.5 s of CPU time, as long as the runs of a small comparison."""

EFFECT = "Cohen's d_z: the mean difference over the standard deviation of the differences (Lakens 2013)"
"""The effect size, and its source: D. Lakens, Frontiers in Psychology 4:863, for paired values."""


class EstimateJson(TypedDict):
    """A mean over seeds, the ends of its 95 % confidence interval, and the number of seeds."""

    mean: float | None
    ci: list[float | None] | None
    n: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over seeds with its confidence interval."""

    mean: float
    half_width: float | None
    """Half of the 95 % confidence interval, in the unit of the mean; None for a single seed."""
    n: int
    """The number of seeds."""

    @property
    def low(self) -> float | None:
        """The lower end of the interval."""
        return None if self.half_width is None else self.mean - self.half_width

    @property
    def high(self) -> float | None:
        """The upper end of the interval."""
        return None if self.half_width is None else self.mean + self.half_width

    @property
    def excludes_zero(self) -> bool:
        """Whether zero lies outside the interval: the difference is significant at 5 %."""
        return self.half_width is not None and abs(self.mean) > self.half_width

    @property
    def p(self) -> float | None:
        """The p value of Student's t test that the mean is 0, two-sided. None for a single seed."""
        if (t := self._t) is None:
            return None
        from scipy.special import stdtr

        return 2 * float(stdtr(self.n - 1, -abs(t)))

    @property
    def effect(self) -> float | None:
        """The effect size of a paired difference, `EFFECT`: t / √n. None for one seed, or if all differ equally."""
        t = self._t
        return None if t is None or math.isinf(t) else t / math.sqrt(self.n)

    @property
    def _t(self) -> float | None:
        """Student's t: the mean over its standard error."""
        if self.half_width is None:
            return None
        if self.half_width == 0:
            return math.copysign(math.inf, self.mean) if self.mean else 0.0
        return self.mean * t_quantile(self.n - 1) / self.half_width


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return p values adjusted for the number of tests by Holm's step-down method. None stays None.

    S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6 (1979).
    """
    order = sorted((p, at) for at, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    least = 0.0
    for rank, (p, at) in enumerate(order):
        least = max(least, min(1.0, p * (len(order) - rank)))
        adjusted[at] = least
    return adjusted


def starred(estimates: Sequence[Estimate | None], correct: str = "") -> list[bool]:
    """Return which differences have a star: those that exclude 0, over at least `LEAST_STARRED` seeds.

    With ``correct`` "holm" the tests are one family, whose error of 5 % Holm's method keeps.
    """
    enough = [estimate is not None and estimate.excludes_zero and estimate.n >= LEAST_STARRED for estimate in estimates]
    if not correct:
        return enough
    adjusted = holm([estimate.p if estimate and estimate.n >= LEAST_STARRED else None for estimate in estimates])
    return [star and p is not None and p < 1 - CONFIDENCE for star, p in zip(enough, adjusted, strict=True)]


def estimate(values: Sequence[float]) -> Estimate | None:
    """Return the mean of ``values`` with its confidence interval by Student's t, or None for no values.

    The interval is mean ± t(0.975, n - 1) · s / √n with the sample deviation s (n - 1 in the denominator). It assumes
    that the seeds' values are independent and that the mean is nearly normal.
    """
    n = len(values)
    if n == 0:
        return None
    mean = math.fsum(values) / n
    if n == 1:
        return Estimate(mean, None, 1)
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (n - 1))
    return Estimate(mean, t_quantile(n - 1) * deviation / math.sqrt(n), n)


def paired(values: Sequence[float | None], reference: Sequence[float | None]) -> Estimate | None:
    """Return the estimate of ``values - reference``, seed by seed. Seeds for which either is None are left out.

    Raises ValueError for lists of different length.
    """
    pairs = zip(values, reference, strict=True)
    return estimate([value - other for value, other in pairs if value is not None and other is not None])


@dataclass(frozen=True, slots=True)
class Median:
    """A median over seeds with its bootstrap interval, for numbers whose distribution may have a long tail."""

    value: float
    low: float
    high: float
    """The ends of the 95 % interval; both are the value for a single seed."""
    n: int
    """The number of seeds."""


RESAMPLES = 999


def median(values: Sequence[float]) -> Median | None:
    """Return the median of ``values`` with its bootstrap interval (the percentiles), or None for no values.

    Nothing is assumed of the distribution. The interval of three values has the least and the greatest as its ends,
    and holds the true median in three cases of four only. The resamples are the same each time.
    """
    if not values:
        return None
    import statistics

    middle = statistics.median(values)
    if min(values) == max(values):
        return Median(middle, middle, middle, len(values))
    import numpy as np
    from scipy.stats import bootstrap

    interval = bootstrap(
        (values,), np.median, n_resamples=RESAMPLES, confidence_level=CONFIDENCE, method="percentile",
        random_state=np.random.default_rng(1),
    )  # fmt: skip
    low, high = (float(end) for end in interval.confidence_interval)
    return Median(middle, low, high, len(values))


def t_quantile(degrees: int) -> float:
    """Return the two-sided quantile of Student's t with ``degrees`` of freedom at `CONFIDENCE`: 2.776 for 4."""
    if degrees < len(_T):
        return _T[degrees]
    from scipy.special import stdtrit  # scipy.stats has the same function, but takes 0.7 s longer to import

    return float(stdtrit(degrees, (1 + CONFIDENCE) / 2))


def share_below(percentiles: Sequence[float], value: float, inclusive: bool = True) -> float:
    """Return the share (0 to 1) of a distribution that is at most ``value``, or less than it if not ``inclusive``.

    ``percentiles`` are the 0th to the 100th, ascending. The distribution is uniform between two neighbours.
    """
    last = len(percentiles) - 1
    above = bisect_right(percentiles, value) if inclusive else bisect_left(percentiles, value)
    if above == 0:
        return 0.0
    if above > last:
        return 1.0
    low, high = percentiles[above - 1], percentiles[above]
    return (above - 1 + (value - low) / (high - low)) / last


def pool_percentiles(runs: Sequence[Sequence[float | None] | None]) -> list[float] | None:
    """Return the 101 percentiles of the even mixture of several runs' distributions, each given by its percentiles.

    The mixture is the distribution of a packet of a random seed. Runs without a packet (None) are left out. Returns
    None if all are left out.
    """
    full = [[value for value in run or () if value is not None] for run in runs]
    full = [run for run in full if len(run) == 101]
    if not full:
        return None
    if len(full) == 1:
        return full[0]
    # The mixture's distribution function as a polyline: it is linear between knots, and vertical at a knot if some run
    # has several percentiles at one value.
    knots = sorted({value for run in full for value in run})
    points = [
        (math.fsum(share_below(run, knot, inclusive) for run in full) / len(full), knot)
        for knot in knots
        for inclusive in (False, True)
    ]
    shares = [share for share, _ in points]
    pooled = [knots[0]]
    for percent in range(1, 100):
        index = bisect_left(shares, percent / 100)
        (below, low), (above, high) = points[index - 1], points[index]
        pooled.append(low + (percent / 100 - below) / (above - below) * (high - low))
    return [*pooled, knots[-1]]
