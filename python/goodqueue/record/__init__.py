"""The record of one run, as every engine returns it (schema 1). Units are in the names.

These types describe JSON, and None is its null. tools/docs/generate.py makes this file from the core's layout of a
record: do not edit it, edit its parts (`part!`).
"""

from typing import Any, NotRequired, TypedDict

Scenario = dict[str, Any]
"""A scenario as TOML has it: nested tables. The core validates it."""


class Delay(TypedDict):
    """A distribution of times, in milliseconds."""

    mean: float | None
    """Arithmetic mean."""
    stddev: float | None
    """Standard deviation."""
    min: float | None
    """Least."""
    p10: float | None
    """10th percentile."""
    p50: float | None
    """Median."""
    p90: float | None
    """90th percentile."""
    p95: float | None
    """95th percentile."""
    p99: float | None
    """99th percentile."""
    max: float | None
    """Greatest."""


class Packets(TypedDict):
    """Packets: `queued_at_start + offered = forwarded + dropped + queued_at_end`."""

    offered: int
    """Packets that arrived at the queue."""
    forwarded: int
    """Packets whose transmission began."""
    dropped: int
    """Packets dropped, for any reason."""
    marked: int
    """Packets newly set to CE."""
    queued_at_start: int
    """Packets that waited when measuring began."""
    queued_at_end: int
    """Packets that waited at the end."""


class Ring(TypedDict):
    """A driver's ring below a discipline."""

    delay_ms: Delay | None
    """Time from the moment a packet leaves the discipline to the start of its transmission: a part of the queue's
    `delay_ms`."""
    packets_at_end: int
    """Packets in the ring at the end."""


class Card(TypedDict):
    """The receive side of a card: its interrupts, and what the host took there."""

    interrupts: int
    """The interrupts."""
    packets: int
    """Packets that the host took."""
    handed_on: int
    """The same packets, where several merged ones count as one."""
    mean_bytes: float | None
    """Their mean length in bytes, as `tc` counts it. Null if there were none."""
    waiting_at_end: int
    """Packets that waited for an interrupt at the end."""


class Queue(TypedDict):
    """A bottleneck, in one direction.

    Programs at the ends of a path do not see the queue. Their records have only `qdisc`, unless Flent asked `tc`.
    """

    qdisc: str
    """The discipline's line, with every parameter."""
    utilisation_percent: float | None
    """Used share of the capacity: the share of the time in which the wire was occupied, weighted by its rate at that
    time."""
    throughput_mbps: float | None
    """Rate of the bits that left, headers included."""
    delay_ms: Delay | None
    """Time from a packet's arrival at the queue to the start of its transmission. Null if the queue forwarded nothing.
    """
    delay_percentiles_ms: list[float | None] | None
    """The 0th to the 100th percentile of the same distribution: 101 numbers, ascending."""
    packets: Packets | None
    """Counts of packets."""
    drop_percent: float | None
    """Packets dropped, as a percentage of packets offered."""
    mark_percent: float | None
    """Packets newly set to CE, as a percentage of packets offered."""
    drops_by_reason: dict[str, int] | None
    """Drops by reason. Only reasons that occurred. Linux does not report reasons."""
    marks_by_reason: dict[str, int] | None
    """Marks by reason. Only reasons that occurred."""
    ring: NotRequired[Ring]
    """The driver's ring below the discipline, if there is one. For Wi-Fi: what the driver holds."""
    card: NotRequired[Card]
    """The card in front of the discipline, if packets wait or merge there."""


class AirOfStation(TypedDict):
    """What a station and the access point did in one direction."""

    airtime_percent: float
    """Share of the time in which its frames, with their answers, were on the air."""
    throughput_mbps: float
    """Throughput of the delivered packets, headers included."""
    aggregate_frames: float | None
    """Mean number of frames per transmission, without questions (BlockAckReq): the size of aggregates."""
    rate_mbps: float | None
    """Mean rate of the transmissions, without questions."""
    transmissions: int
    """Number of transmissions. Each is a frame, an aggregate or a question."""
    retry_percent: float
    """Share of the transmissions that nobody answered."""
    lost: int
    """Frames that were given up after all tries, or because they were too old."""
    expired: NotRequired[int]
    """Those of them that were older than the cell's `lifetime`. `drops_by_reason` has the frames that were too old
    before they were sent at all. Only if there are any."""
    delay_ms: Delay | None
    """Time from a packet's arrival at the sender's queue to its delivery."""


class Station(TypedDict):
    """A station of a Wi-Fi cell."""

    name: str
    """Its name in the scenario."""
    airtime_percent: float
    """The station's share of all airtime, both ways. The shares of all stations add up to 100."""
    down: AirOfStation
    """From the access point."""
    up: AirOfStation
    """To the access point."""


