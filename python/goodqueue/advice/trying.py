"""Runs everything for an answer: all candidates on the stated link, then the doubts."""

import json
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from goodqueue import engines, running
from goodqueue.advice import candidates, choosing, commands, doubts, page, scenarios
from goodqueue.advice.candidates import Candidate
from goodqueue.advice.choosing import Values
from goodqueue.advice.doubts import Asked
from goodqueue.advice.reading import Question
from goodqueue.advice.result import Advice, Doubt, Tried
from goodqueue.advice.scenarios import Truth
from goodqueue.record import Record

FIRST = 0.4
"""The share of the work for the candidates. The doubts are the rest."""


@dataclass(frozen=True, slots=True)
class Bench:
    """The place in which the runs of a question are made."""

    question: Question
    folder: Path
    """The folder for files of rates."""
    workers: int | None
    progress: running.Progress

    def values(self, trials: Iterable[tuple[Candidate, Truth]], begin: float, share: float) -> list[Values]:
        """Return the measurements of each of ``trials`` with every seed. Equal trials are run once.

        They are ``share`` of the whole work, and their progress starts at ``begin``.
        """
        wanted_trials = list(trials)
        distinct = list(dict.fromkeys(wanted_trials))
        seeds = self.question.seeds
        runs = [
            scenarios.scenario(self.question, candidate, seed, truth, self.folder)
            for candidate, truth in distinct
            for seed in seeds
        ]
        texts = engines.run_many("sim", runs, self.workers, lambda done: self.progress(begin + share * done))
        records: list[Record] = [json.loads(text) for text in texts]
        n = len(seeds)
        by_trial = {trial: choosing.numbers(records[n * at : n * at + n]) for at, trial in enumerate(distinct)}
        return [by_trial[trial] for trial in wanted_trials]


def advise(question: Question, workers: int | None = None, progress: running.Progress | None = None) -> Advice:
    """Run in the simulator what ``question`` needs and return the answer. `checking` runs it on Linux."""
    show = progress or (lambda _: None)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(question, Path(folder), workers, show)
        tried = candidates.of(question)
        numbers = bench.values(((candidate, Truth()) for candidate in tried), 0.0, FIRST)
        ranked = _rank(question, [candidate.label for candidate in tried], tried, numbers)
        at = next(index for index, row in enumerate(ranked) if row.is_choice)
        choice = tried[at]
        others = sorted((row for row in ranked if not row.is_choice), key=lambda row: row.behind.mean)
        after = tried[ranked.index(others[0])]
        otherwise = _doubts(bench, doubts.of(question, choice, after))
    return Advice(
        question,
        choice.label,
        *choice.lines(question),
        commands.commands(question, choice),
        commands.sqm(question, choice),
        commands.program(question, choice),
        "" if choice.kind == "nothing" else commands.undo(question),
        choosing.changes(numbers[0], numbers[at], question.uses),
        ranked,
        page.of(question, tried[0], after if at == 0 else choice),
        otherwise,
        scenarios.assumptions(question),
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
        ((trial.candidate, trial.truth) for question in questions for trial in question.trials), FIRST, 1 - FIRST
    )
    doubts_made = []
    for question in questions:
        own_numbers, numbers = numbers[: len(question.trials)], numbers[len(question.trials) :]
        tried = [trial.candidate for trial in question.trials]
        ranked = _rank(bench.question, [trial.label for trial in question.trials], tried, own_numbers, question.chosen)
        changes = question.asks and any(other.gain.is_worth_it for other in ranked)
        doubts_made.append(Doubt(question.what, question.say(ranked), changes, ranked))
    return doubts_made
