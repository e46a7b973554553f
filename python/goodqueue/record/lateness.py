"""The live engine's part of a record: real packets in real time."""

from typing import TypedDict


class Late(TypedDict):
    """How much later than planned the packets left, in microseconds."""

    mean: float
    """Arithmetic mean."""
    p50: float
    """Median."""
    p90: float
    """90th percentile."""
    p99: float
    """99th percentile."""
    max: float
    """The largest."""


class LivePackets(TypedDict):
    """Packets of real programs that did not cross the path for reasons outside it."""

    not_ip: int
    """Packets of neither IPv4 nor IPv6."""
    not_cut: int
    """Segments larger than the path's packets, which could not be cut into packets."""
    refused: int
    """Packets that crossed the path, and that the far end refused."""


class Live(TypedDict):
    """How the live engine ran the scenario: with real packets, in real time."""

    elapsed_s: float
    """Duration of the run."""
    late_us: Late | None
    """The emulator's own lateness. It does not delay later packets. None if no packet crossed."""
    packets: LivePackets
    """Packets that did not cross the path."""
    hosts: dict[str, int]
    """The number of addresses at each end, `client` and `server`. To cake's isolation each address is a host."""
    slots: int
    """Buffers for packets' bytes: the largest number of packets that were under way at once."""
    slots_in_use: int
    """Packets that were under way at the end."""