class Air(TypedDict):
    """A Wi-Fi cell within the measured time."""

    busy_percent: float
    """Share of the time in which frames of either direction, with their answers, were on the air."""
    collision_percent: float
    """Share of the transmissions that collided."""
    stations: list[Station]
    """The stations, in the scenario's order."""


class HopPackets(TypedDict):
    """Counts of packets."""

    offered: int
    """Packets that arrived at the queue."""
    forwarded: NotRequired[int]
    """Packets whose transmission began."""
    dropped: NotRequired[int]
    """Packets dropped, for any reason."""
    marked: NotRequired[int]
    """Packets newly set to CE."""
    queued_at_start: NotRequired[int]
    """Packets that waited when measuring began."""
    queued_at_end: NotRequired[int]
    """Packets that waited at the end."""
    delivered: NotRequired[int]
    """Packets that came out of the wire."""
    lost: NotRequired[int]
    """Packets lost, including those beyond the wire's limit."""
    over_limit: NotRequired[int]
    """Packets lost because too many were on their way."""
    duplicated: NotRequired[int]
    """Packets that were duplicated."""
    exceeded: NotRequired[int]
    """Packets above a policer's rate, whether they were lost or not. Absent if there were none."""
    held_at_start: NotRequired[int]
    """Packets on their way when measuring began."""
    held_at_end: NotRequired[int]
    """Packets on their way at the end."""


class Hop(TypedDict):
    """A hop beside the bottlenecks. Its kind decides which further keys it has."""

    name: str
    """Its name in the scenario."""
    kind: str
    """Its kind."""
    direction: str
    """The direction of the packets that cross it."""
    qdisc: NotRequired[str]
    """The discipline's line, with every parameter."""
    utilisation_percent: NotRequired[float]
    """Used share of the capacity: the share of the time in which the wire was occupied, weighted by its rate at that
    time."""
    throughput_mbps: NotRequired[float]
    """Rate of the bits that left, headers included."""
    delay_ms: NotRequired[Delay | None]
    """Time from a packet's arrival at the queue to the start of its transmission. Null if the queue forwarded nothing.
    """
    delay_percentiles_ms: NotRequired[list[float | None] | None]
    """The 0th to the 100th percentile of the same distribution: 101 numbers, ascending."""
    packets: HopPackets
    """Counts of packets."""
    drop_percent: NotRequired[float]
    """Packets dropped, as a percentage of packets offered."""
    mark_percent: NotRequired[float]
    """Packets newly set to CE, as a percentage of packets offered."""
    drops_by_reason: NotRequired[dict[str, int] | None]
    """Drops by reason. Only reasons that occurred. Linux does not report reasons."""
    marks_by_reason: NotRequired[dict[str, int] | None]
    """Marks by reason. Only reasons that occurred."""
    ring: NotRequired[Ring]
    """The driver's ring below the discipline, if there is one. For Wi-Fi: what the driver holds."""
    card: NotRequired[Card]
    """The card in front of the discipline, if packets wait or merge there."""
    loss_percent: NotRequired[float]
    """Packets lost, as a percentage of packets offered."""


class Quantiles(TypedDict):
    """Quantiles of a flow's goodput over whole bins of five seconds."""

    p10: float
    """10th percentile."""
    p50: float
    """Median."""
    p90: float
    """90th percentile."""


class Flow(TypedDict):
    """A flow that carries data: every kind of traffic except ping."""

    name: str
    """The scenario's name of the traffic, `/`, and a number from 0."""
    kind: str
    """Its kind of traffic. For a real program's flow, its protocol."""
    direction: str
    """The direction of its data."""
    cc: NotRequired[str | None]
    """Congestion control with its parameters. Null if the flow is not TCP."""
    start_s: float
    """When it started, in seconds of the run."""
    goodput_mbps: float
    """Bytes that arrived in order (for TCP without headers), per time from the flow's start or from the end of the
    warm-up."""
    rtt_ms: NotRequired[Delay | None]
    """Round-trip times as the sender measured them."""
    bytes_sent: NotRequired[int | None]
    """Payload bytes that its sender sent, each counted as often as it was sent. Null if the flow is not TCP."""
    bytes_retrans: NotRequired[int | None]
    """Payload bytes that its sender retransmitted. Null if the flow is not TCP."""
    retransmitted: NotRequired[int | None]
    """Segments retransmitted; of a QUIC connection, packets that its stack took for lost. Null of other datagrams."""
    timeouts: NotRequired[int | None]
    """Retransmission timeouts. Null if the flow is not TCP. Linux counts them per host: null if several of its senders
    share a host."""
    tlp_probes: NotRequired[int | None]
    """Tail loss probes (RFC 8985, section 7). Null if the flow is not TCP, and as `timeouts`."""
    spurious_retransmissions: NotRequired[int | None]
    """Retransmissions of segments that the receiver reported as duplicates (DSACK, RFC 2883). Null if the flow is not
    TCP."""
    undos: NotRequired[int | None]
    """Window reductions that were undone because nothing had been lost. Null if the flow is not TCP, and as `timeouts`.
    """
    loss_percent: float | None
    """Packets dropped at the bottleneck or lost at another hop, as a percentage of the packets that its sender offered.
    Null if it offered none."""
    completion_ms: NotRequired[float | None]
    """Time from the SYN to the last byte in order, if the flow made one transfer during the measured time. For several
    transfers see its application."""
    goodput_5s_mbps: NotRequired[Quantiles | None]
    """Goodput over whole bins of five seconds."""
    jitter_rfc3550_ms: NotRequired[float | None]
    """Jitter of a datagram flow at its receiver, as RFC 3550 smooths it."""


