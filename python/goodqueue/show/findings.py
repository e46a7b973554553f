"""Findings as sentences: what is best and what is worst by a metric."""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from goodqueue.measures import measured
from goodqueue.measures.metrics import Metric, Values
from goodqueue.show.table import number, span


class Measured(Protocol):
    """What has a mean of each metric over the seeds: a discipline, a cell of a sweep."""

    @property
    def values(self) -> Values:
        """The values of each metric, one per seed."""

    @property
    def is_nil(self) -> bool:
        """Whether there are several seeds and every seed gave the same numbers."""


Of = TypeVar("Of", bound=Measured)


def sentences(
    shown: Sequence[Metric], rows: Sequence[Of], name: Callable[[Of], str], every: str = "qdisc"
) -> list[str]:
    """Return a sentence on the best and the worst of ``rows`` by each metric: first metrics that a person feels.

    ``every`` is what has a mean, ``name`` returns its name.
    """
    spoken = sorted((metric for metric in shown if any(metric.sentence)), key=lambda metric: not metric.is_felt)
    return [sentence for metric in spoken if (sentence := _sentence(metric, rows, name, every))]


def _sentence(metric: Metric, those: Sequence[Of], name: Callable[[Of], str], every: str) -> str | None:
    """Return the sentence on ``metric``, or None for fewer than two means."""
    first, second, end = metric.sentence
    means = [(measured.estimate(row.values, metric.key, row.is_nil), row) for row in those]
    known_means = [(mean.mean, row) for mean, row in means if mean]
    ranked = sorted(known_means, key=lambda pair: pair[0], reverse=metric.better == "high")
    if len(ranked) < 2:
        return None
    (best, row), (worst, other) = ranked[0], ranked[-1]
    with_one, with_other = _value_words(metric, best), _value_words(metric, worst)
    if with_one == with_other:
        return f"{first.format(with_one)} with every {every}{end}."
    ratio = measured.ratio(other.values, row.values, metric.key, row.is_nil and other.is_nil)
    longer = ratio.value if ratio and metric.unit == "ms" else 0.0
    times = f", {number(longer, 0 if longer >= 10 else 1)} times as long" if longer >= 1.05 else ""
    sentence = f"{first.format(with_one)} with {name(row)}, {second.format(with_other)} with {name(other)}{times}{end}."
    return sentence if _is_told_apart(row, other, metric) else f"{sentence} These seeds do not tell the two apart."


def _is_told_apart(row: Measured, other: Measured, metric: Metric) -> bool:
    """Return whether the paired difference excludes zero. Also True if a single run leaves that unknown."""
    difference = measured.difference(row.values, other.values, metric.key, row.is_nil and other.is_nil)
    return difference is None or difference.half_width is None or difference.excludes_zero


def _value_words(metric: Metric, value: float) -> str:
    if metric.unit == "ms":
        return span(value)
    return f"{number(value, 1)} %" if metric.unit == "%" else number(value, 2)
