"""Time series of a record: of queues, of flows, and of some kinds of traffic, over the time of a run."""

from typing import NotRequired, TypedDict


class QueueSeries(TypedDict):
    """One queue over time. The lists are as long as the series' ``time_s``."""

    delay_ms: list[float | None]
    """Mean delay of the packets that left within the interval."""
    backlog_packets: list[float | None]
    """Packets that wait at the end of the interval."""
    drop_probability: list[float | None]
    """The law's drop probability at the end of the interval. None if the law has none."""
    law: NotRequired[dict[str, list[float | None]]]
    """The law's inner variables at each interval's end, where ``series.law`` asks for them; from the simulator alone.

    By Linux's or the RFC's name with the unit behind it: ``_ms``, ``_bytes``, ``_packets``, ``_mbps``, none for a plain
    number. A point of time is in ms from the interval's end, negative where it has passed. None: there is no value.
    """


class TcpSeries(TypedDict):
    """A TCP sender over time, under the names of `ss -tin`.

    It is the connection that was opened last. None if there is no connection.
    """

    ssthresh_packets: list[float | None]
    """Slow-start threshold. None before it was set."""
    rtt_ms: list[float | None]
    """Smoothed round-trip time."""
    rttvar_ms: list[float | None]
    """Smoothed deviation of the round-trip time."""
    rto_ms: list[float | None]
    """Retransmission timeout, backoff included."""
    unacked_packets: list[float | None]
    """Segments that no cumulative ACK has covered."""
    pacing_rate_mbps: list[float | None]
    """Pacing rate, as payload.

    A sender that does not pace also has one: it sets the size of packets for segmentation offload.
    """
    delivery_rate_mbps: list[float | None]
    """The sender's estimate of the delivery rate, as payload."""


class FlowSeries(TypedDict):
    """One flow over time."""

    name: str
    """Name of the flow."""
    cwnd_packets: list[float | None]
    """Congestion window at the end of the interval."""
    goodput_mbps: list[float | None]
    """Goodput within the interval."""
    dropped_packets: NotRequired[list[int]]
    """The sender's packets that were dropped at the bottleneck or lost at another hop. Only from the simulator."""
    rtt_ms: NotRequired[list[float | None]]
    """For a ping: mean of the echoes that came back within the interval."""
    tcp: NotRequired[TcpSeries]
    """For TCP flows, if ``series.tcp`` asks for it."""


class PingSeries(TypedDict):
    """The round trips of a ping, including those of the warm-up, in the order in which they ended."""

    name: str
    """Name of the flow."""
    seq: list[int]
    """Number of the packet, from 0. A missing number was lost, or was under way at the end."""
    sent_s: list[float]
    """Time at which the packet was sent, in seconds of the run."""
    rtt_ms: list[float]
    """Round-trip time of the packet."""


class CallSeries(TypedDict):
    """The packets of a call that arrived, including those of the warm-up, in order of arrival."""

    name: str
    """Name of the flow."""
    seq: list[int]
    """Number of the packet, from 0. A missing number was lost, or was under way at the end."""
    sent_s: list[float]
    """Time at which the packet was sent, in seconds of the run."""
    delay_ms: list[float]
    """One-way delay of the packet."""


class PageSeries(TypedDict):
    """The fetches of a page that were completed, including those of the warm-up."""

    name: str
    """Name of the flow."""
    begun_s: list[float]
    """Time at which the fetch began, in seconds of the run."""
    load_ms: list[float]
    """Duration of the fetch."""


class WebUsersSeries(TypedDict):
    """A sample of at most 5000 responses to users of the web. Each response is equally likely to be in it."""

    name: str
    """Name of the flow."""
    bytes: list[int]
    """Bytes of the response."""
    response_ms: list[float]
    """Duration of the response."""
    timeout: list[bool | None]
    """Whether a retransmission timer fired for the response. Null from the kernel engine, which does not see it."""


class PacketSeries(TypedDict):
    """Every forwarded packet of a window of time."""

    time_s: list[float]
    """Time at which the packet left, in seconds of the run."""
    delay_ms: list[float]
    """Time that the packet spent in the queue."""
    flow: NotRequired[list[int]]
    """Index of the packet's flow in the record's flows, from 0. Only if `series.packets.flows` asks for it."""


class AirtimeSeries(TypedDict):
    """One direction of a station over time. A transmission counts in the interval in which it ended."""

    airtime_percent: list[float]
    """Share of the interval in which the frames of this direction, with their answers, were on the air."""
    rate_mbps: list[float | None]
    """Mean rate of the transmissions that had packets in them. None if there were none."""


class StationSeries(TypedDict):
    """One station of a Wi-Fi cell over time."""

    name: str
    """Name of the station."""
    down: AirtimeSeries
    """From the access point."""
    up: AirtimeSeries
    """To the access point."""


class AirSeries(TypedDict):
    """Every transmission of a window of time on the air of a Wi-Fi cell.

    A transmission is a frame or an aggregate, with its answer.
    """

    time_s: list[float]
    """Start of the transmission, in seconds of the run."""
    duration_us: list[float]
    """Time on the air, with RTS and CTS before it and the answer after it."""
    station: list[str]
    """The station that sent it to the access point, or to which the access point sent it."""
    direction: list[str]
    """``down``: from the access point; ``up``: to it."""
    category: list[str]
    """Access category: ``background``, ``best effort``, ``video``, ``voice``."""
    mode: list[str]
    """Rate of the transmission, in the words of a scenario."""
    kind: list[str]
    """``frame``, ``aggregate``, or ``question``: a BlockAckReq, which asks for the answer to an aggregate."""
    before: list[str | None]
    """``rts``: RTS and CTS came first. ``cts``: CTS-to-self came first. None: nothing came first."""
    frames: list[int]
    """Frames with packets in the transmission."""
    came: list[int]
    """Frames that arrived."""
    retry: list[bool]
    """Whether any frame had been sent before."""
    outcome: list[str]
    """``came``, ``partly``, ``unanswered`` or ``collided``.

    After the last two, all frames are tried again or given up.
    """


class Series(TypedDict):
    """Time series, if the scenario asks for them."""

    interval_s: float | None
    """Length of the intervals. None if the scenario asks only for single packets."""
    time_s: list[float]
    """Ends of the intervals, in seconds of the run."""
    queues: dict[str, QueueSeries]
    """By direction."""
    hops: NotRequired[dict[str, QueueSeries]]
    """The hops that are links, by name."""
    flows: list[FlowSeries]
    """The flows, in the order of the record's flows."""
    pings: NotRequired[list[PingSeries]]
    """Each echo of each ping."""
    calls: NotRequired[list[CallSeries]]
    """Each packet of each call."""
    pages: NotRequired[list[PageSeries]]
    """Each fetch of each page."""
    web_users: NotRequired[list[WebUsersSeries]]
    """A sample of responses."""
    packets: NotRequired[dict[str, PacketSeries]]
    """By direction, if the scenario asks for a window."""
    stations: NotRequired[list[StationSeries]]
    """The stations of a Wi-Fi cell, if the scenario asks for intervals."""
    air: NotRequired[AirSeries]
    """The transmissions of a Wi-Fi cell, if the scenario asks for a window of its air."""