class Host(TypedDict):
    """A host that the scenario names, within the measured time."""

    name: str
    """Its name in the scenario."""
    role: str
    """The key of `[[traffic]]` that names it: `host` for a user's host, or `server`."""
    flows: int
    """The number of its flows that carry data."""
    goodput_mbps: dict[str, float | None]
    """Bytes that its flows delivered by the direction of their data, per time from the start of the first of these
    flows or from the end of the warm-up. Null if no flow has its data in that direction."""
    rtt_ms: Delay | None
    """Round-trip times as the senders of its TCP flows measured them."""
    loss_percent: float | None
    """Packets of its flows dropped at the bottleneck or lost at another hop, as a percentage of the packets that their
    senders offered. Null if they offered none."""
    card: NotRequired[Card]
    """The card by which it receives, if packets wait or merge there."""


class Spread(TypedDict):
    """A number of many subscribers. The worst are those with the most delay, or with the least of a rate."""

    median: float
    """Half of the subscribers have this or less."""
    worst_tenth: float
    """A tenth of the subscribers, the worst, have this or worse."""
    worst: float
    """The worst subscriber has this."""


class PlanSide(TypedDict):
    """What the subscribers with one plan got in one direction. Those without packets do not count."""

    active: int
    """The number of subscribers with packets."""
    throughput_mbps: float
    """The sum of what they got."""
    delay_p95_ms: Spread | None
    """The 95th percentiles of their delays."""
    peak_percent: Spread | None
    """The most that each got within one second, in percent of the rate sold."""
    limiting_percent: float | None
    """The mean share of the time in which the rate sold held packets back."""
    drop_percent: float | None
    """The mean percentage of packets dropped."""
    jain_throughput: float | None
    """Jain's index of what they got: 1 if all got the same."""


class Plan(TypedDict):
    """The subscribers with one plan."""

    name: str
    """Its name."""
    subscribers: int
    """The number of its subscribers."""
    down: PlanSide
    """Each direction."""
    up: PlanSide
    """The same for the way up."""


class NodeSide(TypedDict):
    """A node in one direction."""

    rate_mbps: float
    """Its rate."""
    throughput_mbps: float
    """Rate of its subscribers' bits that left."""
    limiting_percent: float | None
    """Share of the time in which the node held packets back: its class may not send, while a subscriber below it has
    packets that nothing below the node holds back. For the link also the time of the wire."""


class Node(TypedDict):
    """A node of the tree."""

    name: str
    """Its name. Empty for the link."""
    parent: str
    """The name of the node above. Empty for the link, and for nodes below the link."""
    subscribers: int
    """The number of subscribers below it."""
    down: NodeSide
    """Each direction."""
    up: NodeSide
    """The same for the way up."""


class SubscriberSide(TypedDict):
    """A subscriber in one direction."""

    sold_mbps: float
    """Rate sold."""
    throughput_mbps: float
    """Rate of the bits that left, headers included."""
    peak_mbps: float
    """The same within the best of the seconds since measuring began."""
    delay_ms: NotRequired[Delay]
    """Time from a packet's arrival at the queue to the start of its transmission. Null without packets."""
    drop_percent: float
    """Packets dropped, as a percentage of packets offered."""
    limiting_percent: float | None
    """Share of the time in which the rate sold held packets back."""


class Subscriber(TypedDict):
    """A subscriber."""

    name: str
    """The name."""
    plan: str
    """The name of the plan."""
    parent: str
    """The name of the node above. Empty: the link."""
    address: str
    """The first address."""
    down: SubscriberSide
    """Each direction."""
    up: SubscriberSide
    """The same for the way up."""


