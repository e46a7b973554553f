"""The hosts at both ends: one process, which serves all flows (``crates/sockets``)."""

import gc
import json
import os
import resource
import socket
from contextlib import suppress
from typing import Any, NoReturn

from goodqueue import _goodqueue

from .addresses import SIDES, ends
from .clock import Clock
from .errors import LabError
from .libc import die_with_parent
from .plan import Flow, Plan
from .topology import Namespace

_MOST_FILES = 1 << 17
"""Descriptors of the hosts' process, for the connections of hundreds of subscribers with web users."""


class Hosts:
    """The process, forked before the run."""

    def __init__(self, spaces: dict[str, Namespace], plan: Plan, clock: Clock) -> None:
        """Start the process. When this returns, its listeners are ready, or it has failed and `results` says why."""
        self._results, write = os.pipe()
        ready, write_end = os.pipe()
        self._process = os.fork()
        if self._process == 0:
            os.close(ready)
            _be_hosts(spaces, plan, clock, write_end, write)
        os.close(write)
        os.close(write_end)
        os.read(ready, 1)
        os.close(ready)

    def fileno(self) -> int:
        """Return the descriptor that becomes readable when the process ends."""
        return self._results

    def results(self) -> dict[str, Any]:
        """Wait for the process to end, and return the results of the flows."""
        with os.fdopen(self._results, encoding="utf-8") as pipe:
            text = pipe.read()
        _, status = os.waitpid(self._process, 0)
        if not text:
            raise LabError(f"the hosts' process ended with status {os.waitstatus_to_exitcode(status)}")
        results: dict[str, Any] = json.loads(text)
        if "error" in results:
            raise LabError(results["error"])
        return results


def _be_hosts(spaces: dict[str, Namespace], plan: Plan, clock: Clock, ready_end: int, write: int) -> NoReturn:
    """Serve all flows until the run is over, then write the results. Never returns."""
    status = 1
    try:
        die_with_parent()
        with suppress(PermissionError):  # precedence over tc and tcpdump, so that datagrams leave on time
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        _open_many()
        gc.disable()  # no pauses
        client, server = spaces["client"], spaces["server"]
        for space in (client, server):
            with space.entered():
                _connect_once()
        times = (clock.monotonic_ns, clock.realtime_ns)
        run = _goodqueue.Sockets(plan.scenario, order(plan), (client.descriptor, server.descriptor), times)
        os.close(ready_end)
        results = run.run()
        clock.sleep_until(plan.duration_s + plan.drain_s)
        status = 0
    except OSError as error:
        results = json.dumps({"error": str(error)})
    with os.fdopen(write, "w", encoding="utf-8") as pipe:
        pipe.write(results)
    os._exit(status)


def _open_many() -> None:
    """Let this process have as many descriptors as it may: a connection has two."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    for most in (max(limit, _MOST_FILES), limit):
        with suppress(ValueError):  # only root may raise the limit
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
            return


def _connect_once() -> None:
    """Make Linux choose a port before the run.

    Linux fills a table of 256 KiB at random when it chooses a port for the first time. In the virtual machine that
    takes 6 ms, which the first connection of the run would wait.
    """
    with socket.socket() as probe:
        probe.connect_ex(("127.0.0.1", 1))  # no one listens there


def order(plan: Plan) -> str:
    """Return what ``crates/sockets`` must know beside the scenario, as JSON (``order.rs``)."""
    flows = [_sockets(plan, index, flow) for index, flow in enumerate(plan.flows)]
    times = {"duration_s": plan.duration_s, "warmup_s": plan.warmup_s, "sample_s": plan.sample_s}
    return json.dumps(times | {"flows": flows})


def _sockets(plan: Plan, index: int, flow: Flow) -> dict[str, Any]:
    between = ends(plan, index)
    return {
        **{side: between.addresses[side] for side in SIDES},
        "ports": between.ports,
        "first_port": between.first_port,
        **{key: getattr(flow, key) for key in ("start_s", "stop_s", "cc", "ecn", "dscp", "pacing")},
    }
