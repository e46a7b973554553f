"""One run: builds, starts, waits, reads, writes down."""

import json
import os
import select
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import counters, sysctls, tc
from .addresses import SIDES, ends
from .apps import HALVES
from .capture import Capture
from .clock import Clock
from .errors import LabError
from .hosts import Host
from .page import Orders, Page
from .plan import Plan
from .topology import QUEUE_DEVICES, Namespace, build

_LEAD_S = 0.5
"""Between forking the hosts and the run's beginning: enough for a slow machine to start programs."""
_CAPTURE_LAG_S = 1.1
"""The kernel gives packets to tcpdump in blocks, an unfilled one after a second; what is in it at the stop is lost."""
_TICKS = 50
_PRECISE = "3b9aca00"
"""The fourth word of /proc/net/psched where the queue disciplines' timers resolve nanoseconds."""


def run(plan: Plan, folder: Path, progress: Callable[[float], None]) -> None:
    """Do ``plan`` and leave in ``folder`` what happened: ``lab.json`` and a capture a router's interface."""
    _await_precise_timers()
    spaces = build(plan)
    router = spaces["router"]
    with router.entered():
        captures = {device: Capture(device, folder / f"{device}.pcap") for device in sorted(QUEUE_DEVICES.values())}
    orders = {flow.name: Orders() for flow in plan.flows if HALVES.get(flow.kind) is Page}
    clock = Clock.starting_in(_LEAD_S)
    hosts = [Host(side, spaces[side], plan, clock, orders) for side in SIDES]
    if clock.now() > 0:
        raise LabError(f"the hosts took longer than {_LEAD_S} s to start")

    stats: dict[str, list[dict[str, Any]]] = {direction: [] for direction in QUEUE_DEVICES}
    wait = _Waiting(clock, plan.duration_s + plan.drain_s, hosts, progress)
    wait.until(plan.warmup_s)
    _read_queues(router, clock, stats)
    before = _netstat(spaces)
    wait.until(plan.duration_s)
    _read_queues(router, clock, stats)
    after = _netstat(spaces)
    flows: dict[str, Any] = {flow.name: {} for flow in plan.flows}
    wait.until(plan.duration_s + plan.drain_s)
    _read_queues(router, clock, stats)
    for host in hosts:
        for name, found in host.results().items():
            flows[name] |= found
    time.sleep(_CAPTURE_LAG_S)
    lost = {device: capture.stop() for device, capture in captures.items()}
    if any(lost.values()):
        raise LabError(f"tcpdump could not keep up: packets not captured: {lost}; accepted: none")

    for place, flow in enumerate(plan.flows):
        between = ends(plan, place)
        flows[flow.name] |= {"local": between.source, "remote": between.sink}
    with spaces["server"].entered():
        switches = sysctls.recorded()
    kernel = os.uname()
    result = {
        "kernel": f"{kernel.release} {kernel.version}",
        "tc": tc.version(),
        "start_ns": clock.realtime_ns,
        "sysctls": switches,
        "qdisc_stats": stats,
        "capture_dropped": lost,
        "netstat": {side: counters.since(before[side], after[side]) for side in SIDES},
        "flows": flows,
    }
    (folder / "lab.json").write_text(json.dumps(result), encoding="ascii")


class _Waiting:
    """Sleeps through the run and says how far it is; a host that ends before the run does has failed."""

    def __init__(self, clock: Clock, whole_s: float, hosts: list[Host], progress: Callable[[float], None]) -> None:
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
                early = select.select(self._hosts, [], [], nap)[0]
                if early and self._clock.now() < self._whole_s:
                    early[0].results()
                    raise LabError("a host's process ended before the run did")


def _await_precise_timers() -> None:
    """A kernel that has just booted may tick at milliseconds for a moment, and so would every shaper."""
    path = Path("/proc/self/net/psched")
    for _ in range(50):
        if path.read_text(encoding="ascii").split()[3] == _PRECISE:
            return
        time.sleep(0.1)
    found = path.read_text(encoding="ascii").strip()
    raise LabError(f"/proc/net/psched: found {found}; accepted: timers of 1 ns, the last word {_PRECISE}")


def _read_queues(router: Namespace, clock: Clock, stats: dict[str, list[dict[str, Any]]]) -> None:
    with router.entered():
        for direction, device in QUEUE_DEVICES.items():
            qdiscs = tc.counters(device)
            stats[direction].append({"t_s": clock.now(), "qdiscs": qdiscs})


def _netstat(spaces: dict[str, Namespace]) -> dict[str, counters.Counters]:
    found = {}
    for side in SIDES:
        with spaces[side].entered():
            found[side] = counters.read()
    return found
