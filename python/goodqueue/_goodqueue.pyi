"""The Rust core's interface for Python. All text is JSON; `goodqueue.record` describes the records."""

import io
from collections.abc import Callable, Sequence
from typing import Any, Self, TypedDict, final, type_check_only

import numpy as np
from numpy.typing import NDArray

from goodqueue.record import Delay, Quantiles

VERSION: str
HAS_PROFILE: bool
"""Whether the compiler had a profile of what is hot (`make optimised`)."""

class DisciplineError(ValueError):
    """Raised if a class written in Python breaks a rule, such as losing a packet. The text names its method."""

class ScenarioError(ValueError):
    """Raised for a refused scenario. Its text is ``key: message``."""

    key: str
    """Dotted path of the wrong key, such as ``bottleneck.rate``. Empty if the error concerns no single key."""
    message: str
    """What was found and what is accepted."""

class TraceError(ValueError):
    """Raised if a capture cannot be written. Its text is ``FILE: reason``."""

@final
class Simulation:
    """One run of one scenario."""

    @property
    def duration_s(self) -> float:
        """The simulated time at which the run ends."""

    def __new__(cls, scenario_json: str, make: Callable[[str, Any], tuple[Any, ...]] | None = None) -> Self:
        """Set up the scenario. Raises ScenarioError.

        `make(line, link)` makes disciplines written in Python. With None as `link` it makes congestion controls.
        """

    def cut(self, threads: int | None = None) -> str | None:
        """Cut the run, which has not begun, for `threads` threads; without them, a long run tries all cores.

        Returns why the run stays on one thread, if it does. Its record is the same.
        """

    def advance(self, until_s: float, most_events: int = ...) -> float:
        """Simulate up to `until_s` seconds of simulated time (at most to the end), and at most `most_events` events.

        Returns the time reached, in seconds. Releases the GIL, unless a discipline is written in Python. Raises the
        exceptions of such a discipline.
        """

    def trace(self, path: str, points: list[str], snap_bytes: int) -> None:
        """Capture the run from now on at the `points` (`trace_points`), `snap_bytes` of each packet. Raises TraceError.

        From then on `advance` may raise it too. There is no file at `path` before `finish_trace`.
        """

    def finish_trace(self) -> None:
        """End the capture, if there is one, and give the file its name. Raises TraceError."""

    def discard_trace(self) -> None:
        """Remove the file of an unfinished capture."""

    def record(self) -> str:
        """Return the record of the run so far, as JSON."""

@final
class Sockets:
    """The applications of a scenario on this machine's sockets. Linux only."""

    def __new__(cls, scenario_json: str, order_json: str, spaces: tuple[int, int], clock: tuple[int, int]) -> Self:
        """Open the sockets that listen.

        `order_json` has the addresses and options of the sockets (``crates/sockets/src/order.rs``). `spaces` are the
        descriptors of the network namespaces of the client and of the server. `clock` is when the run begins, in
        nanoseconds of CLOCK_MONOTONIC and of CLOCK_REALTIME. Raises OSError, one line.
        """

    def run(self) -> str:
        """Run all flows to the end of the run.

        Return what each measured, by name, as JSON: ``app`` and ``series`` (its parts of the record, or null),
        ``completion_ms``, ``sent`` and ``tcp_info`` (samples: a time, and the sender's counters or state).

        Raises OSError.
        """

