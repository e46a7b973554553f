"""Findings as sentences: what is best and what is worst by a metric."""

from collections.abc import Callable, Mapping, Sequence
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
    return [sentence for metric in _spoken(shown) if (sentence := _sentence(metric, rows, name, every))]


def by_place(
    shown: Sequence[Metric], rows_by_place: Mapping[str, Sequence[Of]], name: Callable[[Of], str], every: str
) -> list[str]:
    """Return such sentences on rows of several places, of which only those of one place are compared.

    Each sentence is on the place where the best and the worst are furthest apart, and names it. An empty name is that
    of the only place.
    """
    found = []
    for metric in _spoken(shown):
        ranked = {place: _ranked(metric, rows) for place, rows in rows_by_place.items()}
        apart = {place: _apart(metric, means) for place, means in ranked.items() if len(means) > 1}
        place = max(apart, key=lambda place: apart[place], default="")
        sentence = _sentence(metric, rows_by_place.get(place, ()), name, every)
        if sentence is None or (len(apart) > 1 and apart[place] == _apart(metric, ranked[place][:1])):
            continue
        lead = f"Where the {every} matters most ({place}): " if len(apart) > 1 else place and f"At {place}: "
        found.append(f"{lead}{sentence}")
    return found


def _spoken(shown: Sequence[Metric]) -> list[Metric]:
    """Return the metrics that have a sentence, first those that a person feels."""
    return sorted((metric for metric in shown if any(metric.sentence)), key=lambda metric: not metric.is_felt)


def _ranked(metric: Metric, rows: Sequence[Of]) -> list[tuple[float, Of]]:
    """Return the known means of ``rows``, the best one first."""
    means = [(measured.estimate(row.values, metric.key, row.is_nil), row) for row in rows]
    return sorted(((mean.mean, row) for mean, row in means if mean), key=_mean, reverse=metric.better == "high")


def _mean(pair: tuple[float, object]) -> float:
    return pair[0]


def _apart(metric: Metric, ranked: Sequence[tuple[float, object]]) -> float:
    """Return how far the best and the worst are apart: the ratio of times, otherwise the difference."""
    best, worst = ranked[0][0], ranked[-1][0]
    return worst / best if metric.unit == "ms" and best > 0 else abs(worst - best)


def _sentence(metric: Metric, rows: Sequence[Of], name: Callable[[Of], str], every: str) -> str | None:
    """Return the sentence on ``metric``, or None for fewer than two means."""
    first, second, end = metric.sentence
    ranked = _ranked(metric, rows)
    if len(ranked) < 2:
        return None
    (best, row), (worst, other) = ranked[0], ranked[-1]
    with_one, with_other = _value_words(metric, best), _value_words(metric, worst)
    if with_one == with_other:
        return f"{first.format(with_one)} with every {every}{end}."
    ratio = worst / best if best > 0 and metric.unit == "ms" else 0.0
    times = f", {number(ratio, 0 if ratio >= 10 else 1)} times as long" if ratio >= 1.05 else ""
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
