"""The commands that each script of SQM types, by its settings. See `goodqueue.settings.sqm` for the source."""

from dataclasses import dataclass
from fnmatch import fnmatchcase

MTU = 1500
BURST_US = 1000
"""For how long a burst and a quantum of htb last (SHAPER_BURST_DUR_US)."""

LEAST_BURST = (MTU + 48 + 47) // 48 * 53
"""A full packet with 48 bytes of overhead, in cells of ATM."""

SLOWEST_US = 33 * 53 * 8 * 1000
"""The time of a full packet in cells of ATM, at 1 kbit/s, in microseconds."""

TINS = "diffserv3 nat"

CODEPOINTS = (
    ("0x00", "1:12"),
    ("0x20", "1:13"),
    ("0x10", "1:11"),
    ("0xb8", "1:11"),
    ("0xc0", "1:11"),
    ("0xe0", "1:11"),
    ("0x90", "1:11"),
)
"""The first bits of the TOS byte, and the class of simple.qos for them."""


@dataclass(frozen=True)
class Queue:
    """The settings of both directions."""

    qdisc: str
    adaptation: str
    linklayer: str
    overhead: str
    mtu: str
    size: str
    mpu: str
    squashes: bool
    ignores: bool

    def stab(self, qdisc: str) -> str:
        """Return the size table before the root, unless ``qdisc`` counts sizes itself."""
        by_table = self.adaptation == "tc_stab" or (self.adaptation == "default" and qdisc != "cake")
        if not by_table or self.linklayer == "none":
            return ""
        return (
            f"stab mtu {self.mtu} tsize {self.size} mpu {self.mpu} overhead {self.overhead} linklayer {self.linklayer}"
        )

    def of_cake(self, qdisc: str = "cake") -> str:
        """Return cake's own words for the size of packets."""
        by_cake = self.adaptation == "cake" or (self.adaptation == "default" and qdisc == "cake")
        if not by_cake or self.linklayer == "none":
            return ""
        return joined("atm" if self.linklayer == "atm" else "", f"overhead {self.overhead} mpu {self.mpu}")

    @property
    def of_htb(self) -> str:
        """The words of a class of htb for the size of packets."""
        if self.adaptation != "htb_private" or self.linklayer == "none":
            return ""
        return f"mpu {self.mpu} linklayer {self.linklayer} overhead {self.overhead} mtu {self.mtu}"


@dataclass(frozen=True)
class Direction:
    """The settings of one direction."""

    device: str
    is_down: bool
    kbps: int
    limit: str
    target: str
    ecn: str
    options: str

    def tc(self, kind: str, *words: str) -> str:
        """Return a command for this device."""
        return f"tc {kind} add dev {self.device} {joined(*words)}"


def joined(*words: str) -> str:
    """Return the words that are not empty, with blanks between them."""
    return " ".join(word for word in words if word)


def piece_of_cake(queue: Queue, way: Direction) -> list[str]:
    """Return the line of cake without classes of traffic."""
    return [_cake(queue, way, f"{TINS} besteffort")]


def layer_cake(queue: Queue, way: Direction) -> list[str]:
    """Return the line of cake with three tins."""
    return [_cake(queue, way, joined(TINS, "besteffort" if way.is_down and queue.ignores else ""))]


def _cake(queue: Queue, way: Direction, tins: str) -> str:
    wash = "wash" if way.is_down and queue.squashes else ""
    return joined(queue.stab("cake"), f"cake bandwidth {way.kbps}kbit", queue.of_cake(), tins, wash, way.options)


def simplest(queue: Queue, way: Direction) -> list[str]:
    """Return one class of htb with one queue."""
    if queue.qdisc.startswith("cake"):
        cake = f"cake bandwidth {way.kbps}kbit besteffort"
        return [joined(queue.stab(queue.qdisc), cake, queue.of_cake(queue.qdisc), way.options)]
    return _one_class(queue, way)


def _one_class(queue: Queue, way: Direction) -> list[str]:
    words = f"htb quantum {burst(way.kbps)} rate {way.kbps}kbit ceil {way.kbps}kbit {_bursts(way.kbps)}"
    return [
        way.tc("qdisc", "root handle 1:", queue.stab(queue.qdisc), "htb default 10"),
        way.tc("class", "parent 1: classid 1:1", words, queue.of_htb),
        way.tc("class", "parent 1:1 classid 1:10", words, "prio 0", queue.of_htb),
        way.tc("qdisc", "parent 1:10 handle 110:", _leaf(queue.qdisc, way)),
    ]


def simplest_tbf(queue: Queue, way: Direction) -> list[str]:
    """Return a token bucket with one queue."""
    qdisc = "fq_codel" if queue.qdisc.startswith("cake") else queue.qdisc
    bucket = f"tbf rate {way.kbps}kbit burst {burst(way.kbps)} latency 300ms"
    return [
        way.tc("qdisc", "root handle 1:", queue.stab(qdisc), bucket, queue.of_htb),
        way.tc("qdisc", "parent 1: handle 110:", _leaf(qdisc, way)),
    ]


