"""Bulk flows: a sender that always has data, and a receiver that discards all data."""

import errno
import os
import select
import socket
import struct
from contextlib import suppress
from typing import Any

from . import tcpinfo
from .addresses import Ends
from .clock import Clock
from .errors import LabError
from .loop import Loop
from .plan import Flow, Plan

_UNSENT_S = 0.01
_UNSENT_BYTES = (1 << 14, 1 << 18)
"""How many bytes may wait unsent in a sender's socket, if the sender stops before the run does.

The amount is what the bottleneck sends in this time, within these bounds. It is small because these bytes still leave
after the stop. The other senders have the upper bound.

A train of ACKs may let TCP send a whole window at once. If little data waits, TCP runs out of data then, sends a
short segment, and does not count its window as used.
"""
ABORT = struct.pack("ii", 1, 0)
"""SO_LINGER: closing discards the unsent data and resets the connection."""
_SO_MAX_PACING_RATE = 47
"""From ``asm-generic/socket.h``. Any rate below "unlimited" switches TCP's own pacing on."""
_SO_MARK = 36
"""From ``asm-generic/socket.h``. The mark of a socket's packets, by which Linux selects their routes."""
ECN_MARK = 1
_FASTEST = struct.pack("=Q", 1 << 40)

KIND = "bulk"
"""The kind of flow that `Sender` and `Receiver` run."""


class Sender:
    """Connects when the flow starts, and keeps the socket's buffer full until the flow stops."""

    def __init__(self, flow: Flow, ends: Ends, plan: Plan, clock: Clock, loop: Loop) -> None:
        """Plan the flow's start, stop and samples."""
        self._flow, self._ends, self._plan, self._clock, self._loop = flow, ends, plan, clock, loop
        self._socket = tcp_socket(flow)
        self._chunk = bytes(unsent(flow, plan))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, len(self._chunk))
        self._infos: list[tuple[float, bytes]] = []
        stop = min(flow.stop_s, plan.duration_s)
        if flow.start_s >= stop:
            return
        for seconds in sample_times(flow.start_s, stop, plan):
            loop.at(clock.at(seconds), self._sample)
        loop.at(clock.at(flow.start_s), self._start)
        loop.at(clock.at(stop), self._stop)
        loop.at(clock.at(plan.duration_s), self._abort)

    def results(self) -> dict[str, Any]:
        """Return the samples of TCP_INFO."""
        return {"tcp_info": [{"t_s": at} | tcpinfo.decode(data) for at, data in self._infos]}

    def _start(self) -> None:
        self._socket.bind(self._ends.source)
        status = self._socket.connect_ex(self._ends.sink)
        if status not in {0, errno.EINPROGRESS}:
            raise LabError(f"flow {self._flow.name}: connect: {os.strerror(status)}")
        self._loop.watch(self._socket.fileno(), select.EPOLLOUT, self._fill)

    def _fill(self) -> None:
        try:
            self._socket.send(self._chunk)
        except BlockingIOError:
            pass
        except OSError as error:
            raise LabError(f"flow {self._flow.name}: {error.strerror}") from None

    def _sample(self) -> None:
        self._infos.append((self._clock.now(), tcpinfo.read(self._socket)))

    def _stop(self) -> None:
        """Stop writing. The data in the socket still leave, as with any program that closes."""
        self._sample()
        self._loop.forget(self._socket.fileno())
        with suppress(OSError):  # not connected yet
            self._socket.shutdown(socket.SHUT_WR)

    def _abort(self) -> None:
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABORT)
        self._socket.close()


class Receiver:
    """Accepts the flow's connection and discards the data."""

    def __init__(self, flow: Flow, ends: Ends, loop: Loop) -> None:
        """Listen for the connection."""
        self._loop = loop
        self._listener = tcp_socket(flow)
        self._listener.bind(ends.sink)
        self._listener.listen(1)
        loop.watch(self._listener.fileno(), select.EPOLLIN, self._accept)

    def _accept(self) -> None:
        self._connection, _ = self._listener.accept()
        self._loop.forget(self._listener.fileno())
        self._listener.close()
        self._connection.setblocking(False)
        self._loop.watch(self._connection.fileno(), select.EPOLLIN, self._take)

    def _take(self) -> None:
        """Discard the data. With MSG_TRUNC the kernel drops the bytes instead of copying them to this process."""
        try:
            if self._connection.recv_into(SINK, len(SINK), socket.MSG_TRUNC) > 0:
                return
        except BlockingIOError:
            return
        except ConnectionError:
            pass
        self._loop.forget(self._connection.fileno())
        self._connection.close()


SINK = bytearray(1 << 18)
"""The buffer for received data, which nobody reads."""


def unsent(flow: Flow, plan: Plan) -> int:
    """Return how many bytes may wait unsent in the flow's socket."""
    if flow.stop_s >= plan.duration_s:
        return _UNSENT_BYTES[1]
    rate_bps = plan.narrowest_bps(flow.direction, plan.routes[flow.route])
    least, most = _UNSENT_BYTES
    return most if rate_bps is None else min(max(int(rate_bps / 8 * _UNSENT_S), least), most)


def tcp_socket(flow: Flow) -> socket.socket:
    """Return a TCP socket. Both ends get the flow's congestion control, since DCTCP changes the receiver too."""
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, (flow.cc or "").encode("ascii"))
    except OSError:
        raise LabError(f"flow {flow.name}: this kernel has no congestion control {flow.cc}") from None
    if flow.pacing:
        made.setsockopt(socket.SOL_SOCKET, _SO_MAX_PACING_RATE, _FASTEST)
    made.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, flow.dscp << 2)
    if flow.ecn:  # selects the routes with ECN (`topology.bring_up`)
        made.setsockopt(socket.SOL_SOCKET, _SO_MARK, ECN_MARK)
    return made


def sample_times(start_s: float, stop_s: float, plan: Plan) -> list[float]:
    """Return when TCP_INFO is read: at the end of the warmup and every ``sample_s``. The stop reads it too."""
    times = {plan.warmup_s}
    if plan.sample_s is not None:
        times |= {number * plan.sample_s for number in range(1, int(plan.duration_s / plan.sample_s) + 1)}
    return sorted(seconds for seconds in times if start_s < seconds < stop_s)
