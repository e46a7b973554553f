"""One run: builds the path, starts the hosts, waits, reads the counters, writes the results."""

import json
import os
import select
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from . import changing, counters, distributions, sysctls, tc
from .addresses import SIDES
from .capture import BUFFER_KIB, LAG_S, Capture
from .cards import captured
from .clock import Clock, Idle
from .errors import LabError
from .hosts import Hosts
from .plan import Plan
from .queues import Queues
from .topology import Namespace, build

if TYPE_CHECKING:
    from goodqueue.engines.live.between import Between

OWN = "gateway.json"
"""The record of goodqueue's own path, in the folder of results."""

_LEAD_S = 0.5
"""Time between forking the hosts and the start of the run, enough for a slow machine to start programs."""
_TICKS = 50
_PRECISE = "3b9aca00"
"""The fourth word of /proc/net/psched if the timers of the queue disciplines resolve nanoseconds."""


def run(plan: Plan, folder: Path, progress: Callable[[float], None], buffer_kib: int = BUFFER_KIB) -> None:
    """Do the run of ``plan``, and leave the results in ``folder``: ``lab.json`` and one capture per interface.

    ``buffer_kib`` is the memory in which packets wait for one tcpdump.
    """
    _prepare(plan)
    distributions.write(plan, folder)
    heard: list[str] = []
    clock = Clock.starting_in(_LEAD_S, at_turn=plan.draws is not None)
    spaces = build(plan, heard, clock)
    own_path = _own_path(plan, spaces)
    captures = {}
    for space, device in captured(plan):
        with spaces[space].entered():
            captures[device] = Capture(device, folder / f"{device}.pcap", buffer_kib)
    changes = changing.due(plan)
    changers = changing.Changers(spaces, {change.space for change in changes})
    clock = clock if plan.draws is not None else Clock.starting_in(_LEAD_S)
    hosts = Hosts(spaces, plan, clock)
    if clock.now() > 0:
        raise LabError(f"the hosts took longer than {_LEAD_S} s to start")

    queues = Queues(plan, spaces, clock)
    wait = _Waiting(clock, plan.duration_s + plan.drain_s, hosts, progress)

    def until(seconds: float) -> None:
        while changes and changes[0].at_s <= seconds:
            wait.until(changes[0].at_s)
            changers.do(changes.pop(0))
        wait.until(seconds)

    if own_path is not None:
        until(0.0)
        own_path.start(clock)
    until(plan.warmup_s)
    idle = Idle(clock)
    queues.read()
    before = _netstat(spaces)
    until(plan.duration_s)
    idle_share = idle.share()
    queues.read()
    after = _netstat(spaces)
    if own_path is not None:
        until(plan.duration_s + own_path.lag_s)
        own_path.measured(folder / OWN)
    until(plan.duration_s + plan.drain_s)
    queues.read()
    flows = hosts.results()
    if own_path is not None:
        own_path.stop()
    heard += changers.finish()  # Last, because the hosts inherited its pipes. A `tc` ends when all have closed them.
    distributions.remove(folder)
    time.sleep(LAG_S)
    lost = {device: capture.stop() for device, capture in captures.items()}
    if any(lost.values()):
        raise LabError(f"tcpdump could not keep up: packets not captured: {lost}; accepted: none")

    result = {
        "kernel": f"{os.uname().release} {os.uname().version}",
        "tc": tc.version() if own_path is None else None,
        "tc_said": list(dict.fromkeys(heard)),
        "start_ns": clock.realtime_ns,
        "idle_share": idle_share,
        "sysctls": _switches(spaces["server"]),
        "qdisc_stats": queues.bottleneck,
        "hop_stats": queues.hops,
        "capture_dropped": lost,
        "netstat": {side: counters.since(before[side], after[side]) for side in SIDES},
        "flows": flows,
    }
    (folder / "lab.json").write_text(json.dumps(result), encoding="ascii")


def _prepare(plan: Plan) -> None:
    """Do what must be done before the path is built."""
    if plan.own is None:
        _await_precise_timers()
    if plan.draws is not None:
        _draw_from(plan.draws, plan.phases)


def _draw_from(states: list[list[int]], phases: list[int]) -> None:
    """Let each part of the path draw from its one of ``states``, and the BBR of each flow from its one of ``phases``.

    Linux looks at the low half, which comes last (`process_changes`).
    """
    modules = Path("/sys/module")
    values = {modules / "tcp_bbr/parameters/states": ",".join(map(str, phases))} if phases else {}
    for half, listed in zip(("high", "low"), zip(*states, strict=True), strict=True):
        values[modules / f"flow_dissector/parameters/net_parts_{half}"] = ",".join(map(str, (0, *listed[1:])))
        values[modules / f"kernel/parameters/net_draws_{half}"] = str(listed[0])
    for parameter, text in values.items():
        try:
            parameter.write_text(f"{text}\n", encoding="ascii")
        except OSError as error:
            raise LabError(f"random numbers: {error}; accepted: Linux as a process, built for that") from None


def _own_path(plan: Plan, spaces: dict[str, Namespace]) -> "Between | None":
    """Return goodqueue's own path if the plan has one."""
    if plan.own is None:
        return None
    from goodqueue.engines.live.between import Between  # not in the virtual machine, which lacks our path

    return Between(plan, plan.own, spaces)


def _switches(space: Namespace) -> dict[str, str]:
    with space.entered():
        return sysctls.recorded()


class _Waiting:
    """Sleeps through the run and reports the progress. Hosts that end before the run does have failed."""

    def __init__(self, clock: Clock, whole_s: float, hosts: Hosts, progress: Callable[[float], None]) -> None:
        self._clock, self._whole_s, self._hosts, self._progress = clock, whole_s, hosts, progress
        self._tick = 0

    def until(self, seconds: float) -> None:
        """Sleep until ``seconds`` of the run."""
        while (ahead := seconds - self._clock.now()) > 0:
            next_tick = self._tick / _TICKS * self._whole_s
            if next_tick <= self._clock.now():
                self._progress(self._tick / _TICKS)
                self._tick += 1
            else:
                nap = max(0.0, min(ahead, next_tick - self._clock.now()))
                early = select.select([self._hosts], [], [], nap)[0]
                if early and self._clock.now() < self._whole_s:
                    self._hosts.results()
                    raise LabError("the hosts' process ended before the run did")


def _await_precise_timers() -> None:
    """Wait for precise timers. A kernel that has just booted may tick in milliseconds for a moment.

    ``tc`` reads the same word before it computes a default burst: with ticks of 4 ms, what a link sends in 4 ms more.
    """
    path = Path("/proc/self/net/psched")
    for _ in range(50):
        if path.read_text(encoding="ascii").split()[3] == _PRECISE:
            return
        time.sleep(0.1)
    text = path.read_text(encoding="ascii").strip()
    raise LabError(f"/proc/net/psched: found {text}; accepted: timers of 1 ns, the last word {_PRECISE}")


def _netstat(spaces: dict[str, Namespace]) -> dict[str, counters.Counters]:
    counts = {}
    for side in SIDES:
        with spaces[side].entered():
            counts[side] = counters.read()
    return counts
