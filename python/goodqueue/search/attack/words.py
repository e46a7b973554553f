"""The facts of a scenario in words: ``a constant stream of 1.5 times the link's rate joins``."""

import re
from collections.abc import Iterator

from goodqueue.measures.numbers.shares import CONSTANT
from goodqueue.search.facts import Facts, Value
from goodqueue.search.worlds import CROSSING, NUMBERS, SENDING, TRANSFER
from goodqueue.traffic import BULK

SLOTS = ("second", "third")
"""The names of the traffic beside the first."""

CODEPOINTS = {"ect0": "ECT(0)", "ect1": "ECT(1)"}

WHO = {"all": "all traffic crosses", "first": "the first flows cross", "others": "all but the first flows cross"}


AMOUNTS = re.compile(r"jitter|loss|bursts|.*\.(share|lasts|flows|rtt|at|factor)")
"""The facts that a sentence has although they are simple, if it has what they belong to."""


def sentence(differing: Facts, every: Facts) -> str:
    """Return the facts that are ``differing`` from the simplest ones as a sentence. ``every`` has all facts."""
    facts = {name: value for name, value in every.items() if name in differing or AMOUNTS.fullmatch(name)}
    clauses = [*_link(facts), *_first(facts)]
    for slot in SLOTS:
        clauses += _other(facts, slot)
    clauses += [*_wire(facts), *_changes(facts)]
    if "duration" in facts:
        clauses.append(f"the run lasts {_amount(facts, 'duration')}")
    if not clauses:
        return "It is the simplest scenario of all."
    text = "; ".join(clauses)
    return f"{text[0].upper()}{text[1:]}."


def _amount(facts: Facts, name: str) -> str:
    """Return the number ``name``, or its simplest value, with its unit."""
    fact = NUMBERS[name]
    value = facts.get(name, fact.simplest)
    unit = "BDP" if fact.unit == "bdp" else "Mbit/s" if fact.unit == "mbit" else fact.unit
    return f"{_shown(value)} {unit}".rstrip()


def _shown(value: Value) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def _link(facts: Facts) -> Iterator[str]:
    if "rate" in facts:
        yield f"the link has {_amount(facts, 'rate')}"
    if "rtt" in facts:
        yield f"the RTT is {_amount(facts, 'rtt')}"
    if "qdisc" in facts:
        yield f"the queue is {facts['qdisc']}"
    if "buffer" in facts:
        yield f"the buffer is {_amount(facts, 'buffer')}"
    if facts.get(SENDING) == "bursts":
        yield f"the link sends in bursts, {_amount(facts, 'bursts')} apart"


def _first(facts: Facts) -> Iterator[str]:
    cc = f" with {facts['first.cc']}" if "first.cc" in facts else ""
    if "first.size" in facts:
        yield f"the first flow is a {TRANSFER} of {_shown(facts['first.size'])} MB{cc}"
    elif "flows" in facts:
        yield f"{_shown(facts['flows'])} flows send{cc}"
    elif cc:
        yield f"a flow sends{cc}"


def _other(facts: Facts, slot: str) -> Iterator[str]:
    """Yield what joins the first traffic."""
    at = f" after {_shown(facts[f'{slot}.start'])} s" if facts.get(f"{slot}.start") else ""
    if facts.get(slot) == CONSTANT:
        share = facts.get(f"{slot}.share", 1)
        size = "the link's rate" if share == 1 else f"{_shown(share)} times the link's rate"
        codepoint = CODEPOINTS.get(str(facts.get(f"{slot}.ecn")))
        ecn = f", in packets with {codepoint}" if codepoint else ""
        lasts = f", for {_shown(facts.get(f'{slot}.lasts', 1))} s" if facts.get(f"{slot}.ends") == "yes" else ""
        yield f"a constant stream of {size} joins{at}{lasts}{ecn}"
    elif facts.get(slot) == BULK:
        count = facts.get(f"{slot}.flows", 1)
        flows = "a flow" if count == 1 else f"{_shown(count)} flows"
        cc = f" with {facts[f'{slot}.cc']}" if f"{slot}.cc" in facts else ""
        rtt = f", with an RTT of {_shown(facts.get(f'{slot}.rtt', NUMBERS['rtt'].simplest))} ms"
        yield f"{flows}{cc} join{'s' if count == 1 else ''}{at}{rtt if facts.get(f'{slot}.path') == 'own' else ''}"


def _wire(facts: Facts) -> Iterator[str]:
    """Yield what crosses a wire, and what the wire does to it. Without a kind it has jitter, or its loss is a fact."""
    if (crossing := str(facts.get(CROSSING))) not in WHO:
        return
    kind = facts.get("wire.kind", "loss" if "loss" in facts else "jitter")
    does = [f"{name} of {_amount(facts, name)}" for name in ("jitter", "loss") if kind in (name, "both")]
    yield f"{WHO[crossing]} a wire with {' and '.join(does)}"


def _changes(facts: Facts) -> Iterator[str]:
    count = facts.get("changes", 0)
    changes = [
        (float(facts.get(f"change.{number}.at", 0.5)), facts.get(f"change.{number}.factor", 1))
        for number in range(int(count))
    ]
    for at, factor in sorted(changes):
        becomes = "is as at first" if factor == 1 else f"is {_shown(factor)} times the first one"
        yield f"the rate {becomes} from {100 * at:g} % of the run on"
