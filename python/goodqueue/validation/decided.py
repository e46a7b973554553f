"""Differences between `tc` and goodqueue that are decisions, each with its reason."""

import functools
import itertools
import math
import re

from goodqueue import _goodqueue
from goodqueue.scenario import parameters

REASONS = {
    "own words": "Taken by goodqueue only: words that tc lacks, such as variants, idle, or a flag's no.",
    "defaults": "Taken by goodqueue only: it has defaults for words that tc requires (tbf, htb, red, choke).",
    "cut": "Taken by tc only: a number with more bits than its field has, of which tc keeps the lowest.",
    "linux": "Taken by goodqueue only: choke's max above its limit, which Linux takes and a decision trace has.",
    "order": "Taken by goodqueue only: bands behind their priomap, which tc compares with the bands before it.",
    "digit": "Taken by goodqueue only: a loss that begins with a point or a plus, where tc wants a digit.",
    "zero": "Taken by tc only: a rate below 8 bit/s, which is 0 bytes per second (fq, netem).",
    "percent": "An exponent in a percentage: tc reads the digits before the letter only.",
    "slot": "Taken by goodqueue only: netem's packets and bytes without a slot before them, which have no effect.",
    "newer tc": "Taken by goodqueue only: words that came after tc 6.1: netem's seed; fq's bands, weights.",
    "no effect": "Taken by tc only: words that have no effect in Linux, or none here, are refused with the reason.",
    "netem 6.1": "tc 6.1 reads netem's times in microseconds without a unit, in its clock's ticks and up to 274 s. "
    "Newer releases read them in nanoseconds, as goodqueue does. It also has no table for the distribution uniform.",
    "ns": "Taken by goodqueue only: a time in nanoseconds, which lines of decision traces need.",
    "replaced": "Taken by tc only: a value that the kernel would refuse, and that a later word of the line replaces.",
    "negative": "Taken by tc 6.1 only: a negative time or rate, which later releases refuse.",
    "clock": "Taken by tc only: a time above 2199 s, which CoDel's clock cannot compare, or tc's mark for no time.",
    "trailing": "Taken by tc only: letters behind a number, which tc does not look at there.",
    "trees": "Taken by tc only: words of trees of classes, which are not simulated.",
    "adaptive": "Values not compared: the kernel engine refuses red's adaptive, whose timer Linux does not start.",
    "rtt 0": "Taken by tc only: tc sends no rtt then, but a target of 1 us.",
    "fast": "Taken by tc only: a rate above 1000 Gbit/s.",
    "framings": "Taken by tc only: framings that add up to more than 256 bytes, which no overhead may say.",
}
"""The reasons by name."""

_SAID = {
    "own words": r"priomap. element .*txqueuelen",
    "ns": r"Illegal .*\d(\.\d*)?(e\d+)?ns(ecs?)?\b",
    "netem 6.1": r"No distribution data for u|time \(too large\)|Illegal \"(latency|slot).* netem ",
    "order": r'"priomap" element is out of bands',
    "digit": r"Unknown loss parameter: [.+]",
    "linux": r'"max" is larger than "limit"',
    "defaults": r'mandatory|[Rr]equired|"latency" is|must also be specified',
}
"""What `tc` says of a line that goodqueue takes, followed by the line."""
_SAID_OURS = {
    "trees": "trees of classes",
    "no effect": "ignores it|no effect",
    "cut": "choke: probability is too small",
    "percent": r'rate: found "[^"]*e[^"]*%',
}
"""What goodqueue says of a line that `tc` takes."""

_NUMBER = re.compile(r"([+-]?)(0x[0-9a-f]+|[0-9.]+(?:e[+-]?[0-9]+)?)", re.IGNORECASE)


OWN = {
    "prio": {"txqueuelen"},
    "codel": {"variant"},
    "cake": {"target"},
    "pie": {"variant", "ecn_prob", "rearm", "keep_rate", "auto_inactive"},
    "choke": {"harddrop"},
    "tbf": {"idle"},
    "htb": {"idle"},
}
"""The words that tc lacks, by discipline, besides those that switch flags off (`_off`)."""

NEWER = {"netem": {"seed"}, "fq": {"bands", "priomap", "weights", "offload_horizon"}}
SLOT = {"netem": {"packets", "bytes"}}


