"""The addresses and ports of the hosts: an address is a host, and the listening port says the flow and its route.

Flows of one host share its address, so that a discipline that is fair between hosts (cake) sees the hosts of the
scenario. A flow whose host has no name has a host of its own, as in the simulator. One process owns all addresses of a
side.

The wires select the base RTT by port. Hops check by port whether the packet crosses them. The captures' packets belong
to the flow of their port.
"""

from dataclasses import dataclass

from .plan import Plan

SIDES = ("server", "client")
NETWORKS = {"server": "10.9", "client": "10.8"}
GATEWAY = "10.7.0.1"
"""The next hop of every route. Each interface has the Ethernet address of its neighbour under this address."""

MOST_FLOWS = 2000
MOST_ROUTES = 16
MOST_STACKS = 16
LISTENING, _ROUTE_BIT, _PLACE = 0x8000, 11, 0x7FF
"""A listening port has the highest bit, then four bits for the route's number, and eleven for the flow's index."""
_SENDING = 0x800
"""The lowest of the ports that the laboratory chooses for senders, plus a flow's index. Listening ports are higher."""
EPHEMERAL = (0x1000, LISTENING - 1)
"""The ports that Linux chooses for a connection. They are between the other two kinds."""


@dataclass(frozen=True, slots=True)
class Ends:
    """The two ends of a flow."""

    addresses: dict[str, str]
    """By side."""
    ports: tuple[int, ...]
    """The listening ports, one per route of the flow."""
    first_port: int
    """The port of the sender of a bulk flow, and of what sends datagrams first. The scenario may say it."""


def everybody(plan: Plan, side: str) -> list[str]:
    """Return the networks of all hosts of ``side``."""
    return [f"{NETWORKS[side]}.0.0/16", *plan.networks[side]]


def address(side: str, number: int) -> str:
    """Return the address of the host ``number`` of ``side``, if the scenario says none."""
    return f"{NETWORKS[side]}.{number >> 8}.{number & 255}"


def of_host(plan: Plan, side: str, number: int) -> str:
    """Return the address of the host ``number`` of ``side``."""
    hosts = {flow.user if side == "client" else flow.server: flow.addresses.get(side) for flow in plan.flows}
    return hosts.get(number) or address(side, number)


def of_route(route: int) -> tuple[int, int]:
    """Return the first and the last listening port of the flows that take the plan's route number ``route``."""
    first = listening(route, 0)
    return first, first | _PLACE


def listening(route: int, index: int) -> int:
    """Return the listening port of flow ``index`` of the plan on ``route``."""
    return LISTENING | route << _ROUTE_BIT | index


def place_of(ports: tuple[int, int]) -> int | None:
    """Return the place of the flow whose packets have ``ports``. None: neither port is a listening one."""
    return next((port & _PLACE for port in ports if port & LISTENING), None)


def ends(plan: Plan, index: int) -> Ends:
    """Return the addresses and ports of flow ``index`` of the plan."""
    flow = plan.flows[index]
    numbers = {"client": flow.user, "server": flow.server}
    return Ends(
        addresses={side: flow.addresses.get(side) or address(side, numbers[side]) for side in SIDES},
        ports=tuple(listening(route, index) for route in flow.routes or [flow.route]),
        first_port=flow.port or _SENDING + index,
    )
