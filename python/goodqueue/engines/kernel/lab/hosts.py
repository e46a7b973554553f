"""The two hosts: one process per side, which serves all flows of its side."""

import gc
import json
import os
import resource
import socket
from contextlib import suppress
from typing import Any, NoReturn

from . import bulk
from .addresses import ends, source_side
from .apps import HALVES
from .bulk import Receiver, Sender
from .clock import Clock
from .datagrams import Sink, Source
from .errors import LabError
from .halves import Half
from .libc import die_with_parent
from .loop import Loop
from .orders import Orders
from .plan import Plan
from .topology import Namespace


class Host:
    """The process of one side, forked before the run."""

    def __init__(self, side: str, space: Namespace, plan: Plan, clock: Clock, orders: dict[str, Orders]) -> None:
        """Start the process. When this returns, its listeners are ready, or it has failed and `results` says why.

        ``orders`` holds the orders of each flow that has some, by the flow's name. Both hosts get the same.
        """
        self._side = side
        self._results, write = os.pipe()
        ready, told = os.pipe()
        self._process = os.fork()
        if self._process == 0:
            os.close(ready)
            _be_host(side, space, plan, clock, orders, told, write)
        os.close(write)
        os.close(told)
        os.read(ready, 1)
        os.close(ready)

    def fileno(self) -> int:
        """Return the descriptor that becomes readable when the process ends."""
        return self._results

    def results(self) -> dict[str, Any]:
        """Wait for the process to end, and return the results of its flows."""
        with os.fdopen(self._results, encoding="ascii") as pipe:
            text = pipe.read()
        _, status = os.waitpid(self._process, 0)
        if not text:
            raise LabError(f"the {self._side}'s process ended with status {os.waitstatus_to_exitcode(status)}")
        results: dict[str, Any] = json.loads(text)
        if "error" in results:
            raise LabError(results["error"])
        return results


def _be_host(
    side: str, space: Namespace, plan: Plan, clock: Clock, orders: dict[str, Orders], told: int, write: int
) -> NoReturn:
    """Serve the flows of ``side`` until the run is over, then write the results. Never returns."""
    status = 1
    try:
        die_with_parent()
        with suppress(PermissionError):  # precedence over tc and tcpdump, so that datagrams leave on time
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # a flow has up to two descriptors
        gc.disable()  # no pauses; the run ends before garbage would matter
        space.enter()
        _connect_once()
        results = _serve(side, plan, clock, orders, told)
        status = 0
    except (LabError, OSError) as error:
        results = {"error": str(error)}
    with os.fdopen(write, "w", encoding="ascii") as pipe:
        json.dump(results, pipe)
    os._exit(status)


def _connect_once() -> None:
    """Make Linux choose a port before the run.

    Linux fills a table of 256 KiB at random when it chooses a port for the first time. In the virtual machine that
    takes 6 ms, which the first connection of the run would wait.
    """
    with socket.socket() as made:
        made.connect_ex(("127.0.0.1", 1))  # no one listens there


def _serve(side: str, plan: Plan, clock: Clock, orders: dict[str, Orders], told: int) -> dict[str, Any]:
    loop = Loop()
    known: dict[str, Sender | Source | Sink | Half] = {}
    receivers: list[Receiver] = []
    for place, flow in enumerate(plan.flows):
        between = ends(plan, place)
        half = HALVES.get(flow.kind)
        if half is not None:
            own = (orders[flow.name],) if half.ORDERS else ()
            known[flow.name] = half(flow, between, side, plan, clock, loop, *own)
        elif source_side(flow) == side:
            kind = Sender if flow.kind == bulk.KIND else Source
            known[flow.name] = kind(flow, between, plan, clock, loop)
        elif flow.kind == bulk.KIND:
            receivers.append(Receiver(flow, between, loop))
        else:
            known[flow.name] = Sink(flow, between, clock, loop)
    os.close(told)
    loop.run(clock.at(plan.duration_s + plan.drain_s))
    return {name: one.results() for name, one in known.items()}
