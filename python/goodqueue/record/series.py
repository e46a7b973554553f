"""Time series of a record: of queues, of flows, and of some kinds of traffic, over the time of a run."""

from typing import NotRequired, TypedDict


class QueueSeries(TypedDict):
    """One queue over time; the lists are as long as the series' ``time_s``."""

    delay_ms: list[float | None]
    """Mean of the packets that left within the interval."""
    backlog_packets: list[float | None]
    """At its end."""
    drop_probability: list[float | None]
    """At its end, as the law says it; None where it has none."""
    law: NotRequired[dict[str, list[float | None]]]
    """The law's inner variables at each interval's end, where ``series.law`` asks for them; from the simulator alone.

    By Linux's or the RFC's name with the unit behind it: ``_ms``, ``_bytes``, ``_packets``, ``_mbps``, none for a plain
    number. A point of time is in ms from the interval's end, negative where it has passed. None: there is no value.
    """


class TcpSeries(TypedDict):
    """A TCP sender over time, by the names of `ss -tin`: of the connection opened last, None where there is none."""

    ssthresh_packets: list[float | None]
    """Slow-start threshold; None before it was set."""
    rtt_ms: list[float | None]
    """Smoothed."""
    rttvar_ms: list[float | None]
    """Its smoothed deviation."""
    rto_ms: list[float | None]
    """Retransmission timeout, backoff included."""
    unacked_packets: list[float | None]
    """Segments that no cumulative ACK has covered."""
    pacing_rate_mbps: list[float | None]
    """In payload. Segments leave together by it even where nothing is paced."""
    delivery_rate_mbps: list[float | None]
    """In payload, as the sender estimates it."""


class FlowSeries(TypedDict):
    """One flow over time."""

    name: str
    """Of the flow."""
    cwnd_packets: list[float | None]
    """Congestion window at the interval's end."""
    goodput_mbps: list[float | None]
    """Within the interval."""
    dropped_packets: NotRequired[list[int]]
    """Of its sender's packets at the bottleneck; from the simulator alone."""
    rtt_ms: NotRequired[list[float | None]]
    """Of a ping: the mean of the echoes that came home."""
    tcp: NotRequired[TcpSeries]
    """Of TCP flows, where ``series.tcp`` asks for it."""


class PingSeries(TypedDict):
    """The round trips of a ping that ended, in the order in which they did, those of the warm-up too."""

    name: str
    """Of the flow."""
    seq: list[int]
    """Numbers, from 0; one that is missing was lost, or under way at the end."""
    sent_s: list[float]
    """When each was sent, in seconds of the run."""
    rtt_ms: list[float]
    """Its round trip."""


class CallSeries(TypedDict):
    """The packets of a call that were heard, in the order in which they arrived, those of the warm-up too."""

    name: str
    """Of the flow."""
    seq: list[int]
    """Numbers, from 0; one that is missing was lost, or under way at the end."""
    sent_s: list[float]
    """When each was sent, in seconds of the run."""
    delay_ms: list[float]
    """One way."""


class PageSeries(TypedDict):
    """The fetches of a page that were completed, those of the warm-up too."""

    name: str
    """Of the flow."""
    begun_s: list[float]
    """When each began, in seconds of the run."""
    load_ms: list[float]
    """How long it took."""


class WebUsersSeries(TypedDict):
    """A sample of what users of the web waited for, each response as likely to be in it as any other: 5000 at most."""

    name: str
    """Of the flow."""
    bytes: list[int]
    """Of each response."""
    response_ms: list[float]
    """How long it took."""
    timeout: list[bool | None]
    """Whether a retransmission timer fired for it; null on the kernel engine, where that is not seen."""


class PacketSeries(TypedDict):
    """Every forwarded packet of a window of time: when it left and how long it had queued."""

    time_s: list[float]
    """When each left, in seconds of the run."""
    delay_ms: list[float]
    """How long it had waited."""
    flow: NotRequired[list[int]]
    """Whose it was: the place of its flow among the scenario's, from 0; where `series.packets.flows` asks for it."""


class AirtimeSeries(TypedDict):
    """One direction of a station over time. What was on the air counts where it ended."""

    airtime_percent: list[float]
    """Share of the interval in which its frames, with their answers, were on the air."""
    rate_mbps: list[float | None]
    """The rate of its transmissions on average, those without packets left out; None where there were none."""


class StationSeries(TypedDict):
    """One station of a Wi-Fi cell over time."""

    name: str
    """Of the station."""
    down: AirtimeSeries
    """From the access point."""
    up: AirtimeSeries
    """To the access point."""


class AirSeries(TypedDict):
    """Every transmission of a window of time on the air of a Wi-Fi cell: a frame or an aggregate, and its answer."""

    time_s: list[float]
    """When each began, in seconds of the run."""
    duration_us: list[float]
    """How long it had the air, with what goes before it and its answer."""
    station: list[str]
    """The station that sent it to the access point, or to which the access point sent it."""
    direction: list[str]
    """``down``: from the access point; ``up``: to it."""
    category: list[str]
    """Access category: ``background``, ``best effort``, ``video``, ``voice``."""
    mode: list[str]
    """Its rate, in the words of a scenario."""
    kind: list[str]
    """A ``frame``, an ``aggregate``, or a ``question`` what has come of one (BlockAckReq)."""
    before: list[str | None]
    """What went before it: ``rts`` with its CTS, or ``cts`` to oneself; None: nothing."""
    frames: list[int]
    """Frames with packets in it."""
    came: list[int]
    """Those of them that came."""
    retry: list[bool]
    """Whether any of it had been sent before."""
    outcome: list[str]
    """``came``, ``partly``, ``unanswered`` or ``collided``; of the last two all is tried again or given up."""


class Series(TypedDict):
    """Time series, where the scenario asks for them."""

    interval_s: float | None
    """Length of the intervals; None where only single packets were asked for."""
    time_s: list[float]
    """The intervals' ends, in seconds of the run."""
    queues: dict[str, QueueSeries]
    """By direction."""
    hops: NotRequired[dict[str, QueueSeries]]
    """Of the hops that are links, by name."""
    flows: list[FlowSeries]
    """In the order of the flows."""
    pings: NotRequired[list[PingSeries]]
    """Each echo."""
    calls: NotRequired[list[CallSeries]]
    """Each packet of a call."""
    pages: NotRequired[list[PageSeries]]
    """Each fetch."""
    web_users: NotRequired[list[WebUsersSeries]]
    """Single responses."""
    packets: NotRequired[dict[str, PacketSeries]]
    """By direction, where the scenario asks for a window."""
    stations: NotRequired[list[StationSeries]]
    """Of a Wi-Fi cell, where the scenario asks for intervals."""
    air: NotRequired[AirSeries]
    """Of a Wi-Fi cell, where the scenario asks for a window of its air."""
