"""Makes both runs of a scenario with their captures, and again with the senders' states before a difference."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from goodqueue.errors import UserError
from goodqueue.record import Record, Scenario
from goodqueue.running import Progress
from goodqueue.scenario import resolve, seconds
from goodqueue.validation import cells
from goodqueue.validation.packets import captured, differing
from goodqueue.validation.packets.differing import Comparison
from goodqueue.validation.packets.reading import Flows, Seen

_LINUX_SHARE = 0.9
"""The approximate share of the time that Linux takes."""
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


def pair(
    scenario: Scenario,
    on: Sequence[str],
    progress: Progress,
    folder: Path | None = None,
    stop: threading.Event | None = None,
) -> Pair:
    """Run a resolved ``scenario`` on the simulator and on Linux, and compare the packets.

    ``folder`` keeps Linux's run, if there is one. Raises UserError and OSError.
    """
    ends = stop or threading.Event()
    linux = captured.kept(on[1], scenario, folder, lambda share: progress(share * _LINUX_SHARE), ends)
    ours = captured.run(
        on[0], scenario, linux.flows, lambda share: progress(_LINUX_SHARE + (1 - _LINUX_SHARE) * share), ends
    )
    end_ns = round(seconds(scenario["duration"]) * 1e9)
    seen = [{point: packets.until(end_ns) for point, packets in run.seen.items()} for run in (ours, linux)]
    return Pair(on, (ours.record, linux.record), seen, differing.compare(seen[0], seen[1], end_ns))


def until(scenario: Scenario, release: str | None, end_s: float, **more: Any) -> Scenario:
    """Return ``scenario`` resolved, as far as ``end_s``, with ``more`` keys.

    It is whole if something starts, stops or changes after that. Raises UserError.
    """
    whole = {**scenario, "warmup": "0s", **more}
    try:
        return resolved({**whole, "duration": f"{round(end_s * 1e6)}us"}, release)
    except UserError:
        return resolved(whole, release)


def states(scenario: Scenario, release: str | None, on: Sequence[str], time_ns: int) -> States | None:
    """Run ``scenario``, which is not resolved, until ``time_ns``, and return the senders' last states before it.

    A run in virtual time repeats, so the states are those of the first run. Raises UserError.
    """
    interval_us = max(_INTERVAL_S * 1e6, -(-time_ns // (1000 * _MOST_SAMPLES)))
    more = {"interval": f"{interval_us:.0f}us", "tcp": True}
    shorter = until(scenario, release, time_ns / 1e9 + _AFTER_S, series=more)
    series = [captured.run(name, shorter, Flows(), lambda _: None, threading.Event()).record["series"] for name in on]
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
