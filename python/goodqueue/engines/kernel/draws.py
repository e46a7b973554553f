"""The state from which Linux as a process draws the same random numbers as the simulator.

In the simulator each part of the path has a stream of its own (``crates/units/src/random.rs``), and Linux has one for
all its disciplines. So the numbers are the same if one part draws: `part` says which one that is.
"""

from goodqueue.record import Scenario

_64_BITS = (1 << 64) - 1
_DRAWING = ("jitter", "loss", "duplicate", "reorder")
"""The keys of a wire that make it draw."""
_NONE = (None, "0s", "0%")


def state(scenario: Scenario) -> tuple[int, int]:
    """Return the high and the low half of the state, for a resolved ``scenario``."""
    return _stream(scenario["seed"], part(scenario))


def part(scenario: Scenario) -> str:
    """Return the name of the stream of the part that draws: the first wire that does, or else the bottleneck down."""
    for hop in scenario.get("hop", []):
        if any(hop.get(key) not in _NONE for key in _DRAWING):
            return f"hop {hop['name']}"
    return "qdisc"


def _stream(seed: int, name: str) -> tuple[int, int]:
    """Return the state of the first stream called ``name``, of the family of ``seed`` (`Streams::stream`)."""
    hashed = 0xCBF29CE484222325
    for byte in name.encode():
        hashed = (hashed ^ byte) * 0x100000001B3 & _64_BITS
    low = _splitmix64(_splitmix64(seed ^ hashed))
    return _splitmix64(low), low | 1


def _splitmix64(x: int) -> int:
    x = x + 0x9E3779B97F4A7C15 & _64_BITS
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & _64_BITS
    x = (x ^ x >> 27) * 0x94D049BB133111EB & _64_BITS
    return x ^ x >> 31
