"""A scenario's path as the laboratory builds it: links, changes, wires. Refuses by name what Linux lacks."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from goodqueue.engines.kernel import tc, trees
from goodqueue.engines.kernel.lab.plan import Change, Hop, Shaper
from goodqueue.errors import UserError, quoted
from goodqueue.hops import kinds
from goodqueue.record import Scenario
from goodqueue.scenario import paths, seconds

BOTTLENECK = "bottleneck"
"""The scenario's name for the bottleneck among the hops."""

SHORTEST_STEP_S = 0.01
"""The shortest time between two rates of a link. A change needs two programs, about half a millisecond of the guest's
processor."""

LONGEST_DRAIN_S = 60.0

WIFI_JITTER_S = 0.25
"""More than nearly all delays of a wire with the jitter of a crowded Wi-Fi."""

_AT_ONCE = "10tbit"
"""A rate at which a packet takes a nanosecond. netem with a rate keeps packets in order, since each waits for the one
before it (sch_netem.c). The alternative from tc-netem(8), a pfifo below netem, sorts packets by time."""

REFUSED = {
    "bursts": "a rate or a file of rates, as Linux has no discipline that serves a link in bursts",
    "peak": "a rate or a file of rates, as Linux has no discipline that serves a link in bursts",
    "access": "a rate or a file of rates, as Linux has no discipline that stands for an access network",
    "wifi": "a rate, as Linux has no medium that stations compete for (mac80211_hwsim delivers at once)",
    "ring": "none, as no discipline of Linux fills a ring below another: that is a card's driver",
    "bql": "none, as they are of a card's driver",
    "rx_usecs": "none, as its cards are virtual and have no interrupts",
    "rx_frames": "none, as its cards are virtual and have no interrupts",
    "gro": "none, as it switches merging off, so that one captured packet is one packet",
}
"""Keys of a link that the engine refuses, and what it accepts instead."""


DELAYS = ("rtt", "delay", "jitter")
"""Keys of a change that set the delay of the path or of a wire."""


@dataclass(frozen=True, slots=True)
class Path:
    """What packets meet, as in `lab.plan.Plan`."""

    down: Shaper
    up: Shaper
    hops: list[Hop]
    rows: dict[str, list[int | None]]
    drain_s: float
    """The maximum time that all waiting packets need to arrive."""


def path(scenario: Scenario) -> Path:
    """Return the path of the resolved ``scenario``. Raises UserError: the key, what was found, what is accepted."""
    for key, table in paths.links(scenario):
        _refuse(key, table)
    duration_s = seconds(scenario["duration"])
    bottleneck, listed = scenario["bottleneck"], scenario.get("hop") or []
    down, up = _link("bottleneck", bottleneck, duration_s), _link("bottleneck.up", bottleneck["up"], duration_s)
    hops = [_hop(f"hop[{index}]", hop, duration_s) for index, hop in enumerate(listed)]
    for index, change in enumerate(scenario.get("change") or []):
        key = f"change[{index}]"
        if delayed := next((name for name in DELAYS if name in change), None):
            accepted = "a rate or a qdisc, as it sets delays before the run"
            raise UserError(f"{key}.{delayed}", f"found {change[delayed]}; accepted by the kernel engine: {accepted}")
        name = change.get("hop", BOTTLENECK)
        at = next((index for index, hop in enumerate(hops) if hop.name == name), None)
        if at is not None:
            link = hops[at].link
            assert link is not None, "the scenario has been checked: a wire does not change"
            hops[at] = replace(hops[at], link=_changed(key, link, change, listed[at]["qdisc"]))
        elif name != BOTTLENECK:
            continue  # the interface of a host
        elif change["direction"] == "down":
            down = _changed(key, down, change, bottleneck["qdisc"])
        else:
            up = _changed(key, up, change, bottleneck["up"]["qdisc"])
    rows = {direction: row_of(listed, direction) for direction in ("down", "up")}
    lines = {index: hop.get("qdisc") for index, hop in enumerate(listed)}
    drains = []
    for direction, row in rows.items():
        own_link = (down, bottleneck["qdisc"]) if direction == "down" else (up, bottleneck["up"]["qdisc"])
        drains.append(
            sum(_own_drain_s(*own_link) if index is None else _hop_s(hops[index], lines[index]) for index in row)
        )
    return Path(down, up, hops, rows, max(drains))


def _refuse(key: str, link: dict[str, Any]) -> None:
    for name, accepted in REFUSED.items():
        if name in link:
            what = "a cell" if name == "wifi" else quoted(link[name])
            raise UserError(f"{key}.{name}", f"found {what}; accepted by the kernel engine: {accepted}")