@final
class Gateway:
    """The path of a scenario for real packets, in real time, between two devices. Linux only.

    Packets from the server's device go down, packets from the client's device go up.
    """

    @property
    def no_capture(self) -> str | None:
        """Why the capture could not be written, known after its end. The measurements are not lost."""

    def __new__(
        cls,
        scenario_json: str,
        server: tuple[int, bytes],
        client: tuple[int, bytes],
        make: Callable[[str, Any], tuple[Any, ...]] | None = None,
        routes: list[tuple[tuple[int, int], float, list[str] | None]] = ...,
    ) -> Self:
        """Build the path of a scenario. Its traffic, if any, is simulated beside the real packets.

        `server` and `client` are each a non-blocking descriptor, which is duplicated, and the bytes to write before
        each packet: a TUN device's (IFF_VNET_HDR; no bytes) or a packet socket's (PACKET_VNET_HDR; the MAC addresses
        of destination and source). `make` is as in `Simulation`. `routes` has ranges of ports (the first, the last)
        whose packets have their own base RTT, in seconds, and, if names are given, cross only these hops.
        Raises ScenarioError, OSError.
        """

    def trace(self, path: str, points: list[str], snap_bytes: int) -> None:
        """Capture like `Simulation.trace`. Call it before `start`. Raises TraceError."""

    def start(self, virtual_time: bool = False) -> None:
        """Let packets cross from now on, in a thread of its own. In ``virtual_time`` none passes while it works."""

    def glance(self) -> str:
        """Return the present state as JSON: elapsed_s, queues by direction, late_us, flows. Null after the end."""

    def record(self) -> str:
        """Return the record so far, as JSON. Packets continue to cross. Raises OSError."""

    def stop(self) -> str:
        """Stop it, and return the record as JSON. Raises DisciplineError, OSError."""

@final
class Bottleneck:
    """The path of a scenario for endpoints in Python, in virtual time: see `goodqueue.api.bottleneck`.

    Its refusals are ScenarioErrors without a key.
    """

    @property
    def now(self) -> float: ...
    @property
    def duration(self) -> float: ...
    @property
    def most_bytes(self) -> int: ...
    def __new__(cls, scenario_json: str, make: Callable[[str, Any], tuple[Any, ...]]) -> Self:
        """Build the path. `make` is as in `Simulation`. Raises ScenarioError."""

    def flow(self, name: str) -> int: ...
    def next_time(self) -> float | None: ...
    def send(
        self,
        direction: str,
        data: bytes,
        *,
        ecn: str = "not-ect",
        dscp: int | None = None,
        flow: int | None = None,
        now: float | None = None,
    ) -> None: ...
    def receive(self, until: float) -> Datagram | None: ...
    def results(self) -> str:
        """Return what the path did to each flow, as JSON."""

    def record(self) -> str:
        """Return the record of the run so far, as JSON."""

@final
class Datagram:
    """A datagram that has arrived."""

    @property
    def time(self) -> float:
        """When it arrived, in seconds since the run began."""

    @property
    def direction(self) -> str:
        """Its direction: down or up."""

    @property
    def flow(self) -> int:
        """The number of its flow."""

    @property
    def ecn(self) -> str:
        """Its ECN codepoint now: not-ect, ect0, ect1 or ce."""

    @property
    def dscp(self) -> int:
        """Its differentiated services codepoint now."""

    @property
    def data(self) -> bytes:
        """Its payload."""

@final
class Connection:
    """What a congestion control knows of its connection."""

    @property
    def smss(self) -> int:
        """Payload bytes of a full segment (RFC 5681, section 2)."""

    @property
    def initial_window(self) -> int:
        """The initial window in segments (RFC 6928)."""

    def random(self) -> float:
        """Return a random number from 0 to below 1, which derives from the scenario's seed."""

@final
class Ack:
    """An ACK of new data. Times are in nanoseconds."""

    @property
    def now(self) -> int:
        """When it arrived."""

    @property
    def segments(self) -> int:
        """Segments that it newly delivered, cumulatively or by SACK."""

    @property
    def counted(self) -> int:
        """Segments that count for growth: `segments`, or 1 if the stack counts ACKs."""

    @property
    def rtt(self) -> int | None:
        """The RTT by the last segment delivered. None if that segment was sent twice (Karn)."""

    @property
    def una(self) -> int:
        """The sequence number of the first byte not acknowledged: 32 bits, with wrap."""

    @property
    def nxt(self) -> int:
        """The sequence number of the first byte not sent."""

    @property
    def is_cwnd_limited(self) -> bool:
        """Whether the window limits the sender. If not, the window must not grow (RFC 9438, section 4.2)."""

    @property
    def prior_in_flight(self) -> int:
        """Segments in flight before this ACK."""

    @property
    def in_flight(self) -> int:
        """Segments in flight after this ACK."""

    @property
    def marked(self) -> int:
        """Segments that it reports as delivered with a CE mark."""

    @property
    def state(self) -> str:
        """The sender's state: open, disorder, cwr, recovery or loss."""

