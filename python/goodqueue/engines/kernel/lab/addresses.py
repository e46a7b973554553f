"""Who is where: a flow's addresses say which delay it gets and whether it speaks ECN.

Each distinct base RTT has its own server addresses, 10.9.K.x, which the delay node tells apart. TCP asks for ECN where
its route says so, so ECN too goes by address: x is 2 with it and 1 without, on both sides.
"""

from dataclasses import dataclass

from .plan import Flow, Plan

SIDES = ("server", "client")
SERVERS = "10.9.0.0/16"
CLIENTS = "10.8.0.0/16"
GATEWAY = "10.7.0.1"
"""The next hop of every route; each interface knows its neighbour's Ethernet address by this name."""
SOURCE_PORT_OFFSET = 10000


@dataclass(frozen=True, slots=True)
class Ends:
    """The two ends of a flow; data go from ``source`` to ``sink``."""

    source: tuple[str, int]
    sink: tuple[str, int]


def address(side: str, rtt: int, ecn: bool) -> str:
    """Return the address on ``side`` of flows that have the plan's RTT number ``rtt``."""
    return f"10.{9 if side == 'server' else 8}.{rtt}.{2 if ecn else 1}"


def addresses(side: str, plan: Plan) -> list[str]:
    """Return all addresses of ``side``."""
    return [address(side, rtt, ecn) for rtt in range(len(plan.rtts_s)) for ecn in (False, True)]


def source_side(flow: Flow) -> str:
    """Return the side that sends the flow's data."""
    return "server" if flow.direction == "down" else "client"


def sink_side(flow: Flow) -> str:
    """Return the side that gets the flow's data."""
    return "client" if flow.direction == "down" else "server"


def ends(flow: Flow, plan: Plan) -> Ends:
    """Return the flow's addresses and ports."""
    rtt = plan.rtts_s.index(flow.rtt_s)
    return Ends(
        source=(address(source_side(flow), rtt, flow.ecn), flow.port + SOURCE_PORT_OFFSET),
        sink=(address(sink_side(flow), rtt, flow.ecn), flow.port),
    )
