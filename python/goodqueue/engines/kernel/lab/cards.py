"""The devices of hosts that have a stack (`plan.Stack`), and where packets are captured.

What such a host sends leaves through a card of its own, which is a macvlan above the device with the queue: above the
host's interface, or above the device of the first hop. A packet that passes from one to the other still belongs to its
socket, unlike one that crosses a cable of veth. So TCP counts what is in the queue.
"""

from dataclasses import dataclass

from .chain import Node, ends, measured, nodes
from .plan import Plan, Stack


@dataclass(frozen=True, slots=True)
class Card:
    """The devices of the plan's stack number ``place``."""

    stack: Stack
    place: int
    beside: Node
    """The node with the first hop, or beside the interface."""

    @property
    def name(self) -> str:
        """The card in the namespace of the sockets."""
        return f"host{self.place}"

    @property
    def out(self) -> str:
        """The interface below it."""
        return f"{self.name}-out"

    @property
    def wire(self) -> str:
        """The namespace behind the interface, which holds a packet for its transmission."""
        return f"{self.name}-wire"

    @property
    def arriving(self) -> str:
        """The device in the node beside, at which packets of the interface arrive."""
        return f"{self.name}-in"

    def captures(self) -> tuple[str, str]:
        """Return the names of the captures around the interface's queue, towards the server first."""
        names = f"{self.out}.pcap", f"{self.name}.pcap"
        return names if self.stack.side == "client" else names[::-1]


def cards(plan: Plan) -> list[Card]:
    """Return the devices of the plan's stacks."""
    made_cards = []
    for index, stack in enumerate(plan.stacks):
        onward = nodes(plan)[1:-1] if stack.side == "server" else nodes(plan)[-2:0:-1]
        first = next(node for node in onward if any(step.direction == stack.direction for step in node.steps))
        made_cards.append(Card(stack, index, onward[0] if stack.link else first))
    return made_cards


def captured(plan: Plan) -> list[tuple[str, str]]:
    """Return where packets are captured: the names of namespaces, each with a device.

    The hosts' own interfaces are included if only they show what the flow's ends saw.
    """
    row = nodes(plan)
    places = {node.name for _, node in measured(plan)}
    ends_captured = [(node, side) for node in row if node.name in places for side in ("server", "client")]
    if plan.captures_ends:
        ends_captured = [(row[0], "client"), *ends_captured, (row[-1], "server")]
    devices = [(node.name, node.device(side)) for node, side in ends_captured]
    for card in cards(plan):
        devices.append((card.stack.side, card.name))
        if card.stack.link:
            devices.append((card.stack.side, card.out))
        if card.stack.link and card.beside.name in places:
            devices.append((card.beside.name, card.arriving))
    return devices


def joined(plan: Plan) -> dict[str, list[str]]:
    """Return the captures that lack packets because these come by a card, each with the captures that have them."""
    by_addresses: dict[str, list[str]] = {}
    for card in cards(plan):
        from_client = card.stack.side == "client"
        by_addresses.setdefault(ends(plan)[from_client], []).append(f"{card.name}.pcap")
        entered = card.arriving if card.stack.link else card.name
        by_addresses.setdefault(card.beside.captures()[from_client], []).append(f"{entered}.pcap")
    return by_addresses
