"""What the laboratory is to build and run: the contract between the engine and the laboratory, as plain JSON.

Times are seconds of the run (0 is when its traffic begins), rates bit/s, lengths bytes as `tc` counts them on Ethernet.
"""

import json
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes different of a link in the course of the run."""

    at_s: float
    rate_bps: int | None = None
    tc: list[str] | None = None
    """Words after ``tc qdisc change dev DEV``: the discipline's, anew."""


@dataclass(frozen=True, slots=True)
class Shaper:
    """A link of a rate, and the discipline that waits before it: one direction of the bottleneck, or a hop."""

    rate_bps: int
    shaper: str
    """``htb`` or ``cbs``: which of Linux's disciplines plays the serial link."""
    tc: list[list[str]]
    """Commands' words after ``tc qdisc add dev DEV``: ``parent 1:1 handle 10: codel limit 1000 …``, outermost first.
    Those that begin with ``class`` follow ``tc class add dev DEV``."""
    changes: list[Change] = field(default_factory=list)
    """In the order of time."""

    def rates(self) -> list[tuple[float, int]]:
        """Return its rates, each with the time from which on it holds; the first is that of the beginning."""
        later = ((change.at_s, change.rate_bps) for change in self.changes if change.rate_bps is not None)
        return [(0.0, self.rate_bps), *later]

    @property
    def fastest_bps(self) -> int:
        """The highest of its rates."""
        return max(rate for _, rate in self.rates())

    @staticmethod
    def of(data: dict[str, Any]) -> "Shaper":
        """Return what `asdict` made ``data`` of."""
        return Shaper(**data | {"changes": [Change(**change) for change in data["changes"]]})


@dataclass(frozen=True, slots=True)
class Hop:
    """A hop beside the bottleneck: a link, or else a wire."""

    name: str
    direction: str
    """Whose packets go through it."""
    link: Shaper | None = None
    netem: list[str] = field(default_factory=list)
    """Of a wire: what follows ``netem``."""
    delay_s: float = 0.0
    """How long a packet takes through a wire, about."""
    limit: int = 0
    """How many packets may be on their way through a wire."""


@dataclass(frozen=True, slots=True)
class Way:
    """How packets of some flows go: each has addresses of its own."""

    rtt_s: float
    """Base round-trip time."""
    skips: list[int | None] = field(default_factory=list)
    """What they do not cross: places of hops; None is the bottleneck, in both directions."""


@dataclass(frozen=True, slots=True)
class Flow:
    """One flow."""

    name: str
    kind: str
    """One of `kinds.ALL`."""
    direction: str
    """Which way its data go: ``down`` (server to client) or ``up``."""
    start_s: float
    stop_s: float
    rtt_s: float
    """Base round-trip time."""
    ecn: bool
    cc: str | None
    """Congestion control of a TCP flow, as Linux names it."""
    dscp: int
    pacing: bool
    """Whether a bulk flow's socket asks TCP to pace."""
    packet_size: int | None
    """Of a datagram of cbr, ping and voip, Ethernet header included."""
    interval_s: float | None
    """Between datagrams of cbr, ping and voip, between a stream's chunks, or from the end of a transfer
    or of a fetch to the next one."""
    port: int
    """Unique among the flows: the receiver's port. The sender's is this plus 10000.

    An application (one of `apps.HALVES`) listens here, on the side that opens no connections, and opens them from
    ports that Linux chooses.
    """
    size_bytes: int | None = None
    """Of a transfer."""
    repeat: int | None = None
    """How many transfers, exchanges or fetches; None: until the stop."""
    request_bytes: int | None = None
    response_bytes: int | None = None
    think_s: float | None = None
    """From a response to the next request, where it is fixed."""
    think_mean_s: float | None = None
    """Its mean, where it is drawn from an exponential distribution."""
    rate_bps: int | None = None
    """What a stream's application writes."""
    objects: list[dict[str, int]] | None = None
    """Of a page, the document first: ``host`` (its number), ``request_bytes`` and ``response_bytes``."""
    connections: int | None = None
    """To each host of a page, or of a user of the web, at the most."""
    visits: list[list[dict[str, Any]]] | None = None
    """Of users of the web, each one's pages: ``think_s`` before, ``is_persistent``, and ``requests``, the document's
    first: bytes of request and response, seconds that the server takes, seconds to the next request in its place."""
    waves: int | None = None
    """In how many parts their pages' objects become known."""
    way: int = 0
    """Its place among the plan's ways."""
    ways: list[int] = field(default_factory=list)
    """Those that its connections take, one each by chance, where they are several."""


