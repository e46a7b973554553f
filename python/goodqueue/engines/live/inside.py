"""``python -m goodqueue.engines.live.inside SOCKET PARENT``: the lab of a link, which builds it and runs the gateway.

The order comes through the socket. Glances, notes, and the end go back through it (`outside` reads them). PARENT is
the PID of the starter. The lab dies with PARENT, and everything that the lab started dies with the lab.
"""

import os
import signal
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from pyroute2.netlink.exceptions import NetlinkError

from goodqueue.engines.kernel.lab.errors import LabError
from goodqueue.engines.kernel.lab.libc import die_with_parent
from goodqueue.engines.live import init, namespaces, privileges, resolving
from goodqueue.engines.live.middle import Middle, OwnPath
from goodqueue.engines.live.ordering import NO_RESOLVER
from goodqueue.engines.live.resolving import Questions
from goodqueue.engines.live.talk import Channel, Message, pair, ready
from goodqueue.errors import UserError
from goodqueue.files import drafts

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
        except LabError as error:
            self._host.send({"error": f"link: {error}"})
        except (OSError, NetlinkError) as error:
            self._host.send({"error": f"link: {namespaces.said(error)}; accepted: see `goodqueue link doctor`"})

    def _run(self, order: Message) -> Message:
        for capture in drafts.inherited(order["trace"] and order["trace"]["path"]):
            os.set_inheritable(capture, False)  # otherwise CMD would inherit it
        ours, theirs = pair()
        below, above = Channel(ours), Channel(theirs)
        self._priority = order["priority"]
        privileges.become_builder()
        if order["virtual_time"]:
            self._host.send({"moment": init.FIRST})
            self._host.receive()
        die_with_parent()
        parent = init.fork(order, above, below)
        above.close()
        namespaces.leave()
        if order["nested"]:
            self._host.send({"place": os.getpid()})
            if self._host.receive() is None:
                return {}
        path = self._path(order)
        questions = Questions(path.spaces.values()) if order["resolver"] == NO_RESOLVER else None
        try:
            below.send({"namespaces": list(path.spaces)}, tuple(path.spaces.values()))
            status = self._attend(path, below, order["looks"])
        finally:
            below.close()
            os.waitpid(parent, 0)
        if questions is not None and (names := questions.names()):
            self._host.send({"note": resolving.remark(names, order["hosts"])})
        return {"status": status, "record": None} | (path.stop() if self._started else {})

    def _path(self, order: Message) -> Middle:
        if order["plan"] is None:
            return OwnPath(order)
        from goodqueue.engines.live.routed.path import LinuxPath

        return LinuxPath(order)

    def _attend(self, path: Middle, below: Channel, looks: bool) -> int | None:
        """Wait until CLIENT has ended, and the processes above it, too. Return CLIENT's status, or None without one."""
        status: int | None = None
        interval = GLANCE_S if looks else LOOK_S
        due = time.monotonic()
        while not below.closed:
            readable = ready([below, self._host], max(0.0, due - time.monotonic()))
            if below in readable:
                status = self._heard(path, below, status)
            elif self._host in readable:
                message = self._host.receive()
                if message is None:
                    return None
                below.send(message)
            else:
                due = time.monotonic() + interval
                self._glance(path, below)
        return status

    def _glance(self, path: Middle, below: Channel) -> None:
        """Report a glance. If the path has ended, kill CMD, which would otherwise wait for packets that cannot come."""
        if self._started:
            glance = path.glance()
            self._host.send({"glance": glance}) if glance else below.send({"signal": int(signal.SIGKILL)})

    def _heard(self, path: Middle, below: Channel, status: int | None) -> int | None:
        message = below.receive()
        if message is None:
            return status
        if "error" in message:
            raise UserError("link", str(message["error"]))
        if "ready" in message:
            with _precedence(self._priority):
                path.start()
            self._started = True
            below.send({"go": True})
        elif "note" in message or "moment" in message:
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
