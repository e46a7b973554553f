"""The words for ``tc``: the delay node's and the bottleneck's."""

from .errors import LabError
from .plan import Shaper

FULL_FRAME = 1514
"""Bytes of a full packet as Linux counts them: 1500 and the Ethernet header."""

_VETH_KBIT = 10_000_000
"""What a veth interface says that its speed is."""

_SLACK = FULL_FRAME // 50
"""Bytes that a shaper may be ahead: makes up for a timer that fires late, and is a fiftieth of a packet's time."""

Words = list[str]


def delays(device: str, field: str, rtts_s: list[float]) -> list[Words]:
    """Return what makes ``device`` delay packets by half their RTT, told by the server address in ``field``.

    One netem would keep the order of packets that have different delays, hence one for each.
    """
    if len(rtts_s) == 1:
        return [_add(device, "root", "handle", "1:", *_netem(rtts_s[0]))] if rtts_s[0] > 0 else []
    priomap = ["0"] * 16
    words = [_add(device, "root", "handle", "1:", "prio", "bands", str(len(rtts_s)), "priomap", *priomap)]
    for number, rtt_s in enumerate(rtts_s):
        band = f"1:{number + 1:x}"
        if rtt_s > 0:
            words.append(_add(device, "parent", band, "handle", f"{number + 0x10:x}:", *_netem(rtt_s)))
        words.append(
            f"filter add dev {device} parent 1: protocol ip prio 1"
            f" u32 match ip {field} 10.9.{number}.0/24 flowid {band}".split()
        )
    return words


def bottleneck(device: str, shaper: Shaper) -> list[Words]:
    """Return what makes ``device`` a serial link of a rate with the shaper's disciplines before it."""
    if shaper.shaper == "htb":
        words = _htb(device, shaper.rate_bps)
    elif shaper.shaper == "cbs":
        words = _cbs(device, shaper.rate_bps)
    else:
        raise LabError(f"shaper: found {shaper.shaper}; accepted: htb, cbs")
    return words + [_inner(device, inner) for inner in shaper.tc]


def _inner(device: str, words: Words) -> Words:
    return ["class", "add", "dev", device, *words[1:]] if words[0] == "class" else _add(device, *words)


def _htb(device: str, rate_bps: int) -> list[Words]:
    """A burst of next to nothing: with tc's default two packets leave back to back after an idle spell."""
    return [
        _add(device, "root", "handle", "1:", "htb", "default", "1"),
        f"class add dev {device} parent 1: classid 1:1 htb rate {rate_bps}bit"
        f" burst {_SLACK}b cburst {_SLACK}b quantum {FULL_FRAME}".split(),
    ]


def _cbs(device: str, rate_bps: int) -> list[Words]:
    """Credit-based shaping with next to no credit to spare: a packet may leave when the one before it is paid for."""
    kbit = rate_bps // 1000
    slopes = ["idleslope", str(kbit), "sendslope", str(kbit - _VETH_KBIT)]
    return [_add(device, "root", "handle", "1:", "cbs", *slopes, "hicredit", str(_SLACK), "locredit", "-1000000")]


def _netem(rtt_s: float) -> Words:
    """In microseconds: tc's netem takes no nanoseconds, but fractions."""
    return ["netem", "delay", f"{rtt_s * 1e6 / 2:.3f}us", "limit", "1000000"]


def _add(device: str, *words: str) -> Words:
    return ["qdisc", "add", "dev", device, *words]
