"""The base of every application above TCP: connections, and the two halves that own them, one per side.

One half opens connections, the other listens. A half acts when a connection is established, when bytes arrive, and
when the other half closes, as the simulator's applications do (``crates/netsim/src/traffic/app.rs``).
"""

import errno
import os
import select
import socket
from contextlib import suppress
from functools import partial
from typing import Any

from . import tcpinfo
from .addresses import Ends, sink_side, source_side
from .bulk import ABORT, SINK, sample_times, tcp_socket
from .clock import Clock
from .errors import LabError
from .loop import Loop
from .orders import Opener
from .plan import Flow, Plan

_CHUNK = bytes(1 << 18)
_IP_BIND_ADDRESS_NO_PORT = 24
"""From ``linux/in.h``; Python 3.11 has no name for it."""
_BACKLOG = 1024
"""The length of the listen queue, which no flow fills."""


class Connection:
    """One end of a TCP connection: counts the received bytes, and sends the written bytes as the socket takes them."""

    def __init__(self, made: socket.socket, half: "Half", opener: Opener, established: bool) -> None:
        """Serve ``made``, which ``opener`` identifies. If not ``established``, the handshake is still under way."""
        self.socket, self._half, self.opener, self._established = made, half, opener, established
        self.received = 0
        self._unsent, self._ending, self._over = 0, False, False
        self._waits = 0
        made.setblocking(False)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._watch()

    def write(self, count: int) -> None:
        """Send ``count`` bytes, after the bytes written before."""
        self._unsent += count
        if self._established:
            self._send()
            self._watch()

    def end(self) -> None:
        """Close for writing once all bytes are sent."""
        self._ending = True
        if self._established:
            self._send()

    def abort(self) -> None:
        """Reset the connection and discard the unsent data."""
        if not self._over:
            self._over = True
            self._half.loop.forget(self.socket.fileno())
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABORT)
            self.socket.close()

    def _watch(self) -> None:
        """Wait for room to write only if there is something to send, since a socket nearly always has room."""
        sending = self._unsent or not self._established
        waits = select.EPOLLIN | (select.EPOLLOUT if sending else 0)
        if waits != self._waits and not self._over:
            self._half.loop.forget(self.socket.fileno())
            self._half.loop.watch(self.socket.fileno(), waits, self._ready)
            self._waits = waits

    def _ready(self) -> None:
        if not self._established:
            if status := self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                raise LabError(f"flow {self._half.flow.name}: connect: {os.strerror(status)}")
            self._established = True
            self._half.established(self)
        self._send()
        self._take()
        self._watch()

    def _send(self) -> None:
        while self._unsent and not self._over:
            try:
                self._unsent -= self.socket.send(memoryview(_CHUNK)[: self._unsent])
            except BlockingIOError:
                return
            except OSError:  # the other side has aborted: the run is over
                self._unsent = 0
        if self._ending and not self._over:
            with suppress(OSError):
                self.socket.shutdown(socket.SHUT_WR)

    def _take(self) -> None:
        """Count and discard the received data. With MSG_TRUNC the kernel drops the bytes instead of copying them."""
        while not self._over:
            try:
                count = self.socket.recv_into(SINK, len(SINK), socket.MSG_TRUNC)
            except BlockingIOError:
                return
            except ConnectionError:
                count = 0
            if count == 0:
                self._finish()
                return
            self.received += count
            self._half.came(self)

    def _finish(self) -> None:
        """Close this end, since the other end writes no more. The half is told first and may still write."""
        self._half.ended()
        self._over = True
        self._half.forget(self)
        self._half.loop.forget(self.socket.fileno())
        self.socket.close()


