"""Tunes the line of an answer, with the search of ``goodqueue tune``: cake's rate, and its ``rtt``.

Candidates run on the stated link. The answer of the search is judged on links that no candidate had: those of the
doubts, with other seeds. A radio has other draws of its rates instead.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from goodqueue import _goodqueue, executors, extras, running
from goodqueue.advice import candidates, scenarios
from goodqueue.advice.candidates import LARGE_RTT_S, Candidate, kbit
from goodqueue.advice.choosing import ALWAYS
from goodqueue.advice.doubts import DEEP, SHALLOW, SLOWER
from goodqueue.advice.reading import Question
from goodqueue.advice.result import Advice
from goodqueue.advice.scenarios import Truth
from goodqueue.errors import Option
from goodqueue.files import temporary
from goodqueue.record import Scenario
from goodqueue.search.cases import Case
from goodqueue.search.facts import Facts, Number
from goodqueue.search.knobs import TIMES
from goodqueue.search.ranges import Range
from goodqueue.search.runner import Runner
from goodqueue.search.tune import work as tuning
from goodqueue.search.tune.work import Goal, Plan

EVALUATIONS = 48
"""The candidates, as many as for docs/results/tuned.md."""

SEEDS = 3
"""The most seeds of a candidate, or the most draws of a radio's rates."""

HELD_OUT = (
    ("the stated link", Truth()),
    ("it carries less", Truth(rate=SLOWER)),
    ("its queue is shallow", Truth(buffer=SHALLOW)),
    ("its queue is deep", Truth(buffer=DEEP)),
)
"""The links that judge."""


@dataclass(frozen=True, slots=True)
class Shaper:
    """cake in both directions: its share of the rate, and its ``rtt``."""

    question: Question
    choice: Candidate

    @property
    def ranges(self) -> Sequence[Range]:
        """A radio's share of the mean rate, or a wired link's from 70 % on, and the usual range of ``rtt``."""
        is_radio, rtt_ms = self.question.link.is_radio, self._rtt_ms
        low, high = (float(f"{end:.3g}") for end in (rtt_ms / TIMES, rtt_ms * TIMES))
        share = Number("share", 0.1 if is_radio else 0.7, 1.0, self.choice.down, is_log=is_radio)
        return [Range(number.name, number) for number in (share, Number("rtt", low, high, rtt_ms, "ms", is_log=True))]

    @property
    def _rtt_ms(self) -> float:
        """The ``rtt`` of the answer, or cake's default."""
        match = re.search(r"\brtt (\S+)", self.choice.lines(self.question)[0])
        return _goodqueue.time_ns(match[1]) / 1e6 if match else 1e3 * LARGE_RTT_S

    def put(self, scenario: Scenario, facts: Facts) -> None:
        """Set the lines of both directions in ``scenario``, in place."""
        down, up = self.with_values(facts).lines(self.question)
        scenario["bottleneck"]["qdisc"] = down
        scenario["bottleneck"]["up"]["qdisc"] = up

    def short(self, facts: Facts) -> str:
        """Return the words of cake that a person would change."""
        down, up = (kbit(bps) for bps in self.with_values(facts).rates_bps(self.question))
        return f"bandwidth {down} down and {up} up, rtt {float(facts.get('rtt', self._rtt_ms)):g}ms"

    def with_values(self, facts: Facts) -> Candidate:
        """Return the candidate of the answer with ``facts``."""
        candidate = self.choice
        if "share" in facts:
            share = float(facts["share"])
            candidate = candidate.at(share, share * candidate.up / candidate.down)
        if "rtt" in facts:
            down, up = (
                f"{_without_rtt(words)} rtt {facts['rtt']:g}ms" for words in (candidate.words_down, candidate.words_up)
            )
            candidate = replace(candidate, words_down=down.strip(), words_up=up.strip())
        return candidate


def _without_rtt(words: str) -> str:
    return re.sub(r"rtt \S+", "", words).strip()


def tuned(advice: Advice, workers: int | None, progress: running.Progress) -> Advice:
    """Return ``advice`` with the best values of its line, or with the reason why nothing of the line is tuned."""
    question = advice.question
    choice = next(candidate for candidate in candidates.of(question) if candidate.label == advice.label)
    if why := why_not(choice):
        return replace(advice, tuning=why)
    with temporary.folder() as folder:
        plan = plan_of(question, choice, folder)
        result = tuning.carry_out(plan, Runner(executors.local(workers)), progress)
    return replace(advice, tuning=result)


def check(question: Question) -> None:
    """Raise UserError if a line may have to be tuned, and the package that draws the candidates is missing."""
    if not all(why_not(candidate) for candidate in candidates.of(question)):
        extras.needed("optuna", Option("tune"))


def why_not(choice: Candidate) -> str:
    """Return why nothing of ``choice`` is tuned, or an empty text."""
    if choice.kind == "cake" and not choice.outside and "autorate" not in choice.words_down:
        return ""
    return f"only a rate and an rtt of cake are tuned, and this answer is {choice.label}"


def plan_of(question: Question, choice: Candidate, folder: Path, evaluations: int = EVALUATIONS) -> Plan:
    """Return the search for ``choice``. A radio's files of rates are in ``folder``."""
    return Plan(
        Shaper(question, choice),
        [Goal(metric, is_large=metric.better == "high") for metric in ALWAYS],
        [],
        *_cases(question, choice, folder),
        "tpe",
        question.seeds[0],
        1 if question.link.is_radio else min(SEEDS, len(question.seeds)),
        evaluations,
    )


def _cases(question: Question, choice: Candidate, folder: Path) -> tuple[list[Case], list[Case]]:
    """Return the links for tuning, and those that judge."""

    def case(name: str, truth: Truth, seed: int) -> Case:
        return Case(name, scenarios.scenario(question, choice, seed, truth, folder))

    first = question.seeds[0]
    if question.link.is_radio:
        own_draws = [case(f"draw {seed}", Truth(), seed) for seed in question.seeds[:SEEDS]]
        fresh = range(first + len(question.seeds), first + len(question.seeds) + len(HELD_OUT))
        return own_draws, [case(f"draw {seed}", Truth(), seed) for seed in fresh]
    return [case("the stated link", Truth(), first)], [case(name, truth, first) for name, truth in HELD_OUT]
