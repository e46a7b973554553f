"""The record of one run, as every engine returns it (schema 1). Units are in the names.

These types describe JSON. docs/record.md is generated from them and from the sentences below their keys. ``None`` means
that there is nothing to measure: the delay of a queue that forwarded no packet, the drop probability of a discipline
that has none.
"""

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict

from goodqueue import traffic
from goodqueue.record.lateness import Live
from goodqueue.record.linux import Kernel
from goodqueue.record.series import Series
from goodqueue.record.sources import SOURCES, SourceFile

Scenario = dict[str, Any]
"""A scenario as TOML has it: nested tables. The Rust core validates it."""

UNKNOWN = "unknown"
"""The value of keys in a scenario if an imported measurement does not describe its link."""


class Delay(TypedDict):
    """A distribution of times in ms.

    For a queue, a time runs from a packet's arrival to the start of its transmission.
    """

    mean: float | None
    """Arithmetic mean."""
    stddev: float | None
    """Standard deviation."""
    min: float | None
    """Shortest time."""
    p10: float | None
    """10th percentile: one of ten times is at most this long."""
    p50: float | None
    """Median."""
    p90: float | None
    """90th percentile: nine of ten times are at most this long."""
    p95: float | None
    """95th percentile."""
    p99: float | None
    """99th percentile."""
    max: float | None
    """Longest time."""


class Packets(TypedDict):
    """Counts of packets within the measured time."""

    offered: int
    """Packets that came to the queue."""
    forwarded: int
    """Packets whose transmission began."""
    dropped: int
    """Packets that were dropped, for any reason."""
    marked: int
    """Packets that were set to CE."""
    queued_at_start: int
    """Packets that waited when measuring began."""
    queued_at_end: int
    """Packets that wait at the end."""


class Ring(TypedDict):
    """A driver's ring below a discipline."""

    delay_ms: Delay | None
    """From leaving the discipline to the start of transmission. This is part of the queue's delay."""
    packets_at_end: int
    """Packets that wait in the ring at the end."""


class Queue(TypedDict):
    """One direction of the bottleneck.

    Programs at the ends of a path do not see the queue. Their records have only ``qdisc``, unless Flent asked `tc`.
    """

    qdisc: str
    """The discipline's line, with every parameter."""
    utilisation_percent: float | None
    """Share of the capacity that was used: the share of the time in which the wire was busy, weighted by the rate at
    that time."""
    throughput_mbps: float | None
    """Rate of the bits that left, headers included."""
    delay_ms: Delay | None
    """Time in the queue. None if the queue forwarded nothing."""
    delay_percentiles_ms: list[float | None] | None
    """0th to 100th percentile of the delay: 101 numbers, ascending."""
    packets: Packets | None
    """Counts of packets."""
    drops_by_reason: dict[str, int] | None
    """Drops by reason. None from the kernel, which does not report reasons."""
    marks_by_reason: dict[str, int] | None
    """Marks by reason. None from the kernel."""
    drop_percent: float | None
    """Share of the offered packets that were dropped."""
    mark_percent: float | None
    """Share of the offered packets that were marked."""
    ring: NotRequired[Ring]
    """The driver's ring, if the scenario has one below the discipline."""


class HopPackets(TypedDict):
    """Counts of packets at a hop.

    A link has the keys of `Packets`. A wire has ``offered``, and ``delivered`` and all keys after it.
    """

    offered: int
    """Packets that came to the hop."""
    forwarded: NotRequired[int]
    """Packets whose transmission began."""
    dropped: NotRequired[int]
    """Packets that were dropped, for any reason."""
    marked: NotRequired[int]
    """Packets that were set to CE."""
    queued_at_start: NotRequired[int]
    """Packets that waited when measuring began."""
    queued_at_end: NotRequired[int]
    """Packets that wait at the end."""
    delivered: NotRequired[int]
    """Packets that came out of the wire."""
    lost: NotRequired[int]
    """Packets that the wire lost, including those over its limit."""
    over_limit: NotRequired[int]
    """Packets that were lost because too many were on the wire."""
    duplicated: NotRequired[int]
    """Packets that went on twice."""
    exceeded: NotRequired[int]
    """Packets above a policer's rate, whether it dropped them or not."""
    held_at_start: NotRequired[int]
    """Packets on the wire when measuring began."""
    held_at_end: NotRequired[int]
    """Packets on the wire at the end."""


