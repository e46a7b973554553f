"""A qdisc line with one of its parameters halved or doubled: how much hangs on what an operator may set wrong."""

import json
import re

from goodqueue.discipline import is_python
from goodqueue.errors import UserError
from goodqueue.suites import subjects

AS_GIVEN = "as given"
QUANTITY = re.compile(r"(\d+(?:\.\d+)?)([a-z]*)")
"""A number with its unit, as `tc` writes it."""
UNITS = ("time", "number", "real number", "percent")
"""Of the registry, those whose parameters are a law's: limits, sizes and words are left as they are."""


def variations(line: str) -> dict[str, str]:
    """Return what each variation is called, in small letters, and the line: that as it was given first."""
    found = {AS_GIVEN: line}
    for name, value in _law(line).items():
        matched = QUANTITY.fullmatch(value)
        if matched and float(matched[1]):
            for factor in (0.5, 2):
                word = f"{float(matched[1]) * factor:g}{matched[2]}"
                varied = _with(line, name, word)
                if _is_accepted(varied):
                    found[f"{name} {word}".lower()] = varied
    return found


def _is_accepted(line: str) -> bool:
    try:
        subjects.whole(line)
    except UserError:
        return False
    return True


def _with(line: str, name: str, value: str) -> str:
    words = line.split()
    if name in words[1:]:
        words[words.index(name, 1) + 1] = value
        return " ".join(words)
    return f"{line} {name} {value}"


def _law(line: str) -> dict[str, str]:
    """Return the parameters of the line's law with their values, as `tc` writes them."""
    if is_python(line):
        words = subjects.whole(line).split()[1:]
        values = dict(zip(words[::2], words[1::2], strict=True))
        return {name: value for name, value in values.items() if name != "limit"}
    from goodqueue import _goodqueue

    head, *given = line.split()
    (spec,) = [one for one in json.loads(_goodqueue.qdiscs()) if one["name"] == head]
    own = {one["name"]: str(one["default"]).split(" or ")[0] for one in spec["params"] if one["unit"] in UNITS}
    return {name: given[given.index(name) + 1] if name in given else value for name, value in own.items()}