class Isp(TypedDict):
    """The subscribers of an Internet provider and its tree, within the measured time."""

    plans: list[Plan]
    """What was sold, in the order of the scenario."""
    nodes: list[Node]
    """The nodes of the tree. The first is the link."""
    subscribers: list[Subscriber]
    """The subscribers, in the order of the scenario."""


class Fairness(TypedDict):
    """Jain's index: 1 for equal shares, 1/n if one of n flows has everything.

    Null with fewer than two flows, or with nothing to share.
    """

    jain_goodput: float | None
    """The index of the goodputs of the bulk flows in the direction of the first one."""
    jain_drops: float | None
    """Jain's index of the loss ratios of the same flows."""
    jain_hosts: NotRequired[float | None]
    """The index of the goodputs in that direction of the users' hosts that the scenario names."""


class App(TypedDict):
    """The measurements of an application. Its kind of traffic declares its further keys."""

    name: str
    """The flow's name."""
    kind: str
    """Its kind of traffic."""
    never_started: NotRequired[int]
    """What was asked for, and of which nothing came until the end of the run: transfers, pages or exchanges, among them
    those of `repeat` whose turn did not come; pages of web users; the video, the stream, the call, the test, or the
    connection itself. What began when others had come before is unfinished instead."""
    unfinished: NotRequired[int]
    """What began and had not ended at the end of the run: transfers, pages, requests, connections of a replay, a video
    with a `length`, a test, a QUIC transfer. Those that began within the warm-up count, too. What has no end of its own
    has 0: a stream, a call, a ping, media, a video without a `length`."""
    completion_ms: NotRequired[Delay | None]
    """From the SYN to the last byte in order at the receiver."""
    count: NotRequired[int]
    """Transfers that began."""
    completed: NotRequired[int]
    """Transfers that were completed."""
    response_ms: NotRequired[Delay | None]
    """From writing the request to the response's last byte in order."""
    delay_ms: NotRequired[Delay | None]
    """From writing a chunk to its last byte in order at the receiver."""
    stalls: NotRequired[int]
    """How often the player had to wait. The wait for the first chunk counts only if it did not end."""
    stalled_ms: NotRequired[float]
    """Total time that the player had to wait, from the start of the flow on: the time before the first chunk counts."""
    played_ms: NotRequired[float]
    """Time that the player did not have to wait, up to the end of the stream or of the run."""
    start_ms: NotRequired[float | None]
    """From the start of the flow until the first chunk was there, even if that was before the measured time."""
    rtt_ms: NotRequired[Delay | None]
    """Round-trip times."""
    sent: NotRequired[int]
    """Packets sent."""
    received: NotRequired[int]
    """Packets that came back."""
    loss_percent: NotRequired[float | None]
    """Share of the packets that did not come back, up to the last one that did. Of the packets after it, those count
    that were under way for more than three times the longest round trip. 100 if none came back, null if none was sent.
    """
    delay_percentiles_ms: NotRequired[list[float | None] | None]
    """The 0th to 100th percentile of that delay."""
    jitter_ms: NotRequired[float | None]
    """Mean of the differences, without their signs, between the delays of packets that arrived one after the other."""
    jitter_rfc3550_ms: NotRequired[float | None]
    """RFC 3550's interarrival jitter (6.4.1) as it was at the end: a moving average of the same differences."""
    mos: NotRequired[float | None]
    """Mean opinion score of the E-model (ITU-T G.107), 1 to 4.5, for the mean delay and the loss. Null if nothing was
    sent."""
    rate_mbps: NotRequired[float | None]
    """Mean of the encoder's target rate, which the congestion control sets. Without headers."""
    rate_percentiles_mbps: NotRequired[list[float | None] | None]
    """The 0th to 100th percentile of the target rate. Each frame is a sample."""
    frame_delay_ms: NotRequired[Delay | None]
    """From capturing a frame to the arrival of its last packet. Frames that lost a packet do not count."""
    frames: NotRequired[int]
    """Frames captured."""
    frames_completed: NotRequired[int]
    """Frames that arrived completely."""
    ramp_up_percent: NotRequired[float | None]
    """Share of the arrived reports that ask for an accelerated ramp-up (RFC 8698, 4.2). Null if no report arrived."""
    load_ms: NotRequired[Delay | None]
    """From the lookup of the document's host to the last byte of the last object."""
    connections: NotRequired[int]
    """Connections that were opened."""
    response_small_ms: NotRequired[Delay | None]
    """The same for responses of less than 10 kB."""
    response_medium_ms: NotRequired[Delay | None]
    """The same for responses of 10 to 100 kB."""
    response_large_ms: NotRequired[Delay | None]
    """The same for responses of 100 kB and more."""
    response_percentiles_ms: NotRequired[list[float | None] | None]
    """The 0th to 100th percentile of the responses' times."""
    page_ms: NotRequired[Delay | None]
    """From the first SYN of a page to the last byte of its last object."""
    pages: NotRequired[int]
    """Pages that were begun."""
    pages_completed: NotRequired[int]
    """Pages that were complete."""
    response_bytes: NotRequired[int]
    """Bytes of the responses that arrived."""
    timeout_percent: NotRequired[float | None]
    """Share of the arrived responses for which a retransmission timer fired at either end."""
    lost_syn_percent: NotRequired[float | None]
    """Share of the arrived responses whose connection had lost a SYN or SYN-ACK."""
    lossy_windows: NotRequired[int | None]
    """The servers' windows of data of which a segment was lost, and sent again before its response arrived."""
    multi_loss_window_percent: NotRequired[float | None]
    """Share of these windows that lost more than one segment."""
    responses: NotRequired[int]
    """Requests whose response arrived."""
    switches: NotRequired[int]
    """How often a segment had another rate than the segment before it."""
    segments: NotRequired[int]
    """Segments that were requested."""
    segment_ms: NotRequired[Delay | None]
    """From requesting a segment to its last byte in order."""
    rpm: NotRequired[float | None]
    """Round trips per minute: the mean of the next two. From the last four intervals of the test."""
    in_words: NotRequired[str | None]
    """The draft's word for it: `poor`, `fair` (300 or more), `good` (1000) or `excellent` (6000)."""
    foreign_rpm: NotRequired[float | None]
    """Round trips per minute of foreign probes: 60 s by the mean of `tcp_ms`, `tls_ms` and `http_ms`."""
    loaded_rpm: NotRequired[float | None]
    """Round trips per minute of self probes: 60 s by `own_ms`."""
    confidence: NotRequired[str]
    """How sure the client is: `low` (too few intervals), `medium` (not stable) or `high` (stable)."""
    tcp_ms: NotRequired[float | None]
    """The mean of the shortest 95 % of the handshakes of TCP in the last four intervals."""
    tls_ms: NotRequired[float | None]
    """The same for TLS's round trip."""
    http_ms: NotRequired[float | None]
    """The same for requests on new connections."""
    own_ms: NotRequired[float | None]
    """The same for requests on connections that carry load."""
    self_ms: NotRequired[Delay | None]
    """All self probes of the test: from the request to the answer's last byte in order."""
    load_mbps: NotRequired[float]
    """Goodput of the connections that load the path, in the last four intervals."""
    probes: NotRequired[int]
    """Probes that were sent, foreign and self."""
    foreign_probes: NotRequired[int]
    """Foreign probes that were answered."""
    self_probes: NotRequired[int]
    """Self probes that were answered."""
    test_s: NotRequired[float]
    """How long the test took until its end, the limit, or the end of the run."""
    handshake_ms: NotRequired[float | None]
    """From the first datagram to the end of the handshake at the client. Null if the handshake did not end."""
    cwnd_mean_bytes: NotRequired[int]
    """The mean congestion window, sampled as the RTT."""
    cwnd_max_bytes: NotRequired[int]
    """The greatest of these windows."""
    packets_sent: NotRequired[int]
    """Packets that the sender's stack sent."""
    packets_lost: NotRequired[int]
    """Packets that the sender's stack took for lost."""
    marks_heard: NotRequired[int]
    """Datagrams with a CE mark that reached the receiver's stack."""
    congestion_events: NotRequired[int | None]
    """How often the congestion control answered to loss or marks. Null if the stack does not report it."""
    closed_s: NotRequired[float | None]
    """When an error closed the connection, in time of the run. Null if none did."""
    closed: NotRequired[str | None]
    """Which end's stack reported that error, and its words. Null if none did."""


