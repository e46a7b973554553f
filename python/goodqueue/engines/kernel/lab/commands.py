"""The commands for ``tc``: for links, for wires, and for the transmission and propagation behind them."""

from dataclasses import replace

from .addresses import of_route
from .chain import Does, Step
from .errors import LabError
from .plan import Plan, Shaper

FULL_FRAME = 1514
"""Bytes of a full packet as Linux counts them: 1500 and the Ethernet header."""

_VETH_KBIT = 10_000_000
"""The speed that a veth interface reports."""

_SLACK_BYTES = FULL_FRAME // 50
_SLACK_S = 10e-6
"""How far a shaper may be ahead: the larger of the two. Without it, a timer that fires late costs some of the rate.

The bytes are a fiftieth of a packet. The time, which counts on fast links, is longer than a timer is late in the
virtual machine. The wire behind the shaper restores the distances between packets.
"""

_SLACK_A_FLOW_S = 0.25e-6
"""The same for each flow of fq_pie: its timer walks all flows every 16 ms, and no packet leaves meanwhile.

With the 1024 flows of fq_pie, the virtual machine's processor of 1 GHz is busy for more than 0.1 ms. That cost 0.5 %
of a link of 8 Mbit/s. A processor of today takes a tenth of that time, and its network card keeps sending.
"""

Words = list[str]


TOWARDS = {"down": "client", "up": "server"}

_BYPASS = "f000:"
"""The handle of the discipline that lets packets pass that do not cross a hop."""


def step(device: str, taken: Step, plan: Plan, rate_bps: int | None = None) -> list[Words]:
    """Return the commands that make ``device`` do what ``taken`` says to the packets that leave the node by it.

    ``rate_bps`` is the rate of the step's link, if it differs from the rate at the start of the run.
    """
    lines, at = _bypass(device, taken, plan)
    shaper = plan.link(taken.direction, taken.place)
    if shaper is not None and rate_bps is not None:
        shaper = replace(shaper, rate_bps=rate_bps)
    if taken.does is Does.PROPAGATE:
        own_bps = None if shaper is None else shaper.rate_bps
        rates = [None if taken.place in route.skips else own_bps for route in plan.routes]
        return wire(device, [route.rtt_s for route in plan.routes], rates)
    if shaper is None:
        assert taken.place is not None
        return [*lines, _add(device, *at, "handle", "10:", "netem", *plan.hops[taken.place].netem)]
    if taken.does is Does.TRANSMIT:
        return [*lines, transmission(device, shaper.rate_bps, at)]
    return lines + link(device, shaper, at)


def transmission(device: str, rate_bps: int, at: Words) -> Words:
    """Return the command that makes ``device`` hold each packet for its transmission at ``rate_bps``."""
    return _add(device, *at, "handle", "1:", *_netem(0.0, rate_bps))


def at_rate(device: str, taken: Step, plan: Plan, rate_bps: int) -> list[Words]:
    """Return the commands that change ``device``, a link or the transmission behind a link, to the link's new rate."""
    # The commands for two rates are compared: only those that differ depend on the rate.
    pairs = zip(step(device, taken, plan, rate_bps), step(device, taken, plan, 2 * rate_bps), strict=True)
    return [[words[0], "change", *words[2:]] for words, other in pairs if words != other]


def _bypass(device: str, taken: Step, plan: Plan) -> tuple[list[Words], Words]:
    """Return the bypass for packets that do not cross the hop of ``taken``, and the parent of the hop's discipline."""
    around = [number for number, route in enumerate(plan.routes) if taken.place in route.skips]
    if not around or taken.does is Does.PROPAGATE:
        return [], ["root"]
    lines = [_add(device, "root", "handle", _BYPASS, "prio", "bands", "2", "priomap", *["0"] * 16)]
    for number in around:
        lines += _select(device, _BYPASS, number, f"{_BYPASS}2")
    return lines, ["parent", f"{_BYPASS}1"]


def _select(device: str, parent: str, route: int, band: str) -> list[Words]:
    """Return the commands that send the packets of ``route`` to ``band``. One of their two ports is a listening one."""
    first, last = of_route(route)
    among = f"{first} {0xFFFF ^ first ^ last:#x}"
    return [
        f"filter add dev {device} parent {parent} protocol ip prio 1 u32 match ip {end} {among} flowid {band}".split()
        for end in ("dport", "sport")
    ]


