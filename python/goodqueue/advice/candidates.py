"""The lines to try: those that Linux ships, from the simplest to the most elaborate."""

from dataclasses import dataclass, replace

from goodqueue.advice.framing import HEADER
from goodqueue.advice.links import Link
from goodqueue.advice.reading import Question
from goodqueue.show.labels import BOTH

MARGIN = 0.95
"""Share of the rate. "95 % of the measured speed": OpenWrt's SQM Details and bufferbloat.net's guide to SQM."""

ADVERTISED = 0.85
"""Share of a rate that nobody measured: "85 % of the provider's published numbers", the same pages."""

NOTHING = "fq_codel"
"""Linux's state if the user types nothing: systemd's and OpenWrt's default discipline, without a shaper."""

FAIR = "nat dual-dsthost", "nat dual-srchost"
"""cake's words for fairness between users, down and up. Without ``nat`` cake sees one host, the router: on its port to
the modem all packets have the router's address (tc-cake(8))."""

SPREAD = 4
"""An outside program may set a quarter to four times the rate of the line: cake-autorate's 5, 20 and 80 Mbit/s."""

LARGE_RTT_S = 0.1
"""cake's default ``rtt`` and CoDel's default ``interval`` (tc-cake(8); RFC 8289, 4.3)."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A way to configure a link, in both directions."""

    kind: str
    """``nothing``, the shaper's name, or the discipline's."""
    label: str
    down: float = MARGIN
    """The shaper's share of the rate."""
    up: float = MARGIN
    words_down: str = ""
    """Additional words for cake."""
    words_up: str = ""
    fair: bool = False
    """Whether cake shares between the users behind the router, by `FAIR`."""
    outside: bool = False
    """Whether a program beside the router sets cake's rates by the delay of pings, as cake-autorate does."""

    @property
    def level(self) -> int:
        """How much there is to type and to understand. It is the same for all lines of a Wi-Fi card."""
        cake = 1 + self.fair + bool(self.words_down + self.words_up) + 2 * self.outside
        return {"nothing": 0, "cake": cake, "tbf": 4, "htb": 5}.get(self.kind, 0)

    def at(self, down: float, up: float | None = None) -> "Candidate":
        """Return the candidate with its shapers at other shares of the rate."""
        return replace(self, down=down, up=down if up is None else up)

    def lines(self, question: Question, header: int = HEADER) -> tuple[str, str]:
        """Return the qdisc lines down and up, as in a scenario: its interfaces count an Ethernet ``header``."""
        link = question.link
        if link.key == "wifi":
            return self.kind, STATION
        down, up = self.rates_bps(question)
        if self.kind == "cake":
            base = _words("besteffort", link.framing, _rtt(question, self.words_down + self.words_up))
            fair_down, fair_up = FAIR if self.fair else ("", "")
            return (
                _words(f"cake bandwidth {kbit(down)}", base, fair_down, self.words_down, "ingress"),
                _words(f"cake bandwidth {kbit(up)}", base, fair_up, self.words_up),
            )
        if self.kind in ("htb", "tbf"):
            return _shaped(self.kind, question, down, header), _shaped(self.kind, question, up, header)
        return NOTHING, NOTHING

    def rates_bps(self, question: Question) -> tuple[int, int]:
        """Return the rates of the shapers."""
        # htb and tbf have no word for PTM, nor have SQM's settings: the rate is multiplied by PTM's 64/65 instead.
        cells = 64 / 65 if question.link.cells == "ptm" and self.kind != "cake" else 1.0
        return _whole(question.down_bps * self.down * cells), _whole(question.up_bps * self.up * cells)

    def bounds_bps(self, question: Question) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return the lowest and the highest rate of each shaper, which an outside program may set."""
        down, up = ((_whole(base / SPREAD), _whole(base * SPREAD)) for base in self.rates_bps(question))
        return down, up

    def pair(self, question: Question) -> str:
        """Return both lines as one text, which identifies the candidate."""
        return BOTH.join(self.lines(question))


def of(question: Question) -> list[Candidate]:
    """Return the candidates for the link of ``question``, the simplest first. The first is the present state."""
    if question.link.key == "wifi":
        return [
            Candidate("pfifo", "pfifo above the driver"),
            Candidate("fq_codel", "fq_codel above the driver"),
            Candidate("mac80211", "the driver's own queues (mac80211)"),
        ]
    cake = Candidate("cake", f"cake at {_percent(MARGIN)}")
    nothing = Candidate("nothing", "nothing typed")
    if question.link.is_radio:
        return [
            nothing,
            replace(cake, label="cake at 95 % of the mean"),
            replace(cake.at(0.5), label="cake at half of the mean"),
            replace(cake.at(0.25), label="cake at a quarter of the mean"),
            replace(cake.at(MARGIN, 0.5), label="cake autorate-ingress", words_down="autorate-ingress"),
            replace(cake.at(0.5), label="cake, its rate set by cake-autorate", outside=True),
        ]
    short = f"rtt {_ms(question.rtt_s)}"
    fair = replace(cake, label="cake, fair between users", fair=True)
    # A short rtt is a candidate of its own. A long rtt is in every line.
    shorter = [replace(fair, label=f"cake, fair, {short}", words_down=short, words_up=short)]
    return [
        nothing,
        cake,
        fair,
        *(shorter if question.rtt_s < LARGE_RTT_S else []),
        replace(fair, label="cake, fair, ack-filter up", words_up="ack-filter"),
        replace(fair.at(0.9, MARGIN), label="cake, fair, at 90 % down"),
        Candidate("tbf", "tbf + fq_codel"),
        Candidate("htb", "htb + fq_codel"),
    ]


STATION = "mac80211"
"""The discipline of the stations in a Wi-Fi cell: the queues of Linux and Android since 4.11."""


def kbit(bps: int) -> str:
    """Return a rate in the notation of tc and SQM."""
    return f"{bps // 1000}kbit"


def _whole(bps: float) -> int:
    """Return the rate in whole kbit/s, rounded down to at most five significant digits."""
    step = 1000
    while bps / step >= 100_000:
        step *= 10
    return max(int(bps / step), 1) * step


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _words(*words: str) -> str:
    return " ".join(word for word in words if word)


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:g}ms"


def _rtt(question: Question, line: str) -> str:
    """Return cake's rtt if the default is too short: RTTs within an order of magnitude will do (tc-cake(8))."""
    return f"rtt {_ms(question.rtt_s)}" if question.rtt_s > LARGE_RTT_S and "rtt " not in line else ""


