"""Computes the numbers of a study: one per run from its record, then one over all seeds with its 95 % interval."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import correlation, median

from goodqueue.measures import numbers, stats
from goodqueue.record import Record
from goodqueue.record.dotted import walk
from goodqueue.studies import flows, phases, varying, windows
from goodqueue.studies.computing import NUMBER, TEXT, TIME, WINDOW, Computation, Course
from goodqueue.studies.model import Metric

_PHASE = dict.fromkeys(("from_s", "each_s", "phases", "phase"), NUMBER)
_FLOW_WINDOW = {"name": TEXT, **WINDOW}

COMPUTATIONS: Mapping[str, Computation] = {
    "goodput_sum_mbps": Computation({"name": TEXT}, flows.goodput_sum_mbps, "of all flows called `name`/N"),
    "least_goodput_mbps": Computation(
        {"name": TEXT}, flows.least_goodput_mbps, "of the flow called `name`/N that has least"
    ),
    "loss_ratio": Computation(
        {"name": TEXT, "to_name": TEXT},
        flows.loss_ratio,
        "the share of packets that flows called `name` lose, over that of those called `to_name`",
    ),
    "goodput_ratio": Computation(
        {"flow": NUMBER, "to_flow": NUMBER}, flows.goodput_ratio, "of one flow over another, by their places from 0"
    ),
    "recovery_time_s": Computation(
        {"below_ms": NUMBER},
        varying.recovery_time_s,
        "from a fall of the rate to a second below `below_ms`",
        needs=TIME,
    ),
    "phase_delay_ms": Computation(
        _PHASE, phases.delay_ms, "mean delay in one of several phases that take turns", needs=TIME
    ),
    "phase_delay_max_ms": Computation(
        _PHASE, phases.delay_max_ms, "the largest delay of an interval in such a phase", needs=TIME
    ),
    "phase_goodput_mbps": Computation(
        _PHASE, phases.goodput_mbps, "goodput of all flows down in such a phase", needs=TIME
    ),
    "window_goodput_mbps": Computation(
        _FLOW_WINDOW, windows.goodput_mbps, "of `name` in a part of the run", needs=TIME
    ),
    "window_oscillation_percent": Computation(
        _FLOW_WINDOW,
        windows.oscillation_percent,
        "deviation of the seconds' goodputs in it over their mean",
        needs=TIME,
    ),
    "window_settle_s": Computation(
        _FLOW_WINDOW, windows.settle_s, "until a second is near the mean of its end", needs=TIME
    ),
    "least_share_ratio": Computation(
        _FLOW_WINDOW,
        windows.least_share,
        "in it, the least over the greatest of flows whose names begin with `name`",
        needs=TIME,
    ),
    "window_delay_ms": Computation(
        WINDOW, windows.delay_ms, "mean queueing delay down in a part of the run", needs=TIME
    ),
}
"""The computations with options that several studies and suites take, by name.

Some names resemble that of a number, and mean something else. Those that say `goodput` are of the flows with one name,
of the one with least, or of a part of the run. `recovery_time_s` begins at each fall of the rate, and ends with a
second below a bound of the study's: `recovery_ms` knows no fall, and takes the target. `window_oscillation_percent` is
of a flow's goodput, and `oscillation` of the queue's delay.
"""


def find(name: str, own: Mapping[str, Computation]) -> Computation | None:
    """Return what ``compute`` = ``name`` computes: ``own`` are the study's. None if nothing has that name."""
    if (found := own.get(name) or COMPUTATIONS.get(name)) is not None:
        return found
    number = numbers.by_key().get(name)
    if number is None:
        return None
    return Computation({}, lambda record, _: number.pick(record), number.note, number.needs)


def names(own: Mapping[str, Computation]) -> list[str]:
    """Return everything that ``compute`` takes: the study's ``own``, the `COMPUTATIONS`, and every number."""
    return list(dict.fromkeys([*own, *COMPUTATIONS, *numbers.by_key()]))


def of_record(metric: Metric, record: Record) -> float | Course | None:
    """Return the value of ``metric`` in one run, in the metric's unit. None if the run does not show it."""
    if metric.computation is None:
        value: float | Course | None = walk(record, metric.record)
    else:
        value = metric.computation.of(record, metric.options)
    if isinstance(value, tuple):
        return tuple(metric.scale * one for one in value)
    return None if value is None else value * metric.scale


