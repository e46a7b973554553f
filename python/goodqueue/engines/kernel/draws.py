"""The states from which Linux as a process draws the same random numbers as the simulator.

In the simulator each part of the path has a stream of its own (``crates/units/src/random.rs``), and Linux has one for
all its disciplines. So the numbers are the same if one part draws: `part` says which one that is. BBR draws the phase
in which it begins to probe. Each flow has dice of its own for that, on both sides (``crates/tcp/src/cc/bandwidth.rs``).
"""

from collections.abc import Sequence

from goodqueue.record import Scenario

_64_BITS = (1 << 64) - 1
_DRAWING = ("jitter", "loss", "duplicate", "reorder")
"""The keys of a wire that make it draw."""
_NONE = (None, "0s", "0%")
_MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645
_DIE_MULTIPLIER, _DIE_MODULUS = 48271, (1 << 31) - 1
MOST_PHASES = 64
"""Flows beyond these draw Linux's own phases (``bbr_states`` of `process_changes`)."""


def state(scenario: Scenario) -> tuple[int, int]:
    """Return the high and the low half of the state, for a resolved ``scenario``."""
    return _stream(scenario["seed"], part(scenario))


def part(scenario: Scenario) -> str:
    """Return the name of the stream of the part that draws: the first wire that does, or else the bottleneck down."""
    for hop in scenario.get("hop", []):
        if any(hop.get(key) not in _NONE for key in _DRAWING):
            return f"hop {hop['name']}"
    return "qdisc"


def phases(seed: int, flows: Sequence[str]) -> list[int]:
    """Return the first state of BBR's dice of each of ``flows``, which are names with numbers (`Dice::new`)."""
    return [_die(_first_u32(*_stream(seed, f"cc of {name}"))) for name in flows[:MOST_PHASES]]


def _die(seed: int) -> int:
    return (seed % (_DIE_MODULUS - 1) + 1) * _DIE_MULTIPLIER % _DIE_MODULUS


def _first_u32(high: int, low: int) -> int:
    """Return the first number of a stream (PCG XSL-RR 128/64 MCG)."""
    state = (high << 64 | low) * _MULTIPLIER & (1 << 128) - 1
    mixed, turn = (state >> 64 ^ state) & _64_BITS, state >> 122
    return (mixed >> turn | mixed << 64 - turn) & 0xFFFFFFFF


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
