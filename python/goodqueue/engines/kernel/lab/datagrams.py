"""Datagrams at fixed times: ``cbr`` one way, ``ping`` there and back, ``voip`` one way with noted arrivals.

Packet ``n`` leaves at ``start + n * interval``. A ping's echo carries the time that the packet spent in the echoing
process. That time is subtracted, as in RFC 5357 (TWAMP), so the result is the RTT of the path. The kernel stamps the
arrivals.
"""

import select
import socket
import struct
import time
from contextlib import suppress
from typing import Any

from .addresses import Ends
from .clock import Clock
from .loop import Loop
from .plan import Flow, Plan

FAR_SIDES = {"cbr": "takes", "ping": "echoes", "voip": "hears"}
"""What the far side does with a packet, by kind of flow."""

HEADERS = 42
"""Bytes of the Ethernet, IPv4 and UDP headers."""

_SO_TIMESTAMPNS = 35  # asm-generic/socket.h; Python has no name for it
_STAMP = struct.Struct("=qq")
_PAYLOAD = struct.Struct("!IQ")
"""A packet's number, and the nanoseconds that the packet spent in the far side's process."""
_MOST = 2048


class Source:
    """Sends the flow's packets and, if they are echoed, measures their RTT."""

    def __init__(self, flow: Flow, ends: Ends, plan: Plan, clock: Clock, loop: Loop) -> None:
        """Plan the first packet."""
        assert flow.interval_s is not None
        self._start, self._interval, far = flow.start_s, flow.interval_s, FAR_SIDES[flow.kind]
        self._is_heard = far == "hears"
        self._stop = min(flow.stop_s, plan.duration_s)
        self._clock, self._loop = clock, loop
        self._padding = _padding(flow)
        self._socket = _udp(flow, ends.source, ends.sink)
        self._sent_ns: list[int] = []
        self._rtt_ns: dict[int, int] | None = {} if far == "echoes" else None
        if self._rtt_ns is not None:
            loop.watch(self._socket.fileno(), select.EPOLLIN, self._returned)
        self._plan_next()

    def results(self) -> dict[str, Any]:
        """Return how many packets were sent, when (calls and pings only), and the RTT of each ping."""
        results: dict[str, Any] = {"sent": len(self._sent_ns)}
        seconds = [(sent - self._clock.realtime_ns) / 1e9 for sent in self._sent_ns]
        if self._is_heard:
            results["sent_s"] = seconds
        if self._rtt_ns is not None:
            rtts = [self._rtt_ns.get(number) for number in range(len(seconds))]
            results["pings"] = [
                [number, sent, None if rtt is None else rtt / 1e9]
                for number, (sent, rtt) in enumerate(zip(seconds, rtts, strict=True))
            ]
        return results

    def _plan_next(self) -> None:
        due = self._start + len(self._sent_ns) * self._interval
        if due < self._stop:
            self._loop.at(self._clock.at(due), self._send)

    def _send(self) -> None:
        payload = _PAYLOAD.pack(len(self._sent_ns) & 0xFFFFFFFF, 0) + self._padding
        self._sent_ns.append(time.time_ns())
        with suppress(ConnectionError):  # an ICMP error about an earlier packet
            self._socket.send(payload)
        self._plan_next()

    def _returned(self) -> None:
        assert self._rtt_ns is not None
        if (received := _receive(self._socket)) is None:
            return
        arrived, payload = received
        low, held = _PAYLOAD.unpack_from(payload)
        last = len(self._sent_ns) - 1
        number = last - ((last - low) & 0xFFFFFFFF)
        self._rtt_ns.setdefault(number, arrived - self._sent_ns[number] - held)


class Sink:
    """Takes the flow's packets, echoes those of a ping, and notes the arrivals of a call."""

    def __init__(self, flow: Flow, ends: Ends, clock: Clock, loop: Loop) -> None:
        """Wait for packets."""
        self._clock = clock
        self._heard: list[tuple[int, float]] = []
        self._socket = _udp(flow, ends.sink, ends.source)
        self._padding = _padding(flow)
        does = {"takes": self._take, "echoes": self._echo, "hears": self._hear}
        loop.watch(self._socket.fileno(), select.EPOLLIN, does[FAR_SIDES[flow.kind]])

    def results(self) -> dict[str, Any]:
        """Return the number and the arrival of each packet of a call."""
        return {"heard": self._heard} if self._heard else {}

    def _take(self) -> None:
        _receive(self._socket)

    def _hear(self) -> None:
        if (received := _receive(self._socket)) is None:
            return
        arrived, payload = received
        number, _ = _PAYLOAD.unpack_from(payload)
        self._heard.append((number, (arrived - self._clock.realtime_ns) / 1e9))

    def _echo(self) -> None:
        if (received := _receive(self._socket)) is None:
            return
        arrived, payload = received
        number, _ = _PAYLOAD.unpack_from(payload)
        with suppress(ConnectionError):
            self._socket.send(_PAYLOAD.pack(number, time.time_ns() - arrived) + self._padding)


def _padding(flow: Flow) -> bytes:
    assert flow.packet_size is not None
    return bytes(flow.packet_size - HEADERS - _PAYLOAD.size)


def _udp(flow: Flow, own: tuple[str, int], other: tuple[str, int]) -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
    made.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, flow.dscp << 2 | flow.ecn_bits)
    made.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
    made.bind(own)
    made.connect(other)
    return made


def _receive(ready: socket.socket) -> tuple[int, bytes] | None:
    """Return the next packet's arrival by the kernel's stamp (nanoseconds of CLOCK_REALTIME), and the payload.

    Returns None if an ICMP error came instead: at the run's end the other side may be gone already.
    """
    try:
        payload, extras, _, _ = ready.recvmsg(_MOST, socket.CMSG_SPACE(_STAMP.size))
    except ConnectionError:
        return None
    seconds, nanos = _STAMP.unpack(extras[0][2])
    return seconds * 1_000_000_000 + nanos, payload