@dataclass(frozen=True, slots=True)
class OwnPath:
    """Our own path: the simulator's, in real time."""

    scenario: str
    """Whose path it is, as JSON; without traffic, and with the drain's time at its end."""
    hops: list[list[str] | None]
    """By way, the names of what its packets cross; None: everything."""
    trace: dict[str, Any] | None = None
    """``path``, ``points`` and ``snap_bytes`` of the capture that it is to write."""


@dataclass(frozen=True, slots=True)
class Plan:
    """One run."""

    duration_s: float
    warmup_s: float
    seed: int
    down: Shaper
    up: Shaper
    ways: list[Way]
    """The distinct ways of the flows, by base round-trip time."""
    flows: list[Flow]
    sample_s: float | None
    """How often senders' TCP_INFO is read for time series, if at all."""
    drain_s: float = 1.0
    """How long captures go on after the end, so that packets that wait then are seen to leave."""
    hops: list[Hop] = field(default_factory=list)
    """What the path has beside the bottleneck."""
    rows: dict[str, list[int | None]] = field(default_factory=lambda: {"down": [None], "up": [None]})
    """By direction what packets meet, in order: places of hops; None is the bottleneck."""
    own: OwnPath | None = None
    """What is between the hosts in place of Linux's path, of which only rates and delays are to be known then."""
    mtu: int = 1500

    def link(self, direction: str, place: int | None) -> Shaper | None:
        """Return the link that packets of ``direction`` meet at ``place`` of the hops; None where that is a wire."""
        if place is None:
            return self.down if direction == "down" else self.up
        return self.hops[place].link

    def narrowest_bps(self, direction: str, way: Way) -> int | None:
        """Return the rate that packets of ``way`` have at the most; None where they cross no link."""
        crossed = [self.link(direction, place) for place in self.rows[direction] if place not in way.skips]
        return min((link.fastest_bps for link in crossed if link is not None), default=None)

    @property
    def captures_ends(self) -> bool:
        """Whether packets are captured at the hosts, too; with our own path, there alone.

        Behind a lone link of one rate arrivals are known without, except those of a flow that has several RTTs.
        """
        several = any(flow.ways for flow in self.flows)
        return bool(self.own or self.hops or self.down.changes or self.up.changes or several)

    @property
    def load_bps(self) -> int:
        """How much all ways can carry together, both directions."""
        different = {tuple(way.skips): way for way in self.ways}.values()
        return sum(self.narrowest_bps(direction, way) or 0 for way in different for direction in self.rows)

    def to_json(self) -> str:
        """Return the plan as text."""
        return json.dumps(asdict(self))

    @staticmethod
    def from_json(text: str) -> "Plan":
        """Return the plan that `to_json` wrote."""
        data: dict[str, Any] = json.loads(text)
        flows, ways = [Flow(**flow) for flow in data.pop("flows")], [Way(**way) for way in data.pop("ways")]
        down, up = Shaper.of(data.pop("down")), Shaper.of(data.pop("up"))
        hops = [Hop(**hop | {"link": hop["link"] and Shaper.of(hop["link"])}) for hop in data.pop("hops")]
        own = data.pop("own")
        return Plan(down=down, up=up, flows=flows, ways=ways, hops=hops, own=own and OwnPath(**own), **data)
