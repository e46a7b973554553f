"""Summarises a study: the distance of the measured values from the published ones, per metric."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from goodqueue.studies.judging import VERDICTS, Judged, is_difference


@dataclass(frozen=True, slots=True)
class Error:
    """The distances of several values, condensed to one number."""

    value: float
    n: int
    """The number of values compared."""


@dataclass(frozen=True, slots=True)
class MetricSummary:
    """All values of one metric."""

    metric: str
    unit: str
    measure: str
    """How the distances are condensed, in words."""
    overall: Error
    by_scenario: dict[str, Error]
    by_algorithm: dict[str, Error]
    verdicts: dict[str, int]
    """The number of values with each verdict."""


def summarise(judged_values: Sequence[Judged]) -> list[MetricSummary]:
    """Return one summary per metric that was compared, in the order of publication."""
    groups: dict[tuple[str, str], list[Judged]] = {}
    for judged in judged_values:
        if judged.distance is not None:
            groups.setdefault((judged.value.metric, judged.value.unit), []).append(judged)
    return [_summary(metric, unit, group) for (metric, unit), group in groups.items()]


def _summary(metric: str, unit: str, group: Sequence[Judged]) -> MetricSummary:
    difference = is_difference(unit)
    points = "percentage points" if unit in ("percent", "percentage_points") else unit
    measure = f"mean |measured - published|, {points}" if difference else "median |ln(measured / published)|"

    def split(name: Callable[[Judged], str]) -> dict[str, Error]:
        names = dict.fromkeys(map(name, group))
        return {key: _error([judged for judged in group if name(judged) == key], difference) for key in names}

    return MetricSummary(
        metric=metric,
        unit=unit,
        measure=measure,
        overall=_error(group, difference),
        by_scenario=split(lambda judged: judged.value.scenario),
        by_algorithm=split(lambda judged: judged.value.algorithm),
        verdicts={verdict: sum(judged.verdict == verdict for judged in group) for verdict in VERDICTS[:3]},
    )


def _error(group: Sequence[Judged], difference: bool) -> Error:
    """Return the mean of absolute differences, or the median of absolute logarithms."""
    distances = [abs(judged.distance) for judged in group if judged.distance is not None]
    return Error(math.fsum(distances) / len(distances) if difference else median(distances), len(distances))