@final
class RateSample:
    """A sample of the delivery rate (draft-ietf-ccwg-bbr, 4.1). Times are in nanoseconds, data in segments."""

    @property
    def delivered(self) -> int:
        """Segments delivered over `interval`."""

    @property
    def interval(self) -> int | None:
        """The time of these deliveries. None if nothing was delivered, or if it is shorter than any round trip."""

    @property
    def prior_delivered(self) -> int:
        """All segments delivered when the newest segment was sent: a round trip ends when it reaches the count at the
        round's start."""

    @property
    def delivered_ce(self) -> int:
        """Segments of `delivered` that arrived with a CE mark."""

    @property
    def losses(self) -> int:
        """Segments found lost with this ACK."""

    @property
    def tx_in_flight(self) -> int:
        """Segments in flight when the newest segment was sent, including itself."""

    @property
    def lost(self) -> int:
        """Segments found lost since the newest segment was sent."""

    @property
    def is_app_limited(self) -> bool:
        """Whether the application limited the sender when the newest segment was sent."""

    @property
    def is_ack_delayed(self) -> bool:
        """Whether a single short segment was acknowledged, perhaps late."""

    @property
    def departure(self) -> int:
        """When pacing lets the next packet leave."""

    @property
    def total_delivered(self) -> int:
        """All segments delivered so far."""

    @property
    def total_lost(self) -> int:
        """All segments found lost so far."""

    @property
    def is_idle(self) -> bool:
        """Whether the application was idle less than a round trip ago."""

    def mark_app_limited(self, in_flight: int) -> None:
        """Mark the segments sent from now on, until ``in_flight`` are delivered, as limited by the application."""

@final
class Window:
    """The congestion window of a connection, in segments."""

    cwnd: int
    """The congestion window, at least 1."""
    ssthresh: int
    """The slow-start threshold, at least 2."""
    pacing_bps: float | None
    """The pacing rate of payload in bit/s, if the congestion control sets one."""

    @property
    def in_slow_start(self) -> bool:
        """Whether the window is below the threshold."""

    def slow_start(self, counted: int) -> int:
        """Grow by one segment per segment counted, up to the threshold (RFC 5681, 3.1). Return the rest."""

    def increase(self, per: int, counted: int) -> None:
        """Grow by one segment per `per` segments counted. Fractions are kept."""

@final
class Congestion:
    """A congestion."""

    @property
    def now(self) -> int:
        """When it was noticed, in nanoseconds."""

    @property
    def cwnd(self) -> int:
        """The window at that time, in segments."""

    @property
    def cause(self) -> str:
        """What signalled it: loss, ecn or timeout."""

