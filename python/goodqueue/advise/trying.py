"""Everything that is run for an answer: all candidates on the link as it was said, then what could be otherwise."""

import json
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from goodqueue import engines, metrics, run
from goodqueue.advise import candidates, checking, choosing, commands, doubts, scenarios
from goodqueue.advise.answer import Advice, Doubt, Tried
from goodqueue.advise.candidates import Candidate
from goodqueue.advise.choosing import FELT, Values
from goodqueue.advise.doubts import Asked
from goodqueue.advise.question import Question
from goodqueue.advise.scenarios import Truth
from goodqueue.record import Record

FIRST = 0.4
"""The share of the work that trying the candidates is; what could be otherwise is the rest."""


@dataclass(frozen=True, slots=True)
class Bench:
    """Where runs are done for a question."""

    question: Question
    folder: Path
    """For files of rates."""
    workers: int | None
    progress: run.Progress

    def values(self, trials: Iterable[tuple[Candidate, Truth]], begin: float, share: float) -> list[Values]:
        """Return what each of ``trials`` measured with every seed; equal ones are run once.

        Their progress goes on from ``begin`` of the work, of which they are a ``share``.
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
        found = {one: numbers(records[n * at : n * at + n]) for at, one in enumerate(distinct)}
        return [found[one] for one in wanted]


def numbers(records: Sequence[Record]) -> Values:
    """Return what is felt of the runs ``records``, by metric: one number a run.

    A page that never came took as long as the run; the same for pings and calls. None is left out as good.
    """
    each = [metrics.numbers(record) for record in records]
    found = {}
    for felt in FELT:
        values = [one[felt.key] for one in each]
        kinds = {metric.app for metric in metrics.METRICS if metric.key == felt.key}
        if any(app["kind"] in kinds for app in records[0]["apps"]) or kinds == {""}:
            worst = 1.0 if felt.key == "voip_mos" else 1e-3 if felt.better == "high" else _measured_ms(records[0])
            found[felt.key] = [worst if value is None else value for value in values]
    return found


def _measured_ms(record: Record) -> float:
    from goodqueue.scenario import seconds

    return 1e3 * (seconds(record["scenario"]["duration"]) - seconds(record["scenario"]["warmup"]))


def advise(
    question: Question, workers: int | None = None, progress: run.Progress | None = None, verify: bool = False
) -> Advice:
    """Run what ``question`` needs and return the answer; with ``verify`` run it on Linux's own qdiscs too.

    Raises UserError where an engine fails.
    """
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
        checks, why_not = checking.check(question, choice, Path(folder), show) if verify else ([], "")
    return Advice(
        question,
        choice.label,
        *choice.lines(question),
        commands.commands(question, choice),
        commands.sqm(question, choice),
        choosing.changes(found[0], found[at], question.uses),
        ranked,
        otherwise,
        scenarios.assumptions(question),
        checks,
        why_not,
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
    """Return what was measured where something is otherwise."""
    found = bench.values(((trial.candidate, trial.truth) for one in asked for trial in one.trials), FIRST, 1 - FIRST)
    made = []
    for one in asked:
        own, found = found[: len(one.trials)], found[len(one.trials) :]
        tried = [trial.candidate for trial in one.trials]
        ranked = _rank(bench.question, [trial.label for trial in one.trials], tried, own, one.chosen)
        changes = one.asks and ranked[one.chosen].behind.mean >= 1
        made.append(Doubt(one.what, one.say(ranked), changes, ranked))
    return made
