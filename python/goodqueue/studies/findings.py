"""What a study found in sentences: how many claims hold, how far the values are off, and what was run."""

import math

from goodqueue.studies import inside, trivial
from goodqueue.studies.judging import is_difference
from goodqueue.studies.outcome import Outcome
from goodqueue.studies.selection import LEFT_OUT
from goodqueue.studies.show import UNSURE, tested
from goodqueue.studies.summary import MetricSummary
from goodqueue.studies.wording import significant


def counts(outcome: Outcome) -> list[str]:
    """Return the verdicts in sentences: on the claims, and on the values, with the score of a trivial model."""
    values = [judged.verdict for judged in outcome.values if judged.distance is not None]
    several = {"differs": "differ"}
    verdicts = ", ".join(
        f"{count} {several.get(word, word) if count > 1 else word}"
        for word in ("reproduced", "close", "differs")
        if (count := values.count(word))
    )
    claims = [judged.verdict for judged in outcome.claims if judged.why != LEFT_OUT]
    sentences = []
    if claims:
        decided = f"{claims.count('holds')} hold, {claims.count('fails')} fail, {claims.count('not_run')} not tested"
        verdicts_of_claims = [row.verdict for row in tested(outcome)]
        unsure = sum(UNSURE in verdict for verdict in verdicts_of_claims)
        told = f"; {UNSURE}: {unsure} of {len(verdicts_of_claims)} verdicts" if unsure else ""
        sentences.append(f"Claims: {decided}{told}.")
    sentences.append(f"Values: {verdicts}, of {len(values)} compared." if values else "Values: none compared.")
    if outcome.summary:
        sentences[-1] += f" Typical distance: {_typical(outcome)}."
    if told := inside.sentence(outcome):
        sentences.append(told)
    if outcome.trivial:
        here = sum(judged.verdict == "reproduced" for judged in outcome.values if judged.value.id in outcome.trivial)
        sentences.append(
            trivial.sentence(here, list(outcome.trivial.values()).count("reproduced"), len(outcome.trivial))
        )
    return sentences


TOLD = 2
"""The metrics whose distance a sentence tells: those with the most values."""


def _typical(outcome: Outcome) -> str:
    """Return how far the values of the metrics with the most values are off, in words."""
    most = sorted(outcome.summary, key=lambda metric: -metric.overall.n)[:TOLD]
    return ", ".join(f"{outcome.study.words.name(metric.metric).line} {_distance(metric)}" for metric in most)


def _distance(metric: MetricSummary) -> str:
    """Return the distance of a metric: in points, in per cent, or as a factor if it is above 2."""
    value = metric.overall.value
    if is_difference(metric.unit):
        return f"{significant(value, 2)} points"
    factor = math.exp(value)
    return f"{significant(100 * (factor - 1), 2)} %" if factor <= 2 else f"a factor of {significant(factor, 2)}"


def title(outcome: Outcome) -> str:
    """Return the title of the page: the study's, and whose paper it repeats."""
    who = _authors(outcome)
    return f"{outcome.study.title} ({who})" if who else outcome.study.title


def _authors(outcome: Outcome) -> str:
    facts = outcome.study.published
    who = facts.authors[0].split()[-1] + (" et al." if len(facts.authors) > 2 else "") if facts.authors else ""
    return f"{who}, {facts.year}" if who and facts.year else ""


def describe(outcome: Outcome) -> str:
    """Return sentences on the runs."""
    quick = " Quick: shorter runs and fewer seeds than the paper's; the numbers are rough." if outcome.quick else ""
    counted = f"{len(outcome.cells)} cells from {runs(outcome)}, {seeds(outcome)} each"
    sentence = f"{counted}; ± is half of the 95 % interval.{quick}" if outcome.cells else "Nothing to run."
    return f"{_authors(outcome) or outcome.study.key}: {sentence}"


def runs(outcome: Outcome) -> str:
    """Return the number of runs, and the engine if it is not the simulator."""
    return f"{outcome.runs} runs{'' if outcome.engine == 'sim' else f' on engine {outcome.engine}'}"


def seeds(outcome: Outcome) -> str:
    """Return the least and the greatest number of seeds of a cell in words: ``1 to 3 seeds``."""
    counts = sorted({len(cell.seeds) for cell in outcome.cells}) or [0]
    ends = " to ".join(map(str, dict.fromkeys([counts[0], counts[-1]])))
    return f"{ends} seed{'' if counts[-1] == 1 else 's'}"