class Half:
    """One side of an application."""

    ASKS = False
    """Whether the receiver of the data opens the connections and sends requests."""
    ORDERS = False
    """Whether the requests are noted in `orders.Orders`."""

    def __init__(self, flow: Flow, ends: Ends, side: str, plan: Plan, clock: Clock, loop: Loop) -> None:
        """Listen or plan the start, and plan the flow's samples and stop."""
        self.flow, self.clock, self.loop = flow, clock, loop
        self.sends = source_side(flow) == side
        """Whether this half sends the flow's data."""
        self.opens = (sink_side(flow) if self.ASKS else "client") == side
        hosts = (ends.source[0], ends.sink[0])
        self._own, self._other = hosts if self.sends else hosts[::-1]
        self.ports = ends.ports
        """The listening ports, one per way of the flow."""
        self.stopped = False
        self._connections: list[Connection] = []
        self._counted = [0] * len(tcpinfo.SENT)
        self._totals: list[tuple[float, ...]] = []
        self._infos: list[tuple[float, bytes]] = []
        if not self.opens:
            self._listen()
        stop = min(flow.stop_s, plan.duration_s)
        if flow.start_s >= stop:
            return
        if self.opens:
            loop.at(clock.at(flow.start_s), self.start)
        if self.sends:
            for seconds in sample_times(flow.start_s, stop, plan):
                loop.at(clock.at(seconds), self._sample)
        loop.at(clock.at(stop), self._stop)
        loop.at(clock.at(plan.duration_s), self._abort)

    def start(self) -> None:
        """Begin, since the flow starts. Only the half that opens is called."""

    def established(self, connection: Connection) -> None:
        """Act on a handshake that is complete, as this side sees it."""

    def came(self, connection: Connection) -> None:
        """Act on received bytes."""

    def ended(self) -> None:
        """Act on the other half's end: it writes no more."""

    def stop(self) -> None:
        """Begin nothing new."""

    def notes(self) -> dict[str, Any]:
        """Return what this half saw."""
        return {}

    def results(self) -> dict[str, Any]:
        """Return the half's notes. The sending half adds its connections' TCP_INFO and counters over time."""
        if not self.sends:
            return self.notes()
        infos = [{"t_s": at} | tcpinfo.decode(data) for at, data in self._infos]
        return self.notes() | {"tcp_info": infos, "sent": self._totals}

    def open(self, route: int = 0) -> Connection:
        """Open a connection on one of the flow's ways, given by its place among `ports`."""
        made = tcp_socket(self.flow)
        # Linux chooses the port when it knows both addresses, so that a port may serve several connections at once.
        made.setsockopt(socket.IPPROTO_IP, _IP_BIND_ADDRESS_NO_PORT, 1)
        made.bind((self._own, 0))
        status = made.connect_ex((self._other, self.ports[route]))
        if status not in {0, errno.EINPROGRESS}:
            raise LabError(f"flow {self.flow.name}: connect: {os.strerror(status)}")
        connection = Connection(made, self, (route, made.getsockname()[1]), established=False)
        self._connections.append(connection)
        return connection

    def forget(self, connection: Connection) -> None:
        """Add the counters of ``connection``, which is over, to the totals."""
        self._counted = self._counters([connection])
        self._connections.remove(connection)

    def _listen(self) -> None:
        self._listeners = [tcp_socket(self.flow) for _ in self.ports]
        for route, (listener, port) in enumerate(zip(self._listeners, self.ports, strict=True)):
            listener.bind((self._own, port))
            listener.listen(_BACKLOG)
            self.loop.watch(listener.fileno(), select.EPOLLIN, partial(self._accept, listener, route))

    def _accept(self, listener: socket.socket, route: int) -> None:
        with suppress(BlockingIOError):
            made, (_, port) = listener.accept()
            connection = Connection(made, self, (route, port), established=True)
            self._connections.append(connection)
            self.established(connection)

    def _sample(self) -> None:
        now = self.clock.now()
        if self._connections:
            self._infos.append((now, tcpinfo.read(self._connections[-1].socket)))
        self._totals.append((now, *self._counters(self._connections)))

    def _counters(self, connections: list[Connection]) -> list[int]:
        """Return the counters `tcpinfo.SENT`: of the connections that are over, plus those of ``connections``."""
        infos = [tcpinfo.decode(tcpinfo.read(connection.socket)) for connection in connections]
        return [
            counted + sum(info[name] or 0 for info in infos)
            for counted, name in zip(self._counted, tcpinfo.SENT, strict=True)
        ]

    def _stop(self) -> None:
        self.stopped = True
        self.stop()

    def _abort(self) -> None:
        if self.sends:
            self._sample()
        self.stopped = True
        for connection in self._connections:
            connection.abort()
        self._connections.clear()
