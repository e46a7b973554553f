"""Finds the best values of a line's parameters for a set of scenarios, and judges them on others.

A goal is a metric that shall be large or small. The gain of a candidate is the logarithm of the ratio of its metric to
that of the untuned line, on the same scenario with the same seed, so that slow and fast links count alike. Candidates
that no other beats in all goals are the front. They run on the held-out scenarios, with seeds that no candidate had.
"""

import copy
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from goodqueue.measures.metrics import Metric, mean
from goodqueue.measures.stats import Estimate, estimate
from goodqueue.record import Record, Scenario
from goodqueue.search import knobs
from goodqueue.search.cases import Case
from goodqueue.search.conditions import Condition
from goodqueue.search.facts import Facts, Value
from goodqueue.search.optimising import BATCH, Optimiser
from goodqueue.search.ranges import Range
from goodqueue.search.runner import Runner

HELD_OUT_SEEDS = (1001, 1002, 1003)
"""The seeds on the held-out scenarios."""

FRONT = 8
"""The most candidates of the front that run on the held-out scenarios, and are shown."""

REFUSED = -10.0
"""The score of a candidate that is refused, or misses a want. What it misses is added."""

SMALL = 1e-3
"""Added to both numbers of a ratio, so that a delay of 0 has one."""

WORTH = 0.01
"""A smaller loss in a goal counts as none."""


@dataclass(frozen=True, slots=True)
class Goal:
    """A metric that shall be large, or small."""

    metric: Metric
    is_large: bool

    def gain(self, record: Record, untuned: Record) -> float | None:
        """Return the logarithm of the ratio, above 0 if ``record`` is better. None if a run has no value."""
        value, other = self.metric.pick(record), self.metric.pick(untuned)
        if value is None or other is None:
            return None
        ratio = math.log((value + SMALL) / (other + SMALL))
        return ratio if self.is_large else -ratio


class Tuned(Protocol):
    """What is tuned: the parameters of a line, or of a line in each direction."""

    @property
    def ranges(self) -> Sequence[Range]:
        """The parameters that vary."""
        ...

    def put(self, scenario: Scenario, facts: Facts) -> None:
        """Set what is tuned in ``scenario``, in place: with ``facts``, or as it was given if there are none."""
        ...

    def short(self, facts: Facts) -> str:
        """Return what is tuned as a person would write it, with ``facts`` or as it was given."""
        ...


@dataclass(frozen=True, slots=True)
class Plan:
    """What is tuned, and for what."""

    tuned: Tuned
    goals: Sequence[Goal]
    wants: Sequence[Condition]
    training: Sequence[Case]
    held_out: Sequence[Case]
    method: str
    seed: int
    seeds: int
    evaluations: int

    @property
    def line(self) -> str:
        """What is tuned, as it was given."""
        return self.tuned.short({})


@dataclass(frozen=True, slots=True)
class Candidate:
    """Values, and what is tuned with them."""

    line: str
    values: Facts
    gains: tuple[float, ...]
    """Per goal, the mean over the scenarios for tuning and their seeds."""
    missed: float
    """How far the worst want is missed; 0 if all hold."""

    @property
    def scores(self) -> Sequence[float]:
        """What the search learns from: the gains, or less than any gain if a want is missed."""
        return self.gains if not self.missed else [REFUSED - self.missed] * len(self.gains)

    def beats(self, other: "Candidate") -> bool:
        """Return whether it is at least as good in all goals, and better in one."""
        pairs = list(zip(self.gains, other.gains, strict=True))
        return all(ours >= theirs for ours, theirs in pairs) and any(ours > theirs for ours, theirs in pairs)


@dataclass(frozen=True, slots=True)
class Judged:
    """A candidate of the front on the held-out scenarios."""

    candidate: Candidate
    gains: Sequence[Estimate | None]
    """Per goal, over the scenarios: each is one value, the mean of its seeds."""
    wants_hold: int
    """In how many of the held-out runs all wants hold."""

    @property
    def is_better(self) -> bool:
        """Whether it is better in a goal, and worse in none, by the 95 % intervals."""
        return self._gains and not self.is_worse

    @property
    def is_worse(self) -> bool:
        """Whether it loses more than `WORTH` in a goal, and the 95 % interval excludes 0."""
        return any(gain is not None and gain.excludes_zero and gain.mean < -WORTH for gain in self.gains)

    @property
    def is_trade(self) -> bool:
        """Whether it is worse in a goal, and better in another."""
        return self.is_worse and self._gains

    @property
    def _gains(self) -> bool:
        return any(gain is not None and gain.excludes_zero and gain.mean > 0 for gain in self.gains)


@dataclass(slots=True)
class Tuning:
    """The result."""

    plan: Plan
    tried: list[Candidate]
    untuned_wants_hold: int
    front: list[Judged]
    best: Judged | None
    """The answer: chosen by the scenarios for tuning alone. None: no candidate holds all wants or gains anything."""
    held_out_runs: int
    runs: int


