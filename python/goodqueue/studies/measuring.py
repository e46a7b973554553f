"""Computes the numbers of a study: one per run from its record, then one over all seeds with its 95 % interval."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import correlation, median
from typing import Literal

from goodqueue.measures import numbers, stats
from goodqueue.measures.needs import SERIES
from goodqueue.record import Record
from goodqueue.record.dotted import walk
from goodqueue.studies import air, bbr, latency, phases, roundtrip, varying, web, windows
from goodqueue.studies.model import Metric
from goodqueue.studies.step import Excursion, excursion

Course = tuple[float, ...]
"""A number over the time of a run. The run's number is the one where the mean of all seeds peaks (`at_peak`)."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a computation."""

    kind: Literal["text", "number"]
    default: str | float | None = None
    """None: the option is required."""
    words: tuple[str, ...] = ()
    """What a text may be. Empty: anything."""


@dataclass(frozen=True, slots=True)
class Computation:
    """A number that is computed from a record, since no single field holds it."""

    options: Mapping[str, Option]
    of: Callable[[Record, Mapping[str, str | float]], float | Course | None]
    """Takes a record and the options, and returns a number or a course. None if the run does not show it."""
    help: str
    needs: tuple[str, ...] = ()
    """The keys of ``[series]`` without which a run's record does not show it."""


def _excursion(record: Record, options: Mapping[str, str | float]) -> Excursion | None:
    start = next((flow["start_s"] for flow in record["flows"] if flow["name"] == options["flow"]), None)
    packets = record.get("series", {}).get("packets", {}).get("down")
    if start is None or packets is None:
        return None
    target = float(options["target_ms"])
    rise = float(options["rise_ms"]) or target
    return excursion(packets["time_s"], packets["delay_ms"], start, target, rise)


def _tau_ms(record: Record, options: Mapping[str, str | float]) -> float | None:
    excursion = _excursion(record, options)
    return excursion.tau_s * 1e3 if excursion else None


def _delay_max_ms(record: Record, options: Mapping[str, str | float]) -> float | None:
    excursion = _excursion(record, options)
    return excursion.delay_max_ms if excursion else None


TEXT, NUMBER = Option("text"), Option("number")
_SINCE = {"from_s": NUMBER}
_PHASE = dict.fromkeys(("from_s", "each_s", "phases", "phase"), NUMBER)
_WINDOW = dict.fromkeys(("from_s", "to_s"), NUMBER)
_FLOW_WINDOW = {"name": TEXT, **_WINDOW}
_ABOVE = {"percentile": NUMBER, "above": Option("number", -1.0)}
_SENDER = {"flow": Option("number", 0.0), "from_s": Option("number", 0.0), "to_s": Option("number", 1e6)}
_STATE = {**_SENDER, "state": Option("text", words=(*bbr.STATES, bbr.PROBE_RTT))}
_TIME, _PACKETS = ("interval",), ("packets",)
_STEP = {"flow": TEXT, "target_ms": NUMBER, "rise_ms": Option("number", 0.0)}

