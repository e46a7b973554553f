"""The row of namespaces between the hosts, and what each namespace does to the packets of either direction.

Without hops the row is ``server -- wan1 -- router -- access1 -- client``. The router holds the bottleneck's queues. A
hop stands where packets of its direction meet it. Each link is followed by a node that holds a packet for its
transmission time, since Linux's shapers pass the packet on when the transmission begins. The last node adds half of
the base RTT.

With goodqueue's own path, the row has only the hosts.

A node does one thing per direction, so the two directions share nodes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import zip_longest

from .plan import Plan, Stack


class Does(Enum):
    """What a node does to the packets of a direction."""

    QUEUE = "a link's discipline, above its shaper"
    WIRE = "a wire's netem"
    TRANSMIT = "a link's transmission"
    PROPAGATE = "half of the base RTT, after the transmission of the row's last hop, where that is a link"


@dataclass(frozen=True, slots=True)
class Step:
    """One operation of a node on the packets of ``direction``."""

    does: Does
    direction: str
    place: int | None
    """The hop, as its place in the plan's rows. None is the bottleneck."""


ROUTER = "router"


@dataclass(frozen=True, slots=True)
class Node:
    """A network namespace."""

    name: str
    steps: tuple[Step, ...] = ()
    """At most one per direction."""

    def device(self, side: str) -> str:
        """Return the name of the node's interface towards ``side``."""
        return f"{'r' if self.name == ROUTER else self.name}-{'wan' if side == 'server' else 'cli'}"

    def captures(self) -> tuple[str, str]:
        """Return the file names of the captures at the interfaces towards the server and towards the client."""
        return f"{self.device('server')}.pcap", f"{self.device('client')}.pcap"


def nodes(plan: Plan) -> list[Node]:
    """Return the row of nodes from the server to the client, hosts included."""
    if plan.own is not None:
        return [Node("server"), Node("client")]
    (before_down, down, after_down), (before_up, up, after_up) = (_around(plan, route) for route in ("down", "up"))
    wan = [_both(*pair) for pair in zip_longest(before_down, after_up[::-1])]
    access = [_both(*pair) for pair in zip_longest(after_down, before_up[::-1])]
    return [
        Node("server"),
        *(Node(f"wan{number}", steps) for number, steps in enumerate(wan, 1)),
        Node(ROUTER, (down, up)),
        *(Node(f"access{number}", steps) for number, steps in enumerate(access, 1)),
        Node("client"),
    ]


def measured(plan: Plan) -> Iterator[tuple[Step, Node]]:
    """Yield each queue and each wire, with the node that holds it."""
    for node in nodes(plan):
        for step in node.steps:
            if step.does in {Does.QUEUE, Does.WIRE}:
                yield step, node


@dataclass(frozen=True, slots=True)
class Card:
    """The devices of the plan's stack number ``place``: a card in front of the hosts' first hop or interface."""

    stack: Stack
    place: int
    beside: Node
    """The node with the first hop, or beside the interface."""

    @property
    def name(self) -> str:
        """The device through which the sockets send. Its packets have not met a queue yet."""
        return f"host{self.place}"

    @property
    def out(self) -> str:
        """The interface, below the card."""
        return f"{self.name}-out"

    @property
    def wire(self) -> str:
        """The namespace in which a packet of the interface is as long as its transmission takes."""
        return f"{self.name}-wire"

    @property
    def arriving(self) -> str:
        """The device in the node beside, at which packets of the interface arrive."""
        return f"{self.name}-in"

    def captures(self) -> tuple[str, str]:
        """Return the captures around the interface's queue, towards the server first."""
        names = f"{self.out}.pcap", f"{self.name}.pcap"
        return names if self.stack.side == "client" else names[::-1]


def cards(plan: Plan) -> list[Card]:
    """Return the devices of the plan's stacks."""
    found = []
    for place, stack in enumerate(plan.stacks):
        onward = nodes(plan)[1:-1] if stack.side == "server" else nodes(plan)[-2:0:-1]
        first = next(node for node in onward if any(step.direction == stack.direction for step in node.steps))
        found.append(Card(stack, place, onward[0] if stack.link else first))
    return found


def joined(plan: Plan) -> dict[str, list[str]]:
    """Return the captures that lack packets of cards, each with the captures that have these."""
    found: dict[str, list[str]] = {}
    for card in cards(plan):
        from_client = card.stack.side == "client"
        found.setdefault(ends(plan)[from_client], []).append(f"{card.name}.pcap")
        entered = f"{card.arriving if card.stack.link else card.name}.pcap"
        found.setdefault(card.beside.captures()[from_client], []).append(entered)
    return found


def captured(plan: Plan) -> list[tuple[str, str]]:
    """Return where packets are captured: the names of namespaces, each with the device.

    The hosts' own interfaces are included if only they show what the flow's ends saw.
    """
    of_cards = []
    for card in cards(plan):
        of_cards.append((card.stack.side, card.name))
        if card.stack.link:
            of_cards += [(card.stack.side, card.out), (card.beside.name, card.arriving)]
    row = nodes(plan)
    places = list(dict.fromkeys(node.name for _, node in measured(plan)))
    found = [(node, side) for node in row if node.name in places for side in ("server", "client")]
    everywhere = [(row[0], "client"), *found, (row[-1], "server")] if plan.captures_ends else found
    return [(node.name, node.device(side)) for node, side in everywhere] + of_cards


def ends(plan: Plan) -> tuple[str, str]:
    """Return the names of the captures at the server and at the client."""
    row = nodes(plan)
    return row[0].captures()[1], row[-1].captures()[0]


def _both(*steps: Step | None) -> tuple[Step, ...]:
    return tuple(step for step in steps if step is not None)


def _around(plan: Plan, direction: str) -> tuple[list[Step], Step, list[Step]]:
    """Return what packets of ``direction`` meet before the bottleneck's queue, the queue, and what is behind it."""
    row = plan.rows[direction]
    steps: list[Step] = []
    for place in row:
        if plan.link(direction, place) is None:
            steps.append(Step(Does.WIRE, direction, place))
            continue
        steps.append(Step(Does.QUEUE, direction, place))
        if place != row[-1]:
            steps.append(Step(Does.TRANSMIT, direction, place))
    steps.append(Step(Does.PROPAGATE, direction, row[-1]))
    at = steps.index(Step(Does.QUEUE, direction, None))
    return steps[:at], steps[at], steps[at + 1 :]
