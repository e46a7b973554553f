"""The posterior of unknown settings by sampling: which of them make a simulation give the observed numbers?

The method is adaptive multiple importance sampling (Cornuet, Marin, Mira and Robert, Scandinavian Journal of Statistics
39, 2012). Each generation draws from a mixture around what explained the data best so far, and the weight of a draw is
its likelihood over the mean of all proposals, so that no run is lost. The likelihood says that an observed number is
the simulated one plus a normal error of a known size. That is exact for a simulator that draws at random, too: each
draw has one run with its own seed (Wilkinson, Statistical Applications in Genetics 12, 2013).

A point has numbers from 0 to 1 (shares of their ranges), and a combination of words, such as a discipline.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

FIRST = 0.34
"""The share of all draws that come from the prior, before anything is known."""

DEFENSIVE = 0.15
"""The share of the prior in each later proposal, so that no part of it is ever lost."""

HOT, COOLING, COLD = 60.0, 0.75, 3.0
"""How draws are shared between the words: by the misfit of the best run of each, over a temperature that falls.

It begins at `HOT`, is `COOLING` times the last one in each generation, and ends at `COLD`. So every word is looked at
closely before most are given up.
"""

LEAST_SHARE = 0.1
"""The share of the draws of a generation that all words have alike."""

CENTRES = 32
"""The points of each word around which a generation is drawn."""

GENERATION = 48
"""The draws of a generation."""

LEAST_ESS = 8.0
"""The likelihoods of a word are tempered until the weights are worth so many equal ones (Kish's effective size)."""

NARROWEST = 0.004
"""The least width of the normal distribution around a point, as a share of a range."""


@dataclass(frozen=True, slots=True)
class Points:
    """Points of the space, one per row."""

    numbers: "Floats"
    words: "Ints"
    """The place of each point's combination of words in the list of all combinations."""

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.numbers)


@dataclass(frozen=True, slots=True)
class Sample:
    """Points with their weights, whose sum is 1."""

    points: Points
    misfits: "Floats"
    """Per point the sum over the observed numbers of ((simulated - observed) / error)²; infinite if its run failed."""
    weights: "Floats"
    ess: float
    """The effective sample size: of so many independent draws the weights are worth."""


Simulate = Callable[[Points], "Floats"]
"""Runs points and returns their misfits."""


@dataclass(frozen=True, slots=True)
class _Around:
    """What the numbers of one combination of words are drawn from: the prior, and normal distributions."""

    centres: "Floats"
    """One row per centre. None if no run of these words has succeeded: then the prior alone."""
    widths: "Floats"
    """Per number."""

    def draw(self, random: "np.random.Generator") -> "Floats":
        """Return the numbers of one point."""
        import numpy as np

        if not len(self.centres) or random.random() < DEFENSIVE:
            return random.random(len(self.widths))
        centre = self.centres[random.integers(len(self.centres))]
        return np.array([_truncated(random, *pair) for pair in zip(centre, self.widths, strict=True)])

    def density(self, numbers: "Floats") -> "Floats":
        """Return the density at each row, where the prior's is 1."""
        import numpy as np
        from scipy.special import ndtr

        if not len(self.centres):
            return np.ones(len(numbers))
        kernel = np.ones((len(numbers), len(self.centres)))
        for column, width in enumerate(self.widths):
            centre = self.centres[:, column]
            inside = ndtr((1 - centre) / width) - ndtr(-centre / width)
            distance = (numbers[:, column, None] - centre) / width
            kernel *= np.exp(-0.5 * distance**2) / (np.sqrt(2 * np.pi) * width * inside)
        return np.asarray(DEFENSIVE + (1 - DEFENSIVE) * kernel.mean(axis=1))


@dataclass(frozen=True, slots=True)
class _Proposal:
    """What a generation is drawn from."""

    shares: "Floats"
    """The share of each combination of words."""
    around: Sequence[_Around]

    def draw(self, random: "np.random.Generator", count: int) -> Points:
        """Return ``count`` points."""
        import numpy as np

        words = random.choice(len(self.shares), size=count, p=self.shares)
        return Points(np.array([self.around[word].draw(random) for word in words]), words)

    def density(self, points: Points) -> "Floats":
        """Return the density at each point, where the prior's is 1."""
        import numpy as np

        densities = np.zeros(len(points))
        for word, (share, around) in enumerate(zip(self.shares, self.around, strict=True)):
            rows = points.words == word
            densities[rows] = share * len(self.shares) * around.density(points.numbers[rows])
        return densities


