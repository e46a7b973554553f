"""``python -m goodqueue.engines.live.inside SOCKET PARENT``: the lab of a link, which builds it and runs the gateway.

The order comes through the socket. Glances, notes, and the end go back through it (`outside` reads them). PARENT is
the PID of the starter. The lab dies with PARENT, and everything that the lab started dies with the lab.
"""

import json
import os
import signal
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from pyroute2.netlink.exceptions import NetlinkError

from goodqueue.engines.kernel.lab.libc import die_with_parent
from goodqueue.engines.live import init, namespaces, privileges
from goodqueue.engines.live.talk import Channel, Message, pair, ready
from goodqueue.errors import UserError
from goodqueue.files import drafts
from goodqueue.scenario import discipline

if TYPE_CHECKING:
    from goodqueue._goodqueue import Gateway

GLANCE_S = 0.2
"""The interval between glances."""

LOOK_S = 1.0
"""The interval between checks that the path still runs, if nobody wants glances."""


class Lab:
    """The lab, as a process."""

    def __init__(self, host: Channel) -> None:
        """Take orders from ``host``."""
        self._host = host
        self._started = False
        self._priority = 0
        self._virtual_time = False

    def run(self) -> None:
        """Do the order, and report how it ended."""
        from goodqueue._goodqueue import ScenarioError, TraceError

        order = self._host.receive()
        if order is None:
            return
        try:
            self._host.send({"end": self._run(order)})
        except (UserError, ScenarioError, TraceError) as error:
            self._host.send({"error": str(error)})
        except (OSError, NetlinkError) as error:
            self._host.send({"error": f"link: {namespaces.said(error)}; accepted: see `goodqueue link doctor`"})

    def _run(self, order: Message) -> Message:
        for capture in drafts.inherited(order["trace"] and order["trace"]["path"]):
            os.set_inheritable(capture, False)  # otherwise CMD would inherit it
        ours, theirs = pair()
        below, above = Channel(ours), Channel(theirs)
        self._priority, self._virtual_time = order["priority"], order["virtual_time"]
        privileges.become_builder()
        die_with_parent()
        parent = init.fork(order, above, below)
        above.close()
        namespaces.leave()
        if order["nested"]:
            self._host.send({"place": os.getpid()})
            if self._host.receive() is None:
                return {}
        ends = namespaces.build(order["depth"], order["nested"])
        files: list[str] = []
        gateway = self._gateway(order, ends, files)
        try:
            below.send({"namespaces": list(ends.spaces)}, tuple(ends.spaces.values()))
            status = self._attend(gateway, below, order["looks"])
        finally:
            below.close()
            os.waitpid(parent, 0)
        with discipline.blaming(files):
            record = gateway.stop() if self._started else None
        return {"status": status, "record": record, "no_capture": gateway.no_capture}

    def _gateway(self, order: Message, ends: namespaces.Ends, files: list[str]) -> "Gateway":
        from goodqueue._goodqueue import Gateway

        server, client = ((end.descriptor, end.header) for end in (ends.server, ends.client))
        with discipline.blaming(files, UserError):
            gateway = Gateway(order["scenario"], server, client, discipline.Maker(files))
        for end in (server, client):
            os.close(end[0])
        if (trace := order["trace"]) is not None:
            gateway.trace(trace["path"], trace["points"], trace["snap_bytes"])
        return gateway

    def _attend(self, gateway: "Gateway", below: Channel, looks: bool) -> int | None:
        """Wait until CLIENT has ended, and the processes above it, too. Return CLIENT's status, or None without one."""
        status: int | None = None
        interval = GLANCE_S if looks else LOOK_S
        due = time.monotonic()
        while not below.closed:
            readable = ready([below, self._host], max(0.0, due - time.monotonic()))
            if below in readable:
                status = self._heard(gateway, below, status)
            elif self._host in readable:
                message = self._host.receive()
                if message is None:
                    return None
                below.send(message)
            else:
                due = time.monotonic() + interval
                self._glance(gateway, below)
        return status

    def _glance(self, gateway: "Gateway", below: Channel) -> None:
        """Report a glance. If the path has ended, kill CMD, which would otherwise wait for packets that cannot come."""
        if self._started:
            glance = json.loads(gateway.glance())
            self._host.send({"glance": glance}) if glance else below.send({"signal": int(signal.SIGKILL)})

    def _heard(self, gateway: "Gateway", below: Channel, status: int | None) -> int | None:
        message = below.receive()
        if message is None:
            return status
        if "error" in message:
            raise UserError("link", str(message["error"]))
        if "ready" in message:
            with _precedence(self._priority):
                gateway.start(self._virtual_time)
            self._started = True
            below.send({"go": True})
        elif "note" in message:
            self._host.send(message)
        code: Any = message.get("status", status)
        return None if code is None else int(code)


@contextmanager
def _precedence(priority: int) -> Iterator[None]:
    """Give the threads that start within the context a real-time ``priority``, if it is permitted. 0: the usual one."""
    usual = os.sched_getscheduler(0), os.sched_getparam(0)
    with suppress(PermissionError):
        if priority:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
    yield
    with suppress(PermissionError):
        os.sched_setscheduler(0, *usual)


def main() -> None:
    """Run the lab."""
    descriptor, parent = int(sys.argv[1]), int(sys.argv[2])
    die_with_parent()
    if os.getppid() != parent:
        return
    for number in init.SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.set_inheritable(descriptor, False)
    Lab(Channel(socket.socket(fileno=descriptor))).run()


if __name__ == "__main__":
    main()
