"""The Rust core, as Python sees it. All text is JSON; `goodqueue.record` describes the records."""

from collections.abc import Callable
from typing import Any, TypedDict

VERSION: str

class DisciplineError(ValueError):
    """A discipline written in Python broke the rules, as by losing a packet; the text names its method."""

class ScenarioError(ValueError):
    """A refused scenario; its text is ``key: message``."""

    key: str
    """Dotted path of the offending key, such as ``bottleneck.rate``; empty where no single key is to blame."""
    message: str
    """What was found and what is accepted."""

class TraceError(ValueError):
    """A capture that cannot be written; its text is ``FILE: reason``."""

class Simulation:
    """One run of one scenario."""

    duration_s: float
    """The simulated time at which the run ends."""

    def __init__(self, scenario_json: str, make: Callable[[str, Any], tuple[Any, str, str]] | None = None) -> None:
        """Set the scenario up. `make(line, link)` makes disciplines written in Python. Raises ScenarioError."""

    def advance(self, until_s: float) -> None:
        """Simulate up to `until_s` seconds of simulated time (at most to the end).

        Releases the GIL, unless a discipline is written in Python; what that raises comes out here.
        """

    def trace(self, path: str, points: list[str], snap_bytes: int) -> None:
        """Capture the run from now on at the `points` (`trace_points`), `snap_bytes` of each packet. Raises TraceError.

        From then on `advance` may raise it, too. There is no file at `path` before `finish_trace`.
        """

    def finish_trace(self) -> None:
        """End the capture, if there is one: the file takes its name. Raises TraceError."""

    def discard_trace(self) -> None:
        """Remove what there is of a capture that is not finished."""

    def record(self) -> str:
        """The record of the run so far, as JSON."""

class Gateway:
    """The path of a scenario with real packets on it, in real time, between two devices. Linux only.

    Packets that the server's device gives go down, those of the client's go up.
    """

    no_capture: str | None
    """Why the capture could not be written, once it is over: what was measured is not lost with it."""

    def __init__(
        self,
        scenario_json: str,
        server: tuple[int, bytes],
        client: tuple[int, bytes],
        make: Callable[[str, Any], tuple[Any, str, str]] | None = None,
        ways: list[tuple[bytes, int, float, list[str] | None]] = ...,
    ) -> None:
        """Build the path of a scenario, which need have no traffic: what it has is simulated beside real packets.

        `server`, `client`: a non-blocking descriptor, which is duplicated, and what is written before each packet. It
        is a TUN device's (IFF_VNET_HDR; nothing) or a packet socket's (PACKET_VNET_HDR; the destination's and the
        source's MAC). `make` as of `Simulation`. `ways`: clients' networks (packed address, length of the prefix) whose
        packets have a base RTT of their own, in seconds, and cross only hops of these names, where any are. Raises
        ScenarioError, OSError.
        """

    def trace(self, path: str, points: list[str], snap_bytes: int) -> None:
        """Capture as `Simulation.trace` does, before `start`. Raises TraceError."""

    def start(self) -> None:
        """Let packets cross from now on, by a thread of its own."""

    def glance(self) -> str:
        """How it goes, as JSON: elapsed_s, queues by direction, late_us, flows; null where the thread has ended."""

    def record(self) -> str:
        """The record so far, as JSON; packets cross on. Raises OSError."""

    def stop(self) -> str:
        """End it, and return the record as JSON. Raises DisciplineError, OSError."""

class Packet:
    """A packet, as a queue discipline sees it."""

    def __init__(
        self,
        len: int,
        *,
        ecn: str = "not-ect",
        flow: int = 0,
        dscp: int = 0,
        id: int = 0,
        fwmark: int = 0,
        ack: int | None = None,
        sack: list[tuple[int, int]] = ...,
    ) -> None:
        """Make a packet of `len` bytes. `ecn` is not-ect, ect0, ect1 or ce; equal `flow`: one flow; or ValueError.

        What cake may look at besides: `fwmark`, a firewall's mark; `ack`, the number that a TCP ACK without data
        acknowledges, and `sack`, up to four blocks of it, each the first byte and the byte after the last.
        """

    @property
    def len(self) -> int:
        """Length in bytes as tc counts it: on Ethernet with the link header."""

    @property
    def ecn(self) -> str:
        """The ECN codepoint: not-ect, ect0, ect1 or ce."""

    @property
    def flow(self) -> int:
        """Number of its flow; in a run, the flow's place in the scenario, from 0."""

    @property
    def dscp(self) -> int:
        """The differentiated services codepoint, 0 to 63."""

    @property
    def id(self) -> int:
        """Whatever its maker wants to know it by; 0 in a run."""

    @property
    def arrival(self) -> int:
        """When it was offered to the discipline, in nanoseconds."""

    def drop(self, reason: str = "early") -> None:
        """Drop it: overlimit, memory, early, forced, target, flow or ack. In a discipline written in Python only."""

    def mark(self, reason: str = "early") -> bool:
        """Set it to CE where ECN allows, and return whether it does: early, forced, target or ce_threshold."""

