"""The commands that qosmate types for each ``ROOT_QDISC``. See `goodqueue.settings.qosmate` for the source."""

from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase

MTU = 1500

CLASSES = {
    "ef": ("1:11", 46),
    "cs5": ("1:11", 40),
    "cs6": ("1:11", 48),
    "cs7": ("1:11", 56),
    "cs4": ("1:12", 32),
    "af41": ("1:12", 34),
    "af42": ("1:12", 36),
    "cs2": ("1:14", 16),
    "af11": ("1:14", 10),
    "cs1": ("1:15", 8),
    "cs0": ("1:13", 0),
}
"""The class and the number of each codepoint."""

CELLS = ("*atm*", "*adsl*", "*pppoa*", "*pppoe*", "*bridged*", "*ipoa*", "conservative")
"""Link presets whose packets travel in cells."""


@dataclass(frozen=True)
class Words:
    """The options as text and as whole numbers, by name."""

    text: Callable[[str], str]
    whole: Callable[[str], int]


@dataclass(frozen=True)
class Side:
    """A direction: its device, its rate, and the rate for games, both in kbit/s."""

    device: str
    is_down: bool
    kbps: int
    game_kbps: int

    def tc(self, kind: str, words: str) -> str:
        """Return a command for this device."""
        return f"tc {kind} add dev {self.device} {words}"

    @property
    def ms(self) -> int:
        """How long a class may exceed its rate: five full packets, and at least 25 ms."""
        return max(5 * MTU * 8 // self.kbps, 25)

    @property
    def interval_ms(self) -> int:
        """The interval of fq_codel."""
        return 100 + 2 * MTU * 8 // self.kbps

    @property
    def target_ms(self) -> int:
        """The target of fq_codel."""
        return 540 * 8 // self.kbps + 4


def _is_of_cells(preset: str) -> bool:
    return any(fnmatchcase(preset, pattern) for pattern in CELLS)


def _stab(words: Words) -> str:
    preset, overhead = words.text("COMMON_LINK_PRESETS"), words.text("OVERHEAD")
    if _is_of_cells(preset):
        return f"stab mtu 2047 tsize 512 mpu 68 overhead {overhead or 44} linklayer atm"
    usual = {"docsis": 25, "cake-ethernet": 38, "raw": 0}.get(preset, 40)
    return f"stab overhead {overhead or usual} linklayer ethernet"


def _cake_size(words: Words, *, is_hybrid: bool) -> str:
    preset, overhead = words.text("COMMON_LINK_PRESETS"), words.text("OVERHEAD")
    if _is_of_cells(preset):
        base, overhead = ("atm" if is_hybrid else preset), overhead or "44"
    elif preset == "docsis":
        base, overhead = "docsis", overhead or "25"
    elif preset == "cake-ethernet":
        base, overhead = "ethernet", (overhead or "38") if is_hybrid else ""
    elif preset == "raw":
        base, overhead = "raw", overhead or "0"
    else:
        base, overhead = "ethernet", overhead or "40"
    mpu, vlan = words.text("MPU"), words.text("ETHER_VLAN_KEYWORD")
    return _joined(base, f"overhead {overhead}" if overhead else "", f"mpu {mpu}" if mpu else "", vlan)


def _joined(*words: str) -> str:
    return " ".join(word for word in words if word)


def _flag(word: str, value: str) -> str:
    """Return cake's ``word`` if the ``value`` is 1, and its opposite if not."""
    return word if value == "1" else f"no-{word}" if word == "ack-filter" else f"no{word}"


def _cake_words(words: Words, side: Side, size: str, extra: str) -> str:
    """Return the words of cake that both of its modes have. ``extra`` stands before its own options."""
    way, wash = ("INGRESS", "WASHDSCPDOWN") if side.is_down else ("EGRESS", "WASHDSCPUP")
    rtt = f"rtt {words.text('RTT')}ms" if words.text("RTT") else ""
    hosts = "dual-dsthost" if side.is_down else "dual-srchost"
    own = (
        words.text(f"EXTRA_PARAMETERS_{way}"),
        _flag("nat", words.text(f"NAT_{way}")),
        _flag("wash", words.text(wash)),
    )
    about_size = (rtt, size, words.text("LINK_COMPENSATION"))
    isolation = hosts if words.text("HOST_ISOLATION") == "1" else ""
    if extra == "hybrid":
        return _joined(isolation, *own, *about_size)
    return _joined(isolation, *about_size, *own)


def cake(words: Words, side: Side, ratio: int) -> list[str]:
    """Return the line of cake alone. ``ratio`` is the rate down by the rate up."""
    size = _cake_size(words, is_hybrid=False)
    rest = _cake_words(words, side, size, "")
    line = f"cake bandwidth {side.kbps}kbit"
    if side.is_down:
        auto = "autorate-ingress" if words.text("AUTORATE_INGRESS") == "1" else ""
        return [_joined(line, "ingress", auto, words.text("PRIORITY_QUEUE_INGRESS"), rest)]
    filters = words.text("ACK_FILTER_EGRESS")
    does = filters == "1" or (filters == "auto" and ratio >= 15)
    return [_joined(line, words.text("PRIORITY_QUEUE_EGRESS"), rest, _flag("ack-filter", "1" if does else "0"))]


def _roots(words: Words, side: Side) -> list[str]:
    """Return the root of hfsc, and the classes of the line, of the router and of games."""
    game = min(side.game_kbps * 10, side.kbps * 97 // 100)
    made = [side.tc("qdisc", f"root handle 1: {_stab(words)} hfsc default 13")]
    if side.is_down:
        made.append(side.tc("class", f"parent 1: classid 1:2 hfsc ls m1 50000kbit d {side.ms}ms m2 10000kbit"))
    return [
        *made,
        side.tc("class", f"parent 1: classid 1:1 hfsc ls m2 {side.kbps}kbit ul m2 {side.kbps}kbit"),
        side.tc("class", f"parent 1:1 classid 1:11 hfsc rt m1 {game}kbit d {side.ms}ms m2 {side.game_kbps}kbit"),
    ]


def hfsc(words: Words, side: Side, _ratio: int) -> list[str]:
    """Return the tree of hfsc with five classes."""
    commands = _roots(words, side)
    for minor, first, then in ((12, 70, 30), (13, 20, 45), (14, 7, 15), (15, 3, 10)):
        one, two = (side.kbps * share // 100 for share in (first, then))
        commands.append(
            side.tc("class", f"parent 1:1 classid 1:{minor} hfsc ls m1 {one}kbit d {side.ms}ms m2 {two}kbit")
        )
    commands += _games(words, side)
    leaf = _fq_codel(side)
    if words.text("nongameqdisc") == "cake":
        leaf = f"cake {words.text('nongameqdiscoptions')}"
    commands += [side.tc("qdisc", f"parent 1:{minor} {leaf}") for minor in (12, 13, 14, 15)]
    return [*commands, *_filters(side, list(CLASSES), list(CLASSES))]


def hybrid(words: Words, side: Side, _ratio: int) -> list[str]:
    """Return the tree of hfsc with cake for all that is neither a game nor bulk."""
    rest = max(side.kbps - side.game_kbps, 1)
    tins = "besteffort ingress" if side.is_down else "besteffort"
    bulk, more = (max(side.kbps * share // 100, 1) for share in (3, 10))
    size = _cake_size(words, is_hybrid=True)
    return [
        *_roots(words, side),
        *_games(words, side),
        side.tc("class", f"parent 1:1 classid 1:13 hfsc ls m1 {rest}kbit d {side.ms}ms m2 {rest}kbit"),
        side.tc("qdisc", f"parent 1:13 handle 13: cake {tins} {_cake_words(words, side, size, 'hybrid')}"),
        side.tc("class", f"parent 1:1 classid 1:15 hfsc ls m1 {bulk}kbit d {side.ms}ms m2 {more}kbit"),
        side.tc("qdisc", f"parent 1:15 handle 15: {_fq_codel(side)}"),
        *_filters(side, ["ef", "cs5", "cs6", "cs7", "cs1"], ["ef", "cs5", "cs6", "cs7", "cs1", "cs0"]),
    ]


def _fq_codel(side: Side) -> str:
    memory, times = side.kbps * 200 // 8, f"interval {side.interval_ms}ms target {side.target_ms}ms"
    return f"fq_codel memory_limit {memory} {times} quantum {2 * MTU}"


def _games(words: Words, side: Side) -> list[str]:
    """Return the queue of games, below 1:11."""
    kind, delay = words.text("gameqdisc"), words.whole("MAXDEL")
    fifo = f"pfifo limit {words.whole('PFIFOMIN') + delay * side.kbps // 8 // words.whole('PACKETSIZE')}"
    least, most = side.game_kbps * delay // 3 // 8, side.game_kbps * delay // 8
    burst = max((least + least + most) // 1500, 2)
    red = f"red limit 150000 min {least} max {most} avpkt 500 bandwidth {side.kbps}kbit probability 1.0 burst {burst}"
    place = "parent 1:11 handle 10:"
    if kind in ("drr", "qfq"):
        word = "quantum" if kind == "drr" else "weight"
        commands = [side.tc("qdisc", f"{place} {kind}")]
        for minor, number in ((1, 8000), (2, 4000), (3, 1000)):
            commands.append(side.tc("class", f"parent 10: classid 10:{minor} {kind} {word} {number}"))
            commands.append(side.tc("qdisc", f"parent 10:{minor} handle 1{minor}: {red}"))
        return commands
    lines = {
        "bfifo": f"bfifo limit {delay * side.game_kbps // 8}",
        "red": red,
        "fq_codel": _fq_codel(side),
        "netem": _netem(words, side) or fifo,
    }
    return [side.tc("qdisc", f"{place} {lines.get(kind, fifo)}")]


def _netem(words: Words, side: Side) -> str:
    """Return the line of netem, or nothing if it is for the other direction."""
    if words.text("netem_direction") not in ("both", "ingress" if side.is_down else "egress"):
        return ""
    delay, jitter, loss = words.whole("netemdelayms"), words.whole("netemjitterms"), words.text("pktlossp")
    delay = delay or (1 if jitter else 0)
    return _joined(
        f"netem limit {4 + 9 * side.kbps // 8 // 500}",
        f"delay {delay}ms" if delay else "",
        f"{jitter}ms distribution {words.text('netemdist')}" if delay and jitter else "",
        f"loss {loss}" if loss != "none" else "",
    )


def htb(words: Words, side: Side, _ratio: int) -> list[str]:
    """Return the tree of htb with three classes."""
    kbps = side.kbps
    share = min(max(15 + 50_000 // kbps, 5), 40)
    first = max(kbps * share // 100, 800)
    rest = kbps // 6
    if (total := first + 2 * rest) > kbps * 90 // 100:
        rest = rest * kbps * 90 // 100 // total
    least = (MTU + 48 + 47) // 48 * 53 if words.text("COMMON_LINK_PRESETS") == "atm" else MTU
    quantum = min(max(kbps // 8, least), 200_000)

    def of_class(parent: str, minor: int, rate: int, ceil: int, us: tuple[int, int], prio: str = "") -> str:
        burst, cburst = (max(time * rate // 8000, 1500) for time in us)
        numbers = f"quantum {quantum} rate {rate}kbit ceil {ceil}kbit burst {burst} cburst {cburst}"
        return side.tc("class", _joined(f"parent {parent} classid 1:{minor} htb {numbers}", prio))

    leaves = ((11, 1, 300), (13, 1, 1500), (15, 2, 300))
    return [
        side.tc("qdisc", f"root handle 1: {_stab(words)} htb default 13"),
        of_class("1:", 1, kbps, kbps, (1000, 1000)),
        of_class("1:1", 11, first, max(kbps // 3, first * 110 // 100), (10_000, 5000), "prio 1"),
        of_class("1:1", 13, rest, kbps - 16, (10_000, 5000), "prio 2"),
        of_class("1:1", 15, rest, kbps - 16, (10_000, 5000), "prio 3"),
        *(
            side.tc(
                "qdisc",
                f"parent 1:{minor} handle {minor}0: fq_codel interval {side.interval_ms * times}ms "
                f"target {side.target_ms * times}ms quantum {size}",
            )
            for minor, times, size in leaves
        ),
        *_filters(side, ["ef", "cs5", "cs6", "cs7", "cs1"], ["ef", "cs5", "cs6", "cs7", "cs1", "cs0"]),
    ]


def _filters(side: Side, of_ipv4: list[str], of_ipv6: list[str]) -> list[str]:
    """Return the filters by codepoint, which only the way down has."""
    if not side.is_down:
        return []
    made = []
    for name in of_ipv4:
        to, number = CLASSES[name]
        match = f"u32 match ip dsfield {number << 2:#04x} 0xfc classid {to}"
        made.append(side.tc("filter", f"parent 1: protocol ip prio 10 {match}"))
    for name in of_ipv6:
        to, number = CLASSES[name]
        match = f"u32 match u16 {number << 6:#06x} 0x0FC0 at 0 classid {to}"
        made.append(side.tc("filter", f"parent 1: protocol ipv6 prio 11 {match}"))
    return made


KINDS = {"hfsc": hfsc, "hybrid": hybrid, "cake": cake, "htb": htb}
