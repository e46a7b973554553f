"""The live engine's part of a record: how real packets fared in real time."""

from typing import TypedDict


class Late(TypedDict):
    """How much later than planned packets left, in microseconds."""

    mean: float
    """Arithmetic."""
    p50: float
    """The median."""
    p90: float
    """Of ten, nine left at most so late."""
    p99: float
    """Of a hundred, 99 left at most so late."""
    max: float
    """The most."""


class LivePackets(TypedDict):
    """Packets of real programs that did not cross the path, and not by its doing."""

    not_ip: int
    """Packets of neither IPv4 nor IPv6."""
    not_cut: int
    """Segments larger than the path's packets that could not be cut into such."""
    refused: int
    """Had crossed the path, and the far end took them not."""


class Live(TypedDict):
    """How the live engine ran it: real packets, in real time."""

    elapsed_s: float
    """How long it ran."""
    late_us: Late | None
    """The emulator's own lateness; None where no packet crossed. It changes no later packet's time."""
    packets: LivePackets
    """What was left out."""
    slots: int
    """Places for packets' bytes: as many as were under way at once, at the most."""
    slots_in_use: int
    """Packets that are under way at the end."""
