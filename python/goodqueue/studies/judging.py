"""Values: does the measured number reproduce the published one?

The distance of a value depends on its unit. For percent, percentage points and indices it is measured − published. For
all other units it is ln(measured / published), by which twice and half are equally far.

| verdict | rule |
|---|---|
| reproduced | the distance is at most `Tolerance.reproduced`; or the published value lies in the 95 % confidence |
|            | interval, which reaches no further than `Tolerance.close` (a wide interval proves nothing) |
| close | the distance is at most `Tolerance.close` |
| differs | anything else |
| not_run | nothing was measured, or the value is not tested; the reason is given |

The distance to a published range is the distance to its nearer end. Inside the range it is 0.

**A measured cell has a spread of its own**, its band: a number inside it is reproduced, one inside a band twice as wide
is close. No other rule holds for it.

**Percentages have a second distance**: the logarithm of the ratio of the smaller parts of the whole. Examples: 0.3 %
lost and 0.2 % lost; 4.0 % unused and 4.1 % unused, if the link is used to 96.0 and 95.9 %. The reason: half a point
says nothing about a printed loss of 0.04 %, since no loss at all would be as near. If the smaller part is above 10 %,
the limit in points is the narrower one. A ratio of small numbers is no more exact than their digits, so a printed
percentage stands for all numbers that round to it: 0.04 for 0.035 to 0.045, and 0.00 for anything below 0.005.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from goodqueue.studies.execution import Measured
from goodqueue.studies.measuring import Measurement
from goodqueue.studies.model import Study, Tolerance
from goodqueue.studies.published import SETTING, Value
from goodqueue.studies.selection import LEFT_OUT, Selection

VERDICTS = ("reproduced", "close", "differs", "not_run")

PERCENT = "percent"
POINTS = Tolerance(0.5, 2.0)
"""For percent: 0.5 points, 2 points."""
SHARES = Tolerance(0.005, 0.02)
"""For indices between 0 and 1."""
LOGARITHM = Tolerance(0.05, 0.25)
"""For all other units: about 5 %, and a factor of 1.28 either way."""

DIFFERENCES = {PERCENT: POINTS, "percentage_points": POINTS, "index": SHARES}


@dataclass(frozen=True, slots=True)
class Judged:
    """A published value with its measured counterpart."""

    value: Value
    measured: Measurement | None
    verdict: str
    distance: float | None
    """measured − published, or ln(measured / published): see `is_difference`. None if nothing was compared."""
    why: str = ""
    """The reason for a ``not_run``, or a remark about the number."""


def is_difference(unit: str) -> bool:
    """Return whether distances in ``unit`` are differences. Otherwise they are logarithms of ratios."""
    return unit in DIFFERENCES


def tolerance(study: Study, unit: str) -> Tolerance:
    """Return the tolerance for ``unit``: the study's own, or the default of its kind."""
    return study.tolerances.get(unit) or DIFFERENCES.get(unit, LOGARITHM)


def judge(study: Study, cells: Mapping[tuple[str, str], list[Measured]], selection: Selection) -> list[Judged]:
    """Judge every published value of ``study`` against ``cells`` (by published scenario and algorithm)."""
    return [_judge(study, value, cells, selection) for value in study.published.values]


def _judge(study: Study, value: Value, cells: Mapping[tuple[str, str], list[Measured]], selection: Selection) -> Judged:
    if why := _untested(study, value, selection) or _not_computed(study, value):
        return Judged(value, None, "not_run", None, why)
    for cell in cells.get((value.scenario, value.algorithm), []):
        for metric, at, number in cell.placed():
            if metric.name == value.metric and at == value.at:
                return compare(study, value, number)
    return Judged(value, None, "not_run", None, "the study does not run this point")


