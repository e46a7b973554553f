"""Varies a qdisc line: one parameter at a time is halved or doubled, to see how much a wrong setting matters."""

import re

from goodqueue.scenario import parameters
from goodqueue.scenario.discipline import is_python
from goodqueue.suites import subjects

AS_GIVEN = "as given"
QUANTITY = re.compile(r"(\d+(?:\.\d+)?)([a-z]*)")
"""A number with its unit in the notation of `tc`."""
UNITS = ("time", "number", "real number", "percent")
"""Units in the registry of a law's parameters. Limits, sizes and words are not varied."""


def variations(line: str) -> dict[str, str]:
    """Return the varied lines by name, in lower case. The line as given comes first."""
    lines = {AS_GIVEN: line}
    for name, value in _law(line).items():
        matched = QUANTITY.fullmatch(value)
        if matched and float(matched[1]):
            for factor in (0.5, 2):
                word = f"{float(matched[1]) * factor:g}{matched[2]}"
                varied = _with(line, name, word)
                if subjects.accepts(varied):
                    lines[f"{name} {word}".lower()] = varied
    return lines


def _with(line: str, name: str, value: str) -> str:
    table = {"qdisc": line}
    parameters.set_one(table, [name], value, line)
    return table["qdisc"]


def _law(line: str) -> dict[str, str]:
    """Return the parameters of the line's law with their values, in the notation of `tc`."""
    if is_python(line):
        return {name: value for name, value in subjects.of_class(line).items() if name != "limit"}
    words = line.split()[1:]
    defaults = {
        parameter["name"]: str(parameter["default"]).split(" or ")[0]
        for parameter in parameters.declared(line)
        if parameter["unit"] in UNITS
    }
    return {name: words[words.index(name) + 1] if name in words else value for name, value in defaults.items()}
