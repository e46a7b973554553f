"""The tree-structured Parzen estimator (Bergstra, Bardenet, Bengio and Kégl, NIPS 2011), as a sampler for Optuna.

Trials with the best scores are good. There are two densities of trials, that of the good ones and that of all others:
each is a mixture with one kernel per trial. A few values of a fact are drawn from the first density, and the one is
taken whose ratio of both densities is the greatest. Facts come one after the other, so both densities are those under
the condition of the facts that the trial has already: kernels near these weigh more. An earlier trial without a fact
says nothing about it.

Optuna's own estimator reads all earlier trials again for each fact, and normalises kernels one by one. It took nine
tenths of the time of a search. Here the values stay in arrays.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.samplers import BaseSampler, RandomSampler
from scipy.special import ndtr, ndtri

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from optuna.study import Study
    from optuna.trial import FrozenTrial

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

GOOD, MOST_GOOD = 0.1, 25
"""The share of the trials that are good, and the most of them."""

DRAWN = 6
"""The values of a fact that are drawn, of which one is taken. With more, trials crowd around the first good ones."""

MOST_KERNELS = 100
"""A normal distribution around a value is never narrower than the range divided by this."""


class Parzen(BaseSampler):
    """Draws each fact of a trial from the trials before. The same seed and scores give the same draws."""

    def __init__(self, seed: int, first: int) -> None:
        """Draw ``first`` trials at random before there is a model."""
        self._first = first
        self._prior = RandomSampler(seed=seed)
        self._random = np.random.default_rng(seed)
        self._scores: list[float] = []
        self._values: dict[str, list[float]] = {}
        """Per fact its values by trial, as `_place` has them. Not a number: the trial has none."""
        self._trial = -1
        self._groups: tuple[_Group, ...] = ()
        """The good trials and the others, for the trial that is being drawn."""

    def infer_relative_search_space(self, *_: object) -> dict[str, BaseDistribution]:
        """Return no facts: each is drawn by itself."""
        return {}

    def sample_relative(self, *_: object) -> dict[str, Any]:
        """Return no values."""
        return {}

    def sample_independent(
        self, study: "Study", trial: "FrozenTrial", param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """Return a value of the fact ``param_name``."""
        known = self._values.setdefault(param_name, [])
        known.extend([np.nan] * (trial.number - len(known)))
        value: Any
        if len(self._scores) < self._first:
            value = self._prior.sample_independent(study, trial, param_name, param_distribution)
        else:
            if self._trial != trial.number:
                self._trial, self._groups = trial.number, self._split(trial.number)
            value = self._draw(param_distribution, np.array(known))
        known.append(_place(param_distribution, value))
        return value

    def after_trial(self, *told: Any) -> None:
        """Note the score of a trial: the first of its values. Trials end in the order in which they began."""
        self._scores.append(told[-1][0])

    def _split(self, trial: int) -> tuple["_Group", ...]:
        """Return the good trials, and all others before ``trial``.

        A trial without a score yet is one of the others, so those of one batch do not crowd around the same values.
        """
        best = np.argsort(-np.array(self._scores), kind="stable")
        good = best[: min(MOST_GOOD, int(np.ceil(GOOD * len(best))))]
        return _Group(good), _Group(np.setdiff1d(np.arange(trial), good))

    def _draw(self, fact: BaseDistribution, known: "Floats") -> Any:
        good, others = (one.kernels(fact, known) for one in self._groups)
        drawn = good.draw(self._random)
        ratio = good.density(drawn) / others.density(drawn)
        value = _value(fact, drawn[np.argmax(ratio)])
        for one in (good, others):
            one.note(_place(fact, value))
        return value


class _Group:
    """Earlier trials, each with a kernel, and one more kernel that is the same everywhere: the last one."""

    def __init__(self, trials: "Ints") -> None:
        self.trials = trials
        self.weights = np.ones(len(trials) + 1)
        """Per kernel its density at the facts that the new trial has already, up to a common factor."""

    def kernels(self, fact: BaseDistribution, known: "Floats") -> "_Kernels":
        """Return the kernels of the trials that have a value of ``fact``."""
        values = known[self.trials]
        rows = np.flatnonzero(~np.isnan(values))
        own, count = values[rows], len(rows)
        rows = np.append(rows, len(self.trials))
        if isinstance(fact, CategoricalDistribution):
            words = len(fact.choices)
            chances = (np.eye(words)[own.astype(int)] + 1 / (count + 1)) / (1 + words / (count + 1))
            return _Words(self, rows, np.vstack([chances, np.full(words, 1 / words)]))
        return _Numbers(self, rows, own, _widths(own))


@dataclass(slots=True)
class _Kernels:
    """The kernels of a group for one fact."""

    group: _Group
    rows: "Ints"
    """Their places in the group."""

    @property
    def weights(self) -> "Floats":
        """The weight of each kernel. Their sum is 1."""
        weights = self.group.weights[self.rows]
        return np.asarray(weights / weights.sum())

    def draw(self, random: np.random.Generator) -> "Floats":
        """Return `DRAWN` values."""
        raise NotImplementedError

    def at(self, values: "Floats") -> "Floats":
        """Return the density of each kernel at each value: one row per value."""
        raise NotImplementedError

    def density(self, values: "Floats") -> "Floats":
        """Return the density of the group at each value."""
        return np.asarray(self.at(values) @ self.weights)

    def note(self, value: float) -> None:
        """Weigh the group's kernels by their density at the value that was taken."""
        weights = self.group.weights
        weights[self.rows] *= self.at(np.array([value]))[0]
        weights /= weights.max()


