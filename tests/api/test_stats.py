"""Statistics compared with numbers worked by hand."""

import math
import statistics
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtr

from goodqueue import _goodqueue
from goodqueue.measures import stats


def test_the_interval_of_five_numbers() -> None:
    # Mean 3, sample deviation sqrt(2.5), t(0.975, 4) = 2.776445: half-width 2.776445 * sqrt(2.5 / 5) = 1.963243.
    found = stats.estimate([1.0, 2.0, 3.0, 4.0, 5.0])
    assert found is not None
    assert found.mean == 3.0
    assert found.half_width == pytest.approx(1.963243, abs=1e-6)
    assert found.n == 5
    assert found.excludes_zero
    assert (found.low, found.high) == (pytest.approx(1.036757), pytest.approx(4.963243))


def test_one_seed_has_no_interval_and_none_has_nothing() -> None:
    single = stats.estimate([7.0])
    assert single is not None
    assert (single.mean, single.n) == (7.0, 1)
    assert single.half_width is None, "one value says nothing of the spread"
    assert not single.excludes_zero, "and so nothing can be significant"
    assert stats.estimate([]) is None


@pytest.mark.parametrize(("degrees", "expected"), [(1, 12.7062), (4, 2.7764), (9, 2.2622), (29, 2.0452)])
def test_students_t_as_in_the_table(degrees: int, expected: float) -> None:
    assert stats.t_quantile(degrees) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("degrees", range(1, 35))
def test_students_t_leaves_one_in_forty_above_it(degrees: int) -> None:
    """The first 30 are a table, and the others are scipy's. The distribution function is the inverse of both."""
    assert stdtr(degrees, stats.t_quantile(degrees)) == pytest.approx(0.975, rel=1e-13)


def test_pairing_takes_out_what_both_share() -> None:
    reference = [100.0, 200.0, 300.0]
    found = stats.paired([101.0, 201.0, 301.0], reference)
    assert found is not None
    assert (found.mean, found.half_width) == (1.0, 0.0)
    assert found.excludes_zero, "a difference of exactly 1 in every pair is as sure as can be"
    assert stats.paired([1.0, None], [0.0, 5.0]) == stats.estimate([1.0]), "a seed without a value is left out"
    with pytest.raises(ValueError, match="longer"):
        stats.paired([1.0], [1.0, 2.0])


def test_the_cores_numbers_take_arrays_as_they_are() -> None:
    """Guards against a view that is read without its strides, and a sign that is lost between two clocks."""
    delays = np.array([[3, 90], [-1, 90], [7, 90]], dtype=np.int64) * 1_000_000
    assert _goodqueue.jitter_ms(delays[:, 0]) == (6.0, 0.734375), "4/16, and (8 - 0.25)/16 more"
    found = _goodqueue.summary(delays[:, 0])
    assert found is not None
    assert (found["min"], found["p50"], found["mean"], found["max"]) == (-1.0, 3.0, 3.0, 7.0)
    assert _goodqueue.rounded(-2.5e-6) == -3e-6, "halves go away from zero on both sides"
    assert str(_goodqueue.rounded(-1e-9)) == "0.0"
    assert _goodqueue.summary(delays[:0, 0]) is _goodqueue.percentiles_ms(delays[:0, 0]) is None
    assert _goodqueue.jitter_ms(delays[:1, 0]) == (None, None)
    assert _goodqueue.goodput_quantiles([]) is _goodqueue.jain([0.0, 0.0]) is None


def test_pooling_two_runs_gives_the_mixture() -> None:
    low, high = [float(p) for p in range(101)], [float(p + 100) for p in range(101)]
    pooled = stats.pool_percentiles([low, high])
    assert pooled is not None
    assert (pooled[0], pooled[25], pooled[75], pooled[100]) == (0.0, pytest.approx(50.0), pytest.approx(150.0), 200.0)
    assert stats.pool_percentiles([low, [None] * 101]) == low, "a run that forwarded nothing counts for nothing"
    assert stats.pool_percentiles([[None] * 101]) is None


def test_pooling_keeps_what_many_packets_share() -> None:
    """Half waited 5 ms, the others 0 to 100 evenly: 2.5 % less than 5, 52.5 % at most 5, and 53 % at most 6 ms."""
    pooled = stats.pool_percentiles([[5.0] * 101, [float(p) for p in range(101)]])
    assert pooled is not None
    assert [pooled[p] for p in (0, 2, 3, 52, 53, 100)] == pytest.approx([0, 4, 5, 5, 6, 100])


def test_no_difference_is_none_however_sure() -> None:
    nothing, less = stats.estimate([0.0, 0.0]), stats.estimate([-1.0, -1.0])
    assert nothing is not None
    assert less is not None
    assert (nothing.excludes_zero, less.excludes_zero) == (False, True)