class QueueSeries(TypedDict):
    """A queue over time. The lists are as long as the series' `time_s`."""

    delay_ms: list[float | None]
    """Mean delay of the packets that left within the interval. Null if no packet left."""
    backlog_packets: list[float | None]
    """Packets that waited at the end of the interval."""
    drop_probability: list[float | None]
    """The law's drop probability at the end of the interval. Null if the law has none."""
    law: NotRequired[dict[str, list[float | None]]]
    """The law's variables at the end of the interval, if `series.law` asks for them. The names are Linux's or the
    RFC's, with the unit behind: `_ms`, `_bytes`, `_packets`, `_mbps`, none for a plain number. A point of time is in ms
    from the interval's end, negative if it has passed. Null: there is no value."""


class TcpSeries(TypedDict):
    """A TCP sender's variables at the end of each interval, by the names of `ss -tin`.

    They are those of the connection that was opened last. A value is null if there is no connection, or if the variable
    has no value yet. `cwnd` is the flow's `cwnd_packets`.
    """

    ssthresh_packets: list[float | None]
    """Slow-start threshold. Null before it is set."""
    rtt_ms: list[float | None]
    """Smoothed RTT."""
    rttvar_ms: list[float | None]
    """Smoothed deviation of the RTT."""
    rto_ms: list[float | None]
    """Retransmission timeout, backoff included."""
    unacked_packets: list[float | None]
    """Segments that no cumulative ACK has covered."""
    delivery_rate_mbps: list[float | None]
    """Rate at which the path delivers payload, as the sender estimates it."""
    pacing_rate_mbps: list[float | None]
    """Pacing rate of payload. Without pacing, too, this rate decides how many bytes leave together."""