@dataclass(slots=True)
class _Words(_Kernels):
    chances: "Floats"
    """Per kernel the probability of each word."""

    def draw(self, random: np.random.Generator) -> "Floats":
        return random.choice(self.chances.shape[1], size=DRAWN, p=self.weights @ self.chances).astype(float)

    def at(self, values: "Floats") -> "Floats":
        return self.chances[:, values.astype(int)].T


@dataclass(slots=True)
class _Numbers(_Kernels):
    """Normal distributions within 0 and 1, and one that is the same everywhere."""

    centres: "Floats"
    widths: "Floats"

    def draw(self, random: np.random.Generator) -> "Floats":
        which = random.choice(len(self.rows), size=DRAWN, p=self.weights)
        centres, widths = np.append(self.centres, 0.0)[which], np.append(self.widths, 1.0)[which]
        shares = random.random(DRAWN)
        below, above = ndtr(-centres / widths), ndtr((1 - centres) / widths)
        normal = np.clip(centres + widths * ndtri(below + shares * (above - below)), 0.0, 1.0)
        return np.where(which == len(self.centres), shares, normal)

    def at(self, values: "Floats") -> "Floats":
        inside = ndtr((1 - self.centres) / self.widths) - ndtr(-self.centres / self.widths)
        away = (values[:, None] - self.centres) / self.widths
        normal = np.exp(-0.5 * away**2) / (np.sqrt(2 * np.pi) * self.widths * inside)
        return np.hstack([normal, np.ones((len(values), 1))])


def _widths(values: "Floats") -> "Floats":
    """Return the width of the kernel around each value: the distance to its farther neighbour, or to an end."""
    order = np.argsort(values, kind="stable")
    gaps = np.diff(np.concatenate([[0.0], values[order], [1.0]]))
    widths = np.empty(len(values))
    widths[order] = np.maximum(gaps[:-1], gaps[1:])
    return np.clip(widths, 1 / min(MOST_KERNELS, len(values) + 2), 1.0)


def _ends(fact: FloatDistribution | IntDistribution) -> tuple[float, float]:
    """Return the ends of a range. A whole number has half a step on both sides, so that all are alike."""
    half = 0.5 if isinstance(fact, IntDistribution) else 0.0
    low, high = fact.low - half, fact.high + half
    return (float(np.log(low)), float(np.log(high))) if fact.log else (low, high)


def _place(fact: BaseDistribution, value: Any) -> float:
    """Return the share of the range at which a number is, or the place of a word in its list."""
    if isinstance(fact, CategoricalDistribution):
        return float(fact.choices.index(value))
    assert isinstance(fact, FloatDistribution | IntDistribution)
    low, high = _ends(fact)
    return float(((np.log(value) if fact.log else value) - low) / (high - low))


def _value(fact: BaseDistribution, place: float) -> Any:
    """Return the value that is at ``place``."""
    if isinstance(fact, CategoricalDistribution):
        return fact.choices[int(place)]
    assert isinstance(fact, FloatDistribution | IntDistribution)
    low, high = _ends(fact)
    value = low + place * (high - low)
    value = float(np.exp(value)) if fact.log else value
    return min(max(round(value) if isinstance(fact, IntDistribution) else value, fact.low), fact.high)