def wire(device: str, rtts_s: list[float], rates_bps: list[int | None]) -> list[Words]:
    """Return the commands for ``device`` as the wire to a host: one RTT and one rate of the link before it per route.

    A shaper passes a packet on when its transmission begins. The packet arrives half the RTT after the transmission
    ends. One netem would keep the order of packets with different delays, so each route has its own netem.
    """
    if len(rtts_s) == 1:
        return [_add(device, "root", "handle", "1:", *_netem(rtts_s[0], rates_bps[0]))]
    priomap = ["0"] * 16
    words = [_add(device, "root", "handle", "1:", "prio", "bands", str(len(rtts_s)), "priomap", *priomap)]
    for number, (rtt_s, rate_bps) in enumerate(zip(rtts_s, rates_bps, strict=True)):
        band = f"1:{number + 1:x}"
        words.append(_add(device, "parent", band, "handle", f"{number + 0x10:x}:", *_netem(rtt_s, rate_bps)))
        words += _select(device, "1:", number, band)
    return words


def link(device: str, shaper: Shaper, at: Words) -> list[Words]:
    """Return the commands that make ``device`` a serial link, with the shaper's disciplines in front."""
    if shaper.shaper == "htb":
        flows = max(map(_flows_of_fq_pie, shaper.tc), default=0)
        words = _htb(device, at, shaper.rate_bps, _slack(shaper.rate_bps, flows))
    elif shaper.shaper == "cbs":
        words = (_serial if shaper.is_exact else _cbs)(device, at, shaper.rate_bps)
    elif shaper.shaper == "none" and at == ["root"]:
        words = []
    else:
        raise LabError(f"shaper: found {shaper.shaper}; accepted: htb, cbs, or none where all flows cross the link")
    return words + [_inner(device, inner) for inner in shaper.tc]


def _inner(device: str, words: Words) -> Words:
    is_own = words[0] in ("class", "filter")
    return [words[0], "add", "dev", device, *words[1:]] if is_own else _add(device, *words)


def _flows_of_fq_pie(words: Words) -> int:
    return int(words[words.index("flows") + 1]) if "fq_pie" in words and "flows" in words else 0


def _htb(device: str, at: Words, rate_bps: int, slack_bytes: int) -> list[Words]:
    """Return an htb with a tiny burst. With tc's default burst, two packets leave back to back after an idle period."""
    slack = f"{slack_bytes}b"
    return [
        _add(device, *at, "handle", "1:", "htb", "default", "1"),
        f"class add dev {device} parent 1: classid 1:1 htb rate {rate_bps}bit"
        f" burst {slack} cburst {slack} quantum {FULL_FRAME}".split(),
    ]


def _cbs(device: str, at: Words, rate_bps: int) -> list[Words]:
    """Return a credit-based shaper with almost no credit: a packet may leave when the packet before it is paid for."""
    kbit = rate_bps // 1000
    slopes = ["idleslope", str(kbit), "sendslope", str(kbit - _VETH_KBIT)]
    credit = ["hicredit", str(_slack(rate_bps, 0)), "locredit", "-1000000"]
    return [_add(device, *at, "handle", "1:", "cbs", *slopes, *credit)]


def _serial(device: str, at: Words, rate_bps: int) -> list[Words]:
    """Return a shaper without credit, which `process_changes.py` makes an exact link.

    ``idleslope`` and ``sendslope`` are the thousands and the rest of its rate.
    """
    slopes = ["idleslope", str(rate_bps // 1000), "sendslope", str(rate_bps % 1000)]
    return [_add(device, *at, "handle", "1:", "cbs", *slopes, "hicredit", "0", "locredit", "0")]


def _slack(rate_bps: int, flows: int) -> int:
    return max(_SLACK_BYTES, round(rate_bps / 8 * max(_SLACK_S, flows * _SLACK_A_FLOW_S)))


def _netem(rtt_s: float, rate_bps: int | None) -> Words:
    """Return a netem with half the RTT. Packets arrive at the rate already, so none waits for another on the wire.

    The delay is in microseconds with decimals, since tc's netem does not take nanoseconds.
    """
    rate = [] if rate_bps is None else ["rate", f"{rate_bps}bit"]
    return ["netem", "delay", f"{rtt_s * 1e6 / 2:.3f}us", *rate, "limit", "1000000"]


def _add(device: str, *words: str) -> Words:
    return ["qdisc", "add", "dev", device, *words]