class FlowSeries(TypedDict):
    """A flow over time."""

    name: str
    """The flow's name."""
    cwnd_packets: list[float | None]
    """Congestion window at the end of the interval. Null if the flow has none."""
    goodput_mbps: list[float | None]
    """Bytes delivered in order within the interval, as a rate."""
    dropped_packets: NotRequired[list[int]]
    """Packets of its sender that were dropped at the bottleneck or lost at another hop within the interval."""
    rtt_ms: NotRequired[list[float | None]]
    """Mean round-trip time of a ping's echoes that returned within the interval, null if none did. Only for pings."""
    tcp: NotRequired[TcpSeries]
    """Its sender's variables, if `series.tcp` asks for them. Only for TCP."""
    cc: NotRequired[dict[str, list[float | None]]]
    """The variables of its sender's congestion control, if `series.cc` asks for them, with the unit behind each name:
    `bw_mbps`, `pacing_gain`. Only for TCP. Null: there is no value."""


class PingSeries(TypedDict):
    """The round trips of a ping, including those of the warm-up, in the order in which they ended.

    Lost packets are missing.
    """

    name: str
    """The flow's name."""
    seq: list[int]
    """The packet's number, from 0."""
    sent_s: list[float]
    """When the packet was sent, in seconds of the run."""
    rtt_ms: list[float]
    """The packet's round-trip time."""


class CallSeries(TypedDict):
    """The packets of a call that arrived, in order of arrival, including those of the warm-up.

    Lost packets are missing.
    """

    name: str
    """The flow's name."""
    seq: list[int]
    """The packet's number, from 0."""
    sent_s: list[float]
    """When the packet was sent, in seconds of the run."""
    delay_ms: list[float]
    """The packet's one-way delay."""


class PageSeries(TypedDict):
    """The fetches of a page that were completed, including those of the warm-up."""

    name: str
    """The flow's name."""
    begun_s: list[float]
    """When each fetch began, in seconds of the run."""
    load_ms: list[float]
    """How long each fetch took."""


class WebUsersSeries(TypedDict):
    """A sample of at most 5000 responses. Each response is equally likely to be in it."""

    name: str
    """The flow's name."""
    bytes: list[int]
    """Bytes of each response."""
    response_ms: list[float]
    """How long each response took."""
    timeout: list[bool | None]
    """Whether a retransmission timer fired for the response. The kernel engine does not see it, and writes null."""


class VideoSeries(TypedDict):
    """A video's segments."""

    name: str
    """The flow's name."""
    time_s: list[float]
    """When each segment was complete, in seconds of the run."""
    rate_mbps: list[float]
    """The rate of each segment."""
    buffer_s: list[float]
    """How long the buffer could play then."""


class PacketSeries(TypedDict):
    """Every forwarded packet of a window of time."""

    time_s: list[float]
    """When its transmission began, in seconds of the run."""
    delay_ms: list[float]
    """How long it had waited in the queue."""
    flow: NotRequired[list[int]]
    """The index of its flow in the scenario, from 0, if `series.packets.flows` asks for it."""


class AirtimeSeries(TypedDict):
    """One direction of a station over time. A transmission counts in the interval in which it ended."""

    airtime_percent: list[float]
    """Share of the interval in which its frames, with their answers, were on the air."""
    rate_mbps: list[float | None]
    """Mean rate of the transmissions with packets in them; null if there were none."""


class StationSeries(TypedDict):
    """A station of a Wi-Fi cell over time."""

    name: str
    """Its name in the scenario."""
    down: AirtimeSeries
    """From the access point."""
    up: AirtimeSeries
    """To the access point."""


