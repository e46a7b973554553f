"""The address of the page that shows the answer: the link as it is now beside the link with the lines."""

from pathlib import Path
from typing import Any

from goodqueue.advice import scenarios
from goodqueue.advice.candidates import Candidate
from goodqueue.advice.lengths import Times
from goodqueue.advice.reading import Question
from goodqueue.advice.scenarios import Truth
from goodqueue.serving.address import address
from goodqueue.show.labels import BOTH

LABELS = ("now", "with the lines")


def of(question: Question, now: Candidate, then: Candidate, times: Times) -> str:
    """Return the address, or an empty text if a browser cannot run the link (`Link.has_page`).

    The scenario is the first seed's, for ``times``. The page runs it to the same numbers.
    """
    if not question.link.has_page:
        return ""
    scenario: dict[str, Any] = scenarios.scenario(question, then, question.seeds[0], Truth(), Path(), times)
    bottleneck = {key: value for key, value in scenario["bottleneck"].items() if key not in ("qdisc", "up")}
    up = {key: value for key, value in scenario["bottleneck"]["up"].items() if key != "qdisc"}
    scenario["bottleneck"] = bottleneck | ({"up": up} if up else {})
    return address(scenario, [BOTH.join(candidate.lines(question)) for candidate in (now, then)], LABELS)
