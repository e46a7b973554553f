"""The plan of a run: what the engine tells the laboratory to build and to run, as plain JSON.

Times are seconds of the run (its traffic begins at 0). Rates are bit/s. Lengths are bytes as `tc` counts them on
Ethernet.
"""

import json
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a link during the run."""

    at_s: float
    rate_bps: int | None = None
    tc: list[list[str]] = field(default_factory=list)
    """One list of words per command, in order. Each follows ``tc qdisc change dev DEV``, or ``tc class change dev DEV``
    if it begins with ``class``."""


@dataclass(frozen=True, slots=True)
class Shaper:
    """A link with a rate, and the discipline in front of it: one direction of the bottleneck, or a hop."""

    rate_bps: int
    shaper: str
    """The discipline of Linux that plays the serial link: ``htb``, ``cbs``, or ``none`` if `tc` is a device's root."""
    tc: list[list[str]]
    """One list of words per command, outermost first. Each follows ``tc qdisc add dev DEV``: ``parent 1:1 handle 10:
    codel limit 1000 …``. Commands that begin with ``class`` or ``filter`` follow ``tc class add dev DEV`` and so on."""
    changes: list[Change] = field(default_factory=list)
    """In the order of time."""
    queues: int = 1
    """The transmit queues of the device."""
    most_bps: int | None = None
    """The most that `tc` lets through at the start of the run, if it shapes to a rate of its own."""
    is_exact: bool = False
    """Whether the link is exact, since no timer is late."""

    def rates(self) -> list[tuple[float, int]]:
        """Return the link's rates, each with the time from which it holds. The first is the rate at the start."""
        later = ((change.at_s, change.rate_bps) for change in self.changes if change.rate_bps is not None)
        return [(0.0, self.rate_bps), *later]

    @property
    def fastest_bps(self) -> int:
        """The highest rate at which packets can leave: the link's own, or the disciplines' if that is less."""
        rate_bps = max(rate for _, rate in self.rates())
        is_fixed = self.most_bps is not None and not any(change.tc for change in self.changes)
        return min(rate_bps, self.most_bps or rate_bps) if is_fixed else rate_bps

    @staticmethod
    def of(data: dict[str, Any]) -> "Shaper":
        """Return the shaper that `asdict` turned into ``data``."""
        return Shaper(**data | {"changes": [Change(**change) for change in data["changes"]]})


@dataclass(frozen=True, slots=True)
class Hop:
    """A hop beside the bottleneck: a link, or else a wire."""

    name: str
    direction: str
    """The direction of the packets that cross the hop."""
    link: Shaper | None = None
    netem: list[str] = field(default_factory=list)
    """The words after ``netem``, for a wire."""
    delay_s: float = 0.0
    """The approximate time that a packet takes through a wire."""
    limit: int = 0
    """The number of packets that may be inside a wire at once."""


@dataclass(frozen=True, slots=True)
class Stack:
    """Hosts whose queue is in the namespace of their sockets, so that TCP counts what it has there (small queues)."""

    place: int
    """The place of the table in the scenario."""
    name: str
    """The interface's name in the record."""
    side: str
    """``client`` or ``server``."""
    hosts: list[int]
    """The hosts' numbers, as `Flow.user` and `Flow.server` have them."""
    link: Shaper | None = None
    """The interface. None: the first hop is the hosts' queue."""

    @property
    def direction(self) -> str:
        """The direction of what the hosts send."""
        return "up" if self.side == "client" else "down"


@dataclass(frozen=True, slots=True)
class Route:
    """The route of some flows' packets. The listening ports of each route are its own (`addresses.of_route`)."""

    rtt_s: float
    """Base round-trip time."""
    skips: list[int | None] = field(default_factory=list)
    """The hops that the packets do not cross, as places in `Plan.hops`. None is the bottleneck, in both directions."""


@dataclass(frozen=True, slots=True)
class Flow:
    """One flow."""

    name: str
    kind: str
    is_tcp: bool
    direction: str
    """The direction of the flow's data: ``down`` (server to client) or ``up``."""
    start_s: float
    stop_s: float
    rtt_s: float
    """Base round-trip time."""
    ecn: bool
    """Whether TCP asks for ECN."""
    cc: str | None
    """Congestion control of a TCP flow, as Linux names it."""
    dscp: int
    pacing: bool
    """Whether TCP paces because its socket asks for it."""
    interval_s: float | None
    """Seconds between datagrams that are sent at fixed times."""
    user: int
    """The number of the user's host, from 1. Flows of one host have its number."""
    server: int
    """The number of the server, likewise."""
    route: int = 0
    """The index of the flow's route in the plan's routes."""
    port: int | None = None
    """The port of the server, which sends first, if the scenario says it."""
    addresses: dict[str, str] = field(default_factory=dict)
    """By side, the address of the flow's host, if the scenario says it."""
    routes: list[int] = field(default_factory=list)
    """The routes of a flow with several. Each connection takes one by chance."""


