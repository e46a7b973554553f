"""Ratios of two means with Fieller's interval."""

import pytest

from goodqueue.measures import ratios, stats
from goodqueue.show import ratios as text


def test_an_exact_value_over_one_that_varies_is_as_by_hand() -> None:
    # t² = 18.5128 for 2 degrees of freedom, s² / n = 1 / 3. (10² - 6.1709) r² - 2 · 200 r + 400 = 0.
    found = ratios.ratio([20.0, 20.0, 20.0], [9.0, 10.0, 11.0])
    assert found == ratios.Ratio(2.0, pytest.approx(1.6020, abs=1e-4), pytest.approx(2.6611, abs=1e-4), 3)
    assert text.change(found) == "+60 to +166 %"


def test_the_ends_are_the_ratios_that_a_t_test_just_tells_apart() -> None:
    now, then = [14.0, 9.0, 21.0, 12.0, 16.0], [33.0, 18.0, 30.0, 26.0, 41.0]
    found = ratios.ratio(then, now)
    assert found
    assert found.low
    assert found.high
    assert found.low < found.value < found.high
    for end in (found.low, found.high):
        gap = stats.paired(then, [end * value for value in now])
        assert gap
        assert gap.half_width == pytest.approx(abs(gap.mean))


def test_a_pair_that_moves_together_has_a_narrow_ratio() -> None:
    found = ratios.ratio([2.0, 4.0, 6.0], [1.0, 2.0, 3.0])
    assert found is None, "the reference's own interval includes 0"
    found = ratios.ratio([20.0, 22.0, 24.0], [10.0, 11.0, 12.0])
    assert found == ratios.Ratio(pytest.approx(2.0), pytest.approx(2.0), pytest.approx(2.0), 3)
    assert text.change(found) == "+100.0 ± 0.0 %"


def test_a_reference_that_may_be_nothing_gives_no_ratio() -> None:
    assert ratios.ratio([100.0, 110.0, 120.0], [2.0, 3.0, 38.0]) is None
    assert text.change(None) == "not known"
    assert ratios.ratio([1.0], [0.0]) is None


def test_one_seed_has_no_interval() -> None:
    assert text.change(ratios.ratio([1.0], [4.0])) == "-75 %"


def test_nothing_falls_by_more_than_all_of_it() -> None:
    found = ratios.ratio([0.0, 1.0, 9.0], [20.0, 24.0, 31.0])
    assert found
    assert found.low == 0.0
    assert text.change(found).startswith("-100 to ")
