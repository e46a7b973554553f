"""Reads what a search is asked for, and refuses what cannot be searched before any run."""

from collections.abc import Sequence
from dataclasses import dataclass

from goodqueue import engines
from goodqueue.errors import Option, UserError, quoted
from goodqueue.search import optimising, properties, subjects, worlds
from goodqueue.search.attack import Plan
from goodqueue.search.facts import Number
from goodqueue.search.subjects import Subject
from goodqueue.suites.subjects import takes_buffer

LINES = ("pfifo",)
"""The bottleneck's lines for a congestion control, unless others are asked for."""

CCS = ("cubic", "reno", "bbr")
"""The flows' congestion controls, unless others are asked for."""


@dataclass(frozen=True, slots=True)
class World:
    """What the user says of the scenarios to choose from."""

    bounds: Sequence[str]
    without: str | None
    lines: Sequence[str]
    ccs: Sequence[str]
    ecn: bool


def attack(
    subject: str,
    broken: Sequence[str],
    said: World,
    method: str,
    seed: int,
    evaluations: int,
    finds: int,
    kernel: str | None,
) -> Plan:
    """Return the plan of an attack. Raises UserError."""
    attacked = subjects.read(subject, "QDISC|CC")
    wanted = properties.read(broken)
    for condition in wanted.conditions:
        for other in condition.others:
            subjects.check_other(attacked, other, Option("property", condition.text))
    qdiscs = _lines(attacked, said.lines)
    world = worlds.World(
        qdiscs,
        _ccs(attacked, said.ccs),
        attacked.is_cc,
        {line: takes_buffer(line) for line in qdiscs},
        _bounds(said.bounds),
        _without(said.without),
        wanted.main,
        wanted.needs_series,
        said.ecn,
    )
    if method not in optimising.METHODS:
        raise UserError(Option("method", method), f"accepted: {', '.join(optimising.METHODS)}")
    on = None
    if kernel is not None:
        (on,) = engines.parse("kernel", several=False, linux=kernel)
    return Plan(attacked, wanted, world, method, seed, evaluations, finds, on)


def _lines(attacked: Subject, lines: Sequence[str]) -> tuple[str, ...]:
    if not attacked.is_cc:
        if lines:
            raise UserError(Option("qdisc", lines[0]), "found for a discipline; accepted: where a CC is attacked")
        return (attacked.line,)
    for line in lines:
        try:
            subjects.resolved(line, "bottleneck.qdisc")
        except UserError as error:
            raise UserError(Option("qdisc", line), str(error)) from None
    return tuple(dict.fromkeys(lines)) or LINES


def _ccs(attacked: Subject, ccs: Sequence[str]) -> tuple[str, ...]:
    for cc in ccs:
        try:
            subjects.resolved(cc, "traffic.0.cc")
        except UserError as error:
            raise UserError(Option("cc", cc), str(error)) from None
    own = (attacked.line,) if attacked.is_cc else ()
    return tuple(dict.fromkeys([*own, *(ccs or CCS)]))


def _bounds(given: Sequence[str]) -> dict[str, Number]:
    found = dict(worlds.NUMBERS)
    for text in given:
        place = Option("bound", text)
        name, equals, span = text.partition("=")
        low, dots, high = span.partition("..")
        widest = worlds.NUMBERS.get(name.strip())
        if widest is None or not equals:
            raise UserError(place, f"found {quoted(name)}; accepted: NAME=LOW..HIGH of {', '.join(worlds.NUMBERS)}")
        try:
            ends = float(low), float(high if dots else low)
        except ValueError:
            raise UserError(place, f"found {quoted(span)}; accepted: LOW..HIGH, as {_widest(widest)}") from None
        if not widest.low <= ends[0] <= ends[1] <= widest.high:
            raise UserError(place, f"found {quoted(span)}; accepted: within {_widest(widest)}")
        found[widest.name] = widest.within(*ends)
    return found


def _widest(fact: Number) -> str:
    return f"{fact.low:g}..{fact.high:g}{f' {fact.unit}' if fact.unit else ''}"


def _without(text: str | None) -> frozenset[str]:
    found = frozenset(filter(None, (text or "").replace(" ", "").split(",")))
    if unknown := sorted(found - set(worlds.PARTS)):
        raise UserError(
            Option("without", str(text)), f"found {quoted(unknown[0])}; accepted: {', '.join(worlds.PARTS)}"
        )
    return found