def by(where: str, line: str, tc: str, ours: str) -> str | None:
    """Return the name of the decision that explains a difference of the list ``where``, or None."""
    if where == "tc_only":
        return _refused(line, ours)
    if where == "values":
        # A time of netem without a unit, or in nanoseconds.
        bare = r" (d|de\w*|la\w*|sl\w*)( \S+)?? [+]?(0x[0-9a-f]+|[0-9.]+(e[0-9]+)?)(ns\w*)?( |$)"
        times = line.startswith("netem") and re.search(bare, line, re.IGNORECASE)
        reasons = {
            "adaptive": "accepted by the kernel engine: noadaptive" in ours,
            "netem 6.1": times,
            "percent": re.search(r" \d+e\d+%", line),
        }
        return next((name for name, holds in reasons.items() if holds), None)
    if (unknown := re.search(r'(?:What is|unknown parameter) "([^"]*)"', tc)) is not None:
        return _unknown(line, unknown[1])
    return next((name for name, pattern in _SAID.items() if re.search(pattern, f"{tc} | {line}")), None)


def _unknown(line: str, word: str) -> str | None:
    """Return why goodqueue takes a ``word`` that `tc` does not know, or None."""
    name = line.split(maxsplit=1)[0]
    words_of = {"own words": OWN, "newer tc": NEWER, "slot": SLOT}
    reason = next((reason for reason, words in words_of.items() if word in words.get(name, ())), None)
    return "own words" if word in _off(name) else reason


@functools.cache
def _off(name: str) -> set[str]:
    """Return the words that switch the flags of the discipline ``name`` off, in both spellings that goodqueue takes."""
    params = parameters.registry()[name]["params"]
    return {f"{no}{param['name']}" for param in params if param["unit"] == "flag" for no in ("no", "no_")}


def _refused(line: str, ours: str) -> str | None:
    """Return why goodqueue refuses a line that `tc` takes."""
    for name, pattern in _SAID_OURS.items():
        if re.search(pattern, ours):
            return name
    match = re.search(r'found "([^"]*)"', ours)
    text = match[1] if match else ""
    number = _NUMBER.match(text)
    if number is None:
        return None
    digits = number[2].lower()
    value = float(int(digits, 16)) if digits.startswith("0x") else float(digits.strip(".") or 0)
    loose = line.split(maxsplit=1)[0] in ("red", "choke", "sfq", "sfb")
    tests = {
        "negative": number[1] == "-",
        "cut": "4294.967295s" in ours
        or value >= 1 << 32
        or ("probability" in ours and value >= 1)
        or ("mpu: found" in ours and _bytes(text) > 65535),
        "clock": "2199023.254ms" in ours or value == (1 << 32) - 1,
        "zero": re.search(r"fq maxrate|fq low_rate_threshold|netem rate", ours) is not None
        and (value == 0 or (value < 8 and text[number.end() :].lower() in ("", "bit"))),
        "fast": re.search(r"accepted: \w+ to 1000gbit", ours) is not None and _bps(text) > 10**12,
        "rtt 0": "cake rtt" in ours and value < 1,
        "framings": "cake overhead" in ours and value > 256,
        "replaced": (again := re.search(r"\w+ (\w+): found", ours)) is not None and _is_replaced(line, again[1], text),
        "trailing": loose and (text.lower() == "0x" or re.search(r"[^0-9.e-]", text) is not None),
    }
    return next((name for name, holds in tests.items() if holds), None)


def _bytes(text: str) -> float:
    """Return a size of ``text`` in bytes, or infinity if it has more than 32 bits."""
    try:
        return float(_goodqueue.qdisc_values(f"bfifo limit {text}")["limit_bytes"] or 0)
    except ValueError:
        return math.inf


def _bps(text: str) -> int:
    """Return a rate of ``text`` in bit/s, or 0 if it is none."""
    try:
        return _goodqueue.rate_bps(text)
    except ValueError:
        return 0


def _is_replaced(line: str, word: str, value: str) -> bool:
    """Return whether ``line`` gives ``word`` another value behind ``value``."""
    words = line.split()
    values = [after for before, after in itertools.pairwise(words) if before == word]
    return value in values[:-1] and values[-1] != value
