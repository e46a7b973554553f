"""The numbers of the requested items, kept outside the connections, so that a request may have any size."""

import mmap
import struct

from .addresses import MOST_ROUTES

Opener = tuple[int, int]
"""Identifies a connection of a flow: the place of its way among the flow's ways, and the port of its opener."""


class Orders:
    """The item that each connection of a flow currently requests, in memory that both hosts' processes share.

    A connection has one request at a time. Its place in the memory follows from its `Opener`.
    """

    _ITEM = struct.Struct("=I")

    def __init__(self) -> None:
        """Allocate the memory. The hosts' processes must be forked after this."""
        self._shared = mmap.mmap(-1, MOST_ROUTES * self._ITEM.size << 16)

    def note(self, opener: Opener, item: int) -> None:
        """Note the item that the connection from ``opener`` requests next."""
        self._ITEM.pack_into(self._shared, self._place(opener), item)

    def item(self, opener: Opener) -> int:
        """Return the item that the connection from ``opener`` requested last."""
        (item,) = self._ITEM.unpack_from(self._shared, self._place(opener))
        return int(item)

    def _place(self, opener: Opener) -> int:
        route, port = opener
        return (route << 16 | port) * self._ITEM.size
