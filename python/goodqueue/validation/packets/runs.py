"""Makes both runs of a scenario with their captures, and again with the senders' states before a difference."""

import json
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from goodqueue import engines
from goodqueue.capture import SUFFIX, Trace
from goodqueue.record import Record, Scenario
from goodqueue.running import Progress
from goodqueue.scenario import resolve
from goodqueue.validation import cells
from goodqueue.validation.packets import differing, reading
from goodqueue.validation.packets.differing import Comparison
from goodqueue.validation.packets.reading import Flows, Seen

_SNAP_BYTES = 100
"""Bytes of a packet in a capture: all headers. Linux's captures have as many."""
_AFTER_S = 0.01
"""How long the second run goes on after the difference."""
_INTERVAL_S, _MOST_SAMPLES = 0.001, 20_000
"""The shortest interval between two readings of the states, and the most readings of a run."""
_MARGIN_NS = 1_000

State = Mapping[str, float | None]
"""A sender's variables by name."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Both runs of a scenario: the simulator's, then Linux's."""

    engines: Sequence[str]
    records: Sequence[Record]
    seen: Sequence[Mapping[str, Seen]]
    comparison: Comparison


@dataclass(frozen=True, slots=True)
class States:
    """What the senders' variables were at the last reading before a difference."""

    time_s: float
    flows: Mapping[str, Sequence[State]]
    """By flow, the simulator's sender and Linux's."""


def resolved(scenario: Scenario, release: str | None) -> Scenario:
    """Return ``scenario`` as the simulator runs it beside Linux ``release``. Raises UserError."""
    whole = resolve(scenario)
    return whole if release is None else cells.of_release(whole, release)


def pair(scenario: Scenario, on: Sequence[str], progress: Progress) -> Pair:
    """Run ``scenario`` on the simulator and on Linux, and compare the packets. Raises UserError."""
    flows, stop = Flows(), threading.Event()
    shares = {on[0]: 0.1, on[1]: 0.9}
    done, records, seen = 0.0, [], []
    with tempfile.TemporaryDirectory() as folder:
        for name in on:
            begun, share = done, shares[name]
            file = Path(folder) / f"{name}{SUFFIX}"
            trace = Trace(str(file), reading.POINTS, _SNAP_BYTES)
            run = engines.traced(name, trace)
            text = run(scenario, lambda part, begun=begun, share=share: progress(begun + part * share), stop)
            records.append(json.loads(text))
            seen.append(reading.read(file, flows))
            file.unlink()
            done += share
    return Pair(on, records, seen, differing.compare(*seen))


def states(scenario: Scenario, release: str | None, on: Sequence[str], time_ns: int) -> States | None:
    """Run ``scenario``, which is not resolved, until ``time_ns``, and return the senders' last states before it.

    A run in virtual time repeats, so the states are those of the first run. Raises UserError.
    """
    until = time_ns / 1e9
    interval_us = max(_INTERVAL_S * 1e6, -(-time_ns // (1000 * _MOST_SAMPLES)))
    shorter = scenario | {
        "duration": f"{round((until + _AFTER_S) * 1e6)}us",
        "warmup": "0s",
        "series": {"interval": f"{interval_us:.0f}us", "tcp": True},
    }
    series = [
        json.loads(engines.find(name)(resolved(shorter, release), lambda _: None, threading.Event()))["series"]
        for name in on
    ]
    times = series[0]["time_s"]
    last = sum(time < (time_ns - _MARGIN_NS) / 1e9 for time in times) - 1
    if last < 0:
        return None
    by_flow = {
        ours["name"]: [_state(side, last) for side in (ours, theirs)]
        for ours, theirs in zip(*(each["flows"] for each in series), strict=True)
        if "tcp" in ours
    }
    return States(times[last], by_flow)


def _state(flow: Mapping[str, object], place: int) -> State:
    columns = {"cwnd_packets": flow["cwnd_packets"], **flow["tcp"]}  # type: ignore[dict-item]
    return {name: values[place] for name, values in columns.items()}  # type: ignore[index]