@final
class Packet:
    """A packet as a queue discipline sees it."""

    def __new__(
        cls,
        len: int,
        *,
        ecn: str = "not-ect",
        flow: int = 0,
        dscp: int = 0,
        id: int = 0,
        fwmark: int = 0,
        ack: int | None = None,
        sack: list[tuple[int, int]] = ...,
        hosts: tuple[int, int] | None = None,
    ) -> Self:
        """Make a packet of `len` bytes. `ecn` is not-ect, ect0, ect1 or ce. Packets of a flow have an equal `flow`.

        cake may also use `fwmark`, a firewall's mark; `ack`, the number that a TCP ACK without data acknowledges; and
        `sack`, up to four of its blocks, each the first byte and the byte after the last; and `hosts`, a number for the
        source and one for the destination. Without `hosts` each flow has two hosts of its own. Raises ValueError.
        """

    @property
    def len(self) -> int:
        """Length in bytes as tc counts it: on Ethernet with the link header."""

    @property
    def ecn(self) -> str:
        """The ECN codepoint: not-ect, ect0, ect1 or ce."""

    @property
    def flow(self) -> int:
        """The number of its flow. In a run it is the flow's index in the scenario, from 0."""

    @property
    def hosts(self) -> tuple[int, int]:
        """Hashes of its source and its destination. Packets of the same host have equal numbers."""

    @property
    def dscp(self) -> int:
        """The differentiated services codepoint, 0 to 63."""

    @property
    def id(self) -> int:
        """A number that its maker chooses. It is 0 in a run."""

    @property
    def arrival(self) -> int:
        """The time in nanoseconds at which it was offered to the discipline."""

    def drop(self, reason: str = "early") -> None:
        """Drop it: overlimit, memory, early, forced, target, flow or ack. Only in a discipline written in Python."""

    def mark(self, reason: str = "early") -> bool:
        """Set it to CE if ECN allows that, and return whether it does: early, forced, target or ce_threshold."""

@final
class Queue:
    """A FIFO of a discipline written in Python. `len(queue)` is its number of packets."""

    @property
    def bytes(self) -> int:
        """The bytes that wait in it."""

    @property
    def head(self) -> Packet | None:
        """The packet that would leave next."""

    def __len__(self) -> int: ...
    def push(self, packet: Packet) -> None:
        """Append a packet at the tail."""

    def pop(self) -> Packet | None:
        """Remove the packet at the head and return it."""

    def pop_tail(self) -> Packet | None:
        """Remove the packet at the tail and return it."""

@final
class Link:
    """The link below a discipline written in Python."""

    @property
    def rate(self) -> int:
        """The rate in bit/s. It differs after a change of the link."""

    @property
    def mtu(self) -> int:
        """The bytes of a full frame as tc counts them."""

    def random(self) -> float:
        """Return a number in [0, 1) from the discipline's own random stream, which derives from the seed."""

    def queue(self) -> Queue:
        """Return a new queue."""

@final
class Qdisc:
    """One discipline, driven by hand. Times are whole nanoseconds and never decrease from call to call."""

    def __new__(
        cls, line: str, rate: str, mtu: int, seed: int, make: Callable[[str, Any], tuple[Any, str, str]]
    ) -> Self:
        """Use `goodqueue.qdisc.make`. Raises ValueError."""

    @property
    def line(self) -> str:
        """Its line with every parameter."""

    @property
    def backlog(self) -> tuple[int, int]:
        """Packets and bytes that wait."""

    @property
    def dropped(self) -> list[tuple[Packet, str]]:
        """The packets that the last call dropped, each with the reason."""

    @property
    def marked(self) -> list[tuple[Packet, str]]:
        """The packets that the last call set to CE, each with the reason."""

    def enqueue(self, now_ns: int, packet: Packet) -> None:
        """Offer `packet`, which must not wait anywhere. Raises ValueError."""

    def dequeue(self, now_ns: int) -> Packet | None:
        """Return the packet to send next, or None if there is none now. That call counts too: the link goes idle."""

    def next_timer(self) -> int | None:
        """Return the time in nanoseconds at which to call `on_timer`, or None for never."""

    def on_timer(self, now_ns: int) -> None:
        """Run the timer at the time `now_ns`. It has no effect before `next_timer`."""

    def change(self, now_ns: int, **parameters: str | float | bool) -> None:
        """Change parameters while packets wait, as `tc qdisc change` does. All others and the state stay the same.

        Raises ValueError if it is refused. In that case nothing has changed.
        """

    def set_link_rate(self, now_ns: int, rate: str) -> None:
        """Set a new rate of the link below, such as 5mbit. Raises ValueError as `change`."""

    def probe(self) -> dict[str, Any]:
        """Return its inner variables by the names in Linux or the RFC, with times in nanoseconds."""