def at_peak(values: Sequence[float | Course | None]) -> list[float | None]:
    """Return each seed's number. Of courses, it is the value at the time where the mean of all courses is largest.

    Thus the mean of the numbers is the peak of the mean course, and has an interval.
    """
    courses = [value for value in values if isinstance(value, tuple)]
    place = max(range(len(courses[0])), key=lambda step: math.fsum(one[step] for one in courses)) if courses else 0
    return [value[place] if isinstance(value, tuple) else value for value in values]


FORMS: Mapping[str, Callable[[float, float], float]] = {
    "ratio": lambda value, other: value / other,
    "percent": lambda value, other: 100 * value / other,
    "less_percent": lambda value, other: 100 * (1 - value / other),
    "more_percent": lambda value, other: 100 * (value / other - 1),
    "difference": lambda value, other: value - other,
    "less": lambda value, other: other - value,
}
"""How a number is compared with another one, by the word of ``as``."""


def set_against(metric: Metric, value: float | None, other: float | None) -> float | None:
    """Return ``value`` compared with ``other`` as ``metric`` says. None if one is missing or the quotient undefined."""
    if value is None or other is None or (other == 0 and metric.form not in ("difference", "less")):
        return None
    return FORMS[metric.form](value, other)


Places = Sequence[float | str | bool]
"""The values of the pooled parameter at several points."""


def _spread(numbers: Sequence[float], _: Places) -> float | None:
    return max(numbers) / min(numbers) if min(numbers) > 0 else None


def _correlation(numbers: Sequence[float], places: Places) -> float | None:
    known = [place for place in places if isinstance(place, int | float)]
    differ = len(set(numbers)) > 1 and len(set(known)) > 1 and len(known) == len(places)
    return correlation(numbers, known) if differ else None


POOLS: Mapping[str, Callable[[Sequence[float], Places], float | None]] = {
    "mean": lambda numbers, _: math.fsum(numbers) / len(numbers),
    "least": lambda numbers, _: min(numbers),
    "greatest": lambda numbers, _: max(numbers),
    "median": lambda numbers, _: median(numbers),
    "range": lambda numbers, _: max(numbers) - min(numbers),
    "spread": _spread,
    "correlation": _correlation,
}
"""Functions that pool the numbers of several points, by the word of ``pooled_as``. They also take the points' places.

Spread is the greatest divided by the least, range is the greatest minus the least. Correlation is Pearson's, with the
pooled parameter.
"""


def pool(how: str, columns: Sequence[Sequence[float | None]], places: Places) -> list[float | None]:
    """Return for each seed ``how`` applied to its numbers in ``columns`` at ``places``. None if a number is missing."""
    known = [[value for value in row if value is not None] for row in zip(*columns, strict=True)]
    return [POOLS[how](row, places) if len(row) == len(columns) else None for row in known]


@dataclass(frozen=True, slots=True)
class Measurement:
    """One number over all seeds."""

    value: float | None
    """None if no seed shows it."""
    low: float | None
    """Lower end of the 95 % confidence interval, ``high`` the upper one. None for fewer than two seeds."""
    high: float | None
    n: int
    """The number of seeds that show it."""
    missing: int = 0
    """The number of seeds that do not show it."""
    runs: tuple[float | None, ...] = ()
    """The value of each seed, scaled."""


def over_seeds(metric: Metric, runs: Sequence[float | None]) -> Measurement:
    """Return the number of ``metric`` over the ``runs`` of all seeds.

    A mean has the interval of Student's t, a standard deviation s that of χ²: s √((n-1)/χ²) at 97.5 % and 2.5 %. Both
    assume independent seeds; the second also assumes a normal distribution.
    """
    known = [value for value in runs if value is not None]
    missing = len(runs) - len(known)
    if metric.over_seeds == "sd":
        return _deviation(known, missing, tuple(runs))
    found = stats.estimate(known)
    if found is None:
        return Measurement(None, None, None, 0, missing, tuple(runs))
    return Measurement(found.mean, found.low, found.high, found.n, missing, tuple(runs))


def _deviation(known: Sequence[float], missing: int, runs: tuple[float | None, ...]) -> Measurement:
    n = len(known)
    if n < 2:
        return Measurement(None, None, None, n, missing, runs)
    from scipy.special import chdtri

    mean = math.fsum(known) / n
    squares = math.fsum((value - mean) ** 2 for value in known)
    tail = (1 - stats.CONFIDENCE) / 2
    # chdtri inverts the upper tail of the χ² distribution.
    low, high = (math.sqrt(squares / float(chdtri(n - 1, upper))) for upper in (tail, 1 - tail))
    return Measurement(math.sqrt(squares / (n - 1)), low, high, n, missing, runs)
