"""The lines of queues that LibreQoS types for a circuit, of the column ``sqm`` and of the circuit's rates.

Source: LibreQoS 2.2, its rules for a circuit's queue (`lqos_bakery`).
"""

from collections.abc import Mapping
from typing import Any

KNOWN = ("cake", "fq_codel", "none")

FAST_MBPS = 1000.0
"""The least rate of circuits that get fq_codel unless their row says another word."""

SLOW_MS = {1.0: 300, 2.0: 180, 3.0: 140, 4.0: 120}
"""The ``rtt`` of cake for circuits of at most so many Mbit/s, where the packets of one RTT take long to send."""

Words = tuple[str, str]
"""The words of the column ``sqm`` for both directions, down and up. Empty: the scenario's own line."""


def words(cell: str) -> Words | None:
    """Return the words of a cell, or None if it has others: one for both directions, or ``DOWN/UP``."""
    down, is_directional, up = (part.strip() for part in cell.lower().partition("/"))
    both = (down, up if is_directional else down)
    return both if {*both} <= {"", *KNOWN} else None


def of(said: Words, rates: Mapping[str, float], link: Mapping[str, Any]) -> dict[str, str]:
    """Return the keys of a subscriber for the lines of its queues, per direction, of the ``rates`` in Mbit/s.

    Without any the subscriber has the lines of the bottleneck ``link``.
    """
    own = link.get("qdisc")
    up = link.get("up")
    defaults = {"down": own, "up": (up.get("qdisc") if isinstance(up, dict) else None) or own}
    if not all(isinstance(line, str) for line in defaults.values()):  # the core refuses that
        return {}
    chosen = {
        direction: _line(word, rates[direction], str(defaults[direction]))
        for word, direction in zip(said, ("down", "up"), strict=True)
    }
    if chosen == defaults and not any(said):
        return {}
    up_alone = {"up_qdisc": chosen["up"]} if chosen["up"] != chosen["down"] else {}
    return {"qdisc": chosen["down"], **up_alone}


def _line(word: str, mbps: float, default: str) -> str:
    if word == "none":
        return "pfifo"
    if word == "fq_codel" or (not word and mbps >= FAST_MBPS):
        return "fq_codel"
    line = default if _is_cake(default) or not word else "cake diffserv4"
    slow_ms = next((rtt_ms for most, rtt_ms in SLOW_MS.items() if mbps <= most), None)
    needs_rtt = slow_ms is not None and _is_cake(line) and "rtt" not in line.split()
    return f"{line} rtt {slow_ms}ms" if needs_rtt else line


def _is_cake(line: str) -> bool:
    return line.split()[:1] == ["cake"]
