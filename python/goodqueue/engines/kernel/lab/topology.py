"""The network namespaces of a plan in a row, as `chain` describes it, with a veth cable between neighbours.

Each host stands beside its first hop. The propagation delay follows the last hop.

Nothing here has a name outside this process: descriptors keep the namespaces alive, and everything in them dies with
them.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise

from . import commands, netlink, parts, sysctls, tc
from .addresses import GATEWAY, SIDES, everybody, of_host
from .cards import Card, cards
from .chain import Does, Node, nodes
from .clock import TICK_S, Clock
from .libc import enter_network, new_network
from .plan import Plan

_CARD_TABLES = 1000
"""The first of the tables of routes of cards: two per card, without and with ECN."""
_ECN_TABLE, _ECN_MARK = 100, 1
"""The routes that make TCP ask for ECN, and the mark of the sockets that use them (``crates/sockets``)."""
_RTAX_FEATURE_ECN = 1


@contextmanager
def entered(space: int) -> Iterator[None]:
    """Enter the network namespace that the descriptor ``space`` refers to, for the duration of the ``with`` block."""
    home = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    enter_network(space)
    try:
        yield
    finally:
        enter_network(home)
        os.close(home)


class Namespace:
    """A network namespace, with methods to enter and to leave it."""

    def __init__(self) -> None:
        """Make a namespace. This process stays in its own namespace, ``home``."""
        self.home = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        new_network()
        self.descriptor = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        enter_network(self.home)

    def enter(self) -> None:
        """Enter the namespace for good."""
        enter_network(self.descriptor)

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Enter the namespace for the duration of the ``with`` block."""
        self.enter()
        try:
            yield
        finally:
            enter_network(self.home)


@dataclass(frozen=True, slots=True)
class Interface:
    """One end of a cable."""

    space: str
    name: str
    mac: str
    beyond: str
    """The side of the path that lies behind the interface."""


def build(plan: Plan, heard: list[str], clock: Clock | None = None) -> dict[str, Namespace]:
    """Build the network of ``plan`` and return its namespaces by name. goodqueue's own path is not built here.

    What ``tc`` says meanwhile is appended to ``heard``. If the random numbers are given, the disciplines are made in
    the last tick before the run by ``clock``, because their timers count ticks from then on.
    """
    row = nodes(plan)
    wires = [card.wire for card in cards(plan) if card.stack.link]
    spaces = {name: Namespace() for name in (*(node.name for node in row), *wires)}
    for name, space in spaces.items():
        with space.entered():
            sysctls.write(sysctls.QUIET)
            sysctls.write(sysctls.for_hosts(plan, name) if name in SIDES else sysctls.FORWARDING)
            netlink.set_up(netlink.LOOPBACK)  # a namespace takes no route before
            if name in SIDES:
                for network in everybody(plan, name):
                    netlink.add_own_addresses(network)
                netlink.add_rule(_ECN_TABLE, mark=_ECN_MARK)
    for number, (left, right) in enumerate(pairwise(row) if plan.own is None else ()):
        near, far = _ends(left, right, number)
        _connect(spaces, near, far, plan)
        bring_up(spaces, near, far.mac, plan)
        bring_up(spaces, far, near.mac, plan)
    if clock is not None and plan.draws is not None:
        clock.sleep_until(-TICK_S / 2)
    for node in row:
        with spaces[node.name].entered():
            steps = [(node.device(commands.TOWARDS[step.direction]), step) for step in node.steps]
            for device, step in steps if plan.draws is not None else ():
                if step.does in {Does.QUEUE, Does.WIRE}:
                    netlink.set_group(netlink.index_of(device), parts.of_step(plan, step))
            heard += tc.batch([words for device, step in steps for words in commands.step(device, step, plan)])
    for card in cards(plan):
        _insert(card, spaces, plan, heard)
    return spaces


def _ends(left: Node, right: Node, number: int) -> tuple[Interface, Interface]:
    """Return the ends of the row's cable ``number``, which connects two nodes."""
    sides = ((left, "client"), (right, "server"))
    near, far = (
        Interface(node.name, node.device(side), f"02:00:00:00:00:{2 * number + end:02x}", side)
        for end, (node, side) in enumerate(sides, 1)
    )
    return near, far


