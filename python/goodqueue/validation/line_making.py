"""Makes lines of `tc` at random, from the registry's own descriptions: what people type, and what they mistype.

Words stand in any order and may be repeated. Values have all of `tc`'s units and spellings, and some that it has not.
Some words are unknown, cut short or without a value. A seed determines all lines.
"""

import random
from functools import cache
from typing import Any

from goodqueue.engines.kernel import tc
from goodqueue.scenario import parameters

KNOWN = tuple(name for name in tc.DISCIPLINES if name not in ("pfifo_fast", "fq_nocodel", "cake_mq", "dualpi2"))
"""The disciplines that `tc` and the registry both know. pfifo_fast has no words, fq_nocodel is another name, and the
last two are not in every release."""

NEEDED = {
    "tbf": ("rate 1mbit", "burst 5kb", "latency 70ms"),
    "red": ("limit 400000", "avpkt 1000"),
    "choke": ("limit 1000", "bandwidth 10mbit"),
    "htb": ("rate 1mbit",),
}
"""Words without which `tc` refuses the line. Most lines get them."""

TIMES = ("us", "usec", "usecs", "ms", "msec", "msecs", "s", "sec", "secs", "", "MS", "Us", "ns", "min", "m")
RATES = (
    "bit",
    "kbit",
    "mbit",
    "Mbit",
    "gbit",
    "kibit",
    "mibit",
    "Kibit",
    "bps",
    "kbps",
    "KiBps",
    "MiBps",
    "",
    "mb",
    "%",
)
SIZES = ("", "", "b", "k", "kb", "K", "kbit", "mb", "m", "mbit", "Mbit", "g", "p", "kib")
STRANGE = (
    "0",
    "-1",
    "4294967295",
    "4294967296",
    "0x10",
    "010",
    "1e3",
    "+7",
    "abc",
    "1.5",
    "1e-3",
    "08",
    "0x",
    "5p",
    "",
)

UNITS = {"time": (3, TIMES), "time or packets": (3, TIMES), "rate": (3, RATES), "bytes": (5, SIZES)}
"""The units behind a number, and the most digits before them, by the registry's unit."""

REALS = ("0.02", "0.5", "1", "0", ".1", "1e-2", "2", "-0.1", "0.1x", "50%", "0.000001", "0x1")
WHOLE = {
    "real number": REALS,
    "percent": REALS,
    "value/mask": ("0x1/0x3", "1/3", "0xff/255", "1", "256/1", "1/256", "2/2", "010/0x10"),
}
"""Values as they are."""


def make(count: int, seed: int) -> list[str]:
    """Return ``count`` lines, the same for the same ``seed``."""
    dice = random.Random(seed)
    return [_line(dice, KNOWN[number % len(KNOWN)]) for number in range(count)]


@cache
def _params(name: str) -> list[dict[str, Any]]:
    return [param for param in parameters.registry()[name]["params"] if param["unit"] != "line"]


def _line(dice: random.Random, name: str) -> str:
    phrases = list(NEEDED.get(name, ())) if dice.random() < 0.9 else []
    params = _params(name)
    for _ in range(dice.choice((0, 1, 1, 2, 2, 3, 4, 6, 9))):
        phrase = _phrase(dice, params)
        same = [other for other in phrases if other.split()[:1] == phrase.split()[:1]]
        if same and dice.random() < 0.6:  # usually a word stands once
            phrases.remove(same[0])
        phrases.append(phrase)
    dice.shuffle(phrases)
    if phrases and dice.random() < 0.03:
        phrases.append(phrases[-1].split()[0])  # a word without its value
    if dice.random() < 0.02:
        phrases.insert(dice.randrange(len(phrases) + 1), dice.choice(("foo", "help1", "12", "noecn", "on", "1mbit")))
    return " ".join([name, *(phrase for phrase in phrases if phrase)])


def _phrase(dice: random.Random, params: list[dict[str, Any]]) -> str:
    """Return a word of one of ``params`` with its value, and perhaps with the values that may follow it."""
    param = dice.choice([param for param in params if param["follows"] is None])
    unit, name = param["unit"], param["name"]
    if unit == "flag":
        return dice.choice((name, name, f"{'no_' if '_' in name else 'no'}{name}"))
    if unit == "numbers":
        return " ".join([name, *(str(dice.randrange(4)) for _ in range(dice.choice((1, 3, 16, 16, 17))))])
    if unit in ("shorthand", "word"):
        words = param["accepted"].split(", ")
        word = dice.choice(words)
        return word if param["words"] != [name] else f"{name} {word[: dice.choice((1, 2, 99, 99))]}"
    if dice.random() < 0.08:
        name = name[: dice.randrange(1, len(name) + 1)]
    more = [other for other in params if other["follows"] == param["name"]][: dice.randrange(4)]
    return " ".join([name, _value(dice, unit), *(_value(dice, other["unit"]) for other in more)]).strip()


def _value(dice: random.Random, unit: str) -> str:
    if dice.random() < 0.12:
        return dice.choice(STRANGE)
    if unit in WHOLE:
        return dice.choice(WHOLE[unit])
    digits, units = UNITS.get(unit, (4, ("", "", "", "", "", "p", "k", "b")))
    return _number(dice, digits) + dice.choice(units)


def _number(dice: random.Random, digits: int) -> str:
    """Return a number of up to ``digits`` digits, in one of C's spellings."""
    number = int(10 ** dice.uniform(0, digits))
    return dice.choice(
        (f"{number}",) * 5 + (f"{number}.5", f"{number}e1", f"{number:#x}", f"0{number:o}", f"{number}.0")
    )