class Hop(TypedDict):
    """A hop of the path beside the bottleneck. A link has the keys of a `Queue`."""

    name: str
    """Name in the scenario."""
    kind: str
    """``link`` or ``wire``."""
    direction: str
    """Direction of the packets that cross the hop."""
    packets: HopPackets
    """Counts of packets."""
    loss_percent: NotRequired[float]
    """Share of the packets that a wire lost. The keys that follow belong to links."""
    qdisc: NotRequired[str]
    """The discipline's line, with every parameter."""
    utilisation_percent: NotRequired[float]
    """Share of the capacity that was used."""
    throughput_mbps: NotRequired[float]
    """Rate of the bits that left, headers included."""
    delay_ms: NotRequired[Delay | None]
    """Time from arrival to the start of transmission."""
    delay_percentiles_ms: NotRequired[list[float | None] | None]
    """0th to 100th percentile of the delay."""
    drops_by_reason: NotRequired[dict[str, int]]
    """Drops by reason. Only reasons that occurred."""
    marks_by_reason: NotRequired[dict[str, int]]
    """Marks by reason. Only reasons that occurred."""
    drop_percent: NotRequired[float]
    """Share of the offered packets that were dropped."""
    mark_percent: NotRequired[float]
    """Share of the offered packets that were marked."""
    ring: NotRequired[Ring]
    """The driver's ring below the discipline, if there is one."""


class Flow(TypedDict):
    """One flow that carries data: every kind of traffic except ping."""

    name: str
    """The scenario's name of the traffic, `/`, and a number from 0."""
    kind: str
    """Kind of traffic."""
    direction: str
    """Direction of the data: `down` or `up`."""
    cc: NotRequired[str | None]
    """Congestion control with its parameters. Only TCP."""
    start_s: float
    """Start of the flow, in seconds of the run."""
    goodput_mbps: float
    """Rate of the data that arrived in order, without headers for TCP.

    The time begins with the flow, or with the end of the warm-up if that is later.
    """
    rtt_ms: NotRequired[Delay | None]
    """Round-trip times as the sender measured them."""
    bytes_sent: NotRequired[int | None]
    """Payload bytes that the sender of a TCP flow sent. Each byte counts as often as it was sent."""
    bytes_retrans: NotRequired[int | None]
    """Payload bytes that were retransmitted."""
    retransmitted: NotRequired[int | None]
    """Segments that were retransmitted."""
    timeouts: NotRequired[int | None]
    """Retransmission timeouts. The kernel counts them per host, so None if several of its senders share a host."""
    tlp_probes: NotRequired[int | None]
    """Tail loss probes. Only TCP. From the kernel as `timeouts`."""
    spurious_retransmissions: NotRequired[int | None]
    """Retransmitted segments that the receiver reported as duplicates (DSACK). Only TCP."""
    undos: NotRequired[int | None]
    """Window reductions that the sender undid because nothing had been lost.

    Only TCP. From the kernel as `timeouts`.
    """
    loss_percent: float | None
    """Share of the sender's packets that were dropped at the bottleneck or lost at another hop.

    From iperf3: lost anywhere.
    """
    jitter_rfc3550_ms: NotRequired[float | None]
    """Jitter of a datagram flow at its receiver, as RFC 3550 smooths it. Only from iperf3."""
    completion_ms: NotRequired[float | None]
    """From the SYN to the last byte in order, if the flow made one transfer.

    For several transfers see its application.
    """
    goodput_5s_mbps: NotRequired[dict[str, float | None] | None]
    """Percentiles p10, p50 and p90 of the goodput in whole intervals of 5 s."""