def qdisc_line(name: str, params: dict[str, Any]) -> str:
    """Return the tc line of discipline `name` with `params`. Raises ValueError."""

def qdisc_reading(line: str) -> str:
    """Return what each word of a `tc` line sets, as JSON: ``steps`` and ``notes``. Raises ValueError.

    Each of ``steps`` has the ``qdisc``, ``param``, ``unit``, ``word``, ``value`` and all ``words``, and ``bare``, the
    unit of a time without one. The words of inner disciplines stand last. ``notes`` has a sentence for each word
    that a later word replaced, and for each filter of a tree that does not do what its words seem to say.
    """

def qdisc_values(line: str) -> dict[str, float | bool | str | None]:
    """Return each parameter of a tc line with its value, also those that the line omits. None: unset, or derived.

    Numbers have their unit in the key, as `target_ms`, `limit_packets`, `quantum_bytes`, `rate_mbps`, `share_percent`.
    Numbers without a unit (`alpha`), flags and words have none. The inner qdisc is `child`, and its parameters begin
    with `child_`. Raises ValueError.
    """

def generate_rates(shape: str, mean: str, length: str, seed: int) -> str:
    """Return a generated file of rates for a kind of link: `lte`, `starlink` or `mmwave`. Raises ValueError."""

def mean_rate_bps(content: bytes) -> int:
    """Return the long-term mean rate in bit/s of a file of rates. Raises ValueError: the line, what was found."""

def rate_steps(content: bytes, end_s: float) -> list[tuple[float, int]] | None:
    """Return the rates in bit/s of a file of rates until ``end_s``, each with its start. None for opportunities.

    Raises ValueError as `mean_rate_bps` does.
    """

def time_ns(text: str | int) -> int:
    """Return a time with its unit, such as 5ms, in nanoseconds. A whole number is nanoseconds. Raises ValueError."""

def rate_bps(text: str) -> int:
    """Return a rate with its unit, such as 10mbit, in bit/s. Raises ValueError."""

def mos(delay_ms: float, loss_percent: float) -> float:
    """Return the mean opinion score of a call, 1 to 4.5, by ITU-T G.107's E-model, from mean one-way delay and loss."""

def rounded(value: float) -> float:
    """Return ``value`` with six decimals, as all numbers of a record have. Halves go away from zero."""

def percent(part: int, whole: int) -> float:
    """Return ``part`` of ``whole`` in percent, rounded, or 0 if ``whole`` is 0."""

def jain(shares: Sequence[float]) -> float | None:
    """Return Jain's fairness index (Σx)² / (n Σx²), rounded, or None if all shares are 0."""

def percentiles_ms(ns: NDArray[np.int64]) -> list[float | None] | None:
    """Return the 0th to the 100th percentile of delays in ms by the nearest rank, rounded. None for no delay."""

def summary(ns: NDArray[np.int64]) -> Delay | None:
    """Return the distribution of delays, or None if there is none."""

def goodput_quantiles(mbps: Sequence[float]) -> Quantiles | None:
    """Return quantiles of a flow's goodput in bins by the nearest rank, or None if there is no bin."""

def jitter_ms(ns: NDArray[np.int64]) -> tuple[float | None, float | None]:
    """Return the mean difference between successive delays, and RFC 3550's jitter (6.4.1). None for fewer than two."""

def resolve(scenario_json: str) -> str:
    """Return the scenario with its defaults filled in. Raises ScenarioError."""

def expanded(scenario_json: str) -> tuple[str, list[int | None]]:
    """Return the scenario without tables of subscribers, with the trees and the traffic that follow from them.

    Also return the place of each flow's subscriber. Raises ScenarioError.
    """

def isp_record(
    scenario_json: str,
    down: Sequence[tuple[int, int, int, int, NDArray[np.int64]]],
    up: Sequence[tuple[int, int, int, int, NDArray[np.int64]]],
) -> str:
    """Return the record's part for subscribers, or null if the scenario has none.

    Each subscriber has bytes that left, those of its best second, packets offered and dropped, and delays in ns.
    """