def _shaped(kind: str, question: Question, bps: int, header: int) -> str:
    """Return fq_codel below a shaper. A bucket of tbf holds 1 ms (as in sqm-scripts) or two full frames."""
    burst = f"burst {max(2 * 1514, bps // 8000)} " if kind == "tbf" else ""
    framing = _framing(question.link, header)
    return _words(f"{kind} rate {kbit(bps)}", burst.strip(), framing, f"child fq_codel{_times(question, bps)}")


def _framing(link: Link, header: int) -> str:
    """Return the link's framing in the words of tbf and htb. They count the frame with its ``header``."""
    words = [f"overhead {link.overhead - header}"] if link.overhead > header else []
    words += [f"mpu {link.mpu}"] if link.mpu else []
    return " ".join(words + (["linklayer atm"] if link.cells == "atm" else []))


def _times(question: Question, bps: int) -> str:
    """Return target and interval if the defaults do not fit.

    The target is at least the transmission time of 1.5 full packets (sch_cake.c; RFC 8290, 5.2.2 has 1). The interval
    is at least the RTT of a long path, and the target at least a twentieth of it (RFC 8289, 4.3 and 4.4).
    """
    interval = max(LARGE_RTT_S, question.rtt_s)
    least = 1.5 * 1514 * 8 / bps
    target = max(interval / 20, least)
    if target <= 0.005:
        return ""
    return f" target {1e6 * target:.0f}us interval {1e6 * max(interval, interval + least - 0.005):.0f}us"