class Queue:
    """A FIFO of a discipline written in Python; `len(queue)` is its packets."""

    @property
    def bytes(self) -> int:
        """Bytes that wait in it."""

    @property
    def head(self) -> Packet | None:
        """The packet that would leave next."""

    def __len__(self) -> int: ...
    def push(self, packet: Packet) -> None:
        """Append at the tail."""

    def pop(self) -> Packet | None:
        """Take from the head."""

    def pop_tail(self) -> Packet | None:
        """Take from the tail."""

class Link:
    """The link below a discipline written in Python."""

    @property
    def rate(self) -> int:
        """Bits per second; another number after a change of the link."""

    @property
    def mtu(self) -> int:
        """Bytes of a full frame as tc counts it."""

    def random(self) -> float:
        """A number in [0, 1) from the discipline's own stream, which derives from the seed."""

    def queue(self) -> Queue:
        """A further queue."""

class Qdisc:
    """One discipline, driven by hand. Times are whole nanoseconds; each call's is the last one's or later."""

    def __init__(
        self, line: str, rate: str, mtu: int, seed: int, make: Callable[[str, Any], tuple[Any, str, str]]
    ) -> None:
        """Use `goodqueue.qdisc.make`. Raises ValueError."""

    @property
    def line(self) -> str:
        """Its line with every parameter."""

    @property
    def backlog(self) -> tuple[int, int]:
        """Packets and bytes that wait."""

    @property
    def dropped(self) -> list[tuple[Packet, str]]:
        """What the last call dropped, each with the reason."""

    @property
    def marked(self) -> list[tuple[Packet, str]]:
        """What the last call set to CE, each with the reason."""

    def enqueue(self, now_ns: int, packet: Packet) -> None:
        """Offer `packet`, which must not wait anywhere. Raises ValueError."""

    def dequeue(self, now_ns: int) -> Packet | None:
        """Take the packet to send next; None: nothing now. That call counts too, as the link goes idle."""

    def next_timer(self) -> int | None:
        """When `on_timer` wants to be called, in nanoseconds; None: never."""

    def on_timer(self, now_ns: int) -> None:
        """Tell it the time; without effect before `next_timer`."""

    def change(self, now_ns: int, **parameters: str | float | bool) -> None:
        """Change parameters while packets wait, as `tc qdisc change` does; those not named and the state stay.

        Raises ValueError where it is refused; nothing has changed then.
        """

    def set_link_rate(self, now_ns: int, rate: str) -> None:
        """Tell that the link below has another rate from now on, such as 5mbit. Raises ValueError as `change`."""

    def probe(self) -> dict[str, Any]:
        """Its inner variables under the names that Linux or the RFC give, times in nanoseconds."""

def qdisc_line(name: str, params: dict[str, Any]) -> str:
    """The tc line of discipline `name` with `params`. Raises ValueError."""

def qdisc_values(line: str) -> dict[str, float | bool | str | None]:
    """Each parameter of a tc line with its value, those that the line leaves out too; None: unset, or derived.

    Numbers have their unit in the key, as `target_ms`, `limit_packets`, `quantum_bytes`, `rate_mbps`, `share_percent`;
    those without a unit (`alpha`), flags and words have none. The qdisc inside another one is `child`, and its
    parameters begin with `child_`. Raises ValueError.
    """

def generate_rates(shape: str, mean: str, length: str, seed: int) -> str:
    """A file of rates that looks like those of a kind of link: `lte`, `starlink` or `mmwave`. Raises ValueError."""

def mean_rate_bps(content: bytes) -> int:
    """The rate in bit/s that a file of rates has in the long run. Raises ValueError: the line, what was found."""

def rate_steps(content: bytes, end_s: float) -> list[tuple[float, int]] | None:
    """When which rate in bit/s begins by a file of rates, until ``end_s``; None where it is one of opportunities.

    Raises ValueError as `mean_rate_bps` does.
    """

def time_ns(text: str | int) -> int:
    """A time with its unit, such as 5ms, in nanoseconds; a whole number is nanoseconds already. Raises ValueError."""

def rate_bps(text: str) -> int:
    """A rate with its unit, such as 10mbit, in bit/s. Raises ValueError."""

def mos(delay_ms: float, loss_percent: float) -> float:
    """Mean opinion score of a call, 1 to 4.5, by ITU-T G.107's E-model: of its mean one-way delay and its loss."""

def resolve(scenario_json: str) -> str:
    """The scenario with its defaults filled in. Raises ScenarioError."""

def flows(scenario_json: str) -> str:
    """The scenario's flows one by one, each with the start that its seed draws: what an engine is to make.

    A list of name, kind, direction, start_s, stop_s, rtt_s, ecn, cc, stack, packet_size (bytes) and interval_s (between
    datagrams); null for what the kind does not have. Raises ScenarioError.
    """

