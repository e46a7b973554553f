"""The answer held against Linux's own qdiscs: what was promised, and what the kernel engine measures."""

import json
import threading
from pathlib import Path

from goodqueue import engines, run
from goodqueue.advise import candidates, scenarios
from goodqueue.advise.answer import Check
from goodqueue.advise.candidates import Candidate
from goodqueue.advise.choosing import FELT
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


def check(question: Question, choice: Candidate, folder: Path, progress: run.Progress) -> tuple[list[Check], str]:
    """Run what is there now and the ``choice`` with the first seed, on both engines, for half as long as the answer.

    Return the numbers that are held against Linux, or why Linux cannot be asked.
    """
    if why := WHY_NOT.get(question.link.key):
        return [], why
    from goodqueue.advise.trying import numbers
    from goodqueue.scenario import resolve

    asked = scenarios.halved(question)
    every = {"now": candidates.of(asked)[0], "then": choice}
    runs = {
        name: scenarios.scenario(asked, one, asked.seeds[0], Truth(), folder)
        for name, one in every.items()
        if name == "then" or choice != every["now"]
    }
    found = []
    try:
        for scenario in runs.values():
            engines.check("kernel", resolve(scenario))
        for name, scenario in runs.items():
            promised = numbers([json.loads(run.simulate(scenario, lambda _: None, threading.Event()))])
            (text,) = engines.run_many("kernel", [scenario], 1, progress)
            measured = numbers([json.loads(text)])
            found += [
                Check(felt.what, name, promised[felt.key][0], measured[felt.key][0], felt.unit)
                for felt in FELT
                if felt.key in HELD and felt.key in promised
            ]
    except UserError as error:
        return [], str(error)
    return found, ""
