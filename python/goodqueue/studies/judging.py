"""Values: does the measured number reproduce the published one?

The distance of a value is measured by its unit. For shares of a whole (percent, percentage points, indices) it is
measured − published; for everything else it is ln(measured / published), which calls twice and half equally far.

| verdict | rule |
|---|---|
| reproduced | the distance is at most `Tolerance.reproduced`; or the published value lies in the 95 % confidence |
|            | interval, which reaches no further than `Tolerance.close` (a wide interval proves nothing) |
| close | the distance is at most `Tolerance.close` |
| differs | anything else |
| not_run | nothing was measured, or the value is not tested; the reason stands beside |

A published range counts with its nearer end: inside it the distance is 0.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from goodqueue.studies.execution import Measured
from goodqueue.studies.metrics import Measurement
from goodqueue.studies.model import Study, Tolerance
from goodqueue.studies.published import SETTING, Value
from goodqueue.studies.selection import LEFT_OUT, Selection

VERDICTS = ("reproduced", "close", "differs", "not_run")

POINTS = Tolerance(0.5, 2.0)
"""For percent: half a point, two points."""
SHARES = Tolerance(0.005, 0.02)
"""For indices between 0 and 1."""
LOGARITHM = Tolerance(0.05, 0.25)
"""For the rest: about 5 %, and a factor of 1.28 either way."""

DIFFERENCES = {"percent": POINTS, "percentage_points": POINTS, "index": SHARES}


@dataclass(frozen=True, slots=True)
class Judged:
    """A published value with what was measured in its place."""

    value: Value
    measured: Measurement | None
    verdict: str
    distance: float | None
    """measured − published, or ln(measured / published): see `is_difference`. None where nothing was compared."""
    why: str = ""
    """The reason of a ``not_run``, or something to know about the number."""


def is_difference(unit: str) -> bool:
    """Return whether distances in ``unit`` are differences; else they are logarithms of ratios."""
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
        for name, number in cell.numbers.items():
            metric = cell.cell.experiment.metrics[name]
            if metric.name == value.metric and {**cell.cell.at, **metric.at} == value.at:
                return _compare(study, value, number)
    return Judged(value, None, "not_run", None, "the study does not run this point")


def _untested(study: Study, value: Value, selection: Selection) -> str:
    """Return why ``value`` is not to be tested; empty where it is."""
    if value.metric == SETTING:
        return "a setting of the experiment, not a result"
    for exclusion in study.exclusions:
        if any(fnmatchcase(value.metric, pattern) for pattern in exclusion.metrics):
            return exclusion.why
    if value.low is None or value.high is None:
        return "printed as text, not as a number"
    return "" if selection.takes_value(value) else LEFT_OUT


def _not_computed(study: Study, value: Value) -> str:
    """Return what the study lacks to compute ``value``; empty where it lacks nothing."""
    experiments = study.experiments_of(value.scenario)
    if not experiments:
        return "no experiment of the study answers this scenario"
    able = [one for one in experiments if value.metric in {metric.name for metric in one.metrics.values()}]
    if not able:
        return f"the study does not compute {value.metric}"
    known = any(value.algorithm in experiment.qdiscs for experiment in able)
    return "" if known else f"the study has no qdisc line for {value.algorithm}"


def _compare(study: Study, value: Value, measured: Measurement) -> Judged:
    lost = f"{measured.missing} of {measured.missing + measured.n} seeds do not show it" if measured.missing else ""
    if measured.value is None:
        return Judged(value, measured, "not_run", None, lost or "too few seeds")
    distance = _distance(value, measured.value)
    limits = tolerance(study, value.unit)
    if abs(distance) <= limits.reproduced or _covered(value, measured, limits):
        verdict = "reproduced"
    else:
        verdict = "close" if abs(distance) <= limits.close else "differs"
    return Judged(value, measured, verdict, distance, lost)


def _distance(value: Value, measured: float) -> float:
    """Return how far ``measured`` lies from the published value or from the nearer end of its range."""
    assert value.low is not None
    assert value.high is not None
    published = min(max(measured, value.low), value.high)
    if is_difference(value.unit):
        return measured - published
    if measured == published:
        return 0.0
    if measured <= 0 or published <= 0:
        return math.inf if measured > published else -math.inf
    return math.log(measured / published)


def _covered(value: Value, measured: Measurement, limits: Tolerance) -> bool:
    """Whether the interval holds the published value and is narrow enough to say something."""
    assert value.low is not None
    assert value.high is not None
    if measured.value is None or measured.low is None or measured.high is None:
        return False
    if value.high < measured.low or value.low > measured.high:
        return False
    if is_difference(value.unit):
        reach = max(measured.high - measured.value, measured.value - measured.low)
    elif measured.low <= 0:
        return False
    else:
        reach = max(math.log(measured.high / measured.value), math.log(measured.value / measured.low))
    return reach <= limits.close
