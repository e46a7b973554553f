"""The addresses of the hosts: each flow has its own hosts, and the address encodes the flow's way and ECN.

The wires select the base RTT by address. Hops check by address whether the packet crosses them. The routes to the
addresses with ECN make TCP ask for ECN. One process owns all addresses of a side. A discipline that is fair between
hosts (cake) nevertheless sees as many hosts as flows, as in the simulator.
"""

from dataclasses import dataclass

from .plan import Flow, Plan

SIDES = ("server", "client")
NETWORKS = {"server": "10.9", "client": "10.8"}
GATEWAY = "10.7.0.1"
"""The next hop of every route. Each interface has the Ethernet address of its neighbour under this address."""
SOURCE_PORT_OFFSET = 10000

MOST_FLOWS = 2000
MOST_WAYS = 16
"""In the last 16 bits of an address, the way's number takes four, ECN one, and the flow's number eleven."""


@dataclass(frozen=True, slots=True)
class Ends:
    """The two ends of a flow. Data go from ``source`` to ``sink``."""

    source: tuple[str, int]
    sink: tuple[str, int]
    hosts: tuple[tuple[str, str], ...] = ()
    """The addresses of the source and of the sink on each way, for a flow with several ways."""


def everybody(side: str) -> str:
    """Return the prefix of all hosts of ``side``."""
    return f"{NETWORKS[side]}.0.0/16"


def of_way(side: str, way: int) -> str:
    """Return the prefix of the hosts of ``side`` whose flow takes the plan's way number ``way``."""
    return f"{NETWORKS[side]}.{way << 4}.0/20"


def with_ecn(side: str, way: int) -> str:
    """Return the prefix of those hosts of ``side`` that take ``way`` and speak ECN."""
    return f"{NETWORKS[side]}.{way << 4 | 8}.0/21"


def way_of(host: str) -> int:
    """Return the number of the way that the packets of ``host`` take."""
    return int(host.split(".")[2]) >> 4


def source_side(flow: Flow) -> str:
    """Return the side that sends the flow's data."""
    return "server" if flow.direction == "down" else "client"


def sink_side(flow: Flow) -> str:
    """Return the side that receives the flow's data."""
    return "client" if flow.direction == "down" else "server"


def ends(plan: Plan, place: int) -> Ends:
    """Return the addresses and ports of the flow at ``place`` of the plan."""
    flow = plan.flows[place]

    def address(side: str, way: int) -> str:
        host = way << 12 | flow.ecn << 11 | place + 1
        return f"{NETWORKS[side]}.{host >> 8}.{host & 255}"

    return Ends(
        source=(address(source_side(flow), flow.way), flow.port + SOURCE_PORT_OFFSET),
        sink=(address(sink_side(flow), flow.way), flow.port),
        hosts=tuple((address(source_side(flow), way), address(sink_side(flow), way)) for way in flow.ways),
    )
