"""Carries out an attack: searches, checks with fresh seeds, shrinks, counts how often it holds, asks a kernel."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from goodqueue import engines
from goodqueue import scenario as scenarios
from goodqueue.errors import UserError
from goodqueue.record import Scenario
from goodqueue.search import shrinking, worlds
from goodqueue.search.evaluating import Evaluator, Judged
from goodqueue.search.facts import Chosen, Facts, Value
from goodqueue.search.optimising import BATCH, Optimiser
from goodqueue.search.properties import Property
from goodqueue.search.subjects import Subject
from goodqueue.search.worlds import World

SEARCH_SEED = 1
"""The seed of the runs while searching."""

FRESH = (1001, 1002, 1003)
"""The seeds with which a find must hold, and with which it is shrunk. No run of the search has them."""

REPEATS = tuple(range(2001, 2021))
"""The seeds that say how often a find holds."""

KERNEL_SEEDS = (1, 2, 3)

KEPT = 0.5
"""Shrinking leaves a find at least this share of its margin (`Condition.margin`). Without that it ends at the edge of
what holds, and another seed or a real kernel falls on the other side.
"""

Z = 1.959964
"""The two-sided 95 % quantile of the normal distribution."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is attacked, and how long."""

    subject: Subject
    broken: Property
    world: World
    method: str
    seed: int
    evaluations: int
    finds: int
    kernel: str | None = None
    """The engine that confirms what is found, such as ``kernel-6.1``, or None."""


@dataclass(frozen=True, slots=True)
class Confirmed:
    """What a kernel says of a find."""

    engine: str
    refusal: str = ""
    """Why Linux cannot run it."""
    values: Sequence[Sequence[tuple[float | None, float | None]]] = ()
    """Per seed the numbers of the conditions, and what they are compared with."""
    holds: int = 0