def simple(queue: Queue, way: Direction) -> list[str]:
    """Return three classes of htb. Without regard to codepoints, the way down has one."""
    if queue.qdisc.startswith("cake"):
        tins = "besteffort" if way.is_down and queue.ignores else ""
        line = f"{queue.qdisc} bandwidth {way.kbps}kbit"
        return [joined(queue.stab(queue.qdisc), line, tins, queue.of_cake(queue.qdisc), way.options)]
    if way.is_down and queue.ignores:
        return _one_class(queue, way)
    share, quantum, bursts = way.kbps // 6, burst(way.kbps), _bursts(way.kbps)
    least = 32 if way.is_down else 128

    def of_class(parent: str, minor: str, words: str) -> str:
        return way.tc("class", f"parent {parent} classid 1:{minor} htb quantum {quantum}", words, queue.of_htb)

    quanta = {"11": 500, "12": 1500, "13": 300} if way.is_down else dict.fromkeys(("11", "12", "13"), 300)
    return [
        way.tc("qdisc", "root handle 1:", queue.stab(queue.qdisc), "htb default 12"),
        of_class("1:", "1", f"rate {way.kbps}kbit ceil {way.kbps}kbit {bursts}"),
        of_class("1:1", "11", f"rate {least}kbit ceil {way.kbps // 3}kbit prio 1"),
        of_class("1:1", "12", f"rate {share}kbit ceil {way.kbps - 16}kbit {bursts} prio 2"),
        of_class("1:1", "13", f"rate {share}kbit ceil {way.kbps - 16}kbit {bursts} prio 3"),
        *(
            way.tc("qdisc", f"parent 1:{minor} handle {minor}0:", _leaf(queue.qdisc, way, quantum))
            for minor, quantum in quanta.items()
        ),
        way.tc("filter", "parent 1:0 protocol all prio 999 u32 match ip protocol 0 0x00 flowid 1:12"),
        *(_by_codepoint(way) if way.is_down else _by_mark(way)),
    ]


def _by_codepoint(way: Direction) -> list[str]:
    filters, prio = [], 0
    for bits, to in CODEPOINTS:
        for protocol, word in (("ip", "ip tos"), ("ipv6", "ip6 priority")):
            prio += 1
            filters.append(
                way.tc(
                    "filter", f"protocol {protocol} parent 1:0 prio {prio} u32 match {word} {bits} 0xfc classid {to}"
                )
            )
    return [*filters, way.tc("filter", f"protocol arp parent 1:0 prio {prio + 1} handle 500 fw flowid 1:11")]


def _by_mark(way: Direction) -> list[str]:
    filters = [(protocol, mark) for protocol in ("ip", "ipv6") for mark in (1, 2, 3)] + [("arp", 1)]
    return [
        *(
            way.tc("filter", f"parent 1:0 protocol {protocol} prio {prio} handle {mark}/0xff fw classid 1:1{mark}")
            for prio, (protocol, mark) in enumerate(filters, 1)
        ),
        *(
            way.tc("filter", f"parent 1:0 protocol {protocol} prio {prio} u32 match ip protocol 1 0xff flowid 1:13")
            for prio, protocol in ((8, "ip"), (9, "ipv6"))
        ),
    ]


def burst(kbps: int) -> int:
    """Return the bytes of a burst, which is also the quantum."""
    return max(BURST_US * kbps // 8000, LEAST_BURST)


def _bursts(kbps: int) -> str:
    return f"burst {burst(kbps)} cburst {burst(kbps)}"


def _leaf(qdisc: str, way: Direction, quantum: int = 0) -> str:
    """Return the line of a queue at a leaf, with the words that the qdisc takes."""

    def is_like(*patterns: str) -> bool:
        return any(fnmatchcase(qdisc, pattern) for pattern in patterns)

    usual = 1001 if is_like("*codel", "*pie", "pfifo_fast", "sfq", "pfifo") else 1001 * MTU if qdisc == "bfifo" else ""
    limit = way.limit or str(usual)
    ecn = {"ECN": "ecn", "NOECN": "noecn"}.get(way.ecn, way.ecn)
    return joined(
        qdisc,
        f"limit {limit}" if limit else "",
        _target(qdisc, way) if is_like("*codel", "*pie") else "",
        ecn if is_like("*codel", "*pie", "*red") or way.ecn not in ("ECN", "NOECN") else "",
        f"quantum {quantum}" if quantum and is_like("*fq_codel", "fq_pie", "drr") else "",
        "flows 1024" if is_like("*fq_codel", "sfq") else "",
        way.options,
    )


def _target(qdisc: str, way: Direction) -> str:
    """Return the target as it is set, or one for slow links."""
    digits = way.target[: len(way.target) - len(way.target.lstrip("0123456789"))]
    unit = way.target[len(way.target.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")) :]
    if digits and unit in ("s", "sec", "secs", "ms", "msec", "msecs", "us", "usec", "usecs"):
        return f"target {digits}{unit}"
    if unit.lower() != "auto" and way.target:
        return ""
    target = max(SLOWEST_US // way.kbps, 5000)
    interval = f"interval {95_000 + target}us" if qdisc.endswith("codel") else ""
    return joined(f"target {target}us", interval)
