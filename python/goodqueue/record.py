"""The record of one run, as every engine returns it (schema 1). Units are in the names.

These types describe JSON. ``None`` stands where there is nothing to measure: the delay of a
queue that forwarded no packet, the drop probability of a discipline that has none.
"""

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict, get_args, get_origin, get_type_hints, is_typeddict

Scenario = dict[str, Any]
"""A scenario as TOML has it: nested tables. The Rust core validates it."""


class Delay(TypedDict):
    """A distribution of times, in ms. For queues: from a packet's arrival to the start of its transmission."""

    mean: float | None
    stddev: float | None
    min: float | None
    p10: float | None
    p50: float | None
    p90: float | None
    p95: float | None
    p99: float | None
    max: float | None


class Packets(TypedDict):
    """What became of the packets, counted over the measured time."""

    offered: int
    forwarded: int
    dropped: int
    marked: int
    queued_at_start: int
    queued_at_end: int


class Ring(TypedDict):
    """A driver's ring below a discipline."""

    delay_ms: Delay | None
    """From a packet's leaving the discipline to the start of its transmission: a part of the queue's delay."""
    packets_at_end: int


class Queue(TypedDict):
    """One direction of the bottleneck. Flent does not see it: all but ``qdisc`` is None where it measured."""

    qdisc: str
    utilisation_percent: float | None
    throughput_mbps: float | None
    delay_ms: Delay | None
    """None where the queue forwarded nothing."""
    delay_percentiles_ms: list[float | None] | None
    """The 0th to the 100th percentile of the delay: 101 numbers, ascending."""
    packets: Packets | None
    drops_by_reason: dict[str, int] | None
    """None from the kernel, which does not tell."""
    marks_by_reason: dict[str, int] | None
    drop_percent: float | None
    mark_percent: float | None
    ring: NotRequired[Ring]


class HopPackets(TypedDict):
    """What became of the packets of a hop: of a link as in `Packets`, of a wire what follows ``delivered``."""

    offered: int
    forwarded: NotRequired[int]
    dropped: NotRequired[int]
    marked: NotRequired[int]
    queued_at_start: NotRequired[int]
    queued_at_end: NotRequired[int]
    delivered: NotRequired[int]
    lost: NotRequired[int]
    """Those beyond the wire's limit among them."""
    over_limit: NotRequired[int]
    duplicated: NotRequired[int]
    held_at_start: NotRequired[int]
    held_at_end: NotRequired[int]


class Hop(TypedDict):
    """A hop of the path beside the bottleneck. A link has what a `Queue` has."""

    name: str
    kind: str
    """``link`` or ``wire``."""
    direction: str
    packets: HopPackets
    loss_percent: NotRequired[float]
    """Of a wire; all that follows is of a link."""
    qdisc: NotRequired[str]
    utilisation_percent: NotRequired[float]
    throughput_mbps: NotRequired[float]
    delay_ms: NotRequired[Delay | None]
    delay_percentiles_ms: NotRequired[list[float | None] | None]
    drops_by_reason: NotRequired[dict[str, int]]
    marks_by_reason: NotRequired[dict[str, int]]
    drop_percent: NotRequired[float]
    mark_percent: NotRequired[float]
    ring: NotRequired[Ring]


class Flow(TypedDict):
    """One flow that carries data: all kinds but pings."""

    name: str
    kind: str
    direction: str
    cc: NotRequired[str | None]
    start_s: float
    goodput_mbps: float
    rtt_ms: NotRequired[Delay | None]
    bytes_sent: NotRequired[int | None]
    """Payload bytes that the sender of a TCP flow sent, each as often as it was sent."""
    bytes_retrans: NotRequired[int | None]
    retransmitted: NotRequired[int | None]
    timeouts: NotRequired[int | None]
    """None from the kernel where several senders share a host, which counts them."""
    tlp_probes: NotRequired[int | None]
    """Tail loss probes; of TCP, and from the kernel as `timeouts`."""
    spurious_retransmissions: NotRequired[int | None]
    """Segments sent again of which the receiver said (DSACK) that they came twice; of TCP."""
    undos: NotRequired[int | None]
    """Window reductions that were taken back because nothing had been lost; of TCP, from the kernel as `timeouts`."""
    loss_percent: float | None
    completion_ms: NotRequired[float | None]
    """From the SYN to the last byte in order, where the flow made one transfer; of several, see its application."""
    goodput_5s_mbps: NotRequired[dict[str, float | None] | None]