@pytest.mark.parametrize(
    ("value", "at_most", "less"),
    [(-1, 0, 0), (0, 1 / 8, 0), (15, 3 / 8, 3 / 8), (20, 3 / 4, 1 / 2), (36, 7.6 / 8, 7.6 / 8), (40, 1, 1), (41, 1, 1)],
)
def test_the_share_below_by_hand(value: float, at_most: float, less: float) -> None:
    """Eighths: an eighth waited 0, the curve rises to 10 and 20, a quarter waited 20, and it rises to 30 and 40."""
    percentiles = [0.0, 0.0, 10.0, 15.0, 20.0, 20.0, 20.0, 30.0, 40.0]
    found = [stats.share_below(percentiles, value), stats.share_below(percentiles, value, inclusive=False)]
    assert found == pytest.approx([at_most, less])


PERCENTILES = st.lists(st.floats(0, 1e4), min_size=1, max_size=9).map(lambda few: sorted((few * 101)[:101]))


@given(PERCENTILES, PERCENTILES)
def test_a_pooled_distribution_ascends_and_stays_within_its_parts(one: list[float], other: list[float]) -> None:
    pooled = stats.pool_percentiles([one, other])
    assert pooled is not None
    assert len(pooled) == 101
    assert all(left <= right + 1e-9 for left, right in pairwise(pooled))
    for percent, value in enumerate(pooled):
        assert min(one[percent], other[percent]) - 1e-6 <= value <= max(one[percent], other[percent]) + 1e-6


@given(PERCENTILES, st.floats(-10, 2e4))
def test_the_share_below_is_a_share(percentiles: list[float], value: float) -> None:
    share = stats.share_below(percentiles, value)
    assert 0.0 <= share <= 1.0
    assert math.isfinite(share)


# --- tests of differences


def test_p_and_effect_size_are_those_of_the_paired_t_test() -> None:
    from scipy.stats import ttest_rel  # a second, which each worker would take

    ours, theirs = [5.1, 4.8, 6.0, 5.5, 5.9], [4.0, 4.1, 4.9, 5.6, 4.2]
    found = stats.paired(ours, theirs)
    assert found is not None
    expected = ttest_rel(ours, theirs)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-9)
    apart = [one - other for one, other in zip(ours, theirs, strict=True)]
    assert found.effect == pytest.approx(statistics.fmean(apart) / statistics.stdev(apart))
    single = stats.estimate([1.0])
    assert single is not None
    assert (single.p, single.effect) == (None, None)


def test_equal_differences_have_a_p_value_but_no_effect_size() -> None:
    same, nothing = stats.estimate([1.0, 1.0, 1.0]), stats.estimate([0.0, 0.0, 0.0])
    assert same is not None
    assert nothing is not None
    assert (same.p, same.effect) == (0.0, None), "a division by a deviation of 0"
    assert (nothing.p, nothing.effect) == (1.0, 0.0)


def test_holm_by_hand() -> None:
    """Sorted: 0.01 · 4, 0.02 · 3, 0.03 · 2 = 0.06 = its predecessor, 0.9 · 1."""
    assert stats.holm([0.03, None, 0.01, 0.9, 0.02]) == pytest.approx([0.06, None, 0.04, 0.9, 0.06], nan_ok=True)
    assert stats.holm([0.6, 0.7]) == [1.0, 1.0], "no p value is above 1"
    assert stats.holm([]) == []


def test_a_star_needs_three_seeds_and_holm_leaves_fewer() -> None:
    two, three = stats.estimate([1.0, 1.01]), stats.estimate([1.0, 1.5, 1.3])
    assert two is not None
    assert two.excludes_zero
    assert stats.starred([two, three, None]) == [False, True, False]
    assert stats.starred([three, *[stats.estimate([1.0, -1.0, 0.5])] * 3], "holm") == [False] * 4
    assert stats.starred([three], "holm") == [True]


def test_a_medians_interval_is_the_bootstraps_and_the_same_each_time() -> None:
    values = [float(value) for value in (*range(30), 500)]
    found = stats.median(values)
    assert found is not None
    assert (found.value, found.n) == (15.0, 31)
    # By order statistics (binomial, n = 31): the 10th and the 22nd value enclose the median in 97 % of samples, the
    # 11th and the 21st in 93 %.
    assert 9.0 <= found.low <= 10.5
    assert 20.0 <= found.high <= 21.5
    assert stats.median(values) == found
    assert stats.median([7.0]) == stats.Median(7.0, 7.0, 7.0, 1)
    assert stats.median([]) is None
