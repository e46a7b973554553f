"""The score of a trivial model: one that never loses or marks a packet and always fills the link.

A share of reproduced values means little if such a model reaches as large a share: most printed losses are near 0, most
utilisations near 100 %. So the model is judged by the same rules, on the same values.
"""

from collections.abc import Iterable

from goodqueue.studies import judging
from goodqueue.studies.judging import PERCENT, Judged
from goodqueue.studies.measuring import Measurement
from goodqueue.studies.model import Study
from goodqueue.studies.published import Value

NAME = "a model that never loses a packet and always fills the link"

NOTHING = frozenset({"loss", "drop", "drops", "mark", "marks"})
FULL = frozenset({"utilisation"})
"""Words in the names of metrics that the model answers with 0 % (``NOTHING``) and with 100 % (``FULL``)."""


def answer(value: Value) -> float | None:
    """Return the model's number for ``value``, or None if it has no answer, such as for a delay."""
    words = set(value.metric.split("_"))
    if value.unit != PERCENT:
        return None
    return 0.0 if words & NOTHING else 100.0 if words & FULL else None


def judge(study: Study, judged_values: Iterable[Judged]) -> dict[str, str]:
    """Return the model's verdicts by the value's id, for the compared ``judged_values`` that it answers."""
    verdicts = {}
    for judged in judged_values:
        number = answer(judged.value)
        if judged.distance is not None and number is not None:
            verdicts[judged.value.id] = judging.compare(study, judged.value, Measurement(number, None, None, 0)).verdict
    return verdicts


def sentence(here: int, trivial: int, n: int) -> str:
    """Return a sentence on how many of ``n`` values are reproduced here, and by the trivial model."""
    return f"Of the {n} that are a loss, marks or a utilisation: {here} reproduced; by {NAME}: {trivial}."
