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

from .plan import Plan


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
    for index in row:
        if plan.link(direction, index) is None:
            steps.append(Step(Does.WIRE, direction, index))
            continue
        steps.append(Step(Does.QUEUE, direction, index))
        if index != row[-1]:
            steps.append(Step(Does.TRANSMIT, direction, index))
    steps.append(Step(Does.PROPAGATE, direction, row[-1]))
    at = steps.index(Step(Does.QUEUE, direction, None))
    return steps[:at], steps[at], steps[at + 1 :]