def filter_notes(scenario_json: str, has_real_packets: bool) -> list[str]:
    """Return a sentence for each filter of the scenario's trees that is easily misread, or that no packet can match.

    With ``has_real_packets`` packets of real programs come, too. Raises ScenarioError.
    """

def flows(scenario_json: str) -> str:
    """Return the scenario's flows one by one, each with the start that its seed draws, for an engine to make.

    A list of name, kind, direction, start_s, stop_s, rtt_s, ecn, cc, stack, packet_size (bytes) and interval_s (between
    datagrams). Null for what the kind does not have. Raises ScenarioError.
    """

def connection_vectors(capture: str, file: io.RawIOBase) -> tuple[list[str], str]:
    """Return the TCP connections of a capture, each as JSON (`goodqueue.files.tmix`), and JSON of what else it has.

    ``file`` has the bytes of the file ``capture``.

    Connections: ``partial`` begun before the capture, ``silent`` without data, ``one_sided`` if only one direction was
    captured. Frames: all ``frames``, those with ``tcp``, those of ``other`` protocols, the reasons why others were
    ``not_understood``, ``untimed`` ones. ``cut``: the file ends within a frame. Raises ValueError, one line.
    """

@type_check_only
class CapturedQueue(TypedDict):
    """One direction's packets in the order of their arrival. Each column is bytes of little-endian numbers."""

    arrival_ns: bytes
    """int64, nanoseconds since 1970."""
    departure_ns: bytes
    """int64, nanoseconds since 1970. -1: the packet never left."""
    length: bytes
    """uint32, bytes of the frame."""
    flow: bytes
    """uint32, the index of its flow in the flows."""
    ecn_in: bytes
    """uint8, codepoint on arrival: 0 not-ECT, 1 ECT(1), 2 ECT(0), 3 CE."""
    ecn_out: bytes
    """uint8, codepoint when it left."""
    copy_of: bytes
    """uint32, for packets that left a second time, as netem duplicates them: their indices in the columns above."""
    copy_ns: bytes
    """int64, the time of the second departure."""

@type_check_only
class CapturedTransfer(TypedDict):
    """A TCP flow's data in one direction: columns of int64, as bytes, little-endian."""

    delivered_at_ns: bytes
    """When the receiver's ACK arrived at the bottleneck."""
    delivered_bytes: bytes
    """The bytes that had arrived in order by then."""
    rtt_at_ns: bytes
    """When an ACK that gives a sample of the round-trip time left the bottleneck."""
    rtt_ns: bytes
    """The time since the segment had arrived at the bottleneck."""
    resent_at_ns: bytes
    """When data that had been sent before arrived at the bottleneck."""

@type_check_only
class CapturedFlow(TypedDict):
    """The two ends of a flow. Its transfers are empty if it is not TCP."""

    protocol: int
    """IP's protocol number: 6 TCP, 17 UDP."""
    server: tuple[str, int]
    client: tuple[str, int]
    transfers: dict[str, CapturedTransfer]
    """By direction, ``down`` and ``up``."""

@type_check_only
class Captured(TypedDict):
    """The joint content of the captures at both sides of a bottleneck."""

    queues: dict[str, CapturedQueue]
    """By direction, ``down`` and ``up``."""
    flows: list[CapturedFlow]
    ignored: int
    """The number of frames in both files that are not between a server and a client."""

def read_captures(wan: str, cli: str) -> Captured:
    """Match the packets of two pcap files, from the router's interfaces to the servers and to the clients.

    Raises ValueError with one line (file, offset, what was found) for a file that is missing, foreign or cut off, and
    if a packet leaves that never arrived.
    """

def watch_signals(seconds: float, line: str) -> int:
    """Return the descriptor for `signal.set_wakeup_fd`. Unix only.

    The process ends ``seconds`` after SIGINT or SIGTERM, unless a 0 was written to the descriptor by then. ``line``
    goes to standard error if the signal is SIGINT.
    """

