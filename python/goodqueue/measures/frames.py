"""The rate of a link in frames, from the goodput of TCP in both directions."""

SEGMENT, FRAME, ACK = 1448, 1514, 66
"""Bytes of a full segment's data, of its frame, and of an ACK's frame, with timestamps (RFC 7323)."""


def carried(goodput: float, other: float) -> float:
    """Return the rate in frames of ``goodput`` and of the ACKs of ``other``, the goodput of the other direction.

    There is one ACK per two segments (RFC 9293, 3.8.6.3).
    """
    return goodput * FRAME / SEGMENT + other * ACK / (2 * SEGMENT)
