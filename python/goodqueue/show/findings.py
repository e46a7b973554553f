"""Findings as sentences: which of several is best, by how much, how sure that is, and what it costs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from goodqueue.measures import measured, metrics
from goodqueue.measures.metrics import Metric, Values
from goodqueue.measures.stats import Estimate
from goodqueue.show.table import decimals, digits, number, places, plus_minus, span


class Measured(Protocol):
    """What has a mean of each metric over the seeds: a discipline, a cell of a sweep."""

    @property
    def values(self) -> Values:
        """The values of each metric, one per seed."""

    @property
    def is_nil(self) -> bool:
        """Whether there are several seeds and every seed gave the same numbers."""


Of = TypeVar("Of", bound=Measured)


@dataclass(frozen=True, slots=True)
class Ranked(Generic[Of]):
    """The best and the worst of several by one metric."""

    metric: Metric
    means: Sequence[tuple[float, Of]]
    """The means, the best first."""

    @property
    def is_told(self) -> bool:
        """Whether the seeds tell the best from the worst. Also True if a single run leaves that unknown."""
        return told_apart(self.means[0][1], self.means[-1][1], self.metric)

    @property
    def is_sure(self) -> bool:
        """Whether several seeds tell the best from the worst."""
        difference = _difference(self.means[0][1], self.means[-1][1], self.metric)
        return difference is not None and difference.excludes_zero


def ranked(metric: Metric, rows: Sequence[Of]) -> Ranked[Of] | None:
    """Return the order of ``rows`` by ``metric``, or None for fewer than two means."""
    means = [(measured.estimate(row.values, metric.key, row.is_nil), row) for row in rows]
    known_means = [(mean.mean, row) for mean, row in means if mean]
    if len(known_means) < 2:
        return None
    return Ranked(metric, sorted(known_means, key=lambda pair: pair[0], reverse=metric.better == "high"))


def spoken(shown: Sequence[Metric], rows: Sequence[Of]) -> list[Ranked[Of]]:
    """Return the order of ``rows`` by each metric that has a sentence: first by metrics that a person feels."""
    said = sorted((metric for metric in shown if any(metric.sentence)), key=lambda metric: not metric.is_felt)
    return [order for metric in said if (order := ranked(metric, rows))]


def lead(shown: Sequence[Metric], rows: Sequence[Of]) -> Ranked[Of] | None:
    """Return the order by the metric of the headline: the first one by which several seeds tell best from worst."""
    orders = spoken(shown, rows)
    sure = (order for order in orders if order.is_sure and not _is_equal(order))
    return next(sure, orders[0] if orders else None)


def headline(shown: Sequence[Metric], rows: Sequence[Of], name: Callable[[Of], str], every: str = "qdisc") -> list[str]:
    """Return what is best by one metric, by how much, how sure that is, and what it costs in another metric.

    ``every`` is what has a mean, ``name`` returns its name.
    """
    first = lead(shown, rows)
    if first is None:
        return []
    sentences = [f"{_sentence(first, name, every)}{_certainty(first, name)}"]
    if first.is_told and len({mean for mean, _ in first.means}) > 1:
        sentences.append(_cost(shown, first, name))
    return sentences


def others(shown: Sequence[Metric], rows: Sequence[Of], name: Callable[[Of], str], every: str = "qdisc") -> list[str]:
    """Return a sentence on the best and the worst of ``rows`` by each further metric, and one on what is not sure."""
    first = lead(shown, rows)
    rest = [order for order in spoken(shown, rows) if first is None or order.metric is not first.metric]
    untold = [
        metrics.label(order.metric, metrics.directions_of(shown))
        for order in rest
        if not order.is_told and not _is_equal(order)
    ]
    sentences = [_sentence(order, name, every) for order in rest]
    if untold:
        listed = ", ".join(untold[:-1]) + (" and " if untold[1:] else "") + untold[-1]
        sentences.append(f"These seeds do not tell the best from the worst by {listed}.")
    return sentences


def _is_equal(order: Ranked[Of]) -> bool:
    """Return whether the best and the worst are the same number with the digits shown."""
    return value_words(order.metric, order.means[0][0]) == value_words(order.metric, order.means[-1][0])


def _sentence(order: Ranked[Of], name: Callable[[Of], str], every: str) -> str:
    """Return the sentence on the best and the worst."""
    metric = order.metric
    first, second, end = metric.sentence
    (best, row), (worst, other) = order.means[0], order.means[-1]
    with_one, with_other = value_words(metric, best), value_words(metric, worst)
    if _is_equal(order):
        return f"{first.format(with_one)} with every {every}{end}."
    ratio = measured.ratio(other.values, row.values, metric.key, row.is_nil and other.is_nil)
    longer = ratio.value if ratio and metric.unit == "ms" else 0.0
    times = f", {number(longer, 0 if longer >= 10 else 1)} times as long" if longer >= 1.05 else ""
    return f"{first.format(with_one)} with {name(row)}, {second.format(with_other)} with {name(other)}{times}{end}."


def _certainty(order: Ranked[Of], name: Callable[[Of], str]) -> str:
    """Return how sure the difference of the best from the worst is, and which rows may be as good as the best."""
    best, worst = order.means[0][1], order.means[-1][1]
    difference = _difference(worst, best, order.metric)
    if difference is None or _is_equal(order):
        return ""
    if difference.half_width is None:
        return " One run each: how sure that is, is unknown."
    if not order.is_told:
        return " These seeds do not tell the two apart."
    sure = f" The difference is {_with_interval(order.metric, difference)} (95 % confidence, {difference.n} seeds)."
    peers = [name(row) for _, row in order.means[1:-1] if not told_apart(best, row, order.metric)]
    verb = "may be" if len(peers) == 1 else "may each be"
    return f"{sure} {' and '.join(peers)} {verb} as good as {name(best)}." if peers else sure


def _cost(shown: Sequence[Metric], first: Ranked[Of], name: Callable[[Of], str]) -> str:
    """Return what the best by the first metric gives up: the largest sure loss, in percent, of what should be high."""
    best = first.means[0][1]
    losses = []
    for metric in shown:
        order = ranked(metric, [row for _, row in first.means]) if metric.better == "high" and metric.is_main else None
        own = next((mean for mean, row in order.means if row is best), None) if order else None
        if order is None or own is None:
            continue
        most, other = order.means[0]
        if most > own and told_apart(best, other, metric):
            losses.append((1 - own / most, order, own))
    if not losses:
        return f"{name(best)} gives up no goodput and no use of the link for it that these runs show."
    _, order, own = max(losses, key=lambda loss: loss[0])
    most, other = order.means[0]
    label = metrics.label(order.metric, metrics.directions_of(shown))
    has, others_have = value_words(order.metric, own), value_words(order.metric, most)
    return f"The price is {label}: {name(best)} has {has}, {name(other)} {others_have}."


def _difference(row: Measured, other: Measured, metric: Metric) -> Estimate | None:
    return measured.difference(row.values, other.values, metric.key, row.is_nil and other.is_nil)


def told_apart(row: Measured, other: Measured, metric: Metric) -> bool:
    """Return whether the paired difference excludes zero. Also True if a single run leaves that unknown."""
    difference = _difference(row, other, metric)
    return difference is None or difference.half_width is None or difference.excludes_zero


def _with_interval(metric: Metric, difference: Estimate) -> str:
    """Return a difference in a sentence, without its sign: ``1205 ± 1 ms``."""
    size = Estimate(abs(difference.mean), difference.half_width, difference.n)
    return f"{plus_minus(size, places(size.mean, size.half_width))} {metric.unit}".rstrip()


def value_words(metric: Metric, value: float) -> str:
    """Return ``value`` of ``metric`` in a sentence: with its unit."""
    if metric.unit == "ms":
        return span(value)
    shown = metric.decimals if metric.decimals is not None else min(decimals([value]), digits(value))
    if metric.unit == "%":
        return f"{number(value, 1)} %"
    return f"{number(value, shown if metric.unit else 2)} {metric.unit if metric.unit != 'per min' else ''}".rstrip()
