"""Judges the candidates of a search: runs each scenario, and those it is compared with."""

from collections.abc import Sequence
from dataclasses import dataclass

from goodqueue.engines import identity
from goodqueue.record import Record, Scenario
from goodqueue.search.conditions import Condition
from goodqueue.search.runner import Runner
from goodqueue.search.subjects import Subject, instead

FAILED = -10.0
"""The score of a candidate whose scenario is refused, or whose run failed."""

UNCOMPARED = -4.0
"""Added to the score of a candidate whose own numbers do not suffice, so that it is below every other."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A scenario with its score, and the numbers of its conditions."""

    score: float
    holds: bool
    values: Sequence[tuple[float | None, float | None]] = ()
    """Per condition: the number, and what it is compared with."""
    digests: Sequence[str] = ()
    """The parts of the records that do not name the seed, as a hash. Equal hashes mean equal runs."""


@dataclass(slots=True)
class Evaluator:
    """Judges scenarios by conditions, and counts."""

    subject: Subject
    conditions: Sequence[Condition]
    run: Runner
    evaluations: int = 0
    """The scenarios that were judged, each with one seed."""

    def judge(self, built: Sequence[Scenario | None], seed: int) -> list[Judged]:
        """Return the judgement of each scenario with ``seed``, in their order. None stands for one that is not run.

        A scenario whose own numbers break no condition is not compared with others.
        """
        self.evaluations += len(built)
        seeded = [None if scenario is None else {**scenario, "seed": seed} for scenario in built]
        alone = [condition for condition in self.conditions if not condition.others]
        compared = [condition for condition in self.conditions if condition.others]
        found_records = self.run([{"": scenario} if scenario is not None else None for scenario in seeded])
        first = [self._score(alone, records) for records in found_records]
        if not compared:
            return first
        again = []
        for scenario, records, judged in zip(seeded, found_records, first, strict=True):
            others = {name for condition in compared for name in condition.others}
            is_needed = scenario is not None and records is not None and judged.holds
            again.append(self.variants(scenario, others) if is_needed and scenario is not None else None)
        both = self.run(again)
        judgements = []
        for records, judged, more in zip(found_records, first, both, strict=True):
            if records is None or not judged.holds:
                low = judged.score if judged.score <= FAILED else judged.score + UNCOMPARED
                judgements.append(Judged(low, False, judged.values))
            else:
                judgements.append(self._score(self.conditions, {**records, **more} if more else None))
        return judgements

    def variants(self, scenario: Scenario, others: set[str]) -> dict[str, Scenario]:
        """Return the scenarios with which ``scenario`` is compared, by the name of the other."""
        return {other: instead(scenario, self.subject, other) for other in sorted(others)}

    def _score(self, conditions: Sequence[Condition], records: dict[str, Record] | None) -> Judged:
        if records is None:
            return Judged(FAILED, False)
        margins = [condition.margin(records) for condition in conditions]
        return Judged(
            min(margins, default=0.0),
            all(condition.holds(records) for condition in conditions),
            [condition.values(records) for condition in conditions],
            [_digest(record) for record in records.values()],
        )


def _digest(record: Record) -> str:
    parts = {key: value for key, value in record.items() if key not in ("seed", "scenario")}
    return identity.digest(parts)[:16]