class App(TypedDict):
    """What one application measured.

    Its kind of traffic declares which keys it has, and their meaning: `traffic.Kind.fields`.
    """

    name: str
    """Name of the flow."""
    kind: str
    """Kind of traffic."""
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
    """Jain's index over flows: 1 means equal shares. 1/n means that one of n flows has everything."""

    jain_goodput: float | None
    """Index of the goodputs of bulk transfers in the direction of the first one."""
    jain_drops: float | None
    """Jain's index of the loss ratios of the same flows."""
    jain_hosts: NotRequired[float | None]
    """Index of the goodputs in that direction of the users' hosts, if the scenario names hosts."""


class Host(TypedDict):
    """A host that the scenario names, within the measured time."""

    name: str
    """Name in the scenario."""
    role: str
    """`host`, a user's host, or `server`: the key of `[[traffic]]` that names it."""
    flows: int
    """Number of its flows that carry data."""
    goodput_mbps: dict[str, float | None]
    """By direction, `down` and `up`: goodput of its flows together, from the start of the first one.

    Null if none of its flows has its data in that direction.
    """
    rtt_ms: Delay | None
    """Round-trip times as the senders of its TCP flows measured them."""
    loss_percent: float
    """Share of the packets of its flows that were dropped at the bottleneck or lost at another hop."""


class AirOfStation(TypedDict):
    """What a station and the access point did in one direction."""

    airtime_percent: float
    """Share of the time in which the frames of this direction, with their answers, were on the air."""
    throughput_mbps: float
    """Rate of the bits of delivered packets, headers included."""
    aggregate_frames: float | None
    """Mean number of frames per transmission."""
    rate_mbps: float | None
    """Mean rate of a transmission."""
    transmissions: int
    """Number of transmissions. Each is a frame or an aggregate."""
    retry_percent: float
    """Share of the transmissions that were not answered."""
    lost: int
    """Frames that were given up."""
    delay_ms: Delay | None
    """From a packet's arrival at the sender's queue until its delivery."""


class Station(TypedDict):
    """A station of a Wi-Fi cell."""

    name: str
    """Name in the scenario."""
    airtime_percent: float
    """Share of all airtime that the station's frames had, in both directions."""
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
    """Version of this layout: 1."""
    engine: str
    """`sim`, `kernel` or `live`; for what was imported, `flent`, `irtt` or `iperf3`."""
    version: str
    """Version of goodqueue."""
    seed: int
    """The scenario's seed."""
    scenario: Scenario
    """The scenario as it ran, with every default filled in."""
    queues: dict[str, Queue]
    """By direction, `down` and `up`."""
    wifi: NotRequired[Air]
    """The Wi-Fi cell, if the bottleneck is one."""
    hops: NotRequired[list[Hop]]
    """The hops, in the order in which packets cross them. The hops of the way down come first."""
    flows: list[Flow]
    """In the order of the scenario."""
    hosts: NotRequired[list[Host]]
    """The hosts, if the scenario names any. The users' hosts come first."""
    fairness: Fairness
    """Jain's index over the flows."""
    apps: list[App]
    """In the order of the scenario."""
    series: NotRequired[Series]
    """Time series, if the scenario asks for them."""
    kernel: NotRequired[Kernel]
    """Linux's part in the run. Not from the simulator."""
    live: NotRequired[Live]
    """How late the emulator was. Only from the live engine."""
    flent: NotRequired[SourceFile]
    """The source, if `goodqueue import` read a file of Flent's."""
    irtt: NotRequired[SourceFile]
    """The source, if it read a file of irtt's."""
    iperf3: NotRequired[SourceFile]
    """The source, if it read a file of iperf3's."""


def source_of(record: Record) -> SourceFile | None:
    """Return the source of a record that was imported, or None for a run of ours."""
    found: Mapping[str, Any] = record
    return next((found[name] for name in SOURCES if name in found), None)


def statistic(times: Delay | None, name: str) -> float | None:
    """Return one number of a distribution by its ``name``, such as ``p95``. None if there was nothing to measure."""
    found: Mapping[str, object] = times or {}
    value = found.get(name)
    return value if isinstance(value, int | float) else None


def times_of(app: App) -> Mapping[str, float | None]:
    """Return the distribution of the times by which an application is judged. Empty if it measured none."""
    found: Mapping[str, Mapping[str, float | None] | None] = app  # type: ignore[assignment]
    return found.get(traffic.kinds()[app["kind"]].times) or {}
