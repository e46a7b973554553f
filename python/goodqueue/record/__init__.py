"""The record of one run, as every engine returns it (schema 1). Units are in the names.

These types describe JSON. docs/record.md is generated from them and from the sentences below their keys. ``None`` means
that there is nothing to measure: the delay of a queue that forwarded no packet, the drop probability of a discipline
that has none.
"""

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict

from goodqueue import traffic
from goodqueue.record.lateness import Live
from goodqueue.record.series import Series

Scenario = dict[str, Any]
"""A scenario as TOML has it: nested tables. The Rust core validates it."""

UNKNOWN = "unknown"
"""The value of keys in a scenario if an imported measurement does not describe its link."""


class Delay(TypedDict):
    """A distribution of times, in ms. For queues: from a packet's arrival to the start of its transmission."""

    mean: float | None
    """Arithmetic."""
    stddev: float | None
    """Standard deviation."""
    min: float | None
    """The least."""
    p10: float | None
    """Of ten, one is at most so long."""
    p50: float | None
    """The median."""
    p90: float | None
    """Of ten, nine are at most so long."""
    p95: float | None
    """Of twenty, 19 are at most so long."""
    p99: float | None
    """Of a hundred, 99 are at most so long."""
    max: float | None
    """The greatest."""


class Packets(TypedDict):
    """What became of the packets, counted over the measured time."""

    offered: int
    """Came to the queue."""
    forwarded: int
    """Began their transmission."""
    dropped: int
    """For any reason."""
    marked: int
    """Set to CE."""
    queued_at_start: int
    """Waited as measuring began."""
    queued_at_end: int
    """Wait at the end."""


class Ring(TypedDict):
    """A driver's ring below a discipline."""

    delay_ms: Delay | None
    """From a packet's leaving the discipline to the start of its transmission: a part of the queue's delay."""
    packets_at_end: int
    """Wait in it at the end."""


class Queue(TypedDict):
    """One direction of the bottleneck. Flent does not see it: all but ``qdisc`` is None where it measured."""

    qdisc: str
    """Its line, with every parameter."""
    utilisation_percent: float | None
    """Share of the capacity that was used: of the time that the wire was busy, weighted by its rate then."""
    throughput_mbps: float | None
    """What left, headers included."""
    delay_ms: Delay | None
    """None where the queue forwarded nothing."""
    delay_percentiles_ms: list[float | None] | None
    """The 0th to the 100th percentile of the delay: 101 numbers, ascending."""
    packets: Packets | None
    """Their fates."""
    drops_by_reason: dict[str, int] | None
    """None from the kernel, which does not tell."""
    marks_by_reason: dict[str, int] | None
    """As `drops_by_reason`."""
    drop_percent: float | None
    """Of the packets offered."""
    mark_percent: float | None
    """Of the packets offered."""
    ring: NotRequired[Ring]
    """Where the scenario puts one below the discipline."""


class HopPackets(TypedDict):
    """What became of the packets of a hop: of a link as in `Packets`, of a wire what follows ``delivered``."""

    offered: int
    """Came to the hop."""
    forwarded: NotRequired[int]
    """As in `Packets`, like the next four."""
    dropped: NotRequired[int]
    """For any reason."""
    marked: NotRequired[int]
    """Set to CE."""
    queued_at_start: NotRequired[int]
    """Waited as measuring began."""
    queued_at_end: NotRequired[int]
    """Wait at the end."""
    delivered: NotRequired[int]
    """Came out of a wire."""
    lost: NotRequired[int]
    """Those beyond the wire's limit among them."""
    over_limit: NotRequired[int]
    """Lost because too many were on their way."""
    duplicated: NotRequired[int]
    """Went on twice."""
    held_at_start: NotRequired[int]
    """Were on their way as measuring began."""
    held_at_end: NotRequired[int]
    """Are on their way at the end."""


