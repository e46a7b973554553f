"""Changes of a tree while packets flow, drawn at random: other rates of classes, and other words of leaves."""

import random
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from goodqueue.validation.trees.job import Packet
from goodqueue.validation.trees.leaves import CAKE_FIXED, CAKE_OVERHEADS, LEAVES

_LEAST_GAP_NS = 1000
"""A change comes in the middle of a pause of at least so long, so that its order among packets is certain."""
_FIXED = ("flows",)
"""Words that Linux does not take in a change, with their values."""
_OF_CAKE = tuple(word for _, choices in (*CAKE_FIXED, (0, CAKE_OVERHEADS)) for word in choices)
"""Words of `cake`: tins and isolation cannot change here, and another overhead counts for packets that wait already."""
_CHANGED = ("pfifo", "bfifo", "codel", "fq_codel", "pie", "fq_pie", "red", "tbf", "cake", "fq", "dualpi2", "netem")
"""Leaves whose words are changed."""


def draw(
    r: random.Random, commands: Sequence[str], packets: Sequence[Packet], bps: float
) -> tuple[tuple[int, str], ...]:
    """Return up to four changes of the tree of these commands, with their times."""
    gaps = [(before.at + after.at) // 2 for before, after in pairwise(packets) if after.at - before.at >= _LEAST_GAP_NS]
    places = list(_places(commands))
    count = min(len(gaps), len(places), r.randint(1, 4))
    times = sorted(r.sample(gaps, count))
    return tuple((at, _changed(r, r.choice(places), bps)) for at in times)


def _places(commands: Sequence[str]) -> Iterator[str]:
    for command in commands:
        words = command.split()
        if words[0] == "class" or (words[0] == "qdisc" and words[words.index("handle") + 2] in _CHANGED):
            yield command


def _changed(r: random.Random, command: str, bps: float) -> str:
    words = command.split()
    if words[0] == "class":
        return _scaled(r, command.replace(" add ", " change ", 1))
    place = words.index("handle") + 2
    line = LEAVES[words[place]][1](r, bps)
    for words_of_cake in _OF_CAKE:
        line = f"{line} ".replace(f" {words_of_cake} ", " ").strip()
    name, *asked = _without_fixed(line.split())
    # `tc` refuses a change without a word.
    return " ".join(["qdisc change", *words[2:place], name, *(asked or words[place + 1 :] or ["limit", "50"])])


def _without_fixed(words: Sequence[str]) -> list[str]:
    return [word for before, word in pairwise(["", *words]) if not {before, word} & set(_FIXED)]


def _scaled(r: random.Random, command: str) -> str:
    """Return the command with all its rates and quanta multiplied by one number."""
    factor = r.choice((0.3, 0.7, 1.5, 4))

    def multiplied(found: re.Match[str]) -> str:
        return f"{max(1, round(int(found[1] or found[3]) * factor))}{found[2] or ''}"

    return re.sub(r"(?<= )(\d+)([km]?bit|kbps)\b|(?<=quantum )(\d+)\b", multiplied, command)
