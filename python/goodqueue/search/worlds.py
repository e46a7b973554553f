"""Scenarios as facts: a link, its path, and up to three kinds of traffic, for a discipline or a congestion control.

`build` asks for the facts one after the other and makes the scenario of the answers. A fact is asked for only if an
earlier answer made it matter, so what is not said has no influence.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from goodqueue.measures.metrics import Metric
from goodqueue.measures.numbers.shares import CONSTANT
from goodqueue.record import Scenario
from goodqueue.search.facts import Choose, Fact, Number, Value, Word
from goodqueue.traffic import BULK

NUMBERS = {
    one.name: one
    for one in (
        Number("rate", 0.25, 200, 10, "mbit", is_log=True),
        Number("rtt", 1, 300, 50, "ms", is_log=True),
        Number("buffer", 0.05, 10, 1, "bdp", is_log=True),
        Number("flows", 1, 64, 1, is_log=True, is_whole=True),
        Number("jitter", 0.5, 50, 5, "ms", is_log=True),
        Number("loss", 0.01, 5, 1, "%", is_log=True),
        Number("bursts", 1, 500, 10, "ms", is_log=True),
        Number("changes", 0, 3, 0, is_whole=True),
        Number("duration", 20, 60, 30, "s"),
    )
}
"""What a user may bound, by name, with the widest bounds."""

PARTS = (CONSTANT, "bulk", "jitter", "loss", "bursts", "changes")
"""What a user may leave out."""

TRANSFER = "transfer"

CROSSING = "wire"
"""The name of the fact who crosses a wire."""

SENDING = "link"
"""The name of the fact whether the link sends steadily or in bursts."""


def main_of(numbers: Iterable[Metric]) -> str:
    """Return the kind of the first traffic for conditions about ``numbers``: what measures them, if a search has it."""
    return TRANSFER if any(number.app == TRANSFER for number in numbers) else BULK


CBR_SHARE = (0.1, 2.0)
"""The rate of constant traffic, in multiples of the link's rate."""

START_S = 10.0
"""The latest start of traffic, in seconds."""

SETTLING_S = 5.0
"""The statistics begin so long after the last start."""

SERIES = "100ms"

LEAST_PACKETS = 2
"""The least limit of a queue whose buffer is a multiple of the BDP."""

MOST_PACKETS = 2_000_000
"""The most full frames that the link of a candidate could carry. A candidate with more is not run."""


@dataclass(frozen=True, slots=True)
class World:
    """What a search may choose from."""

    qdiscs: tuple[str, ...]
    """The bottleneck's lines. What is attacked is the only one, if it is a discipline."""
    ccs: tuple[str, ...]
    """The congestion controls of the flows. What is attacked is the first, if it is one."""
    is_cc: bool
    """Whether a congestion control is attacked, and not a discipline."""
    takes_buffer: Mapping[str, bool]
    """Whether the scenario's buffer sets the limit of a line, by line."""
    bounds: Mapping[str, Number] = field(default_factory=lambda: NUMBERS)
    without: frozenset[str] = frozenset()
    """Those of `PARTS` that no candidate has."""
    main: str = BULK
    """The kind of the first traffic: bulk, or transfer."""
    needs_series: bool = False
    ecn: bool = False
    """Whether the flows use ECN."""


def build(world: World, choose: Choose) -> Scenario:
    """Return the scenario of the facts that ``choose`` returns."""
    bounds = world.bounds
    rate, rtt = _number(choose, bounds["rate"]), _number(choose, bounds["rtt"])
    line = _word(choose, "qdisc", world.qdiscs)
    bottleneck: dict[str, Any] = {"rate": f"{rate:.6g}mbit", "qdisc": line}
    if world.is_cc and world.takes_buffer[line]:
        bottleneck["buffer"] = {"bdp": _number(choose, bounds["buffer"]), "min_packets": LEAST_PACKETS}
    if "bursts" not in world.without and _word(choose, SENDING, ("steady", "bursts")) == "bursts":
        bottleneck["bursts"] = f"{_number(choose, bounds['bursts']):.6g}ms"
    duration = _number(choose, bounds["duration"])
    tables = [_first(world, choose)]
    tables += [table for slot in ("second", "third") if (table := _other(world, choose, slot, rate))]
    found: Scenario = {"duration": f"{duration:.6g}s", "bottleneck": bottleneck, "path": {"rtt": f"{rtt:.6g}ms"}}
    last = max(float(str(one.get("start", "0s")).removesuffix("s")) for one in tables)
    found["warmup"] = "0s" if world.main == TRANSFER else f"{min(last + SETTLING_S, duration / 2):.6g}s"
    found["traffic"] = tables
    if hops := _hops(world, choose, tables):
        found["hop"] = hops
    may_change = "changes" not in world.without and "bursts" not in bottleneck  # which has no rate to change
    if may_change and (changes := _changes(world, choose, rate, duration)):
        found["change"] = changes
    if world.needs_series:
        found["series"] = {"interval": SERIES}
    return found


