"""Whether runs are long enough that their start no longer shows: the truncation rule MSER-5.

MSER leaves out the first observations until the standard error of the mean of the others is least. MSER-5 does so with
the means of five observations each. K. P. White, "An effective truncation heuristic for bias reduction in simulation
output", Simulation 69 (1997) 323-334; K. P. White, M. J. Cobb and S. C. Spratt, "A comparison of five steady-state
truncation heuristics for simulation", Winter Simulation Conference (2000) 755-760. The series of several seeds are
averaged first, as in Welch's procedure.
"""

import math
import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, NamedTuple

from goodqueue import _goodqueue
from goodqueue.measures.metrics import DIRECTIONS
from goodqueue.record import Record, Scenario
from goodqueue.traffic import BULK

INTERVAL = "100ms"
"""The length of an observation: a key of the runs' scenario. Five make half a second."""

MOST_S = 600
"""Longer runs have longer observations, and as many as runs of this length."""

BATCH = 5

LEAST = 100
"""The least number of observations: of 20 means or fewer MSER-5 says little."""

TAIL = 0.25
"""The least share of a run that MSER keeps. The end of a series that swings slowly may seem still for a while."""

HELD_MS = 1.0
"""The least mean delay of a queue that is judged: below it the delay is that of single packets."""

METHOD = "MSER-5, White et al. 2000"


def truncation(values: Sequence[float]) -> int:
    """Return how many of ``values`` MSER-5 leaves out. It is a multiple of five, and at most three quarters."""
    count = len(values) // BATCH
    means = [fmean(values[BATCH * at : BATCH * (at + 1)]) for at in range(count)]
    best, least = 0, math.inf
    total = squares = 0.0
    shift = fmean(means) if means else 0.0  # sums of squares lose no digits that way
    for kept, value in enumerate(reversed(means), 1):
        total += value - shift
        squares += (value - shift) ** 2
        if kept >= TAIL * count:
            error = (squares - total**2 / kept) / kept**2
            if error <= least + 1e-12 * squares / kept**2:  # of equal errors, that of the longest part
                best, least = count - kept, error
    return BATCH * best


CONSTANT = {"duration", "warmup", "seed", "bottleneck", "path", "hop", "host", "traffic", "series"}
"""The tables and keys of a scenario in which nothing changes at a stated time."""


def is_constant(scenario: Scenario) -> bool:
    """Return whether nothing in ``scenario`` changes at a stated time, so that its runs may become stationary.

    If it asks for series, they must be those of intervals, `LEAST` of them or more.
    """
    if not scenario.keys() <= CONSTANT:
        return False
    links = [scenario["bottleneck"], scenario["bottleneck"].get("up") or {}, *(scenario.get("hop") or ())]
    moving = [key in link for link in links for key in ("trace", "access")]
    moving += [_is_bounded(one, scenario["duration"]) for one in scenario["traffic"]]
    if "series" in scenario:
        interval = scenario["series"].get("interval")
        moving.append(interval is None or _ns(interval) * LEAST > _ns(scenario["duration"]))
    return not any(moving)


def _is_bounded(traffic: Mapping[str, Any], duration: str) -> bool:
    """Return whether ``traffic`` begins after the run, ends before it, or varies."""
    times = (_ns(traffic.get("start", "0s")), _ns(traffic.get("stop", duration)))
    return "load" in traffic or times != (0, _ns(duration))


def _ns(text: str) -> int:
    return _goodqueue.time_ns(text)


def with_series(scenario: Scenario) -> Scenario:
    """Return the resolved ``scenario`` with the series that `settled_s` reads."""
    times = math.ceil(_ns(scenario["duration"]) / 1e9 / MOST_S)
    interval_ms = _ns(INTERVAL) * times // 1_000_000
    return {**scenario, "series": {"interval": f"{interval_ms}ms"}}


def without_series(text: str) -> str:
    """Return the record that the scenario of `with_series` would have had without: ``text`` is its JSON."""
    scenario, others = re.split(r',"series":\{"interval":"[^"]*"\}', text, maxsplit=1)  # the scenario's last key
    return scenario + others[: others.rindex(',"series":{"interval_s":')] + "}"  # the record's last key


@dataclass(frozen=True, slots=True)
class Course:
    """What one run is judged by: its series, each with the least mean with which it says anything.

    The series are, in each direction, the goodput of all bulk flows together, and the share that the largest of them
    has: a flow that began first may hold a full queue for long. And the delay of each queue.
    """

    step_s: float
    series: tuple[tuple[Sequence[float], float], ...]


def course(record: Record) -> Course:
    """Return what the run ``record``, which has series of intervals, is judged by."""
    return Course(
        record["series"]["interval_s"] or 0.0, tuple((array("d", values), least) for values, least in _series(record))
    )


class Start(NamedTuple):
    """How long the start of runs shows."""

    settled_s: float
    """The time after which they are stationary."""
    whole_s: float
    """Their length."""

    @property
    def is_most(self) -> bool:
        """Whether more than half of a run is its start, so that the runs are too short to be stationary."""
        return self.settled_s > self.whole_s / 2


def settled_s(records: Sequence[Record]) -> float:
    """Return the time after which the runs are stationary, from their ``records``: see `start`."""
    return start([course(record) for record in records]).settled_s


def start(courses: Sequence[Course]) -> Start:
    """Return how long the start of runs shows: up to the latest truncation of any of their series.

    The runs are those of one scenario, each with another seed. Each series is the mean over them.
    """
    observations = [(truncation(values), len(values)) for values in _averages(courses)]
    settled, whole = (max(counts) for counts in zip((0, 0), *observations, strict=True))
    return Start(settled * courses[0].step_s, whole * courses[0].step_s)


def _averages(courses: Sequence[Course]) -> Iterator[list[float]]:
    for runs in zip(*(one.series for one in courses), strict=True):
        mean = [fmean(at) for at in zip(*(values for values, _ in runs), strict=True)]
        if fmean(mean) >= runs[0][1]:
            yield mean


def _series(record: Record) -> Iterator[tuple[Sequence[float], float]]:
    series = record["series"]
    goodputs = {flow["name"]: [rate or 0.0 for rate in flow["goodput_mbps"]] for flow in series["flows"]}
    for direction in DIRECTIONS:
        bulk = [flow for flow in record["flows"] if flow["kind"] == BULK and flow["direction"] == direction]
        flows = [goodputs[flow["name"]] for flow in bulk]
        if flows:
            yield [math.fsum(at) for at in zip(*flows, strict=True)], 0.0
        if flows[1:]:
            yield list(_largest(flows)), 0.0
    for queue in (*series["queues"].values(), *series.get("hops", {}).values()):
        yield [delay or 0.0 for delay in queue["delay_ms"]], HELD_MS


def _largest(flows: Sequence[Sequence[float]]) -> Iterator[float]:
    """Yield the share of the largest of ``flows`` in each observation, taken over the batch to which it belongs."""
    size = len(flows[0])
    batches = [[math.fsum(flow[at : at + BATCH]) for at in range(0, size, BATCH)] for flow in flows]
    for at, sums in enumerate(zip(*batches, strict=True)):
        whole = math.fsum(sums)
        yield from [max(sums) / whole if whole else 1.0] * min(BATCH, size - BATCH * at)
