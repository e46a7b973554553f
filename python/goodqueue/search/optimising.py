"""Optuna, which draws the candidates of a search (Akiba et al., KDD 2019).

Candidates come in batches of one size, and their scores are told in the same order. So a search depends only on its
seed, and not on the number of cores.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from goodqueue import extras
from goodqueue.errors import UserError, quoted
from goodqueue.search.facts import Fact, Number, Value

PACKAGE = "optuna"

BATCH = 16
"""The number of candidates that are drawn before the first of them is judged."""

METHODS = ("tpe", "random", "nsga2")
"""Tree-structured Parzen estimator (Bergstra et al., NIPS 2011); random draws; NSGA-II (Deb et al., 2002)."""

RANDOM_FIRST = 64
"""The candidates that `tpe` draws at random before it has a model."""


@dataclass(slots=True)
class Candidate:
    """One candidate: its facts, and what was built of them."""

    trial: Any
    facts: dict[str, Value]
    built: Any


class Optimiser:
    """Draws candidates and learns from their scores. Higher scores are better."""

    def __init__(self, method: str, seed: int, goals: int = 1) -> None:
        """Begin a search with ``goals`` scores per candidate. Raises UserError."""
        extras.needed(PACKAGE, "search")
        if method not in METHODS:
            raise UserError("--method", f"found {quoted(method)}; accepted: {', '.join(METHODS)}")
        import optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        samplers = optuna.samplers
        sampler: Any
        if method == "tpe":
            sampler = samplers.TPESampler(seed=seed, n_startup_trials=RANDOM_FIRST)
        elif method == "random":
            sampler = samplers.RandomSampler(seed=seed)
        else:
            sampler = samplers.NSGAIISampler(seed=seed, population_size=2 * BATCH)
        self._study = optuna.create_study(sampler=sampler, directions=["maximize"] * goals)

    def ask(self, build: Callable[[Callable[[Fact], Value]], Any], count: int = BATCH) -> list[Candidate]:
        """Return ``count`` candidates. ``build`` makes each of the facts that it asks for."""
        return [self._candidate(build) for _ in range(count)]

    def _candidate(self, build: Callable[[Callable[[Fact], Value]], Any]) -> Candidate:
        trial = self._study.ask()
        facts: dict[str, Value] = {}

        def choose(fact: Fact) -> Value:
            facts[fact.name] = value = _suggest(trial, fact)
            return value

        return Candidate(trial, facts, build(choose))

    def tell(self, candidates: Sequence[Candidate], scores: Sequence[Sequence[float]]) -> None:
        """Note the scores of ``candidates``, in their order."""
        for candidate, score in zip(candidates, scores, strict=True):
            self._study.tell(candidate.trial, list(score))


def _suggest(trial: Any, fact: Fact) -> Value:
    if not isinstance(fact, Number):
        return str(trial.suggest_categorical(fact.name, fact.choices))
    if fact.low == fact.high:
        return fact.low
    if fact.is_whole:
        return float(trial.suggest_int(fact.name, int(fact.low), int(fact.high), log=fact.is_log))
    return fact.rounded(float(trial.suggest_float(fact.name, fact.low, fact.high, log=fact.is_log)))