class NodeSeries(TypedDict):
    """A node's time series."""

    name: str
    """Its name. Empty for the link."""
    limiting_percent: dict[str, list[float]]
    """As `limiting_percent` of the node, per interval."""


class AirSeries(TypedDict):
    """Every transmission of a window of time on the air of a Wi-Fi cell.

    Each is a frame or an aggregate, with its answer and what goes before it.
    """

    time_s: list[float]
    """When it began, in seconds of the run."""
    duration_us: list[float]
    """How long it occupied the air."""
    station: list[str]
    """The station that sent it to the access point, or received it from the access point."""
    direction: list[str]
    """Its direction: `down` from the access point, or `up`."""
    category: list[str]
    """Access category: `background`, `best effort`, `video` or `voice`."""
    mode: list[str]
    """Its rate, as a scenario writes it."""
    kind: list[str]
    """Its kind: a `frame`, an `aggregate`, or a `question` which frames of an aggregate arrived (BlockAckReq)."""
    before: list[str | None]
    """The frames before it: `rts` for RTS and CTS, `cts` for a CTS-to-self, null for nothing."""
    frames: list[int]
    """The number of frames with packets in it."""
    came: list[int]
    """The number of those frames that arrived."""
    retry: list[bool]
    """Whether any of it had been sent before."""
    outcome: list[str]
    """Its outcome: `came`, `partly`, `unanswered` or `collided`. After the last two, all of it is tried again or given
    up."""


class Series(TypedDict):
    """Time series."""

    interval_s: float | None
    """Length of an interval. Null if the scenario asks only for single packets."""
    time_s: list[float]
    """When each interval ended, in seconds of the run."""
    queues: dict[str, QueueSeries]
    """The queues of the bottlenecks."""
    hops: NotRequired[dict[str, QueueSeries]]
    """The hops that are links, by name."""
    flows: list[FlowSeries]
    """The flows, in the order of the scenario."""
    pings: NotRequired[list[PingSeries]]
    """The round trips of a ping, including those of the warm-up, in the order in which they ended. Lost packets are
    missing."""
    calls: NotRequired[list[CallSeries]]
    """The packets of a call that arrived, in order of arrival, including those of the warm-up. Lost packets are
    missing."""
    pages: NotRequired[list[PageSeries]]
    """The fetches of a page that were completed, including those of the warm-up."""
    web_users: NotRequired[list[WebUsersSeries]]
    """A sample of at most 5000 responses. Each response is equally likely to be in it."""
    videos: NotRequired[list[VideoSeries]]
    """A video's segments."""
    packets: NotRequired[dict[str, PacketSeries]]
    """Single packets, if the scenario asks for a window."""
    stations: NotRequired[list[StationSeries]]
    """The stations of a Wi-Fi cell, if the scenario asks for intervals."""
    nodes: NotRequired[list[NodeSeries]]
    """The nodes of a provider's tree, if the scenario asks for intervals."""
    air: NotRequired[AirSeries]
    """Single transmissions of a Wi-Fi cell, if the scenario asks for a window of its air."""


class KernelHop(TypedDict):
    """How the kernel engine ran a hop."""

    shaper: str | None
    """Linux's discipline that served as the link. Null for a wire."""
    qdisc_stats: list[dict[str, Any]]
    """Counters of `tc -s`, as in `Kernel`."""


class Kernel(TypedDict):
    """How the kernel engine ran the scenario.

    From the live engine, only what that engine has of Linux, which is not `tc`.
    """

    release: str
    """Linux's release and version."""
    where: str
    """`host`, `vm` (qemu) or `process`."""
    clock: str
    """`real` or `virtual`. Virtual time stands still while the machine is busy elsewhere."""
    tc: NotRequired[str]
    """Version of `tc`."""
    tc_said: NotRequired[list[str]]
    """What `tc` and Linux said about commands that they carried out, such as warnings. The numbers of classes are the
    laboratory's, in which a tree begins at `10:`. Absent if they said nothing."""
    shaper: NotRequired[dict[str, str]]
    """By direction, Linux's discipline that served as the link."""
    sysctls: dict[str, Any]
    """The sysctls that were set, and their values."""
    qdisc_stats: NotRequired[dict[str, list[dict[str, Any]]]]
    """By direction, what `tc -s` reports that each discipline counted within the measured time."""
    capture_lost: int
    """Packets that the captures missed. Always 0, because a run with missed packets makes no record."""
    hops: NotRequired[dict[str, KernelHop]]
    """By name, the hops of the path, if it has any."""


