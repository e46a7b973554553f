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
        wanted = list(trials)
        distinct = list(dict.fromkeys(wanted))
        seeds = self.question.seeds
        runs = [
            scenarios.scenario(self.question, candidate, seed, truth, self.folder)
            for candidate, truth in distinct
            for seed in seeds
        ]
        texts = engines.run_many("sim", runs, self.workers, lambda done: self.progress(begin + share * done))
        records: list[Record] = [json.loads(text) for text in texts]
        n = len(seeds)
        found = {one: choosing.numbers(records[n * at : n * at + n]) for at, one in enumerate(distinct)}
        return [found[one] for one in wanted]


def advise(question: Question, workers: int | None = None, progress: running.Progress | None = None) -> Advice:
    """Run in the simulator what ``question`` needs and return the answer. `checking` runs it on Linux."""
    show = progress or (lambda _: None)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(question, Path(folder), workers, show)
        tried = candidates.of(question)
        found = bench.values(((one, Truth()) for one in tried), 0.0, FIRST)
        ranked = _rank(question, [one.label for one in tried], tried, found)
        at = next(place for place, one in enumerate(ranked) if one.is_choice)
        choice = tried[at]
        others = sorted((one for one in ranked if not one.is_choice), key=lambda one: one.behind.mean)
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
        choosing.changes(found[0], found[at], question.uses),
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
    found: Sequence[Values],
    at: int | None = None,
) -> list[Tried]:
    each = zip(labels, tried, found, strict=True)
    rows = [(label, one.lines(question), one.level, own) for label, one, own in each]
    return choosing.rank(rows, question.uses, at)


def _doubts(bench: Bench, asked: Sequence[Asked]) -> list[Doubt]:
    """Return the doubts with their measurements."""
    found = bench.values(((trial.candidate, trial.truth) for one in asked for trial in one.trials), FIRST, 1 - FIRST)
    made = []
    for one in asked:
        own, found = found[: len(one.trials)], found[len(one.trials) :]
        tried = [trial.candidate for trial in one.trials]
        ranked = _rank(bench.question, [trial.label for trial in one.trials], tried, own, one.chosen)
        changes = one.asks and any(other.gain.is_worth_it for other in ranked)
        made.append(Doubt(one.what, one.say(ranked), changes, ranked))
    return made
