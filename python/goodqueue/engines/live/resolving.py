"""The names that programs ask a resolver for, where no resolver can be reached: a person gets them in one line.

Without a resolver in /etc/resolv.conf the C library asks 127.0.0.1 (resolv.conf(5)), where nobody listens. So the
questions are seen on the loopbacks.
"""

import ctypes
import socket
import struct
from collections.abc import Iterable
from contextlib import ExitStack

from goodqueue.engines.kernel.lab.topology import entered

_SO_ATTACH_FILTER, _ETH_P_IP = 26, 0x0800
_IP, _QUESTION = 20, 40
"""Bytes of IP's header, and those up to a question's name: also of UDP's header and of DNS's (RFC 1035, 4.1.1)."""
_IS_QUESTION = (
    (0x30, 0, 0, 9),  # ldb [9]: the protocol
    (0x15, 0, 3, 17),  # UDP, or the last line
    (0x28, 0, 0, _IP + 2),  # ldh [22]: the port
    (0x15, 0, 1, 53),
    (0x06, 0, 0, 0xFFFF),  # take it
    (0x06, 0, 0, 0),
)
"""The filter of the sockets, so that programs' own traffic on a loopback does not fill them (linux/filter.h)."""
_SHOWN = 3


class Questions:
    """The questions in some network namespaces, from now on."""

    def __init__(self, spaces: Iterable[int]) -> None:
        """Listen at the loopbacks of the namespaces that the descriptors ``spaces`` refer to. Raises OSError."""
        self._open = ExitStack()
        self._sockets = []
        for space in spaces:
            with entered(space):
                self._sockets.append(self._open.enter_context(_at_loopback()))

    def names(self) -> list[str]:
        """Return the names that were asked for, each once, and listen no more."""
        names: dict[str, None] = {}
        for sniffer in self._sockets:
            while packet := _next(sniffer):
                if name := _asked(packet):
                    names[name] = None
        self._open.close()
        return list(names)


def remark(names: list[str], known: Iterable[str]) -> str:
    """Return a line for a person: nobody answered for ``names``. The link's own are ``known``."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return (
        f"CMD asked for the address of {', '.join(names[:_SHOWN])}{more}, and no resolver can be reached; "
        f"names of this link: {', '.join(known)}"
    )


def _at_loopback() -> socket.socket:
    sniffer = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK, 0)
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in _IS_QUESTION))
    program = struct.pack("HL", len(_IS_QUESTION), ctypes.addressof(code))
    sniffer.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, program)
    sniffer.bind(("lo", _ETH_P_IP))
    return sniffer


def _next(sniffer: socket.socket) -> bytes:
    try:
        return sniffer.recv(1 << 16)
    except BlockingIOError:
        return b""


def _asked(packet: bytes) -> str:
    """Return the name in a question of DNS, or nothing if it is none."""
    labels, at = [], _QUESTION
    while at < len(packet) and (length := packet[at]) and length < 64:
        labels.append(packet[at + 1 : at + 1 + length].decode("ascii", errors="replace"))
        at += 1 + length
    name = ".".join(labels)
    return name if name.isprintable() else ""
