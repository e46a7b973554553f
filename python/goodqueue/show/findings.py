"""Findings as sentences: what is best and what is worst by a metric."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from goodqueue.measures.metrics import Metric
from goodqueue.show.tables import number, span

Of = TypeVar("Of")


def sentence(
    metric: Metric,
    found: Sequence[tuple[float, Of]],
    name: Callable[[Of], str],
    is_told_apart: Callable[[Of, Of], bool],
    every: str = "qdisc",
) -> str | None:
    """Return the sentence on ``metric``, or None for fewer than two means. ``every`` is what has a mean."""
    first, second, end = metric.sentence
    ranked = sorted(found, key=lambda pair: pair[0], reverse=metric.better == "high")
    if len(ranked) < 2:
        return None
    (best, one), (worst, other) = ranked[0], ranked[-1]
    with_one, with_other = _said(metric, best), _said(metric, worst)
    if with_one == with_other:
        return f"{first.format(with_one)} with every {every}{end}."
    ratio = worst / best if best > 0 and metric.unit == "ms" else 0.0
    times = f", {number(ratio, 0 if ratio >= 10 else 1)} times as long" if ratio >= 1.05 else ""
    said = f"{first.format(with_one)} with {name(one)}, {second.format(with_other)} with {name(other)}{times}{end}."
    return said if is_told_apart(one, other) else f"{said} These seeds do not tell the two apart."


def _said(metric: Metric, value: float) -> str:
    if metric.unit == "ms":
        return span(value)
    return f"{number(value, 1)} %" if metric.unit == "%" else number(value, 2)