COMPUTATIONS: Mapping[str, Computation] = {
    "tau_ms": Computation(
        _STEP, _tau_ms, "from the start of `flow` until the delay, once above, is below `target_ms`", needs=_PACKETS
    ),
    "delay_max_ms": Computation(_STEP, _delay_max_ms, "the largest delay within tau", needs=_PACKETS),
    "goodput_sum_mbps": Computation({"name": TEXT}, latency.goodput_sum_mbps, "of all flows called `name`/N"),
    "least_goodput_mbps": Computation(
        {"name": TEXT}, latency.least_goodput_mbps, "of the flow called `name`/N that has least"
    ),
    "loss_ratio": Computation(
        {"name": TEXT, "to_name": TEXT},
        latency.loss_ratio,
        "the share of packets that flows called `name` lose, over that of those called `to_name`",
    ),
    "goodput_ratio": Computation(
        {"flow": NUMBER, "to_flow": NUMBER}, latency.goodput_ratio, "of one flow over another, by their places from 0"
    ),
    "latency_peak_ms": Computation(
        {"until_s": NUMBER}, latency.peak_ms, "the largest of the seeds' mean course", needs=_TIME
    ),
    "latency_steady_ms": Computation(_SINCE, latency.steady_ms, "mean after `from_s`", needs=_TIME),
    "settle_time_s": Computation(
        {**_SINCE, "factor": NUMBER},
        latency.settle_s,
        "until a second is within `factor` of the steady latency",
        needs=_TIME,
    ),
    "goodput_spans_mbps": Computation(
        {"direction": TEXT, "percentile": NUMBER},
        latency.goodput_spans_mbps,
        "of all flows of one direction together, a percentile over the series' intervals",
        needs=_TIME,
    ),
    "flow_rtts_ms": Computation(
        {"direction": TEXT, "percentile": NUMBER},
        latency.flow_rtts_ms,
        "round trips as senders of one direction measured them: the percentile (10, 50, 90) of the flow in the middle",
    ),
    "captured_rtt_ms": Computation(
        {"percentile": NUMBER},
        air.captured_rtt_ms,
        "round trips of what a cell's stations send, as captures there show them: below the stations' discipline",
    ),
    "of_station": Computation(
        {"station": TEXT, "number": TEXT},
        air.of_station,
        "a number of a station of a Wi-Fi cell: airtime_percent, down.aggregate_frames",
    ),
    "packet_rtt_ms": Computation(
        _ABOVE,
        roundtrip.rtt_ms,
        "round trip of the packets down: a percentile, or what it is above another",
    ),
    "packet_delay_ms": Computation(_ABOVE, roundtrip.delay_ms, "the same less the base RTT"),
    "flow_rtt_ms": Computation({"flow": NUMBER}, roundtrip.of_flow_ms, "mean of the packets of one flow"),
    "flow_jitter_ms": Computation(
        {"flow": NUMBER},
        roundtrip.jitter_ms,
        "mean difference of successive packets of one flow, unsigned",
    ),
    "drop_probability_percent": Computation(
        _SINCE, latency.drop_probability_percent, "the law's mean after `from_s`", needs=_TIME
    ),
    "loss_burstiness_index": Computation(
        {"flow": TEXT}, latency.burstiness_index, "variance over mean of what `flow` loses in an interval", needs=_TIME
    ),
    "call_delay_ms": Computation(
        _ABOVE, latency.call_delay_ms, "of a call, above another percentile, or above the delay without queueing"
    ),
    "response_near_ms": Computation(
        {"bytes": NUMBER}, web.response_near_ms, "median of the sampled responses of about `bytes`"
    ),
    "response_late_s": Computation(
        {}, web.late_s, "median of how much longer a sampled response with a timeout takes than those of its size"
    ),
    "drop_share_jain_index": Computation(
        {"direction": TEXT}, varying.drop_share_jain_index, "of lost over sent packets, flow by flow"
    ),
    "queue_packets": Computation(
        {"statistic": Option("text", words=varying.OF_QUEUES), **_WINDOW},
        varying.queue_packets,
        "the mean, min or max that a packet finds, the one on the wire among them",
        needs=_PACKETS,
    ),
    "wait_ms": Computation({"number": NUMBER}, varying.wait_ms, "of one packet, by its number from 1", needs=_PACKETS),
    "delay_peak_ms": Computation(
        {"at_s": NUMBER, "for_s": NUMBER}, varying.delay_peak_ms, "the largest of an interval", needs=_TIME
    ),
    "recovery_time_s": Computation(
        {"below_ms": NUMBER},
        varying.recovery_time_s,
        "from a fall of the rate to a second below `below_ms`",
        needs=_TIME,
    ),
    "adapt_ms": Computation({}, varying.adapt_ms, "from a fall of the rate to the first drop", needs=_TIME),
    "phase_delay_ms": Computation(
        _PHASE, phases.delay_ms, "mean delay in one of several phases that take turns", needs=_TIME
    ),
    "phase_delay_max_ms": Computation(
        _PHASE, phases.delay_max_ms, "the largest delay of an interval in such a phase", needs=_TIME
    ),
    "phase_goodput_mbps": Computation(
        _PHASE, phases.goodput_mbps, "goodput of all flows down in such a phase", needs=_TIME
    ),
    "window_goodput_mbps": Computation(
        _FLOW_WINDOW, windows.goodput_mbps, "of `name` in a part of the run", needs=_TIME
    ),
    "window_oscillation_percent": Computation(
        _FLOW_WINDOW,
        windows.oscillation_percent,
        "deviation of the seconds' goodputs in it over their mean",
        needs=_TIME,
    ),
    "window_settle_s": Computation(
        _FLOW_WINDOW, windows.settle_s, "until a second is near the mean of its end", needs=_TIME
    ),
    "least_share_ratio": Computation(
        _FLOW_WINDOW,
        windows.least_share,
        "in it, the least over the greatest of flows whose names begin with `name`",
        needs=_TIME,
    ),
    "window_delay_ms": Computation(
        _WINDOW, windows.delay_ms, "mean queueing delay down in a part of the run", needs=_TIME
    ),
    "bbr_state_s": Computation(
        {**_STATE, "statistic": Option("text", words=bbr.OF_SPANS)},
        bbr.state_s,
        "time in a `state` of BBR: total, longest or first of its spans",
        needs=_TIME,
    ),
    "bbr_state_count": Computation(_STATE, bbr.state_count, "how often BBR entered a `state`", needs=_TIME),
    "bbr_follows_count": Computation(
        {**_STATE, "next": _STATE["state"]},
        bbr.follows_count,
        "how often `next` came after it",
        needs=_TIME,
    ),
    "bbr_at_end_of": Computation(
        {**_STATE, "variable": TEXT}, bbr.at_end_of, "a sender's variable at its first end", needs=_TIME
    ),
    "sender": Computation(
        {**_SENDER, "variable": TEXT, "statistic": Option("text", words=bbr.OF_VALUES)},
        bbr.variable,
        "a sender's variable: its min, max, first, last, or least_step, the least quotient of successive values",
        needs=_TIME,
    ),
    "transferred_kb": Computation(
        {"phase": TEXT},
        varying.transferred_kb,
        "goodput while the rate is a risen one (jump), or else (other)",
        needs=_TIME,
    ),
}
"""The computations that have options, or that one study alone needs, by name. `step` defines the first two's excursion.

Three names say `goodput`, and mean other flows than the number `goodput_mbps`: those with one name, the one with least
of them, and those within a part of the run.
"""


