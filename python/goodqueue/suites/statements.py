"""Statements on a qdisc that a standard requires and that no run of traffic measures."""

from collections.abc import Callable, Mapping
from functools import cache

from goodqueue.scenario.discipline import is_python
from goodqueue.scenario.parameters import declared
from goodqueue.suites import subjects


def parameters(line: str) -> str:
    """Return the number of parameters of the qdisc ``line``, those that it sets, and the defaults of the others."""
    shown = (
        subjects.of_class(line)
        if is_python(line)
        else {parameter["name"]: str(parameter["default"]) for parameter in declared(line)}
    )
    named_in_line = [name for name in shown if name in line.split()[1:]]
    others = [f"{name} {value}".rstrip() for name, value in shown.items() if name not in named_in_line]
    count = f"{len(shown)} parameter{'s' if len(shown) != 1 else ''}"
    set_here = f"set in the line: {', '.join(named_in_line)}" if named_in_line else "none set in the line"
    return f"{count}, {set_here}" + (f"; as by default: {', '.join(others)}" if others else "") + "."


def cost(line: str) -> str:
    """Return the time of an enqueue and a dequeue on this machine, beside drop tail's, in sentences."""
    if is_python(line):
        return "Not timed: the class is Python, and what it costs is what Python costs."
    costs, plain = _pair_ns(line), _pair_ns("pfifo")
    texts = [f"{flows} flow{'s' if flows != '1' else ''} {ns:.0f} ns" for flows, ns in costs.items() if ns is not None]
    beside = [ns for ns in plain.values() if ns is not None]
    if not texts:
        return "Not timed: the line does not run without a link."
    return (
        f"An enqueue and a dequeue take, with {', '.join(texts)}; drop tail takes {min(beside):.0f} to "
        f"{max(beside):.0f} ns. Times are this machine's, and differ from run to run."
    )


@cache
def _pair_ns(line: str) -> Mapping[str, float | None]:
    from goodqueue.speed import bench

    return bench.run_qdisc(line, quick=True, repeats=3).pair_ns


STATEMENTS: Mapping[str, Callable[[str], str]] = {"parameters": parameters, "cost": cost}
"""Functions from the line under test to sentences, by the name that a row's ``statement`` takes."""