def drawn_ahead(scenario_json: str) -> str:
    """What flows of a resolved scenario will draw, by name: of web users, each one's pages. Raises ScenarioError."""

def connection_vectors(capture: str) -> str:
    """Return the TCP connections of a capture as JSON: ``vectors`` (`goodqueue.files.tmix`) and how many are left out.

    Those are ``partial``, begun before the capture, and ``silent``, without data. Raises ValueError, one line.
    """

class CapturedQueue(TypedDict):
    """One direction's packets in the order of their arrival, a column each, as bytes of little-endian numbers."""

    arrival_ns: bytes
    """int64, nanoseconds since 1970."""
    departure_ns: bytes
    """int64, nanoseconds since 1970; -1: it never left."""
    length: bytes
    """uint32, bytes of the frame."""
    flow: bytes
    """uint32, its place in the flows."""
    ecn_in: bytes
    """uint8, codepoint on arrival: 0 not-ECT, 1 ECT(1), 2 ECT(0), 3 CE."""
    ecn_out: bytes
    """uint8, codepoint when it left."""
    copy_of: bytes
    """uint32, packets that left once more, as netem duplicates them: the place of each among those above."""
    copy_ns: bytes
    """int64, when they did."""

class CapturedTransfer(TypedDict):
    """A TCP flow's data in one direction: columns of int64, as bytes, little-endian."""

    delivered_at_ns: bytes
    """When the receiver's ACK arrived at the bottleneck."""
    delivered_bytes: bytes
    """How many bytes had come in order by then."""
    rtt_at_ns: bytes
    """When an ACK that samples the round-trip time left the bottleneck."""
    rtt_ns: bytes
    """How long after the segment had arrived at the bottleneck."""
    resent_at_ns: bytes
    """When data arrived at the bottleneck that had been sent before."""

class CapturedFlow(TypedDict):
    """Who talked to whom; its transfers are empty where it is not TCP."""

    protocol: int
    """IP's number: 6 TCP, 17 UDP."""
    server: tuple[str, int]
    client: tuple[str, int]
    transfers: dict[str, CapturedTransfer]
    """By direction, ``down`` and ``up``."""

class Captured(TypedDict):
    """What the captures of both sides of a bottleneck tell together."""

    queues: dict[str, CapturedQueue]
    """By direction, ``down`` and ``up``."""
    flows: list[CapturedFlow]
    ignored: int
    """Frames in both files that are none between a server and a client."""

def read_captures(wan: str, cli: str) -> Captured:
    """Match the packets of two pcap files, of the router's interface to the servers and of that to the clients.

    Raises ValueError with one line (file, offset, what was found) for a file that is missing, foreign or cut off, and
    where a packet leaves that never arrived.
    """

def trace_points() -> list[str]:
    """Where a run can be captured."""

def merge_captures(path: str, points: list[str], wan: str, cli: str, start_ns: int) -> None:
    """Write what two pcap files have of `points` at the queues as one pcapng file at `path`.

    `start_ns` is when the run began, in nanoseconds since 1970. Raises TraceError.
    """

def qdiscs() -> str:
    """The registry: a list of name, summary, source and params."""

def congestion_controls() -> str:
    """A list of name, summary and source."""

def stacks() -> str:
    """The names of the TCP stacks, and their differences: a list of aspect and stacks, what each does."""

def traffic_kinds() -> str:
    """Every kind of traffic, a list: `goodqueue.traffic.Kind` says of what."""

def scenario_tables() -> str:
    """Every table of a scenario, a list of name, help, required, keys and kinds (each with name, summary and keys).

    A table is called as its heading: ``bottleneck.up``, ``[traffic]``, empty for the top. A key has name, type, unit,
    required, default, range, example, source, help, engines and schema (JSON Schema of its value).
    """

def toml_line(text: str, key: str) -> int | None:
    """The line, from 1, on which `key`, such as ``traffic[0].cc``, stands in the TOML `text`.

    Of a key that its table lacks it is that of the table's heading; None where that is the top, where there is no such
    table, and where the text is no TOML.
    """

def replay(path: str, stopped: Callable[[], bool] | None = None) -> str:
    """The outcome of one decision trace. Raises ValueError with one line on a malformed file, and when stopped."""

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
    """Write a decision trace of the discipline `line` to `path`; return its totals.

    Raises ValueError with one line for what is refused, and OSError.
    """

def qdisc_pair_ns(line: str, flows: int, backlog: int, pairs: int) -> tuple[float, float]:
    """Mean nanoseconds of one enqueue and one dequeue at a standing `backlog` (packets) spread over `flows`.

    The second number is the share of packets that were dropped, 0 to 1.

    Raises ValueError for a `line` that is refused.
    """
