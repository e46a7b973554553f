"""Messages between the processes of a link: one JSON object per line, on a pair of sockets."""

import json
import os
import select
import socket
from collections.abc import Sequence
from typing import Any

Message = dict[str, Any]

_MOST_DESCRIPTORS = 4


class Channel:
    """One end of the connection."""

    def __init__(self, end: socket.socket) -> None:
        """Talk through ``end``, a stream socket."""
        self._end = end
        self._came = b""
        self.descriptors: list[int] = []
        """The descriptors that came with messages, in order."""
        self.closed = False
        """Whether the other end is gone: nothing more comes."""

    def fileno(self) -> int:
        """Return the descriptor to wait for."""
        return self._end.fileno()

    def close(self) -> None:
        """Close this end. The other end notices."""
        self._end.close()

    def send(self, message: Message, descriptors: tuple[int, ...] = ()) -> None:
        """Send ``message`` and hand over ``descriptors``. If the other end is gone, this is no error."""
        data = json.dumps(message).encode() + b"\n"
        try:
            sent = socket.send_fds(self._end, [data], list(descriptors)) if descriptors else 0
            self._end.sendall(data[sent:])
        except (BrokenPipeError, ConnectionResetError):
            self.closed = True

    def receive(self, timeout_s: float | None = None) -> Message | None:
        """Return the next message, or None if none comes within ``timeout_s`` or the other end is gone (`closed`)."""
        while b"\n" not in self._came and not self.closed:
            ready, _, _ = select.select([self._end], [], [], timeout_s)
            if not ready:
                return None
            self._read()
        line, newline, rest = self._came.partition(b"\n")
        if not newline:
            return None
        self._came = rest
        message: Message = json.loads(line)
        return message

    def waiting(self) -> bool:
        """Return whether a message has been read already, which `select` would not report."""
        return b"\n" in self._came

    def _read(self) -> None:
        try:
            data, descriptors, _, _ = socket.recv_fds(self._end, 1 << 16, _MOST_DESCRIPTORS)
        except ConnectionResetError:
            data, descriptors = b"", []
        for descriptor in descriptors:
            os.set_inheritable(descriptor, False)  # recv_fds ignores MSG_CMSG_CLOEXEC, and CMD would inherit them
        self.descriptors += descriptors
        self._came += data
        self.closed = not data


def ready(channels: Sequence[Channel], timeout_s: float) -> list[Channel]:
    """Return the channels that have something to `Channel.receive`, or none if nothing comes within ``timeout_s``.

    Messages that came together were read together. `select` would not report the second one.
    """
    return [channel for channel in channels if channel.waiting()] or select.select(channels, [], [], timeout_s)[0]


def pair() -> tuple[socket.socket, socket.socket]:
    """Return both ends of a new connection."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