class Hop(TypedDict):
    """A hop of the path beside the bottleneck. A link has what a `Queue` has."""

    name: str
    """In the scenario."""
    kind: str
    """``link`` or ``wire``."""
    direction: str
    """Whose packets go through it."""
    packets: HopPackets
    """What became of them."""
    loss_percent: NotRequired[float]
    """Of a wire; all that follows is of a link."""
    qdisc: NotRequired[str]
    """As in `Queue`, like all that follows."""
    utilisation_percent: NotRequired[float]
    """Share of the capacity that was used."""
    throughput_mbps: NotRequired[float]
    """Bits sent, headers included."""
    delay_ms: NotRequired[Delay | None]
    """From arrival to the start of transmission."""
    delay_percentiles_ms: NotRequired[list[float | None] | None]
    """The 0th to the 100th percentile."""
    drops_by_reason: NotRequired[dict[str, int]]
    """Only reasons that occurred."""
    marks_by_reason: NotRequired[dict[str, int]]
    """As `drops_by_reason`."""
    drop_percent: NotRequired[float]
    """Of the packets offered."""
    mark_percent: NotRequired[float]
    """Of the packets offered."""
    ring: NotRequired[Ring]
    """Below the discipline, if there is one."""


class Flow(TypedDict):
    """One flow that carries data: all kinds but pings."""

    name: str
    """The scenario's name, `/` and a number from 0."""
    kind: str
    """Of traffic."""
    direction: str
    """Which way its data go: `down` or `up`."""
    cc: NotRequired[str | None]
    """Congestion control with its words; of TCP."""
    start_s: float
    """When it started, in seconds of the run."""
    goodput_mbps: float
    """What arrived in order, of TCP without headers; from its start, or the end of the warm-up, on."""
    rtt_ms: NotRequired[Delay | None]
    """Round-trip times as the sender measured them."""
    bytes_sent: NotRequired[int | None]
    """Payload bytes that the sender of a TCP flow sent, each as often as it was sent."""
    bytes_retrans: NotRequired[int | None]
    """Those of them that were sent again."""
    retransmitted: NotRequired[int | None]
    """Segments sent again."""
    timeouts: NotRequired[int | None]
    """None from the kernel where several senders share a host, which counts them."""
    tlp_probes: NotRequired[int | None]
    """Tail loss probes; of TCP, and from the kernel as `timeouts`."""
    spurious_retransmissions: NotRequired[int | None]
    """Segments sent again of which the receiver said (DSACK) that they came twice; of TCP."""
    undos: NotRequired[int | None]
    """Window reductions that were taken back because nothing had been lost; of TCP, from the kernel as `timeouts`."""
    loss_percent: float | None
    """Of its sender's packets, those that the bottleneck dropped."""
    completion_ms: NotRequired[float | None]
    """From the SYN to the last byte in order, where the flow made one transfer; of several, see its application."""
    goodput_5s_mbps: NotRequired[dict[str, float | None] | None]
    """Percentiles p10, p50 and p90 of the goodput in whole spans of 5 s."""


class App(TypedDict):
    """What one application measured. Which keys it has, and what they are, its kind says: `traffic.Kind.fields`."""

    name: str
    """Of the flow."""
    kind: str
    """Of traffic."""
    completion_ms: NotRequired[Delay | None]
    response_ms: NotRequired[Delay | None]
    delay_ms: NotRequired[Delay | None]
    load_ms: NotRequired[Delay | None]
    delay_percentiles_ms: NotRequired[list[float | None] | None]
    jitter_ms: NotRequired[float | None]
    jitter_rfc3550_ms: NotRequired[float | None]
    mos: NotRequired[float | None]
    count: NotRequired[int]
    completed: NotRequired[int]
    stalls: NotRequired[int]
    stalled_ms: NotRequired[float]
    rtt_ms: NotRequired[Delay | None]
    sent: NotRequired[int]
    received: NotRequired[int]
    loss_percent: NotRequired[float | None]
    response_small_ms: NotRequired[Delay | None]
    response_medium_ms: NotRequired[Delay | None]
    response_large_ms: NotRequired[Delay | None]
    response_percentiles_ms: NotRequired[list[float | None] | None]
    page_ms: NotRequired[Delay | None]
    pages: NotRequired[int]
    connections: NotRequired[int]
    response_bytes: NotRequired[int]
    timeout_percent: NotRequired[float | None]
    lost_syn_percent: NotRequired[float | None]


class Fairness(TypedDict):
    """Jain's index over the flows: 1 is equal shares, 1/n is one flow with everything."""

    jain_goodput: float | None
    """Of the goodputs of TCP flows in the same direction as the first."""
    jain_drops: float | None
    """Of the shares that those flows lost of what they sent."""


