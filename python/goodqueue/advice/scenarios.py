"""The scenarios in which candidates run: the link of a question, both directions loaded, and the traffic of its uses.

  Internet ──▶ [ provider: FIFO ] ── the link ──▶ [ router: the line down ] ──▶ home
           ◀── the link ── [ modem: FIFO ] ◀── [ router: the line up ] ◀──

The FIFOs are the present queues. A shaper with a lower rate than the link keeps them empty.
"""

import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from goodqueue import _goodqueue
from goodqueue.advice.candidates import STATION, Candidate
from goodqueue.advice.choosing import SINGLE
from goodqueue.advice.framing import HEADER
from goodqueue.advice.lengths import RADIO_S, Times, short
from goodqueue.advice.links import air_mbps, cell, frames_bps
from goodqueue.advice.reading import Question
from goodqueue.files import har
from goodqueue.hops import queue
from goodqueue.record import Scenario
from goodqueue.scenario import air, asked
from goodqueue.traffic import BULK, probe

LOAD = "bulk:3:host=busy,bulk:2:up:host=busy,bulk:1:host=single,ping:host=player"
"""The load, and the ping that measures it. Flent's rrul has four flows each way; homes send less than they fetch.

Four users share the link. One has most of the load, and another has a single download.
"""

USES = {"calls": "voip:host=caller,voip:up:host=caller", "web": "page:google:host=player"}
"""The traffic that uses add. A game is the ping, and downloads are in the load."""

TRANSLATED = "router"
"""The user's host of all packets on the router's port to the modem, if nobody looks behind the translation (NAT)."""

REFLECTORS = "reflectors"
"""The hosts that an outside program pings: six, each every 0.3 s (cake-autorate's defaults)."""

PAGE_EVERY = "1s"
"""The time from the end of a page to the start of the next."""

TICK = "50ms"
"""The interval between two packets of a game: 20 per second."""

LAN_BPS = 1_000_000_000

YOU = "you"
"""The station of a Wi-Fi cell whose calls, pings and pages count."""

AIR = "802.11n:20", "mcs3"
"""The Wi-Fi behind the line: 26 Mbit/s on the air."""


@dataclass(frozen=True, slots=True)
class Truth:
    """The real link, if it differs from the question."""

    rate: float = 1.0
    """Its rates, as a share of the stated rates."""
    buffer: float = 1.0
    """The present queue, as a share of the stated one."""
    air: str = ""
    """The access point's discipline, if a slow Wi-Fi is the last hop."""
    far: bool = False
    """Whether a far station shares the Wi-Fi cell and downloads."""
    own: bool = False
    """Whether the link is the router's own port, without a FIFO behind it."""
    grants: bool = False
    """Whether a cable's modem sends in grants, for which it asks (DOCSIS 3.1)."""
    cc: str = ""
    """The congestion control of downloads and uploads, if it is not Linux's default, CUBIC."""


def scenario(
    question: Question, candidate: Candidate, seed: int, truth: Truth, folder: Path, times: Times | None = None
) -> Scenario:
    """Return the scenario of ``candidate`` with ``seed``, which runs for ``times``, or for a `short` time.

    LTE's rates are files in ``folder``, written if missing.
    """
    times = times or short(question)
    options: dict[str, Any] = {
        "rtt": f"{question.rtt_s * 1e3:.3f}ms",
        "traffic": ",".join([LOAD, *(words for use, words in USES.items() if use in question.uses)]),
        "warmup": f"{times.warmup_s:g}s",
        "duration": f"{times.whole_s:g}s",
    }
    lines = candidate.lines(question)
    built: Scenario
    if question.link.key == "wifi":
        built = _cell(question, options, truth)
        built["bottleneck"] |= {"qdisc": lines[0], "up": {"qdisc": lines[1]}}
    else:
        built = _air(options, truth) if truth.air else asked.base(None, {"rate": f"{_lan(question)}bit", **options})[0]
        _put(built, question, lines, truth, seed, folder)
    for source in built["traffic"]:
        if source["host"] == SINGLE:
            source["name"] = SINGLE
        if not candidate.fair:
            source["host"] = TRANSLATED
        if truth.cc and source["kind"] == BULK:
            source["cc"] = truth.cc
        if source.get(har.KEY):
            source |= {"interval": PAGE_EVERY, "start_spread": "1s"}
        elif source["kind"] == probe().name:
            source["interval"] = TICK
    if candidate.outside and not truth.air:
        _add_program(built, question, candidate)
    return built | {"seed": seed}


def _add_program(scenario: Scenario, question: Question, candidate: Candidate) -> None:
    """Add the program that sets the rates, with its published rules, and the pings that it measures."""
    pings = {"kind": probe().name, "name": REFLECTORS, "count": 6, "interval": "300ms", "stagger": "50ms"}
    scenario["traffic"].append({**pings, "host": TRANSLATED})
    bounds = zip(("down", "up"), candidate.bounds_bps(question), strict=True)
    shapers = {direction: {"min": f"{least}bit", "max": f"{most}bit"} for direction, (least, most) in bounds}
    scenario["autorate"] = {"pings": REFLECTORS, **shapers}


def _lan(question: Question) -> int:
    return max(LAN_BPS, 2 * max(question.down_bps, question.up_bps))


