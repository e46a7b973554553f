"""Finds which unknown settings of a scenario explain numbers that somebody measured."""

import copy
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from goodqueue import scenario as scenarios
from goodqueue.engines import loads
from goodqueue.errors import UserError
from goodqueue.measures.numbers import queues
from goodqueue.record import Record, Scenario
from goodqueue.search import posterior, ranges
from goodqueue.search.posterior import Points, Sample
from goodqueue.search.ranges import Choice, Range
from goodqueue.search.runner import Runner
from goodqueue.suites.subjects import takes_buffer, whole

if TYPE_CHECKING:
    from goodqueue.search.posterior import Floats

BUFFER = "bottleneck.buffer.bdp"
"""The key of the buffer. A line without a limit has none."""

FIRST_SEED = 5001
"""The seed of the first run. Each further run has the next one."""

REGION = 0.9
"""The share of the posterior that an interval holds."""

TOLD = 0.6
"""An interval that is a greater share of the range than this says that the data do not tell."""

UNLIKELY = 0.1
"""Words with a lower probability are told apart from the others."""

EXPLAINED = 3.0
"""A number is not explained if it is more of its errors away from that of the best run."""


@dataclass(frozen=True, slots=True)
class Observed:
    """A measured number."""

    name: str
    value: float
    error: float
    """One standard deviation of the measurement."""


Measure = Callable[[Record], Mapping[str, float | None]]
"""Returns the numbers of a run by the names of the observed ones. A number that the run has not is None, or missing."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is known, and what is not."""

    name: str
    base: Scenario
    """The scenario without the unknown settings."""
    numbers: Sequence[Range]
    choices: Sequence[Choice]
    observed: Sequence[Observed]
    measure: Measure
    evaluations: int
    seed: int
    notes: Sequence[str] = ()
    """How the runs differ from what was measured, in sentences."""
    is_modem: bool = False
    """Whether the buffer is that of FIFOs alone: in a modem, the limit of a discipline with a target never counts."""

    @property
    def words(self) -> list[tuple[str, ...]]:
        """All combinations of the words of the choices. Without choices there is one, of none."""
        return list(itertools.product(*(choice.words for choice in self.choices)))


@dataclass(frozen=True, slots=True)
class Setting:
    """What the data say about an unknown number."""

    range: Range
    median: float
    low: float
    high: float
    """The ends of the interval that holds `REGION` of the posterior."""
    is_told: bool
    """Whether the data narrow it."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """The result."""

    plan: Plan
    sample: Sample
    settings: Sequence[Setting]
    words: Sequence[Sequence[tuple[str, float]]]
    """Per choice each word with its probability, the most likely one first."""
    best: Scenario
    """The scenario of the run that is nearest to the data."""
    best_values: Sequence[float | None]
    """Its numbers, in the order of the observed ones."""
    runs: int

    @property
    def unexplained(self) -> list[Observed]:
        """The observed numbers that even the best run misses by more than `EXPLAINED` errors."""
        pairs = zip(self.plan.observed, self.best_values, strict=True)
        return [
            observed_number
            for observed_number, value in pairs
            if value is None or abs(value - observed_number.value) > EXPLAINED * observed_number.error
        ]


def carry_out(plan: Plan, run: Runner, progress: Callable[[float], None]) -> Fitted:
    """Sample the posterior. The same plan gives the same result."""
    import numpy as np

    values: list[list[float | None]] = []

    def simulate(points: Points) -> "Floats":
        built = [{"": scenario_of(plan, points, row, FIRST_SEED + len(values) + row)} for row in range(len(points))]
        records = run(built)
        numbers_of_runs = [_numbers(plan, record) for record in records]
        values.extend(numbers_of_runs)
        return np.array([_misfit(plan, row) for row in numbers_of_runs])

    sample = posterior.sample(simulate, len(plan.numbers), len(plan.words), plan.evaluations, plan.seed, progress)
    nearest = int(sample.misfits.argmin())
    return Fitted(
        plan,
        sample,
        [_setting(number, sample, column) for column, number in enumerate(plan.numbers)],
        [_words(plan, sample, column) for column in range(len(plan.choices))],
        scenario_of(plan, sample.points, nearest, FIRST_SEED + nearest),
        values[nearest],
        run.runs,
    )


def ends(plan: Plan) -> Iterator[tuple[tuple[str, ...], list[Scenario], list[UserError]]]:
    """Yield each combination of words with its resolved scenarios at both ends of all ranges, and what is refused."""
    import numpy as np

    for index, words in enumerate(plan.words):
        resolved: list[Scenario] = []
        refused: list[UserError] = []
        for share in (0.0, 1.0):
            points = Points(np.full((1, len(plan.numbers)), share), np.array([index]))
            try:
                resolved.append(loads.resolve(scenario_of(plan, points, 0, FIRST_SEED), plan.name))
            except UserError as error:
                refused.append(error)
        yield words, resolved, refused


def refusals(plan: Plan) -> dict[tuple[str, ...], UserError]:
    """Return why combinations of words are refused at both ends of all ranges.

    One end alone may be refused, such as a small buffer by a discipline that needs a larger one.
    """
    return {words: refused[0] for words, resolved, refused in ends(plan) if not resolved}


def check(plan: Plan) -> None:
    """Refuse keys that scenarios do not have, and words that none accepts. Raises UserError."""
    for error in refusals(plan).values():
        raise error


def scenario_of(plan: Plan, points: Points, row: int, seed: int) -> Scenario:
    """Return the scenario of a point."""
    scenario = copy.deepcopy(plan.base)
    for choice, word in zip(plan.choices, plan.words[points.words[row]], strict=True):
        scenarios.apply_set(scenario, f"{choice.key}={word}")
    ranges.put(scenario, plan.numbers, [number.at(points.numbers[row, at]) for at, number in enumerate(plan.numbers)])
    line = str(scenario["bottleneck"].get("qdisc", ""))
    if "buffer" in scenario["bottleneck"] and (not takes_buffer(line) or (plan.is_modem and _has_target(line))):
        del scenario["bottleneck"]["buffer"]
    return {**scenario, "seed": seed}


@cache
def _has_target(line: str) -> bool:
    return queues.target_ms(whole(line)) is not None


def _numbers(plan: Plan, record: dict[str, Record] | None) -> list[float | None]:
    """Return the numbers of a run. A run that was refused or failed has none."""
    numbers = {} if record is None else plan.measure(record[""])
    return [numbers.get(observed_number.name) for observed_number in plan.observed]


def _misfit(plan: Plan, values: Sequence[float | None]) -> float:
    total = 0.0
    for observed_number, value in zip(plan.observed, values, strict=True):
        if value is None:
            return math.inf
        total += ((value - observed_number.value) / observed_number.error) ** 2
    return total


def _setting(range_: Range, sample: Sample, column: int) -> Setting:
    shares = posterior.quantiles(
        sample.points.numbers[:, column], sample.weights, [0.5, (1 - REGION) / 2, (1 + REGION) / 2]
    )
    median, low, high = (range_.at(share) for share in shares)
    return Setting(range_, median, low, high, shares[2] - shares[1] <= TOLD)


def _words(plan: Plan, sample: Sample, column: int) -> list[tuple[str, float]]:
    chances = dict.fromkeys(plan.choices[column].words, 0.0)
    for row, weight in zip(sample.points.words, sample.weights, strict=True):
        chances[plan.words[row][column]] += float(weight)
    return sorted(chances.items(), key=lambda pair: -pair[1])
