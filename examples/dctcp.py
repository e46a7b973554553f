"""DCTCP (RFC 8257) as a class: its record is that of cc = "dctcp", byte for byte. It needs the scenario's ecn = true.

goodqueue compare "codel ce_threshold 1ms" --cc "./dctcp.py:Dctcp" --ecn --rate 10mbit --rtt 10ms
"""

from typing import Any

ONE = 1024
"""The value of alpha that means 1."""


class Dctcp:
    """The window falls by half of the share of the data that was marked."""

    ecn = "dctcp"

    def __init__(self, connection: Any) -> None:
        """Begin with an alpha of 1, so that the first mark halves (4.2)."""
        self.alpha, self.delivered, self.marked = ONE, 0, 0
        self.end: int | None = None

    def on_delivered(self, ack: Any, window: Any) -> None:
        """Count what was delivered and marked. The window of observation ends after one round trip, the first at once.

        An ACK counts in the window that it ends, as on Linux.
        """
        self.delivered += ack.segments
        self.marked += ack.marked
        if self.end is None or (ack.una - self.end) % 2**32 < 2**31:
            self.alpha -= self.alpha >> 4 or self.alpha
            self.alpha = min(ONE, self.alpha + (self.marked << 6) // max(1, self.delivered))  # g = 1/16 (3.3)
            self.delivered, self.marked, self.end = 0, 0, ack.nxt

    def on_ack(self, ack: Any, window: Any) -> None:
        """Grow as Reno does."""
        if ack.is_cwnd_limited:
            rest = window.slow_start(ack.counted) if window.in_slow_start else ack.counted
            if rest:
                window.increase(window.cwnd, rest)

    def ssthresh(self, congestion: Any) -> int:
        """Take half of alpha at marks, and half of the window at a loss (3.3, 3.4)."""
        kept = congestion.cwnd - congestion.cwnd * self.alpha // (2 * ONE)
        return max(2, int(kept if congestion.cause == "ecn" else congestion.cwnd // 2))

    def on_state(self, state: str, window: Any) -> None:
        """Halve what marks have left, if a loss follows them (3.4)."""
        if state == "recovery":
            window.ssthresh = max(2, window.cwnd // 2)

    def probe(self) -> dict[str, float]:
        """Return what `[series] cc = true` records."""
        return {"alpha": self.alpha / ONE}