def carry_out(plan: Plan, run: Runner, progress: Callable[[float], None]) -> Tuning:
    """Search, and judge the front. The same plan gives the same result."""
    training = _Side(plan.training, range(1, plan.seeds + 1), run)
    beside = training.records(plan, [{}])[0]
    assert beside is not None  # `request.tune` has resolved the line, and all scenarios
    base = _candidate(plan, {}, beside, beside)
    optimiser = Optimiser(plan.method, plan.seed, len(plan.goals))
    tried: list[Candidate] = []

    def choose_all(choose: Callable[..., Value]) -> Facts:
        return {knobs.name(range_): choose(range_.fact) for range_ in plan.tuned.ranges}

    while len(tried) < plan.evaluations:
        batch = optimiser.ask(choose_all, min(BATCH, plan.evaluations - len(tried)))
        records_of_batch = training.records(plan, [point.built for point in batch])
        candidates = [
            _candidate(plan, point.built, records, beside)
            for point, records in zip(batch, records_of_batch, strict=True)
        ]
        optimiser.tell(batch, [candidate.scores for candidate in candidates])
        tried += candidates
        progress(0.9 * len(tried) / plan.evaluations)
    return _judged(plan, run, base, tried)


def _with_line(scenario: Scenario, plan: Plan, facts: Facts) -> Scenario:
    changed = copy.deepcopy(scenario)
    plan.tuned.put(changed, facts)
    return changed


@dataclass(slots=True)
class _Side:
    """The scenarios for tuning, or those that are held out, with their seeds."""

    cases: Sequence[Case]
    seeds: Sequence[int]
    run: Runner

    def records(self, plan: Plan, values: Sequence[Facts]) -> list[dict[str, Record] | None]:
        """Return the records of each of ``values``, by case and seed."""
        return self.run(
            [
                {
                    f"{at}/{seed}": {**_with_line(case.scenario, plan, facts), "seed": seed}
                    for at, case in enumerate(self.cases)
                    for seed in self.seeds
                }
                for facts in values
            ]
        )


def _candidate(plan: Plan, facts: Facts, records: dict[str, Record] | None, beside: dict[str, Record]) -> Candidate:
    line = plan.tuned.short(facts)
    if records is None:
        return Candidate(line, facts, tuple(REFUSED for _ in plan.goals), -REFUSED)
    means = [mean(goal.gain(records[key], beside[key]) for key in beside) for goal in plan.goals]
    return Candidate(line, facts, tuple(REFUSED if gain is None else gain for gain in means), _missed(plan, records))


def _missed(plan: Plan, records: dict[str, Record]) -> float:
    """Return how far the worst want is missed in the mean of a scenario's seeds."""
    worst = 0.0
    for want in plan.wants:
        for keys in _by_case(records):
            margins = [want.margin({"": records[key]}) for key in keys]
            worst = min(worst, math.fsum(margins) / len(margins))
    return -worst


def _by_case(records: Mapping[str, Record]) -> list[list[str]]:
    """Return the names of the records of each case."""
    return [list(keys) for _, keys in itertools.groupby(records, key=lambda name: name.partition("/")[0])]


def _judged(plan: Plan, run: Runner, base: Candidate, tried: Sequence[Candidate]) -> Tuning:
    good = {
        candidate.line: candidate
        for candidate in tried
        if not candidate.missed and all(gain > REFUSED for gain in candidate.gains)
    }
    front = [candidate for candidate in good.values() if not any(other.beats(candidate) for other in good.values())]
    front.sort(key=lambda candidate: candidate.gains)
    answers = [
        candidate
        for candidate in good.values()
        if all(gain >= -WORTH for gain in candidate.gains) and (max(candidate.gains) > 0 or base.missed)
    ]
    best = max(answers, key=lambda candidate: math.fsum(candidate.gains), default=None)
    if best is None and base.missed and front:  # the wants cost something
        best = max(front, key=lambda candidate: math.fsum(candidate.gains))
    shown = _spread(front, FRONT)
    if best is not None and best not in shown:
        shown = sorted([*shown, best], key=lambda candidate: candidate.gains)
    side = _Side(plan.held_out, HELD_OUT_SEEDS, run)
    beside, *records_of_shown = side.records(plan, [{}, *(candidate.values for candidate in shown)])
    assert beside is not None
    judged = []
    for candidate, records in zip(shown, records_of_shown, strict=True):
        if records is None:  # a held-out scenario refuses what those for tuning accept
            continue
        judged.append(
            Judged(candidate, [_held_out(goal, records, beside) for goal in plan.goals], _hold(plan, records))
        )
    chosen = next((result for result in judged if result.candidate == best), None)
    return Tuning(plan, list(tried), _hold(plan, beside), judged, chosen, len(beside), run.runs)


def _spread(front: Sequence[Candidate], most: int) -> list[Candidate]:
    """Return at most ``most`` of ``front``, evenly in its order, with both ends."""
    if len(front) <= most:
        return list(front)
    return [front[round(at * (len(front) - 1) / (most - 1))] for at in range(most)]


def _held_out(goal: Goal, records: dict[str, Record], beside: dict[str, Record]) -> Estimate | None:
    means = [mean(goal.gain(records[key], beside[key]) for key in keys) for keys in _by_case(beside)]
    return estimate([gain for gain in means if gain is not None])


def _hold(plan: Plan, records: dict[str, Record]) -> int:
    return sum(all(want.holds({"": record}) for want in plan.wants) for record in records.values())