class Late(TypedDict):
    """How much later than planned the packets left, in microseconds."""

    mean: float
    """Arithmetic mean."""
    p50: float
    """Median."""
    p90: float
    """90th percentile."""
    p99: float
    """99th percentile."""
    max: float
    """The largest."""


class LivePackets(TypedDict):
    """Packets of real programs that did not cross the path for reasons outside it."""

    not_ip: int
    """Packets of neither IPv4 nor IPv6."""
    not_cut: int
    """Segments larger than the path's packets, which could not be cut into packets."""
    refused: int
    """Packets that crossed the path, and that the far end refused."""


class LiveHosts(TypedDict):
    """The number of addresses at each end of the live engine's path."""

    client: int
    """At the users' end."""
    server: int
    """At the servers' end."""


class Bufferbloat(TypedDict):
    """The score of a live link in words, as `goodqueue advise` says it."""

    added_ms: float
    """The mean latency that the load added, of the directions that had one (`--metric bufferbloat_ms`)."""
    letter: str
    """Its letter, after DSLReports: A+ below 5 ms, A below 30, B below 60, C below 200, D below 400, else F."""


class Live(TypedDict):
    """How the live engine ran the scenario: with real packets, in real time."""

    elapsed_s: float
    """Duration of the run."""
    late_us: Late | None
    """The emulator's own lateness. It does not delay later packets. Null if no packet crossed."""
    packets: LivePackets
    """Packets that did not cross the path."""
    hosts: LiveHosts
    """The number of addresses at each end. To cake's isolation each address is a host."""
    slots: int
    """Buffers for packets' bytes: the largest number of packets that were under way at once."""
    slots_in_use: int
    """Packets that were under way at the end."""
    bufferbloat: NotRequired[Bufferbloat]
    """What a bufferbloat test would say. Only `goodqueue link` asks, and only if a link carried a load."""


class SourceFile(TypedDict):
    """The file of another program that a record was read from."""

    file: str
    """Name of the file."""
    test: str
    """Flent's test. For irtt and iperf3, what was sent."""
    title: str
    """Title in the file, or the other end's address."""
    time: str
    """Time of the measurement, as the file gives it."""
    version: str
    """The program's version."""
    measured_s: list[float]
    """Start and end of the time that the record describes: all TCP flows ran, or `notes` says otherwise."""
    left_out: list[str]
    """Series that are not in the record."""
    reasons: NotRequired[dict[str, str]]
    """Why, for each series that was left out."""
    notes: NotRequired[list[str]]
    """How the record differs from what a reader would expect: a test that was interrupted, flows that ran apart."""


class Record(TypedDict):
    """One run. Statistics leave the warm-up out."""

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
    """The bottlenecks."""
    wifi: NotRequired[Air]
    """The Wi-Fi cell, if the bottleneck is one."""
    hops: NotRequired[list[Hop]]
    """The hops beside the bottlenecks, in the order of the resolved scenario. Those of the way down come first."""
    flows: list[Flow]
    """The flows that carry data, in the order of the scenario."""
    hosts: NotRequired[list[Host]]
    """The hosts that the scenario names. The users' hosts come first."""
    isp: NotRequired[Isp]
    """The subscribers and their tree, if the scenario has any."""
    fairness: Fairness
    """How evenly the flows shared."""
    apps: list[App]
    """The measurements of applications, in the order of the scenario."""
    series: NotRequired[Series]
    """Time series, if the scenario asks for them."""
    kernel: NotRequired[Kernel]
    """Linux's part in the run."""
    live: NotRequired[Live]
    """How late the emulator was."""
    flent: NotRequired[SourceFile]
    """The file of Flent's that was read."""
    irtt: NotRequired[SourceFile]
    """The file of irtt's that was read."""
    iperf3: NotRequired[SourceFile]
    """The file of iperf3's that was read."""


class WirePackets(TypedDict):
    """Packets: `held_at_start + offered + duplicated = delivered + lost + held_at_end`."""

    offered: int
    """Packets that arrived at the wire."""
    delivered: NotRequired[int]
    """Packets that came out of the wire."""
    lost: int
    """Packets lost, including those beyond the wire's limit."""
    over_limit: NotRequired[int]
    """Packets lost because too many were on their way."""
    duplicated: int
    """Packets that were duplicated."""
    exceeded: NotRequired[int]
    """Packets above a policer's rate, whether they were lost or not. Absent if there were none."""
    held_at_start: NotRequired[int]
    """Packets on their way when measuring began."""
    held_at_end: NotRequired[int]
    """Packets on their way at the end."""


class Wire(TypedDict):
    """A hop without a queue."""

    packets: WirePackets
    """Counts of packets."""
    loss_percent: float
    """Packets lost, as a percentage of packets offered."""
