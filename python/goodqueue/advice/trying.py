"""Runs everything for an answer: all candidates on the stated link, then the doubts."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from goodqueue import engines, running
from goodqueue.advice import candidates, choosing, commands, doubts, lengths, page, scenarios
from goodqueue.advice.candidates import Candidate
from goodqueue.advice.choosing import Values
from goodqueue.advice.doubts import Asked
from goodqueue.advice.lengths import Length, Times
from goodqueue.advice.reading import Question
from goodqueue.advice.result import Advice, Doubt, Tried
from goodqueue.advice.scenarios import Truth
from goodqueue.files import temporary
from goodqueue.measures import steady
from goodqueue.record import Record, Scenario

FIRST, NOW, THEN = 0.25, 0.5, 0.7
"""The shares of the work at which the candidates, the present state and the choice are measured. Last are the doubts.
"""


@dataclass(frozen=True, slots=True)
class Bench:
    """The place in which the runs of a question are made."""

    question: Question
    folder: Path
    """The folder for files of rates."""
    workers: int | None
    progress: running.Progress

    def values(self, trials: Iterable[tuple[Candidate, Truth]], begin: float, end: float) -> list[Values]:
        """Return the measurements of each of ``trials`` with every seed, from short runs. Equal trials are run once.

        ``begin`` and ``end`` are their place in the progress of the whole work.
        """
        wanted_trials = list(trials)
        distinct = list(dict.fromkeys(wanted_trials))
        runs = [
            scenarios.scenario(self.question, candidate, seed, truth, self.folder)
            for candidate, truth in distinct
            for seed in self.question.seeds
        ]
        records = self._records(runs, begin, end)
        n = len(self.question.seeds)
        by_trial = {trial: choosing.numbers(records[n * at : n * at + n]) for at, trial in enumerate(distinct)}
        return [by_trial[trial] for trial in wanted_trials]

    def long(self, candidate: Candidate, times: Times, begin: float, end: float) -> tuple[Values, float]:
        """Return the measurements of ``candidate`` in runs of ``times``, and the time after which they are stationary.

        The stated link is the real one.
        """
        runs = [
            scenarios.scenario(self.question, candidate, seed, Truth(), self.folder, times)
            | {"series": {"interval": steady.INTERVAL}}
            for seed in self.question.seeds
        ]
        records = self._records(runs, begin, end)
        return choosing.numbers(records), steady.settled_s(records)

    def settled(
        self, tried: Sequence[Candidate], times: Times, begin: float, end: float
    ) -> tuple[list[Values], Length]:
        """Return the measurements of ``tried`` in runs of ``times``, or longer until all are stationary, if possible.

        The same part of each run is measured.
        """
        while True:
            middle = (begin + end) / 2
            step = (middle - begin) / len(tried)
            found = [
                self.long(candidate, times, begin + step * at, begin + step * (at + 1))
                for at, candidate in enumerate(tried)
            ]
            length = Length(times, max(settled_s for _, settled_s in found))
            if not lengths.should_double(self.question, length):
                return [values for values, _ in found], length
            times, begin = times.doubled, middle

    def both(self, now: Candidate, choice: Candidate, values: Values, length: Length) -> tuple[Values, Values, Length]:
        """Return the measurements of ``now`` and of ``choice``: ``values`` of ``length``, if that suits the choice."""
        then, settled_s = self.long(choice, length.times, NOW, THEN)
        both = Length(length.times, max(length.settled_s, settled_s))
        if not lengths.should_double(self.question, both):
            return values, then, both
        (values, then), both = self.settled([now, choice], length.times.doubled, NOW, THEN)
        return values, then, both

    def _records(self, runs: Sequence[Scenario], begin: float, end: float) -> list[Record]:
        def show(done: float) -> None:
            self.progress(begin + (end - begin) * done)

        return [json.loads(text) for text in engines.run_many("sim", runs, self.workers, show)]


def advise(question: Question, workers: int | None = None, progress: running.Progress | None = None) -> Advice:
    """Run in the simulator what ``question`` needs and return the answer. `checking` runs it on Linux."""
    show = progress or (lambda _: None)
    with temporary.folder() as folder:
        bench = Bench(question, folder, workers, show)
        tried = candidates.of(question)
        numbers = bench.values(((candidate, Truth()) for candidate in tried), 0.0, FIRST)
        ranked = _rank(question, [candidate.label for candidate in tried], tried, numbers)
        at = next(index for index, row in enumerate(ranked) if row.is_choice)
        choice = tried[at]
        others = sorted((row for row in ranked if not row.is_choice), key=lambda row: row.behind.mean)
        after = tried[ranked.index(others[0])]
        (now,), length = bench.settled(tried[:1], lengths.long(question), FIRST, NOW)
        now, then, length = bench.both(tried[0], choice, now, length) if at else (now, now, length)
        ranked = choosing.longer(ranked, at, now, then, question.uses)
        otherwise = _doubts(bench, doubts.of(question, choice, after))
    return Advice(
        question,
        choice.label,
        *choice.lines(question),
        commands.commands(question, choice),
        commands.sqm(question, choice),
        commands.program(question, choice),
        "" if choice.kind == "nothing" else commands.undo(question),
        choosing.changes(now, then, question.uses),
        ranked,
        page.of(question, tried[0], after if at == 0 else choice, length.times),
        otherwise,
        scenarios.assumptions(question),
        length,
        [],
        "",
    )


def _rank(
    question: Question,
    labels: Sequence[str],
    tried: Sequence[Candidate],
    numbers: Sequence[Values],
    at: int | None = None,
) -> list[Tried]:
    each = zip(labels, tried, numbers, strict=True)
    rows = [(label, candidate.lines(question), candidate.level, own_numbers) for label, candidate, own_numbers in each]
    return choosing.rank(rows, question.uses, at)


def _doubts(bench: Bench, questions: Sequence[Asked]) -> list[Doubt]:
    """Return the doubts with their measurements."""
    numbers = bench.values(
        ((trial.candidate, trial.truth) for question in questions for trial in question.trials), THEN, 1.0
    )
    doubts_made = []
    for question in questions:
        own_numbers, numbers = numbers[: len(question.trials)], numbers[len(question.trials) :]
        tried = [trial.candidate for trial in question.trials]
        ranked = _rank(bench.question, [trial.label for trial in question.trials], tried, own_numbers, question.chosen)
        changes = question.asks and any(other.gain.is_worth_it for other in ranked)
        doubts_made.append(Doubt(question.what, question.say(ranked), changes, ranked))
    return doubts_made
