"""Disciplines with classes, drawn at random: each function adds its commands to a tree."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from goodqueue.validation.trees.leaves import rate

if TYPE_CHECKING:
    from goodqueue.validation.trees.drawing import Tree

KINDS = ("htb", "htb", "hfsc", "hfsc", "drr", "drr", "ets", "ets", "prio", "prio")
_DEEPEST = 8
"""Levels of classes in an `htb` (TC_HTB_MAXDEPTH)."""
_LEAST_BPS = 8000


@dataclass(slots=True)
class Drawn:
    """A discipline whose classes were drawn."""

    handle: str
    leaves: dict[str, float]
    """Minor numbers of the leaves, with the rate that each may get."""
    inner: list[str]
    """Minor numbers of other classes."""
    unsorted: float
    """How many flows no filter sorts."""
    sorted: dict[int, str] = field(default_factory=dict)
    """Numbers of flows, with the leaf to which each is sorted."""


def _minors(r: random.Random) -> Iterator[str]:
    """Yield minor numbers, each once: small ones in their order or not, or any."""
    pool = list(range(1, 0x40)) if r.random() < 0.7 else r.sample(range(1, 0xFF00), 40)
    if r.random() < 0.5:
        r.shuffle(pool)
    yield from (f"{number:x}" for number in pool)


def _add(tree: "Tree", parent: str, classid: str, words: str) -> None:
    tree.commands.append(f"class add dev eth0 parent {parent} classid {classid} {words}")


def htb(tree: "Tree", place: str, bps: float) -> Drawn:
    """Draw an `htb` of up to eight levels."""
    r, handle = tree.r, tree.handle()
    drawn = Drawn(handle, {}, [], 0.08)
    first = len(tree.commands)
    minors = _minors(r)
    levels = r.choice((1, 1, 2, 2, 3, 3, 4, 5, _DEEPEST))

    def grow(parent: str, level: int, share: float, ceil: float) -> None:
        count = r.choice((1, 2, 2, 3) if level > 1 else (1, 2, 3, 4)) if levels < 5 else r.choice((1, 1, 2))
        parts = [r.uniform(0.2, 1) for _ in range(count)]
        whole = sum(parts) / r.choice((1, 1, 1, 0.7, 1.4))
        for part, minor in zip(parts, minors, strict=False):
            own = max(_LEAST_BPS, share * part / whole)
            is_leaf = level == 1 or r.random() < 0.15
            words, own_ceil = _htb_class(r, own, ceil, is_leaf)
            _add(tree, parent, f"{handle}{minor}", words)
            if is_leaf:
                drawn.leaves[minor] = own
            else:
                drawn.inner.append(minor)
                grow(f"{handle}{minor}", level - 1, own, own_ceil)

    grow(handle, levels, bps, bps)
    kind, line = r.random(), "htb"
    if kind < 0.5:
        line += f" default {r.choice(list(drawn.leaves))}"
    elif kind < 0.65 and drawn.inner:
        line += f" default {r.choice(drawn.inner)}"
    elif kind < 0.75:
        line += " default fffe"
    if r.random() < 0.3:
        line += f" r2q {r.choice((1, 2, 5, 20, 100))}"
    if r.random() < 0.15:
        line += f" direct_qlen {r.choice((3, 20))}"
    tree.commands.insert(first, f"qdisc add dev eth0 {place} handle {handle} {line}")
    return drawn


_BURSTS = ("1b", "100b", "800b", "1500b", "1599b", "5k", "15k", "60k", "200k")
_QUANTA = (200, 600, 1000, 1514, 3000, 6000, 20_000, 60_000, 250_000)


def _htb_class(r: random.Random, own: float, above: float, is_leaf: bool) -> tuple[str, float]:
    """Return the words of a class, and its ceil."""
    words, ceil = f"htb rate {rate(r, own)}", own
    if r.random() < 0.75:
        ceil = max(own, above * r.choice((1, 1, 0.8, 0.5, r.uniform(0.2, 1.2))))
        if r.random() < 0.06:
            ceil = own * 0.6  # below the rate: Linux takes it
        words += f" ceil {rate(r, ceil)}"
    for word in ("burst", "cburst"):
        if r.random() < 0.3:
            words += f" {word} {r.choice(_BURSTS)}"
    if (is_leaf or r.random() < 0.3) and r.random() < 0.6:
        words += f" prio {r.choice((0, 1, 2, 3, 7, r.randint(0, 9)))}"
    if r.random() < 0.25:
        words += f" quantum {r.choice(_QUANTA)}"
    if r.random() < 0.15:
        words += f" overhead {r.choice((4, 18, 40, 44))}"
        words += r.choice(("", f" mpu {r.choice((64, 84, 96, 200))}"))
        words += r.choice(("", " linklayer atm", " linklayer adsl", " linklayer ethernet"))
        words += r.choice(("", f" mtu {r.choice((576, 2047, 9000))}"))
    return words, ceil


def hfsc(tree: "Tree", place: str, bps: float) -> Drawn:
    """Draw an `hfsc` of up to three levels. At the root it paces itself, by upper limits."""
    r, handle = tree.r, tree.handle()
    drawn = Drawn(handle, {}, [], 0.08)
    first = len(tree.commands)
    minors = _minors(r)
    if place == "root":
        minor = next(minors)
        _add(tree, handle, f"{handle}{minor}", f"hfsc ls rate {rate(r, bps)} ul rate {rate(r, bps)}")
        drawn.inner.append(minor)
        top = f"{handle}{minor}"
    else:
        top = handle

    def grow(parent: str, level: int, share: float) -> None:
        parts = [r.uniform(0.2, 1) for _ in range(r.choice((1, 2, 2, 3) if level > 1 else (2, 3, 4)))]
        whole = sum(parts) / r.choice((1, 1, 0.7, 1.5))
        for part, minor in zip(parts, minors, strict=False):
            own = max(_LEAST_BPS, share * part / whole)
            is_leaf = level == 1 or r.random() < 0.2
            _add(tree, parent, f"{handle}{minor}", _hfsc_class(r, own, is_leaf))
            if is_leaf:
                drawn.leaves[minor] = own
            else:
                drawn.inner.append(minor)
                grow(f"{handle}{minor}", level - 1, own)

    grow(top, r.randint(1, 3), bps)
    kind, line = r.random(), "hfsc"
    if kind < 0.6:
        line += f" default {r.choice(list(drawn.leaves))}"
    elif kind < 0.7 and drawn.inner:
        line += f" default {r.choice(drawn.inner)}"
    elif kind < 0.8:
        line += " default fffe"
    tree.commands.insert(first, f"qdisc add dev eth0 {place} handle {handle} {line}")
    return drawn


def _hfsc_class(r: random.Random, bps: float, is_leaf: bool) -> str:
    kind, words = r.random(), "hfsc"
    if not is_leaf:
        name = "ls" if kind < 0.75 else "sc" if kind < 0.9 else "rt"
        words += f" {name} {_curve(r, bps)}"
        if name != "rt" and r.random() < 0.5:
            words += f" ul {_curve(r, bps * r.choice((1, 1.3, 0.7)))}"
        return words
    if kind < 0.2:
        return f"{words} sc {_curve(r, bps)}"
    if kind < 0.4:
        words += f" ls {_curve(r, bps)}"
    elif kind < 0.5:
        return f"{words} rt {_curve(r, bps)}"
    elif kind < 0.8:
        words += f" rt {_curve(r, bps * r.uniform(0.3, 1))} ls {_curve(r, bps)}"
    else:
        words += f" sc {_curve(r, bps)}"
    if r.random() < 0.4:
        words += f" ul {_curve(r, bps * r.choice((1, 1.5, 2, 0.6)))}"
    return words


def _curve(r: random.Random, bps: float) -> str:
    kind, last = r.random(), rate(r, max(_LEAST_BPS, bps))
    span = r.choice(("1ms", "5ms", "20ms", "100ms", "1s"))
    if kind < 0.35:
        return f"rate {last}"
    if kind < 0.6:
        return f"m1 {rate(r, max(_LEAST_BPS, bps * r.choice((1.5, 2, 4, 8))))} d {span} m2 {last}"
    if kind < 0.85:
        low = r.choice(("0bit", rate(r, max(_LEAST_BPS, bps * r.uniform(0.05, 0.8)))))
        return f"m1 {low} d {span} m2 {last}"
    return f"umax {r.choice(('400b', '1500b', '3000b'))} dmax {r.choice(('2ms', '10ms', '50ms'))} rate {last}"


def drr(tree: "Tree", place: str, bps: float) -> Drawn:
    """Draw a `drr`. What no filter sorts is dropped there, so most flows are sorted."""
    r = tree.r
    drawn = Drawn(tree.qdisc(place, "drr"), {}, [], 0.03)
    count = r.randint(1, 5)
    for minor, _ in zip(_minors(r), range(count), strict=False):
        words = f" quantum {r.choice((256, 300, 600, 1514, 3000, 10_000, 60_000))}" if r.random() < 0.7 else ""
        _add(tree, drawn.handle, f"{drawn.handle}{minor}", f"drr{words}")
        drawn.leaves[minor] = bps / count
    return drawn


def ets(tree: "Tree", place: str, bps: float) -> Drawn:
    """Draw an `ets` of up to eight bands."""
    r = tree.r
    bands = r.randint(1, 8)
    strict = r.randint(0, bands)
    line = f"ets bands {bands}" + (f" strict {strict}" if strict else "")
    if quanta := r.randint(0, bands - strict):
        line += " quanta " + " ".join(str(r.choice((300, 600, 1514, 3000, 4500, 20_000))) for _ in range(quanta))
    if r.random() < 0.6:
        line += " priomap " + _priomap(r, bands, r.choice((16, 16, 5)))
    return Drawn(tree.qdisc(place, line), _bands(bands, bps), [], 0.3)


def prio(tree: "Tree", place: str, bps: float) -> Drawn:
    """Draw a `prio` of up to eight bands."""
    r = tree.r
    bands = r.randint(2, 8)
    line = f"prio bands {bands}"
    if r.random() < 0.7 or bands < 3:
        line += " priomap " + _priomap(r, bands, 16)
    return Drawn(tree.qdisc(place, line), _bands(bands, bps), [], 0.3)


def _bands(count: int, bps: float) -> dict[str, float]:
    return {f"{band:x}": bps / count for band in range(1, count + 1)}


def _priomap(r: random.Random, bands: int, count: int) -> str:
    return " ".join(str(r.randrange(bands)) for _ in range(count))
