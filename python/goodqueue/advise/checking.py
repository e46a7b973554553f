"""The answer held against Linux's own qdiscs: what was promised, and what the kernel engine measures."""

import json
from dataclasses import replace
from pathlib import Path

from goodqueue import engines, run
from goodqueue.advise import candidates, scenarios
from goodqueue.advise.answer import Advice, Check
from goodqueue.advise.candidates import Candidate
from goodqueue.advise.choosing import FELT, numbers
from goodqueue.advise.question import Question
from goodqueue.advise.scenarios import Truth
from goodqueue.errors import UserError

HELD = ("ping_rtt_p95_ms", "voip_delay_p95_ms", "page_load_mean_ms", "goodput_mbps", "up_goodput_mbps")
"""The delays that were promised, and what they cost."""


WHY_NOT = {
    "lte": "the kernel engine has no link that follows a radio's delivery opportunities",
    "wifi": "the kernel engine has no medium that stations compete for",
}
"""By kind of link."""


def checked(advice: Advice, progress: run.Progress) -> Advice:
    """Return ``advice`` with what Linux has of it, or with why Linux cannot be asked."""
    choice = next(one for one in candidates.of(advice.question) if one.label == advice.label)
    found, why_not = check(advice.question, choice, progress)
    return replace(advice, checks=found, kernel=why_not)


def check(question: Question, choice: Candidate, progress: run.Progress) -> tuple[list[Check], str]:
    """Run what is there now and the ``choice`` with the first seed, on both engines, for half as long as the answer.

    Return the numbers that are held against Linux, or why Linux cannot be asked.
    """
    from goodqueue.scenario import resolve

    if why := WHY_NOT.get(question.link.key):
        return [], why
    asked = replace(question, quick=True)
    now = candidates.of(asked)[0]
    every = {"now": now, "then": choice} if choice != now else {"then": choice}
    runs = {
        lines: scenarios.scenario(asked, one, asked.seeds[0], Truth(), Path()) for lines, one in every.items()
    }  # no radio, hence no files
    found = []
    try:
        for scenario in runs.values():
            engines.check("kernel", resolve(scenario))
        for place, (lines, scenario) in enumerate(runs.items()):

            def note(share: float, done: int = place) -> None:
                progress((done + share) / len(runs))

            promised = numbers([run.one(scenario)])
            (text,) = engines.run_many("kernel", [scenario], 1, note)
            measured = numbers([json.loads(text)])
            found += [
                Check(felt.what, lines, promised[felt.key][0], measured[felt.key][0], felt.unit)
                for felt in FELT
                if felt.key in HELD and felt.key in promised
            ]
    except UserError as error:
        return [], str(error)
    return found, ""
