"""Makes the plan of an attack, and refuses what cannot be searched before any run."""

from collections.abc import Sequence

from goodqueue import engines
from goodqueue.errors import Option, UserError, quoted
from goodqueue.measures import numbers
from goodqueue.search import optimising, properties, subjects, worlds
from goodqueue.search.attack.question import Attack
from goodqueue.search.attack.work import Plan
from goodqueue.search.conditions import Condition
from goodqueue.search.facts import Number
from goodqueue.search.subjects import Subject
from goodqueue.suites.subjects import takes_buffer

LINES = ("pfifo",)
"""The bottleneck's lines for a congestion control, unless others are asked for."""

CCS = ("cubic", "reno", "bbr")
"""The flows' congestion controls, unless others are asked for."""


def of(question: Attack) -> Plan:
    """Return the plan of an attack. Raises UserError."""
    attacked = subjects.read(question.subject, "QDISC|CC")
    broken = properties.read(question.property)
    for condition in broken.conditions:
        for other in condition.others:
            subjects.check_other(attacked, other, Option("property", condition.text))
    lines = _lines(attacked, question.qdisc)
    world = worlds.World(
        lines,
        _ccs(attacked, question.cc),
        attacked.is_cc,
        {line: takes_buffer(line) for line in lines},
        _bounds(question.bound),
        _without(question.without),
        broken.main,
        broken.needs_series,
        question.ecn,
    )
    _check_shown(broken.conditions, world)
    optimising.check(question.method, question.verb)
    engine = None
    if question.kernel is not None:
        (engine,) = engines.parse("kernel", several=False, linux=question.kernel)
    return Plan(
        attacked, broken, world, question.method, question.draw_seed, question.evaluations, question.finds, engine
    )


def _check_shown(asked: Sequence[Condition], world: worlds.World) -> None:
    """Refuse a number that no scenario of ``world`` shows. With another key, the run of an other may show it."""
    scenarios = list(worlds.extremes(world))
    for condition in asked:
        lacking = None if "=" in condition.of else numbers.lacks(condition.metric, scenarios)
        if lacking is not None:
            raise UserError(
                Option("property", condition.text),
                f"no scenario of this search shows {condition.number}, since none has {lacking.words}; accepted: "
                "numbers of the link, of bulk flows and of transfers",
            )


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
    attacked_cc = (attacked.line,) if attacked.is_cc else ()
    return tuple(dict.fromkeys([*attacked_cc, *(ccs or CCS)]))


def _bounds(texts: Sequence[str]) -> dict[str, Number]:
    bounds = dict(worlds.NUMBERS)
    for text in texts:
        option = Option("bound", text)
        name, equals, span = text.partition("=")
        low, dots, high = span.partition("..")
        widest = worlds.NUMBERS.get(name.strip())
        if widest is None or not equals:
            raise UserError(option, f"found {quoted(name)}; accepted: NAME=LOW..HIGH of {', '.join(worlds.NUMBERS)}")
        try:
            ends = float(low), float(high if dots else low)
        except ValueError:
            raise UserError(option, f"found {quoted(span)}; accepted: LOW..HIGH, as {_widest(widest)}") from None
        if not widest.low <= ends[0] <= ends[1] <= widest.high:
            raise UserError(option, f"found {quoted(span)}; accepted: within {_widest(widest)}")
        bounds[widest.name] = widest.within(*ends)
    return bounds


def _widest(fact: Number) -> str:
    return f"{fact.low:g}..{fact.high:g}{f' {fact.unit}' if fact.unit else ''}"


def _without(text: str | None) -> frozenset[str]:
    left_out = frozenset(filter(None, (text or "").replace(" ", "").split(",")))
    if unknown := sorted(left_out - set(worlds.PARTS)):
        raise UserError(
            Option("without", str(text)), f"found {quoted(unknown[0])}; accepted: {', '.join(worlds.PARTS)}"
        )
    return left_out
