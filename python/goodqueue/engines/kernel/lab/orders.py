"""What connections ask for, beside what they carry: so a request may be of any size."""

import mmap
import struct

from .addresses import MOST_WAYS, way_of


class Orders:
    """What each connection of a flow asks for at the moment, in memory that the processes of both hosts share.

    A connection has one request at a time, so its place is that of the way and the port that it was opened from.
    """

    _ITEM = struct.Struct("=I")

    def __init__(self) -> None:
        """Make room; the hosts' processes are to be forked after this."""
        self._shared = mmap.mmap(-1, MOST_WAYS * self._ITEM.size << 16)

    def note(self, opener: tuple[str, int], item: int) -> None:
        """Note the item that is asked for next from ``opener``."""
        self._ITEM.pack_into(self._shared, self._place(opener), item)

    def item(self, opener: tuple[str, int]) -> int:
        """Return the item that was asked for last from ``opener``."""
        (item,) = self._ITEM.unpack_from(self._shared, self._place(opener))
        return int(item)

    def _place(self, opener: tuple[str, int]) -> int:
        host, port = opener
        return (way_of(host) << 16 | port) * self._ITEM.size