def _truncated(random: "np.random.Generator", centre: float, width: float) -> float:
    """Return a draw of the normal distribution around ``centre`` that is within 0 and 1."""
    while True:
        value = random.normal(centre, width)
        if 0 <= value <= 1:
            return float(value)


def sample(
    simulate: Simulate, numbers: int, words: int, count: int, seed: int, progress: Callable[[float], None]
) -> Sample:
    """Return ``count`` weighted points with ``numbers`` numbers and one of ``words`` combinations of words.

    The prior is uniform. The same seed gives the same points.
    """
    import numpy as np

    random = np.random.default_rng(seed)
    first = min(count, max(GENERATION, round(FIRST * count)))
    points = Points(random.random((first, numbers)), random.permutation(np.arange(first) % words))
    misfits = simulate(points)
    prior = _Proposal(np.full(words, 1 / words), [_Around(np.empty((0, numbers)), np.ones(numbers))] * words)
    generations = [(first, prior)]
    temperature = HOT
    progress(first / count)
    while len(points) < count:
        proposal = _proposal(points, misfits, _proposed(points, generations), words, temperature, random)
        new = proposal.draw(random, min(GENERATION, count - len(points)))
        points = Points(np.vstack([points.numbers, new.numbers]), np.concatenate([points.words, new.words]))
        misfits = np.concatenate([misfits, simulate(new)])
        generations.append((len(new), proposal))
        temperature = max(COLD, temperature * COOLING)
        progress(len(points) / count)
    weights = _weights(misfits, _proposed(points, generations), 1.0)
    return Sample(points, misfits, weights, _ess(weights))


def _proposed(points: Points, generations: Sequence[tuple[int, _Proposal]]) -> "Floats":
    """Return the mean density of all proposals at each point."""
    import numpy as np

    total = np.zeros(len(points))
    for count, proposal in generations:
        total += count * proposal.density(points)
    return np.asarray(total / sum(count for count, _ in generations))


def _weights(misfits: "Floats", proposed: "Floats", temperature: float) -> "Floats":
    import numpy as np

    least = misfits.min(initial=np.inf)
    if not np.isfinite(least):
        return np.full(len(misfits), 1 / max(len(misfits), 1))
    likelihood = np.exp(-0.5 * (misfits - least) / temperature) / proposed
    return np.asarray(likelihood / likelihood.sum())


def _ess(weights: "Floats") -> float:
    return float(1 / (weights**2).sum())


def _proposal(
    points: Points, misfits: "Floats", proposed: "Floats", words: int, temperature: float, random: "np.random.Generator"
) -> _Proposal:
    """Return the next proposal: the words by their best runs, the numbers around the best runs of each word."""
    import numpy as np

    best = np.array([misfits[points.words == word].min(initial=np.inf) for word in range(words)])
    if not np.isfinite(best.min()):
        best = np.zeros(words)
    merit = np.exp(-0.5 * (best - best.min()) / temperature)
    shares = LEAST_SHARE / words + (1 - LEAST_SHARE) * merit / merit.sum()
    around = []
    for word in range(words):
        rows = np.flatnonzero((points.words == word) & np.isfinite(misfits))
        around.append(_around(points.numbers[rows], misfits[rows], proposed[rows], random))
    return _Proposal(shares, around)


def _around(numbers: "Floats", misfits: "Floats", proposed: "Floats", random: "np.random.Generator") -> _Around:
    import numpy as np

    if not len(numbers):
        return _Around(numbers, np.ones(numbers.shape[1]))
    temperature = 1.0
    wanted_ess = min(LEAST_ESS, len(numbers) / 2)
    while _ess(weights := _weights(misfits, proposed, temperature)) < wanted_ess and temperature < 1e6:
        temperature *= 1.3
    which = random.choice(len(numbers), size=CENTRES, p=weights)
    spread = np.sqrt(weights @ (numbers - weights @ numbers) ** 2)
    scale = _ess(weights) ** (-1 / (numbers.shape[1] + 4))
    return _Around(numbers[which], np.maximum(spread * scale, NARROWEST))


def quantiles(values: "Floats", weights: "Floats", levels: Sequence[float]) -> list[float]:
    """Return the quantiles of weighted values."""
    import numpy as np

    order = np.argsort(values)
    reached = np.cumsum(weights[order]) - 0.5 * weights[order]
    return [float(np.interp(level, reached, values[order])) for level in levels]