def _untested(study: Study, value: Value, selection: Selection) -> str:
    """Return why ``value`` is not to be tested, or an empty text if it is."""
    if value.metric == SETTING:
        return "a setting of the experiment, not a result"
    for exclusion in study.exclusions:
        excluded = value.scenario in exclusion.scenarios
        if excluded or any(fnmatchcase(value.metric, pattern) for pattern in exclusion.metrics):
            return exclusion.why
    if value.low is None or value.high is None:
        return "printed as text, not as a number"
    return "" if selection.takes_value(value) else LEFT_OUT


def _not_computed(study: Study, value: Value) -> str:
    """Return what the study lacks to compute ``value``, or an empty text if it lacks nothing."""
    experiments = study.experiments_of(value.scenario)
    if not experiments:
        return "no experiment of the study answers this scenario"
    able = [
        experiment
        for experiment in experiments
        if value.metric in {metric.name for metric in experiment.metrics.values()}
    ]
    if not able:
        return f"the study does not compute {value.metric}"
    has_line = any(value.algorithm in experiment.qdiscs for experiment in able)
    return "" if has_line else f"the study has no qdisc line for {value.algorithm}"


def compare(study: Study, value: Value, measured: Measurement) -> Judged:
    """Judge one published ``value``."""
    lost = f"{measured.missing} of {measured.missing + measured.n} seeds do not show it" if measured.missing else ""
    if measured.value is None:
        return Judged(value, measured, "not_run", None, lost or "too few seeds")
    if value.band is not None and value.number is not None:
        away = abs(measured.value - value.number)
        verdict = "reproduced" if away <= value.band else "close" if away <= 2 * value.band else "differs"
        (distance, *_) = _gaps(value.unit, measured.value, value.number)
        return Judged(value, measured, verdict, distance, lost)
    limits = _limits(study, value.unit)
    gaps = _gaps(value.unit, measured.value, _nearest(value, measured.value, value.half_digit))
    if _within(gaps, [limit.reproduced for limit in limits]) or _covered(value, measured, limits):
        verdict = "reproduced"
    else:
        verdict = "close" if _within(gaps, [limit.close for limit in limits]) else "differs"
    distance, *_ = _gaps(value.unit, measured.value, _nearest(value, measured.value))
    return Judged(value, measured, verdict, distance, lost)


def _limits(study: Study, unit: str) -> list[Tolerance]:
    """Return one tolerance per distance of `_gaps`."""
    of_unit = tolerance(study, unit)
    return [of_unit, tolerance(study, "ratio")] if unit == PERCENT else [of_unit]


def _gaps(unit: str, number: float, other: float) -> list[float]:
    """Return the distances from ``other`` to ``number``, in the order of `_limits`."""
    if unit == PERCENT:
        return [number - other, _logarithm(_smaller_part(number), _smaller_part(other))]
    return [number - other if is_difference(unit) else _logarithm(number, other)]


def _smaller_part(percent: float) -> float:
    """Return the smaller part of the whole. Returns 0 if ``percent`` is no share, so that points alone decide."""
    return max(0.0, min(percent, 100 - percent))


def _logarithm(number: float, other: float) -> float:
    if number == other:
        return 0.0
    if number <= 0 or other <= 0:
        return math.inf if number > other else -math.inf
    return math.log(number / other)


def _within(gaps: Sequence[float], limits: Sequence[float]) -> bool:
    return all(abs(gap) <= limit for gap, limit in zip(gaps, limits, strict=True))


def _nearest(value: Value, number: float, room: float = 0.0) -> float:
    """Return the number nearest to ``number`` in the published number or range, widened by ``room`` at both ends."""
    assert value.low is not None
    assert value.high is not None
    return min(max(number, value.low - room), value.high + room)


def _covered(value: Value, measured: Measurement, limits: Sequence[Tolerance]) -> bool:
    """Return whether the interval holds the published value and is narrow enough to prove something."""
    if measured.value is None or measured.low is None or measured.high is None:
        return False
    nearest = _nearest(value, measured.value, value.half_digit)
    if not measured.low <= nearest <= measured.high:
        return False
    close = [limit.close for limit in limits]
    return all(_within(_gaps(value.unit, end, measured.value), close) for end in (measured.low, measured.high))