def _put(scenario: Scenario, question: Question, lines: tuple[str, str], truth: Truth, seed: int, folder: Path) -> None:
    """Add the line's hops to ``scenario``, and set the candidate's ``lines`` at the router's place."""
    rates = {"down": question.down_bps, "up": question.up_bps}
    if truth.own:
        for direction, table in (("down", scenario["bottleneck"]), ("up", scenario["bottleneck"].setdefault("up", {}))):
            table |= {"rate": f"{frames_bps(question.link, rates[direction])}bit"}
    hops: list[dict[str, Any]] = []
    kind = queue().name
    inner = "bottleneck"
    if truth.air:  # the cell is the bottleneck, so the router's lines are on hops of their own
        for direction, line in zip(("down", "up"), lines, strict=True):
            side = "before" if direction == "down" else "after"
            router = {"name": f"router {direction}", "kind": kind, "direction": direction, side: "bottleneck"}
            hops.append({**router, "rate": f"{_lan(question)}bit", "qdisc": line})
        inner = "router "
    else:
        scenario["bottleneck"]["qdisc"] = lines[0]
        scenario["bottleneck"].setdefault("up", {})["qdisc"] = lines[1]
    if not truth.own:
        for direction, side, name in (("down", "before", "provider"), ("up", "after", "modem")):
            beside = f"{inner}{direction}" if truth.air else inner
            hop = {"name": name, "kind": kind, "direction": direction, side: beside}
            hops.append(hop | _hidden(question, direction, rates[direction], truth, seed, folder))
    scenario["hop"] = hops


def _hidden(question: Question, direction: str, rate_bps: int, truth: Truth, seed: int, folder: Path) -> dict[str, Any]:
    """Return the link that the router does not see: its rate, and its FIFO."""
    link = question.link
    rate = round(rate_bps * truth.rate)
    fifo = link.queue(rate, question.buffer_s * truth.buffer)
    if link.follows_file:
        return {"trace": _trace(question, direction, rate, seed, folder), "qdisc": fifo}
    if access := link.grants(direction, rate) if truth.grants else link.access(direction, rate):
        return {"rate": f"{frames_bps(link, rate)}bit", "access": access, "qdisc": fifo}
    if link.cells != "atm":
        return {"rate": f"{frames_bps(link, rate)}bit", "qdisc": fifo}
    # A serial link of cells: htb counts the packets' cells and never sends early (docs/reference/qdiscs/htb.md). On the
    # link below a packet takes another quarter of its time. The kernel engine's machine would refuse a faster link.
    cells = f"htb rate {rate}bit burst 1b cburst 1b overhead {link.overhead - HEADER} linklayer atm child {fifo}"
    return {"rate": f"{4 * rate}bit", "qdisc": cells}


def _trace(question: Question, direction: str, rate: int, seed: int, folder: Path) -> str:
    """Return the file of rates of one direction: the user's, or a generated one, which differs by seed."""
    if question.trace is not None and direction == "down":
        return question.trace
    file = folder / f"{direction}-{rate}-{seed}.mahimahi"
    if not file.exists():
        drawn = 2 * seed + (direction == "up")
        file.write_text(_goodqueue.generate_rates("lte", f"{rate}bit", f"{RADIO_S:g}s", drawn), encoding="ascii")
    return str(file)


def _cell(question: Question, options: dict[str, Any], truth: Truth) -> Scenario:
    """Return a cell whose station gets the stated rate down. With ``truth.far``, a far station shares the cell."""
    fastest = cell(question.down_bps)
    assert fastest is not None, "the question has been checked"
    shared_cell = _in_cell(options, *fastest)
    if truth.far:
        for source in shared_cell["traffic"]:
            source["station"] = YOU
        shared_cell["bottleneck"]["wifi"]["station"].append({"name": "far", "rate": "mcs0"})
        bulk = next(source for source in shared_cell["traffic"] if source["kind"] == BULK)
        shared_cell["traffic"].append({**copy.deepcopy(bulk), "name": "far", "station": "far"})
    return shared_cell


def _air(options: dict[str, Any], truth: Truth) -> Scenario:
    provider_cell = _in_cell(options, *AIR)
    provider_cell["bottleneck"] |= {"qdisc": truth.air, "up": {"qdisc": STATION}}
    return provider_cell


def _in_cell(options: dict[str, Any], standard: str, rate: str) -> Scenario:
    """Return a scenario whose bottleneck is a cell with one station."""
    return asked.base(None, options)[0] | {"bottleneck": {"wifi": air.cell(standard, f"{YOU}:{rate}")}}


def assumptions(question: Question) -> list[tuple[str, str]]:
    """Return the assumptions on the link that the user did not state, each with its source."""
    link = question.link
    if link.key == "wifi":
        standard, rate = cell(question.down_bps) or AIR
        air = f"{air_mbps(standard, rate):g} Mbit/s on the air"
        conditions = (
            f"{standard.replace(':', ', ')} MHz, {rate.upper()} ({air}); ath9k's queues; mac80211 at the station"
        )
        return [(f"one station near the access point: {conditions}", "docs/guides/advise.md")]
    buffer = f"{_span(question.buffer_s)} of {'classic ' if link.key == 'lld' else ''}queue each way now"
    if question.found and question.found.buffer_s == question.buffer_s:
        source = "Flent's pings, under load less without"
    else:
        source = link.buffer_source if question.buffer_s == link.buffer_s else "as said"
    rows = [(buffer, source), ("4 users behind NAT", "docs/guides/advise.md")]
    if link.key == "starlink":
        rows.insert(0, ("another rate and RTT every 15 s, with a stall", "docs/concepts/access-links.md"))
    elif link.is_radio:
        varies = question.trace or "another draw of `goodqueue generate lte` each seed"
        rows.insert(0, (f"a rate that wanders, with outages: {varies}", "docs/guides/advise.md"))
    else:
        cells = {"atm": ", in cells of ATM", "ptm": ", in cells of PTM"}.get(link.cells, "")
        rows.insert(0, (f"{link.overhead} bytes on each IP packet{cells}", link.source))
    return rows


def _span(seconds: float) -> str:
    return f"{1000 * seconds:.0f} ms" if seconds < 1 else f"{seconds:g} s"
