"""The parameters of a line that ``goodqueue tune`` varies, and their ranges."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from goodqueue import _goodqueue
from goodqueue.errors import Option, UserError, quoted
from goodqueue.record import Scenario
from goodqueue.scenario import parameters
from goodqueue.search import ranges, subjects
from goodqueue.search.facts import Facts, Number
from goodqueue.search.ranges import Range

WHERE = "bottleneck.qdisc."
"""Where a scenario has the parameters of its line."""

UNITS = ("time", "real number")
"""The parameters with these units vary, unless the user names others: sizes and tables are not tuned unasked."""

TIMES = 8.0
"""The usual range: from the value of the line, or the default, divided by this, to that value times this."""

_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the bottleneck whose parameters vary."""

    line: str
    ranges: Sequence[Range]

    def put(self, scenario: Scenario, facts: Facts) -> None:
        """Set the line with ``facts`` in ``scenario``, in place. Raises UserError."""
        scenario["bottleneck"]["qdisc"] = self.line
        named_ranges = [range_ for range_ in self.ranges if name(range_) in facts]
        ranges.put(scenario, named_ranges, [float(facts[name(range_)]) for range_ in named_ranges])

    def short(self, facts: Facts) -> str:
        """Return the line as a person would write it: what was tuned, after the line that was given."""
        words = self.line.split()
        for range_ in self.ranges:
            if name(range_) not in facts:
                continue
            text = range_.text(float(facts[name(range_)]))
            if name(range_) in words[:-1]:
                words[words.index(name(range_)) + 1] = text
            else:
                words += [name(range_), text]
        return " ".join(words)


def find(line: str, texts: Sequence[str]) -> list[Range]:
    """Return the ranges of the parameters of ``line``: those in ``texts``, or else all of `UNITS` that have a value.

    Each of ``texts`` is ``NAME=LOW..HIGH``, or ``NAME`` for the usual range. Raises UserError.
    """
    usual = {range_.key: range_ for range_ in _usual(line, UNITS)}
    if not texts:
        if not usual:
            raise UserError("QDISC", f"{line} has no parameter to tune; accepted: `--vary NAME=LOW..HIGH`")
        return list(usual.values())
    every = {range_.key: range_ for range_ in _usual(line, ())}
    names = {parameter["name"] for parameter in _parameters(line)}
    chosen = []
    for text in texts:
        name, equals, span = (part.strip() for part in text.partition("="))
        if name not in names:
            accepted = ", ".join(sorted(names))
            raise UserError(Option("vary", text), f"found {quoted(name)}; accepted: parameters of {line}: {accepted}")
        if equals:
            (range_,) = ranges.read([f"{WHERE}{name}={span}"])
        elif WHERE + name not in every:
            raise UserError(Option("vary", text), f"{line} has no value of {name}; accepted: {name}=LOW..HIGH")
        else:
            range_ = every[WHERE + name]
        chosen.append(range_)
    return chosen


def name(range_: Range) -> str:
    """Return the parameter of a range."""
    return range_.key.removeprefix(WHERE)


def _parameters(line: str) -> list[dict[str, Any]]:
    params: list[dict[str, Any]] = parameters.registry().get(line.split(maxsplit=1)[0], {"params": []})["params"]
    return params


def _usual(line: str, units: Sequence[str]) -> Iterator[Range]:
    """Yield the usual range of each parameter with one of ``units``, or of any, that has a number in the line."""
    words = subjects.resolved(line, "bottleneck.qdisc")["bottleneck"]["qdisc"].split()
    for parameter in _parameters(line):
        if (units and parameter["unit"] not in units) or parameter["name"] not in words[:-1]:
            continue
        text = words[words.index(parameter["name"]) + 1]
        if parameter["unit"] == "time":
            yield _around(parameter["name"], _goodqueue.time_ns(text) / 1e6, "ms", is_whole=False)
        elif _NUMBER.fullmatch(text) and float(text) > 0:
            yield _around(parameter["name"], float(text), "", is_whole=parameter["unit"] != "real number")


def _around(parameter: str, value: float, unit: str, *, is_whole: bool) -> Range:
    low, high = value / TIMES, value * TIMES
    if is_whole:
        low, high = max(1.0, round(low)), round(high)
    return Range(
        WHERE + parameter, Number(parameter, float(f"{low:.3g}"), float(f"{high:.3g}"), value, unit, True, is_whole)
    )