def interface(key: str, host: dict[str, Any], name: str, changes: list[dict[str, Any]]) -> tuple[Shaper, float]:
    """Return the interface ``name`` of a host's table with those of ``changes`` that are its own.

    Also returns the time in which its full queue drains. Raises UserError.
    """
    _refuse(key, host)
    link = _link(key, host, 0.0)
    for index, change in enumerate(changes):
        if change.get("hop") != name:
            continue
        if "rate" in change:
            problem = f"found {change['rate']} at the interface of a host"
            raise UserError(f"change[{index}].rate", f"{problem}; accepted by the kernel engine there: a qdisc")
        link = _changed(f"change[{index}]", link, change, host["qdisc"])
    return link, _own_drain_s(link, host["qdisc"])


def row_of(listed: list[dict[str, Any]], direction: str) -> list[int | None]:
    """Return what packets of ``direction`` meet, in order: places in ``listed``, and None for the bottleneck."""
    names: list[str] = [BOTTLENECK]
    waiting = [hop for hop in listed if hop["direction"] == direction]
    while waiting:
        next_hops = [hop for hop in waiting if hop.get("after", hop.get("before")) in names]
        for hop in next_hops:
            at = names.index(hop["after"]) + 1 if "after" in hop else names.index(hop["before"])
            names.insert(at, hop["name"])
        waiting = [hop for hop in waiting if hop not in next_hops]
    places: dict[str, int | None] = {hop["name"]: index for index, hop in enumerate(listed)}
    return [places.get(name) for name in names]


def _hop(key: str, hop: dict[str, Any], duration_s: float) -> Hop:
    run_by = kinds()[hop["kind"]].linux
    if run_by == "shaper":
        return Hop(hop["name"], hop["direction"], link=_link(key, hop, duration_s))
    if run_by == "netem":
        if hop["distribution"] == "wifi":
            accepted = "uniform, normal, pareto or paretonormal, which netem has"
            raise UserError(f"{key}.distribution", f'found "wifi"; accepted by the kernel engine: {accepted}')
        return replace(unqueued(hop), netem=_netem(hop))
    accepted = ", ".join(kind.name for kind in kinds().values() if kind.linux)
    raise UserError(f"{key}.kind", f"found {quoted(hop['kind'])}; accepted by the kernel engine: {accepted}")


def unqueued(hop: dict[str, Any]) -> Hop:
    """Return what the hosts must know of a hop without a queue: how long packets take, and how many it holds."""
    longest_s = seconds(hop.get("delay", "0s")) + 4 * seconds(hop.get("jitter", "0s"))
    longest_s += WIFI_JITTER_S if hop.get("distribution") == "wifi" else 0.0
    return Hop(hop["name"], hop["direction"], delay_s=longest_s, limit=hop.get("limit", 0))


def _netem(wire: dict[str, Any]) -> list[str]:
    """Return the words for tc's netem, which are the words of ``wire`` in the scenario."""
    words = ["limit", str(wire["limit"])]
    has_jitter = seconds(wire["jitter"]) > 0
    if has_jitter or seconds(wire["delay"]) > 0:
        words += ["delay", _microseconds(wire["delay"])]
    if has_jitter:
        words.append(_microseconds(wire["jitter"]))
        if wire["distribution"] != "uniform":
            words += ["distribution", wire["distribution"]]
        if not wire["jitter_reorders"]:
            words += ["rate", _AT_ONCE]
    if wire["loss"] != "0%":
        words += ["loss", *([] if wire["loss"].startswith("gemodel") else ["random"]), *wire["loss"].split()]
    if wire["duplicate"] != "0%":
        words += ["duplicate", wire["duplicate"]]
    if wire["reorder"] != "0%":
        words += ["reorder", *wire["reorder"].split(), "gap", str(wire["gap"])]
    return words


def _microseconds(text: str) -> str:
    from goodqueue import _goodqueue

    return f"{_goodqueue.time_ns(text) / 1000:.3f}us"


def _link(key: str, link: dict[str, Any], duration_s: float) -> Shaper:
    # Linux's disciplines do not learn of a changed rate. A discipline whose setup needs a rate gets the mean.
    shaper = _shaper(f"{key}.qdisc", paths.rate_bps(link), link["qdisc"])
    if "trace" not in link:
        return shaper
    (_, first), *later = _steps(f"{key}.trace", link["trace"], duration_s)
    return replace(shaper, rate_bps=first, changes=[Change(at_s, rate_bps=rate) for at_s, rate in later])


