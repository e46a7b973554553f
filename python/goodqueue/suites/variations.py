"""A qdisc line with one of its parameters halved or doubled: how much hangs on what an operator may set wrong."""

import re

from goodqueue.scenario import parameters
from goodqueue.scenario.discipline import is_python
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
                if subjects.accepts(varied):
                    found[f"{name} {word}".lower()] = varied
    return found


def _with(line: str, name: str, value: str) -> str:
    table = {"qdisc": line}
    parameters.set_one(table, [name], value, line)
    return table["qdisc"]


def _law(line: str) -> dict[str, str]:
    """Return the parameters of the line's law with their values, as `tc` writes them."""
    if is_python(line):
        return {name: value for name, value in subjects.of_class(line).items() if name != "limit"}
    given = line.split()[1:]
    own = {
        one["name"]: str(one["default"]).split(" or ")[0] for one in parameters.declared(line) if one["unit"] in UNITS
    }
    return {name: given[given.index(name) + 1] if name in given else value for name, value in own.items()}
