"""The posterior: what is sampled where the answer is known in closed form."""

import numpy as np
import pytest
from scipy.stats import norm

from goodqueue.search import posterior
from goodqueue.search.posterior import Points


def still(_: float) -> None:
    """Show no progress."""


def test_a_normal_posterior_has_its_mean_and_spread() -> None:
    def simulate(points: Points) -> np.ndarray:
        return ((points.numbers[:, 0] - 0.3) / 0.05) ** 2 + ((points.numbers[:, 1] - 0.6) / 0.02) ** 2

    found = posterior.sample(simulate, 2, 1, 1500, 1, still)
    mean = found.weights @ found.points.numbers
    spread = np.sqrt(found.weights @ (found.points.numbers - mean) ** 2)
    assert mean == pytest.approx([0.3, 0.6], abs=0.01)
    assert spread == pytest.approx([0.05, 0.02], rel=0.2)
    low, high = posterior.quantiles(found.points.numbers[:, 0], found.weights, [0.05, 0.95])
    assert [low, high] == pytest.approx(norm.ppf([0.05, 0.95], 0.3, 0.05), abs=0.015)
    assert found.ess > 200


def test_words_have_the_probability_that_their_likelihoods_say() -> None:
    # The widths are 0.1 and 0.05, and the second word is exp(-0.5) times as likely as the first where both are best.
    def simulate(points: Points) -> np.ndarray:
        width = np.where(points.words == 0, 0.1, 0.05)
        return ((points.numbers[:, 0] - 0.5) / width) ** 2 + (points.words == 1)

    found = posterior.sample(simulate, 1, 2, 2000, 1, still)
    exact = 0.1 / (0.1 + 0.05 * np.exp(-0.5))
    assert found.weights[found.points.words == 0].sum() == pytest.approx(exact, abs=0.04)


def test_a_word_that_looks_bad_at_first_is_not_given_up() -> None:
    # The second word's good region has a hundredth of the prior; the first word is mediocre everywhere.
    def simulate(points: Points) -> np.ndarray:
        distance = np.abs(points.numbers - 0.77).max(axis=1)
        return np.where(points.words == 0, 40.0, (distance / 0.02) ** 2)

    found = posterior.sample(simulate, 2, 2, 1000, 3, still)
    assert found.weights[found.points.words == 1].sum() > 0.99


def test_failed_runs_have_no_weight_and_all_failed_is_the_prior() -> None:
    def simulate(points: Points) -> np.ndarray:
        return np.where(points.numbers[:, 0] < 0.5, np.inf, 0.0)

    found = posterior.sample(simulate, 1, 1, 300, 1, still)
    assert found.weights[found.points.numbers[:, 0] < 0.5].sum() == 0
    nothing = posterior.sample(lambda points: np.full(len(points), np.inf), 1, 3, 100, 1, still)
    assert nothing.ess == pytest.approx(100)


def test_the_same_seed_gives_the_same_points() -> None:
    def simulate(points: Points) -> np.ndarray:
        return (points.numbers[:, 0] * 10) ** 2

    one, other, third = (posterior.sample(simulate, 1, 2, 150, seed, still) for seed in (1, 1, 2))
    assert (one.points.numbers == other.points.numbers).all()
    assert (one.points.numbers != third.points.numbers).any()
