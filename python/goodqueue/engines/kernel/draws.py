"""The states from which Linux as a process draws the same random numbers as the simulator.

In the simulator each part of the path has a stream of its own (``crates/units/src/random.rs``), and so has Linux here
(`parts`). BBR draws the phase in which it begins to probe: each flow has dice of its own for that, on both sides
(``crates/tcp/src/cc/bandwidth.rs``).
"""

from collections.abc import Sequence

from goodqueue.engines.kernel.lab import parts
from goodqueue.engines.kernel.lab.plan import Plan

_64_BITS = (1 << 64) - 1
_MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645
_DIE_MULTIPLIER, _DIE_MODULUS = 48271, (1 << 31) - 1
MOST_PHASES = 64
"""Flows beyond these draw Linux's own phases (``bbr_states`` of `process_changes`)."""


def states(plan: Plan) -> list[list[int]]:
    """Return the state of each part in two halves, the high one first, by the part's number.

    A wire has a stream of its own name, and the disciplines are numbered.
    """
    found = [list(state(plan.seed, "qdisc", number)) for number in range(parts.count(plan))]
    for (direction, place), number in parts.of_steps(plan).items():
        if place is not None and plan.link(direction, place) is None:
            found[number] = list(state(plan.seed, f"hop {plan.hops[place].name}", 0))
    return found[: parts.MOST]


def phases(seed: int, flows: Sequence[str]) -> list[int]:
    """Return the first state of BBR's dice of each of ``flows``, which are names with numbers (`Dice::new`)."""
    return [_die(_first_u32(*state(seed, f"cc of {name}", 0))) for name in flows[:MOST_PHASES]]


def _die(seed: int) -> int:
    return (seed % (_DIE_MODULUS - 1) + 1) * _DIE_MULTIPLIER % _DIE_MODULUS


def _first_u32(high: int, low: int) -> int:
    """Return the first number of a stream (PCG XSL-RR 128/64 MCG)."""
    state = (high << 64 | low) * _MULTIPLIER & (1 << 128) - 1
    mixed, turn = (state >> 64 ^ state) & _64_BITS, state >> 122
    return (mixed >> turn | mixed << 64 - turn) & 0xFFFFFFFF


def state(seed: int, name: str, index: int) -> tuple[int, int]:
    """Return the state of the stream called ``name`` with the number ``index``, in two halves (`Streams::stream`)."""
    hashed = 0xCBF29CE484222325
    for byte in name.encode():
        hashed = (hashed ^ byte) * 0x100000001B3 & _64_BITS
    low = _splitmix64(_splitmix64(seed ^ hashed) + index)
    return _splitmix64(low), low | 1


def _splitmix64(x: int) -> int:
    x = x + 0x9E3779B97F4A7C15 & _64_BITS
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & _64_BITS
    x = (x ^ x >> 27) * 0x94D049BB133111EB & _64_BITS
    return x ^ x >> 31