@dataclass(frozen=True, slots=True)
class Find:
    """A scenario in which the property breaks."""

    after: int
    """The number of candidates until it was drawn."""
    first: Facts
    """The facts as they were drawn."""
    facts: Facts
    """What is left of them."""
    differing: Facts
    """Those that have not the simplest value."""
    scenario: Scenario
    judged: Judged
    """With the first of `FRESH`."""
    holds: int
    of: int
    """The seeds for which it holds, and how many were tried; 1 of 1 if no seed changes the run."""
    confirmed: Confirmed | None = None

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the share of seeds (Wilson, JASA 1927)."""
        return wilson(self.holds, self.of)


@dataclass(slots=True)
class Finds:
    """The result of an attack."""

    plan: Plan
    finds: list[Find] = field(default_factory=list)
    evaluations: int = 0
    """The candidates that were drawn."""
    runs: int = 0
    """All runs, those of shrinking and repeating included."""
    best: Judged | None = None
    """The best judgement of all, if nothing was found."""
    best_facts: Facts = field(default_factory=dict)
    passing: int = 0
    """Candidates that held with the seed of the search, and not with all fresh ones."""


def wilson(holds: int, of: int) -> tuple[float, float]:
    """Return the 95 % interval of a share."""
    if of == 0:
        return 0.0, 1.0
    share, square = holds / of, Z * Z / of
    middle = (share + square / 2) / (1 + square)
    half = Z / (1 + square) * math.sqrt(share * (1 - share) / of + square / (4 * of))
    return max(0.0, middle - half), min(1.0, middle + half)


def carry_out(plan: Plan, evaluator: Evaluator, progress: Callable[[float], None]) -> Finds:
    """Search until ``plan.finds`` scenarios are found, or its evaluations are used up. Raises UserError."""
    result = Finds(plan)
    optimiser = Optimiser(plan.method, plan.seed)

    def build(choose: Callable[..., Value]) -> Scenario:
        return worlds.build(plan.world, choose)

    while result.evaluations < plan.evaluations and len(result.finds) < plan.finds:
        count = min(BATCH, plan.evaluations - result.evaluations)
        batch = optimiser.ask(build, count)
        built = [None if worlds.is_too_large(candidate.built) else candidate.built for candidate in batch]
        judged = evaluator.judge(built, SEARCH_SEED)
        optimiser.tell(batch, [[judgement.score] for judgement in judged])
        for number, (candidate, judgement) in enumerate(zip(batch, judged, strict=True), 1):
            if result.best is None or judgement.score > result.best.score:
                result.best, result.best_facts = judgement, candidate.facts
            if judgement.holds and len(result.finds) < plan.finds:
                _look(plan, evaluator, result, candidate.facts, result.evaluations + number)
        result.evaluations += count
        progress(min(1.0, result.evaluations / plan.evaluations))
    result.runs = evaluator.run.runs
    return result


def _look(plan: Plan, evaluator: Evaluator, result: Finds, facts: Facts, after: int) -> None:
    """Check a candidate with fresh seeds, shrink it, and add it to ``result`` if it is none of those already there."""

    def scenario_of(facts: Facts) -> Scenario:
        return worlds.build(plan.world, Chosen(facts))

    def margins(tries: Sequence[Facts]) -> list[float]:
        """Return the least margin of each try with the fresh seeds, or one below 0 if it does not hold with all."""
        least = [math.inf] * len(tries)
        for seed in FRESH:
            built = [
                None if so_far < 0 or worlds.is_too_large(scenario := scenario_of(tried_facts)) else scenario
                for tried_facts, so_far in zip(tries, least, strict=True)
            ]
            judged = evaluator.judge(built, seed)
            least = [
                min(so_far, judgement.score if judgement.holds else -1)
                for so_far, judgement in zip(least, judged, strict=True)
            ]
        return least

    (margin,) = margins([facts])
    if margin < 0:
        result.passing += 1
        return

    def holds(tries: Sequence[Facts]) -> list[bool]:
        return [margin_left >= KEPT * margin for margin_left in margins(tries)]

    shrunk = shrinking.shrink(facts, lambda chosen: worlds.build(plan.world, chosen), holds)
    left = shrinking.differing(shrunk, lambda chosen: worlds.build(plan.world, chosen))
    if any(left.keys() == find.differing.keys() for find in result.finds):
        return
    scenario = scenario_of(shrunk)
    (judged,) = evaluator.judge([scenario], FRESH[0])
    count, of = _repeat(evaluator, scenario, judged)
    find = Find(after, facts, shrunk, left, scenario, judged, count, of)
    if plan.kernel is not None:
        find = replace(find, confirmed=confirm(plan.kernel, evaluator, scenario))
    result.finds.append(find)


def _repeat(evaluator: Evaluator, scenario: Scenario, first: Judged) -> tuple[int, int]:
    """Return for how many seeds of how many ``scenario`` holds."""
    (second,) = evaluator.judge([scenario], FRESH[1])
    if second.digests == first.digests:
        return 1, 1
    judged = [evaluator.judge([scenario], seed)[0] for seed in REPEATS]
    return sum(judgement.holds for judgement in judged), len(judged)


def confirm(engine: str, evaluator: Evaluator, scenario: Scenario) -> Confirmed:
    """Run ``scenario`` on Linux, with all that it is compared with."""
    compared = {other for condition in evaluator.conditions for other in condition.others}
    try:
        for case in (scenario, *evaluator.variants(scenario, compared).values()):
            engines.check(engine, scenarios.resolve(dict(case)))
    except UserError as error:
        return Confirmed(engine, str(error))
    beside = replace(evaluator, run=replace(evaluator.run, engine=engine, runs=0), evaluations=0)
    judged = [beside.judge([scenario], seed)[0] for seed in KERNEL_SEEDS]
    if all(not judgement.values for judgement in judged):
        return Confirmed(engine, "the kernel engine failed")
    return Confirmed(
        engine, "", [judgement.values for judgement in judged], sum(judgement.holds for judgement in judged)
    )