class KernelHop(TypedDict):
    """How the kernel engine ran a hop."""

    shaper: str | None
    """Which discipline of Linux played the link; None of a wire."""
    qdisc_stats: list[dict[str, Any]]
    """As in `Kernel`."""


class Kernel(TypedDict):
    """How the kernel engine ran it; of the live engine, what it has of Linux: `tc` is not among it."""

    release: str
    """Linux's release and version."""
    where: str
    """``host`` or ``vm``."""
    clock: str
    """``real``, or ``virtual``: time that stands still while the machine is busy elsewhere."""
    tc: NotRequired[str]
    """The version of the program."""
    shaper: NotRequired[dict[str, str]]
    """By direction, which discipline of Linux played the link."""
    sysctls: dict[str, Any]
    """What was set, and what it was set to."""
    qdisc_stats: NotRequired[dict[str, list[dict[str, Any]]]]
    """By direction, what `tc -s` says that each discipline counted over the measured time."""
    capture_lost: int
    """Packets that the captures missed: 0, since others make no record."""
    hops: NotRequired[dict[str, KernelHop]]
    """By name, of a path that has any."""


class FlentFile(TypedDict):
    """Where a record of the engine ``flent`` comes from."""

    file: str
    """Its name."""
    test: str
    """Of Flent."""
    title: str
    """As the file has it."""
    time: str
    """When it was measured, as the file says it."""
    version: str
    """Of Flent."""
    measured_s: list[float]
    """Begin and end of the time that the record is of: all TCP flows ran."""
    left_out: list[str]
    """Series that a record has no place for."""


class AirOfStation(TypedDict):
    """What a station and the access point did in one direction."""

    airtime_percent: float
    """Share of the time in which its frames, with their answers, were on the air."""
    throughput_mbps: float
    """Bits of packets delivered, headers included."""
    aggregate_frames: float | None
    """Frames of a transmission on average."""
    rate_mbps: float | None
    """The rate of a transmission on average."""
    transmissions: int
    """Each is a frame or an aggregate."""
    retry_percent: float
    """Share of them that nobody answered."""
    lost: int
    """Frames that were given up."""
    delay_ms: Delay | None
    """From a packet's arrival at the sender's queue until it was delivered."""


class Station(TypedDict):
    """A station of a Wi-Fi cell."""

    name: str
    """The scenario's."""
    airtime_percent: float
    """Share of all airtime that its frames had, both ways."""
    down: AirOfStation
    """From the access point."""
    up: AirOfStation
    """To the access point."""


class Air(TypedDict):
    """A Wi-Fi cell within the measured time."""

    busy_percent: float
    """Share of the time in which frames, with their answers, were on the air."""
    collision_percent: float
    """Share of the transmissions that collided."""
    stations: list[Station]
    """In the order of the scenario."""


class Record(TypedDict):
    """One run."""

    schema: int
    """Of this layout: 1."""
    engine: str
    """`sim`, `kernel`, `live` or `flent`."""
    version: str
    """goodqueue's."""
    seed: int
    """The scenario's."""
    scenario: Scenario
    """As it ran: every default filled in."""
    queues: dict[str, Queue]
    """By direction, `down` and `up`."""
    wifi: NotRequired[Air]
    """Where the bottleneck is a Wi-Fi cell."""
    hops: NotRequired[list[Hop]]
    """In the order in which packets meet them, those of the way down first."""
    flows: list[Flow]
    """In the order of the scenario."""
    fairness: Fairness
    """How equal the shares were."""
    apps: list[App]
    """In the order of the scenario."""
    series: NotRequired[Series]
    """Where the scenario asks for it."""
    kernel: NotRequired[Kernel]
    """Not from the simulator."""
    live: NotRequired[Live]
    """From the live engine alone."""
    flent: NotRequired[FlentFile]
    """Of what `goodqueue import` read."""


def statistic(times: Delay | None, name: str) -> float | None:
    """Return one number of a distribution by its ``name``, such as ``p95``. None if there was nothing to measure."""
    found: Mapping[str, object] = times or {}
    value = found.get(name)
    return value if isinstance(value, int | float) else None


def times_of(app: App) -> Mapping[str, float | None]:
    """Return the distribution of the times by which an application is judged. Empty if it measured none."""
    found: Mapping[str, Mapping[str, float | None] | None] = app  # type: ignore[assignment]
    return found.get(traffic.kinds()[app["kind"]].times) or {}