def trace_points() -> list[str]:
    """Return the points at which a run can be captured."""

def merge_captures(path: str, points: list[str], wan: str, cli: str, start_ns: int) -> None:
    """Write the packets at `points` of the queues from two pcap files into one pcapng file at `path`.

    `start_ns` is the time of the run's start, in nanoseconds since 1970. Raises TraceError.
    """

def qdiscs() -> str:
    """Return the registry: a list of name, summary, source and params."""

def classful() -> str:
    """Return the disciplines with classes: a list of name, summary, source, params and class_params."""

def access() -> str:
    """Return the kinds of access networks: a list of name, summary, source and params."""

def linux() -> str:
    """Return the releases of Linux, the default one, and since when each discipline is there and what changed."""

def congestion_controls() -> str:
    """Return a list of name, summary and source."""

def stacks() -> str:
    """Return the names of the TCP stacks, and their differences: a list of aspect, and of what each stack does."""

def record_layout() -> str:
    """Return the parts of a record, the record first: each with name, help, fields and kinds (`record.layout`)."""

def traffic_kinds() -> str:
    """Return a list of all kinds of traffic, as `goodqueue.traffic.Kind` describes them."""

def hop_kinds() -> str:
    """Return a list of all kinds of hops, as `goodqueue.hops.Kind` describes them."""

def scenario_tables() -> str:
    """Return a list of all tables of a scenario: name, help, required, keys and kinds (each name, summary and keys).

    A table has its heading's name: ``bottleneck.up``, ``[traffic]``, empty for the top. A key has name, type, unit,
    required, default, range, example, source, help, engines and schema (JSON Schema of its value).
    """

def toml_line(text: str, key: str) -> int | None:
    """Return the line, from 1, of `key`, such as ``traffic[0].cc``, in the TOML `text`.

    If the table lacks the key, it is the line of the table's heading. None if the table is the top or does not exist,
    or if the text is no TOML.
    """

def replay(name: str, file: io.RawIOBase, release: str | None = None, stopped: Callable[[], bool] | None = None) -> str:
    """Return the outcome of the decision trace ``name``, whose bytes ``file`` has, with the law of ``release``.

    Without ``release`` the law is that of the trace's kernel.

    Raises ValueError with one line for a malformed file or if stopped.
    """

def play_tree(
    commands: str,
    release: str,
    packets: bytes,
    changes: list[tuple[int, str]],
    end: int,
    draws: tuple[int, int],
) -> tuple[list[tuple[int, int, int, int, int]], list[tuple[int, int, int, int, int]], int]:
    """Play the tree that `commands` of `tc` make, by its own timers, up to `end` nanoseconds after it was made.

    `packets` are as `validation/trees/job.py` writes them. `changes` are commands with the times at which they change
    the tree. `draws` is the state of the random numbers. Return the packets that left and those that were dropped:
    time, number, segment, length and codepoints of each, and how many wait at the end. Raises ValueError, one line.
    """

def record(
    path: str,
    gzip: bool,
    line: str,
    pattern: str,
    load: float,
    rate: str,
    packets: int,
    sizes: str,
    flows: int,
    ecn: str,
    seed: int,
) -> str:
    """Write a decision trace of the discipline `line` to `path`, and return its totals.

    Raises ValueError with one line if something is refused, and OSError.
    """

def qdisc_pair_ns(line: str, flows: int, backlog: int, pairs: int) -> tuple[float, float]:
    """Return the mean ns of one enqueue and one dequeue with a constant `backlog` (packets) of `flows` flows.

    The second number is the share of packets that were dropped, 0 to 1.

    Raises ValueError for a `line` that is refused.
    """

def roofline_ns(flows: int, waiting: int, on_the_way: int, packets: int) -> float:
    """Return the ns per packet that only the memory of a run takes, with its connections, queue and pipes."""
