"""CoDel that carries its whole count over: a hypothesis of this study, which no text has.

It is RFC 8289's law, as `codel variant rfc8289` runs it, except for the count from which dropping resumes: the whole
count of the last episode, and not only the drops that the episode added. Times are in ticks of 1024 ns, of 32 bits.
"""

from math import sqrt

from goodqueue.qdisc import Link, Packet, Queue, ns

SPAN = 1 << 32


def ticks(nanoseconds: int) -> int:
    """Return a time or a span in ticks."""
    return (nanoseconds >> 10) % SPAN


def is_after(time: int, other: int) -> bool:
    """Return whether ``time`` is later than ``other``, on a clock that wraps."""
    return (other - time) % SPAN >= SPAN // 2


class WholeCount:
    """A discipline over one queue: `goodqueue.qdisc` says how it is called."""

    def __init__(self, link: Link, target: str = "5ms", interval: str = "100ms", limit: int = 1000) -> None:
        """Read the line's parameters, which are those of `codel`."""
        self.target, self.interval, self.limit = ticks(ns(target)), ticks(ns(interval)), limit
        self.frame = link.mtu
        self.count = self.first_above_time = self.drop_next = 0
        self.dropping = False

    def enqueue(self, now: int, packet: Packet, queue: Queue) -> None:  # noqa: ARG002 - the caller gives it
        """Queue the packet, or drop it if the queue is full."""
        if len(queue) < self.limit:
            queue.push(packet)
        else:
            packet.drop("overlimit")

    def dequeue(self, now: int, queue: Queue) -> Packet | None:
        """Return the next packet, after the drops that are due (RFC 8289, 5.5)."""
        packet, may_drop = self._pull(ticks(now), queue)
        if self.dropping and may_drop:
            return self._keep_dropping(ticks(now), packet, queue)
        if may_drop and packet is not None:
            return self._start_dropping(ticks(now), packet, queue)
        self.dropping = False
        return packet

    def _pull(self, now: int, queue: Queue) -> tuple[Packet | None, bool]:
        """Return the next packet, and whether it may be dropped (RFC 8289, 5.6, `dodequeue`)."""
        packet = queue.pop()
        if packet is None:
            self.first_above_time = 0
            return None, False
        if is_after(self.target, (now - ticks(packet.arrival)) % SPAN) or queue.bytes <= self.frame:
            self.first_above_time = 0
            return packet, False
        if self.first_above_time == 0:
            self.first_above_time = (now + self.interval) % SPAN
            return packet, False
        return packet, not is_after(self.first_above_time, now)

    def _keep_dropping(self, now: int, packet: Packet | None, queue: Queue) -> Packet | None:
        while self.dropping and not is_after(self.drop_next, now):
            self.count += 1
            if packet is not None:
                packet.drop("target")
            packet, self.dropping = self._pull(now, queue)
            if self.dropping:
                self.drop_next = self._control_law(self.drop_next)
        return packet

    def _start_dropping(self, now: int, packet: Packet, queue: Queue) -> Packet | None:
        packet.drop("target")
        following, _ = self._pull(now, queue)
        self.dropping = True
        # The hypothesis. The RFC resumes from the drops that the last episode added, within the same 16 intervals.
        is_recent = is_after(16 * self.interval, (now - self.drop_next) % SPAN)
        self.count = max(self.count, 1) if is_recent else 1
        self.drop_next = self._control_law(now)
        return following

    def _control_law(self, time: int) -> int:
        return (time + int(self.interval / sqrt(self.count))) % SPAN