def names() -> list[str]:
    """Return everything that ``compute`` takes: the `COMPUTATIONS`, and every number of `measures.numbers`."""
    return [*COMPUTATIONS, *(key for key in numbers.by_key() if key not in COMPUTATIONS)]


def find(name: str) -> Computation:
    """Return what ``compute`` = ``name`` computes. Raises KeyError if there is no such name."""
    if name in COMPUTATIONS:
        return COMPUTATIONS[name]
    number = numbers.by_key()[name]
    return Computation({}, lambda record, _: number.pick(record), number.note, _TIME if SERIES in number.needs else ())


def of_record(metric: Metric, record: Record) -> float | Course | None:
    """Return the value of ``metric`` in one run, in the metric's unit. None if the run does not show it."""
    value = find(metric.compute).of(record, metric.options) if metric.compute else walk(record, metric.record)
    if isinstance(value, tuple):
        return tuple(metric.scale * number for number in value)
    return None if value is None else value * metric.scale


def at_peak(values: Sequence[float | Course | None]) -> list[float | None]:
    """Return each seed's number. Of courses, it is the value at the time where the mean of all courses is largest.

    Thus the mean of the numbers is the peak of the mean course, and has an interval.
    """
    courses = [value for value in values if isinstance(value, tuple)]
    peak = max(range(len(courses[0])), key=lambda step: math.fsum(course[step] for course in courses)) if courses else 0
    return [value[peak] if isinstance(value, tuple) else value for value in values]


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
    numeric = [place for place in places if isinstance(place, int | float)]
    differ = len(set(numbers)) > 1 and len(set(numeric)) > 1 and len(numeric) == len(places)
    return correlation(numbers, numeric) if differ else None


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
    rows = [[value for value in row if value is not None] for row in zip(*columns, strict=True)]
    return [POOLS[how](row, places) if len(row) == len(columns) else None for row in rows]


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
    numbers = [value for value in runs if value is not None]
    missing = len(runs) - len(numbers)
    if metric.over_seeds == "sd":
        return _deviation(numbers, missing, tuple(runs))
    estimate = stats.estimate(numbers)
    if estimate is None:
        return Measurement(None, None, None, 0, missing, tuple(runs))
    return Measurement(estimate.mean, estimate.low, estimate.high, estimate.n, missing, tuple(runs))


def _deviation(numbers: Sequence[float], missing: int, runs: tuple[float | None, ...]) -> Measurement:
    n = len(numbers)
    if n < 2:
        return Measurement(None, None, None, n, missing, runs)
    from scipy.special import chdtri

    mean = math.fsum(numbers) / n
    squares = math.fsum((value - mean) ** 2 for value in numbers)
    tail = (1 - stats.CONFIDENCE) / 2
    # chdtri inverts the upper tail of the χ² distribution.
    low, high = (math.sqrt(squares / float(chdtri(n - 1, upper))) for upper in (tail, 1 - tail))
    return Measurement(math.sqrt(squares / (n - 1)), low, high, n, missing, runs)
