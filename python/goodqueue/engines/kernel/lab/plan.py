"""What the laboratory is to build and run: the contract between the engine and the laboratory, as plain JSON.

Times are seconds of the run (0 is when its traffic begins), rates bit/s, lengths bytes as `tc` counts them on Ethernet.
"""

import json
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Shaper:
    """One direction of the bottleneck: a link of a rate, and the discipline that waits before it."""

    rate_bps: int
    shaper: str
    """``htb`` or ``cbs``: which of Linux's disciplines plays the serial link."""
    tc: list[list[str]]
    """Commands' words after ``tc qdisc add dev DEV``: ``parent 1:1 handle 10: codel limit 1000 …``, outermost first.
    Those that begin with ``class`` follow ``tc class add dev DEV``."""


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
    """To each host of a page, at the most."""


@dataclass(frozen=True, slots=True)
class Plan:
    """One run."""

    duration_s: float
    warmup_s: float
    seed: int
    down: Shaper
    up: Shaper
    rtts_s: list[float]
    """The distinct base round-trip times of the flows, ascending; each has addresses of its own."""
    flows: list[Flow]
    sample_s: float | None
    """How often senders' TCP_INFO is read for time series, if at all."""
    drain_s: float = 1.0
    """How long captures go on after the end, so that packets that wait then are seen to leave."""

    def to_json(self) -> str:
        """Return the plan as text."""
        return json.dumps(asdict(self))

    @staticmethod
    def from_json(text: str) -> "Plan":
        """Return the plan that `to_json` wrote."""
        data: dict[str, Any] = json.loads(text)
        flows = [Flow(**flow) for flow in data.pop("flows")]
        down, up = Shaper(**data.pop("down")), Shaper(**data.pop("up"))
        return Plan(down=down, up=up, flows=flows, **data)
