"""The packets that come to a tree, drawn at random."""

import random
from collections.abc import Iterator, Sequence

from goodqueue.validation.trees.job import BY_SEQUENCE, FIRST_NS, ICMP, ICMP_V6, TCP, UDP, Flow, Packet

_SIZES = {
    "full": (1514,),
    "small": (64, 90, 200),
    "mixed": (64, 78, 300, 590, 1000, 1514, 1514),
    "large": (590, 1514, 1514),
}
"""Lengths of packets. Below 1514, as the device has an MTU of 1500."""
PATTERNS = ("poisson", "even", "bursts", "on and off", "idle")
_PAUSES_NS = (5_000_000, 50_000_000, 500_000_000, 3_000_000_000, 7_000_000_000)
_LEAST_NS = 10
"""Packets come at least so far apart, or at the same time: a program wakes 2 ns late, and asks for it earlier."""
_DSCPS = (0, 0, 0, 8, 10, 12, 18, 26, 34, 40, 44, 46, 48, 56, 1)
_SEGMENT = 1448


def flows(r: random.Random, count: int, merged: bool) -> list[Flow]:
    """Return ``count`` flows. Where packets may be merged, most flows are TCP."""
    return [_flow(r, number, merged and r.random() < 0.7) for number in range(count)]


def _flow(r: random.Random, number: int, merged: bool) -> Flow:
    is_v6 = r.random() < 0.3
    protocol = TCP if merged else r.choice((TCP, UDP, UDP, UDP, ICMP_V6 if is_v6 else ICMP))
    v6 = 0x2001_0DB8 << 96
    source = v6 | r.randrange(4) << 64 | 1 + number if is_v6 else 0x6440_0001 + r.randrange(8) + (number & ~7)
    destination = v6 | 9 << 64 | 1 + r.randrange(4) if is_v6 else 0x0A09_0001 + r.randrange(4)
    return Flow(
        number,
        is_v6,
        protocol,
        source,
        destination,
        (BY_SEQUENCE.start if merged else 10_000) + r.choice((number, number, 53, 5060)),
        r.choice((80, 443, 443, 53, 5060, 50_000 + number)),
        r.choice(_DSCPS),
        r.choice((0, 0, 1, 2, 2)),
        r.choice((0, number + 1, number + 1, 0x10 + number, 0x100 << number % 8)),
        r.choice((0, 0, 0, r.randrange(16), r.randrange(16))),
        r.choice((64, 64, 1, 255)),
        r.choice((0, 0, r.randrange(1, 1 << 20))) if is_v6 else 0,
    )


def packets(
    r: random.Random, of: Sequence[Flow], count: int, bps: float, priorities: dict[int, int], merged: bool
) -> list[Packet]:
    """Return ``count`` packets of flows at ``bps`` on average. ``priorities`` are those that ask for a class."""
    weights = [r.choice((1, 1, 2, 5)) for _ in of]
    sizes = _SIZES[r.choice(list(_SIZES))]
    own = [r.choice(sizes) if r.random() < 0.5 else None for _ in of]
    mean = sum(w * (o or sum(sizes) / len(sizes)) for w, o in zip(weights, own, strict=True)) / sum(weights)
    times = _times(r, r.choice(PATTERNS), mean * 8e9 / bps)
    return [
        _packet(r, r.choices(of, weights)[0], number, at, own, sizes, priorities, merged)
        for number, at in zip(range(count), times, strict=False)
    ]


def _packet(
    r: random.Random,
    flow: Flow,
    number: int,
    at: int,
    own: Sequence[int | None],
    sizes: Sequence[int],
    priorities: dict[int, int],
    merged: bool,
) -> Packet:
    length = max(own[flow.number] or r.choice(sizes), flow.header_bytes)
    size = 0
    if merged and flow.source_port in BY_SEQUENCE and r.random() < 0.5:
        size = _SEGMENT
        count = r.choice((2, 2, 3, 10, 20, 44))
        length = flow.header_bytes + size * (count - 1) + r.choice((size, size, 100, 1))
    head = flow.head(number, length)
    return Packet(at, length, flow.mark, priorities.get(flow.number, flow.priority), head, size, flow.number)


def _times(r: random.Random, pattern: str, gap: float) -> Iterator[int]:
    """Yield times of packets, ``gap`` nanoseconds apart on average (pauses aside)."""
    now, left, last = float(FIRST_NS), 0, 0
    while True:
        if now - last >= _LEAST_NS:
            last = int(now)
        yield last
        if pattern == "even":
            now += gap
        elif pattern == "bursts":
            left -= 1
            if left <= 0:
                left = r.randint(2, 60)
                now += gap * left * r.uniform(0.5, 1.5)
            elif r.random() < 0.5:
                now += r.choice((0, 0, 2 * _LEAST_NS))
        elif pattern == "on and off":
            now += gap * 0.3
            left -= 1
            if left <= 0:
                left = r.randint(20, 150)
                now += gap * left * r.uniform(0.3, 1.2)
        else:
            now += gap * r.expovariate(1)
            if pattern == "idle" and r.random() < 0.02:
                now += r.choice(_PAUSES_NS)
