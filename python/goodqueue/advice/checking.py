"""Compares the answer with Linux's own qdiscs: the promised numbers, and the kernel engine's measurements."""

import json
from dataclasses import replace
from pathlib import Path

from goodqueue import engines, running
from goodqueue.advice import candidates, scenarios
from goodqueue.advice.candidates import Candidate
from goodqueue.advice.choosing import FELT, numbers
from goodqueue.advice.reading import Question
from goodqueue.advice.result import Advice, Check
from goodqueue.advice.scenarios import Truth
from goodqueue.errors import UserError

HELD = ("ping_rtt_p95_ms", "voip_delay_p95_ms", "page_load_mean_ms", "goodput_mbps", "up_goodput_mbps")
"""The metrics that are compared: the promised delays, and their cost."""


RADIO = "the kernel engine has no link that follows a radio's delivery opportunities"

ACCESS = "the kernel engine has no discipline that stands for an access network"

WHY_NOT = {
    "lte": RADIO,
    "5g": RADIO,
    "lld": ACCESS,
    "starlink": ACCESS,
    "wifi": "the kernel engine has no medium that stations compete for",
}
"""The reasons why Linux cannot be run, by kind of link."""


def checked(advice: Advice, progress: running.Progress) -> Advice:
    """Return ``advice`` with the measurements on Linux, or with the reason why there are none."""
    choice = next(candidate for candidate in candidates.of(advice.question) if candidate.label == advice.label)
    checks, why_not = check(advice.question, choice, progress)
    return replace(advice, checks=checks, kernel=why_not)


def check(question: Question, choice: Candidate, progress: running.Progress) -> tuple[list[Check], str]:
    """Run the present state and the ``choice`` with the first seed, on both engines, for half as long as the answer.

    Return the numbers compared with Linux, or the reason why Linux cannot be run.
    """
    from goodqueue.scenario import resolve

    if why := WHY_NOT.get(question.link.key):
        return [], why
    quick_question = replace(question, quick=True)
    now = candidates.of(quick_question)[0]
    every = {"now": now, "then": choice} if choice != now else {"then": choice}
    runs = {
        lines: scenarios.scenario(quick_question, candidate, quick_question.seeds[0], Truth(), Path())
        for lines, candidate in every.items()
    }  # these links are no radio, so there are no files of rates
    checks_made = []
    try:
        for scenario in runs.values():
            engines.check("kernel", resolve(scenario))
        for index, (lines, scenario) in enumerate(runs.items()):

            def note(share: float, done: int = index) -> None:
                progress((done + share) / len(runs))

            promised = numbers([running.one(scenario)])
            (text,) = engines.run_many("kernel", [scenario], 1, note)
            kernel_numbers = numbers([json.loads(text)])
            checks_made += [
                Check(felt.what, lines, promised[felt.key][0], kernel_numbers[felt.key][0], felt.unit)
                for felt in FELT
                if felt.key in HELD and felt.key in promised
            ]
    except UserError as error:
        return [], str(error)
    return checks_made, ""