def _connect(spaces: dict[str, Namespace], near: Interface, far: Interface, plan: Plan) -> None:
    """Make a cable. All cables have as many queues as one discipline needs.

    A socket chooses the transmit queue by its hash. A veth notes it as the receive queue, and a router sends from the
    transmit queue of this number.
    """
    most = max(link.queues for link in plan.links())
    with spaces[near.space].entered():
        netlink.add_veth((near.name, near.mac), (far.name, far.mac), spaces[far.space].descriptor, most)


def _insert(card: Card, spaces: dict[str, Namespace], plan: Plan, heard: list[str]) -> None:
    """Add the devices of ``card``, and let what its hosts send leave through it."""
    side = card.stack.side
    (other,) = set(SIDES) - {side}
    if card.stack.link is None:
        below, beside = _below(card, other, plan)
    else:
        below, beside = _interface(card, other, spaces, plan, heard)
    interface = Interface(side, card.name, _mac(card, 0), other)
    with spaces[below.space].entered():
        below_index = netlink.index_of(below.name)
        netlink.add_macvlan(interface.name, interface.mac, below_index, spaces[side].descriptor)
    table = _CARD_TABLES + 2 * card.place
    bring_up(spaces, interface, beside.mac, plan, (table, table + 1))
    with spaces[side].entered():
        # A macvlan always takes packets of several segments, so TCP must not make them.
        netlink.forbid_segments(netlink.index_of(interface.name))
        for host in card.stack.hosts:
            source = of_host(plan, side, host)
            netlink.add_rule(table + 1, mark=_ECN_MARK, source=source, priority=1)
            netlink.add_rule(table, source=source, priority=2)


def _below(card: Card, other: str, plan: Plan) -> tuple[Interface, Interface]:
    """Return the device of the first hop, and the device that it sends to."""
    row = nodes(plan)
    number = row.index(card.beside)
    left = number if other == "client" else number - 1
    ends = _ends(row[left], row[left + 1], left)
    return ends if other == "client" else ends[::-1]


def _interface(
    card: Card, other: str, spaces: dict[str, Namespace], plan: Plan, heard: list[str]
) -> tuple[Interface, Interface]:
    """Make the interface of ``card`` and its wire to the node beside. Return the interface, and what it sends to."""
    assert card.stack.link is not None
    places = ((card.stack.side, card.out), (card.wire, "in"), (card.wire, "out"), (card.beside.name, card.arriving))
    out, entry, leaving, arriving = (
        Interface(space, name, _mac(card, number), other) for number, (space, name) in enumerate(places, 1)
    )
    _connect(spaces, out, entry, plan)
    _connect(spaces, leaving, arriving, plan)
    for interface in (out, entry, arriving):
        _raise(spaces, interface, plan)
    bring_up(spaces, leaving, arriving.mac, plan)
    with spaces[out.space].entered():
        if plan.draws is not None:
            netlink.set_group(netlink.index_of(out.name), parts.of_card(plan, card.place))
        heard += tc.batch(commands.link(out.name, card.stack.link, ["root"]))
    with spaces[leaving.space].entered():
        heard += tc.batch([commands.transmission(leaving.name, card.stack.link.rate_bps, ["root"])])
    return out, entry


def _mac(card: Card, number: int) -> str:
    return f"02:00:00:01:{card.place:02x}:{number:02x}"


def bring_up(
    spaces: dict[str, Namespace],
    here: Interface,
    beside: str,
    plan: Plan,
    tables: tuple[int, int] = (netlink.MAIN_TABLE, _ECN_TABLE),
) -> None:
    """Configure an interface's routes and its only neighbour, by MAC address, so that ARP is not needed.

    The second of ``tables`` has the routes of hosts that ask for ECN.
    """
    index = _raise(spaces, here, plan)
    with spaces[here.space].entered():
        netlink.add_neighbour(GATEWAY, beside, index)
        for network in everybody(plan, here.beyond):
            netlink.add_route(network, GATEWAY, index, tables[0])
            if here.space in SIDES:
                netlink.add_route(network, GATEWAY, index, tables[1], _RTAX_FEATURE_ECN)


def _raise(spaces: dict[str, Namespace], here: Interface, plan: Plan) -> int:
    """Bring an interface up, without offloads, and return its index."""
    with spaces[here.space].entered():
        index = netlink.index_of(here.name)
        if netlink.kind_of(index) != "macvlan":  # it has no such switches
            netlink.send_singly(here.name)
        netlink.set_up(index, plan.mtu)
    return index