@dataclass(frozen=True, slots=True)
class OwnPath:
    """The path of goodqueue itself: the simulator's path, in real time."""

    scenario: str
    """The scenario with the path, as JSON, without traffic, and longer by the drain's time."""
    hops: list[list[str] | None]
    """The names of the hops that the packets of each route cross. None: all hops."""
    trace: dict[str, Any] | None = None
    """``path``, ``points`` and ``snap_bytes`` of the capture that the path is to write."""


@dataclass(frozen=True, slots=True)
class Plan:
    """One run."""

    duration_s: float
    warmup_s: float
    seed: int
    down: Shaper
    up: Shaper
    routes: list[Route]
    """The distinct ways of the flows, by base round-trip time."""
    flows: list[Flow]
    scenario: str
    """The resolved scenario as JSON, from which the hosts take the flows' applications."""
    sample_s: float | None
    """The interval at which the senders' TCP_INFO is read for time series. None: it is not."""
    drain_s: float = 1.0
    """How long the captures go on after the end, so that packets in the queues are seen to leave."""
    hops: list[Hop] = field(default_factory=list)
    """The hops of the path beside the bottleneck."""
    rows: dict[str, list[int | None]] = field(default_factory=lambda: {"down": [None], "up": [None]})
    """What packets meet, in order, by direction: places of hops. None is the bottleneck."""
    stacks: list[Stack] = field(default_factory=list)
    own: OwnPath | None = None
    """The path that replaces Linux's path. The plan then has only the rates and delays of Linux's path."""
    networks: dict[str, list[str]] = field(default_factory=lambda: {"client": [], "server": []})
    """By side, the networks of the hosts whose addresses the scenario says."""
    mtu: int = 1500
    ecn: dict[str, dict[str, str]] = field(default_factory=dict)
    """By side, ``tcp_ecn`` and ``tcp_ecn_option`` where the scenario says them."""
    buffers: dict[str, str] = field(default_factory=dict)
    """``tcp_rmem`` and ``tcp_wmem`` where the scenario says them."""
    draws: list[list[int]] | None = None
    """By part of the path (`parts`), the state from which it draws random numbers, in two halves, as the simulator has
    it. Without it disciplines draw Linux's own."""
    phases: list[int] = field(default_factory=list)
    """By flow, the state from which BBR draws its phases, as the simulator has it. Without it BBR draws Linux's own."""

    def link(self, direction: str, index: int | None) -> Shaper | None:
        """Return the link that packets of ``direction`` meet at hop ``index``, or None if that is a wire."""
        if index is None:
            return self.down if direction == "down" else self.up
        return self.hops[index].link

    def links(self) -> list[Shaper]:
        """Return every link, those of hosts included."""
        beside = [*(hop.link for hop in self.hops), *(stack.link for stack in self.stacks)]
        return [self.down, self.up, *(link for link in beside if link is not None)]

    def narrowest_bps(self, direction: str, route: Route) -> int | None:
        """Return the highest rate that packets of ``route`` can have, or None if they cross no link."""
        crossed = [self.link(direction, index) for index in self.rows[direction] if index not in route.skips]
        return min((link.fastest_bps for link in crossed if link is not None), default=None)

    @property
    def captures_ends(self) -> bool:
        """Whether packets are captured at the hosts, too. With goodqueue's own path they are captured only there.

        Behind a lone link of one rate the arrivals are known without this, except for a flow with several RTTs.
        """
        several = any(flow.routes for flow in self.flows)
        return bool(self.own or self.hops or self.stacks or self.down.changes or self.up.changes or several)

    @property
    def load_bps(self) -> int:
        """The rate that all ways can carry together, both directions."""
        different = {tuple(route.skips): route for route in self.routes}.values()
        return sum(self.narrowest_bps(direction, route) or 0 for route in different for direction in self.rows)

    def to_json(self) -> str:
        """Return the plan as text."""
        return json.dumps(asdict(self))

    @staticmethod
    def from_json(text: str) -> "Plan":
        """Return the plan that `to_json` wrote."""
        data: dict[str, Any] = json.loads(text)
        flows, routes = [Flow(**flow) for flow in data.pop("flows")], [Route(**route) for route in data.pop("routes")]
        down, up = Shaper.of(data.pop("down")), Shaper.of(data.pop("up"))
        hops = [Hop(**_with_link(hop)) for hop in data.pop("hops")]
        stacks = [Stack(**_with_link(stack)) for stack in data.pop("stacks")]
        own_path = data.pop("own")
        own_path = own_path and OwnPath(**own_path)
        return Plan(down=down, up=up, flows=flows, routes=routes, hops=hops, stacks=stacks, own=own_path, **data)


def _with_link(data: dict[str, Any]) -> dict[str, Any]:
    return data | {"link": data["link"] and Shaper.of(data["link"])}