class App(TypedDict):
    """One application that is judged by its own metric: `TIMES` says by which."""

    name: str
    kind: str
    completion_ms: NotRequired[Delay | None]
    """From the SYN of the user, who opens the connection, to the last byte in order at the receiver."""
    response_ms: NotRequired[Delay | None]
    """From writing a request to the last byte of its response."""
    delay_ms: NotRequired[Delay | None]
    """From writing a chunk to its last byte in order; of a call, from sending a packet to its arrival."""
    load_ms: NotRequired[Delay | None]
    """From the lookup of a page's host to the last byte of its last object."""
    delay_percentiles_ms: NotRequired[list[float | None] | None]
    """Of a call: the 0th to the 100th percentile."""
    jitter_ms: NotRequired[float | None]
    """Of a call: the mean difference between the delays of successive packets."""
    jitter_rfc3550_ms: NotRequired[float | None]
    """RFC 3550's moving average of these, at the end."""
    mos: NotRequired[float | None]
    """Of a call: mean opinion score by ITU-T G.107's E-model, 1 to 4.5."""
    count: NotRequired[int]
    """Transfers, exchanges, chunks or pages that began within the measured time."""
    completed: NotRequired[int]
    """Those of them that ended."""
    stalls: NotRequired[int]
    """How often a player, who began one interval after the first chunk, had to wait for the next."""
    stalled_ms: NotRequired[float]
    """How long, in all."""
    rtt_ms: NotRequired[Delay | None]
    sent: NotRequired[int]
    received: NotRequired[int]
    loss_percent: NotRequired[float | None]


class Fairness(TypedDict):
    """Jain's index over the flows: 1 is equal shares, 1/n is one flow with everything."""

    jain_goodput: float | None
    jain_drops: float | None


class QueueSeries(TypedDict):
    """One queue over time; the lists are as long as the series' ``time_s``."""

    delay_ms: list[float | None]
    backlog_packets: list[float | None]
    drop_probability: list[float | None]
    law: NotRequired[dict[str, list[float | None]]]
    """The law's inner variables at each interval's end, where ``series.law`` asks for them; from the simulator alone.

    By Linux's or the RFC's name with the unit behind it: ``_ms``, ``_bytes``, ``_packets``, ``_mbps``, none for a plain
    number. A point of time is in ms from the interval's end, negative where it has passed. None: there is no value.
    """


class TcpSeries(TypedDict):
    """A TCP sender over time, by the names of `ss -tin`: of the connection opened last, None where there is none."""

    ssthresh_packets: list[float | None]
    rtt_ms: list[float | None]
    """Smoothed."""
    rttvar_ms: list[float | None]
    rto_ms: list[float | None]
    unacked_packets: list[float | None]
    pacing_rate_mbps: list[float | None]
    """In payload. Segments leave together by it even where nothing is paced."""
    delivery_rate_mbps: list[float | None]
    """In payload, as the sender estimates it."""


class FlowSeries(TypedDict):
    """One flow over time."""

    name: str
    cwnd_packets: list[float | None]
    goodput_mbps: list[float | None]
    dropped_packets: NotRequired[list[int]]
    """Of its sender's packets at the bottleneck; from the simulator alone."""
    rtt_ms: NotRequired[list[float | None]]
    """Of a ping: the mean of the echoes that came home."""
    tcp: NotRequired[TcpSeries]
    """Of TCP flows, where ``series.tcp`` asks for it."""


class PingSeries(TypedDict):
    """The round trips of a ping that ended, in the order in which they did, those of the warm-up too."""

    name: str
    seq: list[int]
    """Numbers, from 0; one that is missing was lost, or under way at the end."""
    sent_s: list[float]
    rtt_ms: list[float]


class CallSeries(TypedDict):
    """The packets of a call that were heard, in the order in which they arrived, those of the warm-up too."""

    name: str
    seq: list[int]
    """Numbers, from 0; one that is missing was lost, or under way at the end."""
    sent_s: list[float]
    delay_ms: list[float]
    """One way."""


class PageSeries(TypedDict):
    """The fetches of a page that were completed, those of the warm-up too."""

    name: str
    begun_s: list[float]
    load_ms: list[float]


class PacketSeries(TypedDict):
    """Every forwarded packet of a window of time: when it left and how long it had queued."""

    time_s: list[float]
    delay_ms: list[float]


