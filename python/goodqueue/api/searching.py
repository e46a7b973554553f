"""``gq.attack``, ``gq.sensitivity``, ``gq.tune`` and ``gq.fit``: questions that thousands of runs answer."""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from goodqueue.api import asking, showing
from goodqueue.ask.question import Question
from goodqueue.search.attack.question import Attack
from goodqueue.search.fit.question import Fit
from goodqueue.search.sensitivity.question import Sensitivity
from goodqueue.search.tune.question import Tune
from goodqueue.show.answer import Answer, Part

if TYPE_CHECKING:
    from goodqueue.search.attack.work import Finds
    from goodqueue.search.fit.work import Fitted
    from goodqueue.search.sensitivity.work import Indices
    from goodqueue.search.tune.work import Tuning


class Search(showing.Shown):
    """The result of a search.

    >>> import goodqueue as gq
    >>> from goodqueue.traffic import BULK
    >>> link = {"duration": "4s", "warmup": "1s", "bottleneck": {"rate": "4mbit", "qdisc": "pfifo"},
    ...         "path": {"rtt": "20ms"}, "traffic": [{"kind": BULK}]}
    >>> search = gq.fit(link, vary={"bottleneck.rate": "2mbit..9mbit"}, observed={"goodput_mbps": (5.0, 0.1)},
    ...                 evaluations=60, progress=False)
    >>> search.data["settings"]["bottleneck.rate"]["is_told"]
    True
    """

    def __init__(self, answer: Answer, question: Question) -> None:
        """Show ``answer`` to ``question``."""
        self.answer = answer
        """The sentences, tables and figures, in their order."""
        self.result: Finds | Indices | Tuning | Fitted = answer.result
        """What they are made from."""
        self.data: Mapping[str, Any] = json.loads(json.dumps(answer.as_json(question.verb)))
        """The same as JSON has it: what ``--json`` prints."""

    def _parts(self) -> Sequence[Part]:
        return self.answer.parts


RETURNS = "A `Search`. Its ``data`` is what ``--json`` prints."

attack = asking.function(Attack, Search, "Search", RETURNS)
tune = asking.function(Tune, Search, "Search", RETURNS)
sensitivity = asking.function(Sensitivity, Search, "Search", RETURNS)
fit = asking.function(Fit, Search, "Search", RETURNS)
