"""BBR's states over time, as its gains show them. They need ``[series] interval`` and ``cc = true``.

The gains of each state are those of draft-ietf-ccwg-bbr-06, section 2.4. The state of an interval is that at its end.
"""

from collections.abc import Mapping
from itertools import groupby, pairwise
from typing import Any

from goodqueue.record import Record
from goodqueue.studies.computing import TEXT, TIME, Computation, Option, Options

PROBE_RTT = "probe_rtt"
STATES = {"startup": 2.77, "drain": 0.5, "up": 1.25, "down": 0.9, "cruise": 1.0}
"""The pacing gain of each state. REFILL has CRUISE's gains. PROBE_RTT is known by its cwnd gain."""
PROBE_RTT_CWND_GAIN = 0.5
NUMBERED = ("startup", "drain", "down", "cruise", "cruise", "up", PROBE_RTT)
"""The states by their numbers in ``bbr_state``, which a QUIC stack's series has instead of the gains."""
NEAR = 0.01
"""Linux counts gains in units of 1/256."""

OF_SPANS = ("total", "longest", "first")
OF_VALUES = ("min", "max", "first", "last", "least_step")


def _series(record: Record) -> Mapping[str, Any]:
    """Return the run's time series. Empty if the scenario asks for none."""
    return record.get("series", {})


def _flow(record: Record, options: Options) -> Mapping[str, Any]:
    """Return the series of the flow with the number ``flow``. Empty if the run kept none."""
    flows, number = _series(record).get("flows", []), int(options["flow"])
    return flows[number] if number < len(flows) else {}


def _values(record: Record, options: Options) -> list[tuple[float, float]]:
    """Return the ends of the intervals in which ``variable`` has a value, and the values.

    A variable is one of the congestion control, or of TCP, or of the flow itself, or of the queue down.
    """
    flow, name, series = _flow(record, options), str(options["variable"]), _series(record)
    places = (flow.get("cc", {}), flow.get("tcp", {}), flow, series.get("queues", {}).get("down", {}))
    values: list[float | None] = next((variables[name] for variables in places if name in variables), [])
    begin, end = float(options["from_s"]), float(options["to_s"])
    every = zip(series.get("time_s", []), values, strict=False)
    return [(time, value) for time, value in every if value is not None and begin < time <= end]


def _states(record: Record, options: Options) -> list[tuple[str, float, float]]:
    """Return the states that the flow was in, in order, each with its begin and its end. Empty if it is no BBR."""
    cc = _flow(record, options).get("cc", {})
    if "bbr_state" in cc:
        each = ["" if number is None else NUMBERED[int(number)] for number in cc["bbr_state"]]
    elif {"pacing_gain", "cwnd_gain"} <= cc.keys():
        each = [_state(*gains) for gains in zip(cc["pacing_gain"], cc["cwnd_gain"], strict=True)]
    else:
        return []
    times = _series(record)["time_s"]
    stays, end = [], 0
    for state, group in groupby(each):
        begin = times[end - 1] if end else 0.0
        end += len(list(group))
        stays.append((state, begin, times[end - 1]))
    return stays


def _state(pacing: float | None, cwnd: float | None) -> str:
    if pacing is None or cwnd is None:
        return ""
    if abs(cwnd - PROBE_RTT_CWND_GAIN) < NEAR:
        return PROBE_RTT
    return next((name for name, gain in STATES.items() if abs(pacing - gain) < NEAR), "")


def state_s(record: Record, options: Options) -> float | None:
    """Return seconds in ``state``: the ``statistic`` (``total``, ``longest`` or ``first``) of its spans.

    A span counts if it begins from ``from_s`` to ``to_s``. Returns 0 if there is none, and None if the flow is no BBR.
    """
    if not (states := _states(record, options)):
        return None
    lengths = [end - begin for _, begin, end in _spans(states, options)]
    statistic = str(options["statistic"])
    return {"total": sum(lengths), "longest": max(lengths, default=0.0), "first": next(iter(lengths), 0.0)}[statistic]


def state_count(record: Record, options: Options) -> float | None:
    """Return how often the flow entered ``state`` from ``from_s`` to ``to_s``. None if it is no BBR."""
    states = _states(record, options)
    return float(len(_spans(states, options))) if states else None


def follows_count(record: Record, options: Options) -> float | None:
    """Return how often ``next`` came right after ``state``, where that began from ``from_s`` to ``to_s``."""
    if not (states := _states(record, options)):
        return None
    begin, end = float(options["from_s"]), float(options["to_s"])
    transition = (options["state"], options["next"])
    return float(
        sum((state[0], other[0]) == transition and begin <= state[1] < end for state, other in pairwise(states))
    )


def _spans(states: list[tuple[str, float, float]], options: Options) -> list[tuple[str, float, float]]:
    begin, end = float(options["from_s"]), float(options["to_s"])
    return [state for state in states if state[0] == options["state"] and begin <= state[1] < end]


def variable(record: Record, options: Options) -> float | None:
    """Return the ``statistic`` of a sender's ``variable`` after ``from_s`` and up to ``to_s``, over the intervals.

    It is ``min``, ``max``, ``first``, ``last`` or ``least_step``: the least quotient of a value and the one before it.
    Returns None if the variable has no value then.
    """
    values = [value for _, value in _values(record, options)]
    if not values:
        return None
    if options["statistic"] == "least_step":
        return min((after / before for before, after in pairwise(values) if before), default=1.0)
    return {"min": min(values), "max": max(values), "first": values[0], "last": values[-1]}[str(options["statistic"])]


def at_end_of(record: Record, options: Options) -> float | None:
    """Return a ``variable`` of the sender at the end of the first span of ``state`` from ``from_s`` to ``to_s``."""
    spans = _spans(_states(record, options), options)
    if not spans:
        return None
    end = spans[0][2]
    return next((value for time, value in _values(record, {**options, "to_s": end + 1}) if time >= end), None)


_SENDER = {"flow": Option("number", 0.0), "from_s": Option("number", 0.0), "to_s": Option("number", 1e6)}
_STATE = {**_SENDER, "state": Option("text", words=(*STATES, PROBE_RTT))}

NUMBERS = {
    "bbr_state_s": Computation(
        {**_STATE, "statistic": Option("text", words=OF_SPANS)},
        state_s,
        "time in a `state` of BBR: total, longest or first of its spans",
        needs=TIME,
    ),
    "bbr_state_count": Computation(_STATE, state_count, "how often BBR entered a `state`", needs=TIME),
    "bbr_follows_count": Computation(
        {**_STATE, "next": _STATE["state"]},
        follows_count,
        "how often `next` came after it",
        needs=TIME,
    ),
    "bbr_at_end_of": Computation(
        {**_STATE, "variable": TEXT}, at_end_of, "a sender's variable at its first end", needs=TIME
    ),
    "sender": Computation(
        {**_SENDER, "variable": TEXT, "statistic": Option("text", words=OF_VALUES)},
        variable,
        "a sender's variable: its min, max, first, last, or least_step, the least quotient of successive values",
        needs=TIME,
    ),
}
"""The computations by name, as `compute` takes them."""
