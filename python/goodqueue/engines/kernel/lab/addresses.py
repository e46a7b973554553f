"""The addresses and ports of the hosts: an address is a host, and the listening port says the flow and its way.

Flows of one host share its address, so that a discipline that is fair between hosts (cake) sees the hosts of the
scenario. A flow whose host has no name has a host of its own, as in the simulator. One process owns all addresses of a
side.

The wires select the base RTT by port. Hops check by port whether the packet crosses them. The captures' packets belong
to the flow of their port.
"""

from dataclasses import dataclass

from .plan import Flow, Plan

SIDES = ("server", "client")
NETWORKS = {"server": "10.9", "client": "10.8"}
GATEWAY = "10.7.0.1"
"""The next hop of every route. Each interface has the Ethernet address of its neighbour under this address."""

MOST_FLOWS = 2000
MOST_ROUTES = 16
_LISTENING, _ROUTE_BIT, _PLACE = 0x8000, 11, 0x7FF
"""A listening port has the highest bit, then four bits for the way's number, and eleven for the flow's place."""
_SENDING = 0x800
"""The lowest port of the sockets that choose their own: a flow's place is added. Listening ports are higher."""
EPHEMERAL = (0x1000, _LISTENING - 1)
"""The ports that Linux chooses for a connection. They are between the other two kinds."""


@dataclass(frozen=True, slots=True)
class Ends:
    """The two ends of a flow. Data go from ``source`` to ``sink``."""

    source: tuple[str, int]
    sink: tuple[str, int]
    ports: tuple[int, ...]
    """The listening ports of an application, one per way of the flow."""


def everybody(side: str) -> str:
    """Return the prefix of all hosts of ``side``."""
    return f"{NETWORKS[side]}.0.0/16"


def of_route(route: int) -> tuple[int, int]:
    """Return the first and the last listening port of the flows that take the plan's way number ``route``."""
    first = listening(route, 0)
    return first, first | _PLACE


def listening(route: int, place: int) -> int:
    """Return the listening port of the flow at ``place`` of the plan on ``route``."""
    return _LISTENING | route << _ROUTE_BIT | place


def place_of(ports: tuple[int, int]) -> int | None:
    """Return the place of the flow whose packets have ``ports``. None: neither port is a listening one."""
    return next((port & _PLACE for port in ports if port & _LISTENING), None)


def source_side(flow: Flow) -> str:
    """Return the side that sends the flow's data."""
    return "server" if flow.direction == "down" else "client"


def sink_side(flow: Flow) -> str:
    """Return the side that receives the flow's data."""
    return "client" if flow.direction == "down" else "server"


def ends(plan: Plan, place: int) -> Ends:
    """Return the addresses and ports of the flow at ``place`` of the plan."""
    flow = plan.flows[place]

    def address(side: str) -> str:
        number = flow.user if side == "client" else flow.server
        return f"{NETWORKS[side]}.{number >> 8}.{number & 255}"

    return Ends(
        source=(address(source_side(flow)), _SENDING + place),
        sink=(address(sink_side(flow)), listening(flow.route, place)),
        ports=tuple(listening(route, place) for route in flow.routes or [flow.route]),
    )