class Series(TypedDict):
    """Time series, where the scenario asks for them."""

    interval_s: float | None
    time_s: list[float]
    queues: dict[str, QueueSeries]
    hops: NotRequired[dict[str, QueueSeries]]
    """Of the hops that are links, by name."""
    flows: list[FlowSeries]
    pings: NotRequired[list[PingSeries]]
    calls: NotRequired[list[CallSeries]]
    pages: NotRequired[list[PageSeries]]
    packets: NotRequired[dict[str, PacketSeries]]


class Kernel(TypedDict):
    """How the kernel engine ran it."""

    release: str
    """Linux's release and version."""
    where: str
    """``host`` or ``vm``."""
    clock: str
    """``real``, or ``virtual``: time that stands still while the machine is busy elsewhere."""
    tc: str
    """The version of the program."""
    shaper: dict[str, str]
    """By direction, which discipline of Linux played the link."""
    sysctls: dict[str, Any]
    qdisc_stats: dict[str, list[dict[str, Any]]]
    """By direction, what `tc -s` says that each discipline counted over the measured time."""
    capture_lost: int
    """Packets that the captures missed: 0, since others make no record."""


class FlentFile(TypedDict):
    """Where a record of the engine ``flent`` comes from."""

    file: str
    test: str
    title: str
    time: str
    """When it was measured, as the file says it."""
    version: str
    """Of Flent."""
    measured_s: list[float]
    """Begin and end of the time that the record is of: all TCP flows ran."""
    left_out: list[str]
    """Series that a record has no place for."""


class Record(TypedDict):
    """One run."""

    schema: int
    engine: str
    version: str
    seed: int
    scenario: Scenario
    queues: dict[str, Queue]
    hops: NotRequired[list[Hop]]
    """In the order in which packets meet them, those of the way down first."""
    flows: list[Flow]
    fairness: Fairness
    apps: list[App]
    series: NotRequired[Series]
    kernel: NotRequired[Kernel]
    """From the kernel engine alone."""
    flent: NotRequired[FlentFile]
    """Of what `goodqueue import` read."""


def statistic(times: Delay | None, name: str) -> float | None:
    """Return one number of a distribution by its ``name``, such as ``p95``; None where there was nothing to measure."""
    found: Mapping[str, object] = times or {}
    value = found.get(name)
    return value if isinstance(value, int | float) else None


TIMES = {
    "ping": "rtt_ms",
    "transfer": "completion_ms",
    "rr": "response_ms",
    "stream": "delay_ms",
    "voip": "delay_ms",
    "page": "load_ms",
}
"""By kind of application, the key of the times that it is judged by."""


def times_of(app: App) -> Mapping[str, float | None]:
    """Return the distribution of an application's times; empty where it measured none."""
    found: Mapping[str, Mapping[str, float | None] | None] = app  # type: ignore[assignment]
    return found.get(TIMES[app["kind"]]) or {}


def walk(record: Record, path: str) -> float | None:
    """Return the number at the dotted ``path``; None where a null stands there or above.

    A reason for which nothing was dropped or marked has no entry in the record: its number is 0.
    """
    here: Any = record
    above = ""
    for part in path.split("."):
        if here is None:
            return None
        if above in ("drops_by_reason", "marks_by_reason"):
            return float(here.get(part, 0))
        above = part
        here = dict(enumerate(here)).get(int(part)) if isinstance(here, list) else here.get(part)
    return None if here is None else float(here)


def check_path(path: str) -> str | None:
    """Return why no record has a number at ``path``, or None where it may have one."""
    here: Any = Record
    walked: list[str] = []
    for part in path.split("."):
        here = without_none(here)
        place = ".".join(walked) or "a record"
        if is_typeddict(here):
            fields = get_type_hints(here)
            if part not in fields:
                return f"{place} has no field {part!r}; accepted: {', '.join(fields)}"
            here = fields[part]
        elif get_origin(here) is list:
            if not part.isdecimal():
                return f"{place} is a list; accepted: a number after it"
            here = get_args(here)[0]
        elif get_origin(here) is dict:
            if walked == ["queues"] and part not in ("down", "up"):
                return f"queues has no field {part!r}; accepted: down, up"
            here = get_args(here)[1]
        else:
            return f"{place} is a number; accepted: nothing after it"
        walked.append(part)
    ends = without_none(here)
    return None if ends in (int, float) else f"{path} is not a number; accepted: a path that ends at one"


def without_none(hint: Any) -> Any:
    """Return the one option beside None of ``X | None``, and any other type as it is."""
    options = [option for option in get_args(hint) if option is not type(None)]
    return options[0] if type(None) in get_args(hint) and len(options) == 1 else hint