def _steps(key: str, file: str, duration_s: float) -> list[tuple[float, int]]:
    """Return the rates of ``file`` over the run, each with its begin."""
    from goodqueue import _goodqueue

    steps = _goodqueue.rate_steps(paths.read(file), duration_s)
    accepted = "accepted by the kernel engine: rates over time (two columns, or netem-trace's JSON)"
    if steps is None:
        raise UserError(key, f"found {quoted(file)}, delivery opportunities; {accepted}")
    for (at_s, rate), following in zip(steps, [*(at_s for at_s, _ in steps[1:]), duration_s], strict=True):
        if rate == 0:
            raise UserError(key, f"found a rate of 0 at {at_s:g}s in {quoted(file)}; {accepted}, all above 0")
        if following - at_s < SHORTEST_STEP_S and following < duration_s:
            problem = f"found a rate for {following - at_s:g}s at {at_s:g}s in {quoted(file)}"
            raise UserError(key, f"{problem}; {accepted}, each for {1000 * SHORTEST_STEP_S:g}ms or longer")
    return steps


def _changed(key: str, link: Shaper, change: dict[str, Any], line: str) -> Shaper:
    from goodqueue import _goodqueue

    rate_bps = _goodqueue.rate_bps(change["rate"]) if "rate" in change else None
    lines: list[list[str]] = []
    if "qdisc" in change:
        now_bps = rate_bps or link.rates()[-1][1]
        lines = _commands(f"{key}.qdisc", now_bps, change["qdisc"], line)
    return replace(link, changes=[*link.changes, Change(seconds(change["at"]), rate_bps, lines)])


def _commands(key: str, rate_bps: int, changed: str, line: str) -> list[list[str]]:
    """Return the commands of a change to ``changed`` of a link whose discipline was made by ``line``."""
    if trees.is_tree(line):
        return trees.translate_change(changed, line)
    lines = _shaper(key, rate_bps, changed).tc
    if len(lines) > 1:
        raise UserError(key, f"found {quoted(changed)}; accepted by the kernel engine: a change of one discipline")
    return lines


def _shaper(key: str, rate_bps: int, line: str) -> Shaper:
    from goodqueue import _goodqueue

    try:
        if trees.is_tree(line):
            commands, most_bps = trees.translate(line, rate_bps), trees.most_bps(line)
            return Shaper(rate_bps, trees.SHAPER, commands, most_bps=most_bps)
        commands, own_rate = tc.translate(line, rate_bps), tc.own_rate(tc.parse(line))
        most_bps = None if own_rate is None else _goodqueue.rate_bps(own_rate)
        return Shaper(rate_bps, tc.shaper(line), commands, queues=tc.queues(line), most_bps=most_bps)
    except UserError as error:
        raise UserError(key, str(error)) from None


def _hop_s(hop: Hop, line: str | None) -> float:
    return hop.delay_s if hop.link is None or line is None else _own_drain_s(hop.link, line)


def _own_drain_s(link: Shaper, line: str) -> float:
    """Return how long a full queue takes to drain. Packets that wait when the captures end would look lost."""
    rate_bps = min(rate for _, rate in link.rates())
    if trees.is_tree(line):
        later = [words for change in link.changes for words in change.tc]
        slowest_bps = trees.slowest_bps(line, rate_bps, later)
        return max(drain_s(tc.parse(leaf), slowest_bps) for leaf in {*trees.leaves(line), trees.WITHOUT_A_LINE})
    return drain_s(tc.parse(line), rate_bps)


def drain_s(line: tc.Line, rate_bps: int) -> float:
    """Return how long a full ``line`` takes to drain at ``rate_bps``, or at the line's own rate."""
    from goodqueue import _goodqueue

    if (own_rate := tc.own_rate(line)) is not None:
        rate_bps = _goodqueue.rate_bps(own_rate)
    if line.child is not None:
        return drain_s(tc.parse(line.child), rate_bps)
    held_s = sum(factor * seconds(line.text(name) or "0s") for name, factor in (("delay", 1), ("jitter", 4)))
    return held_s + min(LONGEST_DRAIN_S, tc.limit_frames(line) * tc.FULL_FRAME * 8 / rate_bps)


def skipped(traffic: dict[str, Any], hops: Iterable[Hop]) -> list[int | None]:
    """Return what the flows of ``traffic`` do not cross: places of ``hops``, and None for the bottleneck."""
    if "hops" not in traffic:
        return []
    around: list[int | None] = [] if BOTTLENECK in traffic["hops"] else [None]
    return around + [index for index, hop in enumerate(hops) if hop.name not in traffic["hops"]]
