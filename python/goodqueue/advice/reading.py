"""The user's question: the link, its rates, and its uses. Error messages name the option."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goodqueue.advice.framing import USUAL, Wan, framed
from goodqueue.advice.links import LINKS, SYNONYMS, Link, cell, find
from goodqueue.advice.question import Advise
from goodqueue.errors import Option, UserError, quoted

if TYPE_CHECKING:
    from goodqueue.advice.flent import Found

WIFI = Option("link", "wifi")

USES = ("calls", "games", "downloads", "web")

LEAST_BPS, MOST_BPS = 128_000, 10_000_000_000
RATES = "128kbit to 10gbit"

RTT = "30ms"
"""The default: cake's word ``regional`` (tc-cake(8))."""

SEEDS, QUICK_SEEDS = 5, 3
RADIO_SEEDS, QUICK_RADIO_SEEDS = 12, 4
"""For LTE and 5G, since each seed also draws another radio."""


@dataclass(frozen=True, slots=True)
class Question:
    """A link and its uses."""

    link: Link
    down_bps: int
    up_bps: int
    """The rate of the link itself. For Wi-Fi, which shares the air, it is not used."""
    rtt_s: float
    """The round-trip time to the servers, without queueing."""
    uses: tuple[str, ...]
    buffer_s: float
    """The length of the present queue when it is full."""
    seeds: tuple[int, ...]
    quick: bool = False
    trace: str | None = None
    """A file of rates for the direction down."""
    found: "Found | None" = None
    """Flent's measurements of the link."""
    wan: Wan = USUAL
    """The router's interface to the Internet."""

    @property
    def is_wired(self) -> bool:
        """Whether the link has its own constant rate."""
        return not self.link.is_radio and self.link.key != "wifi"


def ask(asked: Advise) -> Question:
    """Return the question of these options. Raises UserError."""
    kind = find(asked.link)
    if kind is None:
        known = ", ".join(f"{key} ({', '.join(SYNONYMS[key])})" for key in LINKS)
        raise UserError(Option("link"), f"found {quoted(asked.link)}; accepted: {known}")
    kind, interface = framed(kind, asked.pppoe, asked.vlan, asked.overhead, asked.wan)
    uses = tuple(word.strip() for word in asked.use.split(","))
    for word in uses:
        if word not in USES or uses.count(word) > 1:
            said = quoted(word) + (" twice" if word in USES else "")
            raise UserError(Option("use"), f"found {said}; accepted: a list of {', '.join(USES)}, each once")
    if asked.trace is not None and not kind.follows_file:
        raise UserError(
            Option("trace"),
            ["found with ", Option("link", asked.link), "; accepted: with ", Option("link", "lte"), " or 5g"],
        )
    found = _found([*asked.flent, *asked.more])
    down_bps = _rate(Option("down"), asked.down, found.down_bps if found else None, asked.trace)
    up_bps = (
        down_bps
        if kind.key == "wifi" and asked.up is None
        else _rate(Option("up"), asked.up, found.up_bps if found else None)
    )
    if kind.key == "wifi" and cell(down_bps) is None:
        raise UserError(
            Option("down"), [f"found {quoted(asked.down)} with ", WIFI, "; accepted: up to 189mbit, as 802.11n carries"]
        )
    rtt_s = _time(Option("rtt"), asked.rtt, 0.001, 2.0) if asked.rtt is not None or not found else found.rtt_s
    if asked.buffer is None:
        buffer_s = (found.buffer_s if found else None) or kind.buffer_s
    elif kind.key == "wifi":
        raise UserError(
            Option("buffer"), ["found with ", WIFI, "; accepted: without, as the driver's queue is what it is"]
        )
    else:
        buffer_s = _time(Option("buffer"), asked.buffer, 0.001, 10.0)
    usual = (RADIO_SEEDS, QUICK_RADIO_SEEDS) if kind.is_radio else (SEEDS, QUICK_SEEDS)
    count = asked.seeds or usual[asked.quick]
    every = tuple(range(asked.seed, asked.seed + count))
    return Question(kind, down_bps, up_bps, rtt_s, uses, buffer_s, every, asked.quick, asked.trace, found, interface)


def _found(files: Sequence[str]) -> "Found | None":
    if not files:
        return None
    from goodqueue.advice import flent

    return flent.found(files)


def _rate(option: Option, text: str | None, measured: int | None, trace: str | None = None) -> int:
    """Return the rate in ``text``, or the ``measured`` one, or the mean of the file ``trace``."""
    from goodqueue import _goodqueue
    from goodqueue.scenario import paths
    from goodqueue.show import notes

    if trace is not None:
        if text is not None:
            raise UserError(option, [f"found {quoted(text)} beside ", Option("trace"), "; accepted: one of them"])
        return paths.rate_bps({"trace": trace})
    if text is None:
        if measured is None:
            raise UserError(
                option, ["missing; accepted: a rate such as 50mbit, or ", Option("flent", "FILE"), " that measured it"]
            )
        return measured
    try:
        bps = _goodqueue.rate_bps(text)
    except ValueError as error:
        raise UserError(option, str(error)) from None
    accepted = range(LEAST_BPS, MOST_BPS + 1)
    if readings := notes.byte_rate(text):
        in_bytes, meant, in_bits = readings
        typed = in_bytes.lower().removesuffix("/s").replace(" ", "")
        either = " or ".join(rate for rate, of_it in ((meant, bps // 8), (typed, bps)) if of_it in accepted)
        both = f"{in_bytes} for tc (bytes), and {in_bits} in a contract"
        raise UserError(option, f"found {quoted(text)}, which is {both}; accepted: {either or RATES}")
    if bps not in accepted:
        raise UserError(option, f"found {quoted(text)}; accepted: {RATES}")
    return bps


def _time(option: Option, text: str | None, least_s: float, most_s: float) -> float:
    from goodqueue import _goodqueue

    try:
        found: float = _goodqueue.time_ns(text or RTT) / 1e9
    except ValueError as error:
        raise UserError(option, str(error)) from None
    if not least_s <= found <= most_s:
        raise UserError(option, f"found {quoted(text)}; accepted: {1000 * least_s:g}ms to {most_s:g}s")
    return found