def extremes(world: World) -> Iterator[Scenario]:
    """Yield scenarios of ``world`` with the fewest and the most flows, beside each kind of further traffic.

    What none of them shows, no other scenario of ``world`` shows.
    """
    for further in ("none", BULK, CONSTANT):
        for are_most in (False, True):

            def choose(fact: Fact, further: str = further, are_most: bool = are_most) -> Value:
                if isinstance(fact, Word):
                    return further if further in fact.choices else fact.simplest
                flows = fact.high if are_most else fact.low
                return flows if fact.name == "flows" else fact.simplest

            yield build(world, choose)


def is_too_large(scenario: Scenario) -> bool:
    """Return whether a run would take much longer than others: its link carries more than `MOST_PACKETS`."""
    rates = [scenario["bottleneck"]["rate"], *(one["rate"] for one in scenario.get("change", ()))]
    most = max(float(str(rate).removesuffix("mbit")) for rate in rates)
    return most * 1e6 * float(str(scenario["duration"]).removesuffix("s")) / (8 * 1514) > MOST_PACKETS


def _number(choose: Choose, fact: Number) -> float:
    value = choose(fact)
    assert isinstance(value, int | float)
    return int(value) if fact.is_whole else float(value)


def _word(choose: Choose, name: str, choices: Sequence[str]) -> str:
    """Return one of ``choices``. If there is one, nothing is asked."""
    return choices[0] if len(choices) == 1 else str(choose(Word(name, tuple(choices))))


def _first(world: World, choose: Choose) -> dict[str, Any]:
    cc = world.ccs[0] if world.is_cc else _word(choose, "first.cc", world.ccs)
    table: dict[str, Any] = {"kind": world.main, "cc": cc}
    if world.main == TRANSFER:
        table |= {"size": f"{_number(choose, Number('first.size', 1, 50, 10, 'MB', is_log=True)):.6g}MB", "repeat": 1}
    else:
        table["count"] = _number(choose, world.bounds["flows"])
    return _with_ecn(world, table)


def _other(world: World, choose: Choose, slot: str, rate: float) -> dict[str, Any] | None:
    kinds = [kind for kind in ("none", "bulk", "cbr") if kind not in world.without]
    kind = _word(choose, slot, kinds)
    if kind == "none":
        return None
    start = _number(choose, Number(f"{slot}.start", 0, START_S, 0, "s"))
    table: dict[str, Any] = {"kind": kind, "start": f"{start:.6g}s"}
    if kind == "cbr":
        share = _number(choose, Number(f"{slot}.share", *CBR_SHARE, 1, "of the rate", is_log=True))
        table["rate"] = f"{float(f'{share * rate:.4g}'):.6g}mbit"
        table["ecn"] = {"no": False}.get(ecn := _word(choose, f"{slot}.ecn", ("no", "ect0", "ect1")), ecn)
        if _word(choose, f"{slot}.ends", ("no", "yes")) == "yes":
            lasts = _number(choose, Number(f"{slot}.lasts", 0.1, START_S, 1, "s", is_log=True))
            table["stop"] = f"{start + lasts:.6g}s"
        return table
    table["cc"] = _word(choose, f"{slot}.cc", world.ccs)
    flows = world.bounds["flows"]
    table["count"] = _number(choose, replace(flows.within(1, min(16, flows.high)), name=f"{slot}.flows"))
    if _word(choose, f"{slot}.path", ("same", "own")) == "own":
        table["rtt"] = f"{_number(choose, replace(world.bounds['rtt'], name=f'{slot}.rtt')):.6g}ms"
    return _with_ecn(world, table)


def _with_ecn(world: World, table: dict[str, Any]) -> dict[str, Any]:
    return table | {"ecn": True} if world.ecn and not str(table["cc"]).startswith(("prague", "dctcp")) else table


def _hops(world: World, choose: Choose, tables: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a wire with jitter or loss, and mark the traffic that does not cross it."""
    parts = [part for part in ("jitter", "loss") if part not in world.without]
    if not parts:
        return []
    crossing = _word(choose, CROSSING, ("nobody", "all", "first", "others"))
    if crossing == "nobody" or (crossing == "others" and len(tables) == 1):
        return []
    wire: dict[str, Any] = {"name": "wire", "kind": "wire"}
    kinds = ("jitter", "loss", "both") if len(parts) == 2 else tuple(parts)
    kind = _word(choose, "wire.kind", kinds)
    if kind in ("jitter", "both"):
        amount = _number(choose, world.bounds["jitter"])
        wire |= {"delay": f"{amount:.6g}ms", "jitter": f"{amount:.6g}ms"}
    if kind in ("loss", "both"):
        wire["loss"] = f"{_number(choose, world.bounds['loss']):.6g}%"
    for number, table in enumerate(tables):
        if crossing != "all" and (number == 0) != (crossing == "first"):
            table["hops"] = ["bottleneck"]
    return [wire]


def _changes(world: World, choose: Choose, rate: float, duration: float) -> list[dict[str, Any]]:
    found = []
    for number in range(int(_number(choose, world.bounds["changes"]))):
        share = _number(choose, Number(f"change.{number}.at", 0.2, 0.9, 0.5, "of the run"))
        factor = _number(choose, Number(f"change.{number}.factor", 0.1, 10, 1, "of the rate", is_log=True))
        new = min(max(float(f"{rate * factor:.4g}"), 0.1), 1000)
        found.append({"at": f"{duration * share:.6g}s", "rate": f"{new:.6g}mbit"})
    return sorted(found, key=lambda one: float(str(one["at"]).removesuffix("s")))
