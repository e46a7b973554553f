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

from pyroute2 import IPRoute
from pyroute2.ethtool.ioctl import IoctlEthtool

from . import commands, sysctls, tc
from .addresses import GATEWAY, SIDES, everybody, of_host
from .cards import Card, cards
from .chain import Node, nodes
from .libc import enter_network, new_network
from .plan import Plan

_LOOPBACK = 1
_LOCAL_TABLE = 255
_MAIN_TABLE = 254
_CARD_TABLES = 1000
"""The first of the tables of routes of cards: two per card, without and with ECN."""
_ECN_TABLE, _ECN_MARK = 100, 1
"""The routes that make TCP ask for ECN, and the mark of the sockets that use them (``crates/sockets``)."""
_RTAX_FEATURE_ECN = 1
_OFFLOADS = ("tcp-segmentation-offload", "generic-segmentation-offload", "generic-receive-offload")


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


def build(plan: Plan, heard: list[str]) -> dict[str, Namespace]:
    """Build the network of ``plan`` and return its namespaces by name. goodqueue's own path is not built here.

    What ``tc`` says meanwhile is appended to ``heard``.
    """
    row = nodes(plan)
    wires = [card.wire for card in cards(plan) if card.stack.link]
    spaces = {name: Namespace() for name in (*(node.name for node in row), *wires)}
    for name, space in spaces.items():
        with space.entered():
            sysctls.write(sysctls.QUIET)
            sysctls.write(sysctls.for_hosts(plan, name) if name in SIDES else sysctls.FORWARDING)
            with IPRoute() as ip:  # a namespace takes no route before its loopback is up
                ip.link("set", index=_LOOPBACK, state="up")
                if name in SIDES:  # each address of the side is this host's own
                    here = {"type": "local", "scope": "host", "table": _LOCAL_TABLE, "oif": _LOOPBACK}
                    for network in everybody(plan, name):
                        ip.route("add", dst=network, **here)
                    ip.rule("add", table=_ECN_TABLE, fwmark=_ECN_MARK)
    for number, (left, right) in enumerate(pairwise(row) if plan.own is None else ()):
        near, far = _ends(left, right, number)
        _connect(spaces, near, far, plan)
        bring_up(spaces, near, far.mac, plan)
        bring_up(spaces, far, near.mac, plan)
    for node in row:
        with spaces[node.name].entered():
            for step in node.steps:
                heard += tc.batch(commands.step(node.device(commands.TOWARDS[step.direction]), step, plan))
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
    queues = {"num_tx_queues": most, "num_rx_queues": most}
    with spaces[near.space].entered(), IPRoute() as ip:
        peer = {"ifname": far.name, "address": far.mac, "net_ns_fd": spaces[far.space].descriptor, **queues}
        ip.link("add", ifname=near.name, kind="veth", address=near.mac, peer=peer, **queues)


def _insert(card: Card, spaces: dict[str, Namespace], plan: Plan, heard: list[str]) -> None:
    """Add the devices of ``card``, and let what its hosts send leave through it."""
    side = card.stack.side
    (other,) = set(SIDES) - {side}
    if card.stack.link is None:
        below, beside = _below(card, other, plan)
    else:
        below, beside = _interface(card, other, spaces, plan, heard)
    interface = Interface(side, card.name, _mac(card, 0), other)
    with spaces[below.space].entered(), IPRoute() as ip:
        (index,) = ip.link_lookup(ifname=below.name)
        home = {"net_ns_fd": spaces[side].descriptor}
        ip.link(
            "add",
            ifname=interface.name,
            kind="macvlan",
            link=index,
            address=interface.mac,
            macvlan_mode="private",
            **home,
        )
    table = _CARD_TABLES + 2 * card.place
    bring_up(spaces, interface, beside.mac, plan, (table, table + 1))
    with spaces[side].entered(), IPRoute() as ip:
        # A macvlan always takes packets of several segments, so TCP must not make them.
        ip.link("set", index=ip.link_lookup(ifname=interface.name)[0], gso_max_segs=1)
        for host in card.stack.hosts:
            source = {"src": of_host(plan, side, host), "src_len": 32}
            ip.rule("add", table=table + 1, priority=1, fwmark=_ECN_MARK, **source)
            ip.rule("add", table=table, priority=2, **source)


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
    tables: tuple[int, int] = (_MAIN_TABLE, _ECN_TABLE),
) -> None:
    """Configure an interface's routes and its only neighbour, by MAC address, so that ARP is not needed.

    The second of ``tables`` has the routes of hosts that ask for ECN.
    """
    index = _raise(spaces, here, plan)
    with spaces[here.space].entered(), IPRoute() as ip:
        ip.neigh("add", dst=GATEWAY, lladdr=beside, ifindex=index, state="permanent")
        via = {"gateway": GATEWAY, "oif": index, "flags": "onlink"}
        asking = {"table": tables[1], "metrics": {"features": _RTAX_FEATURE_ECN}}
        for network in everybody(plan, here.beyond):
            ip.route("add", dst=network, table=tables[0], **via)
            if here.space in SIDES:
                ip.route("add", dst=network, **asking, **via)


def _raise(spaces: dict[str, Namespace], here: Interface, plan: Plan) -> int:
    """Bring an interface up, without offloads, and return its index."""
    with spaces[here.space].entered(), IPRoute() as ip:
        (index_found,) = ip.link_lookup(ifname=here.name)
        index: int = index_found
        if ip.get_links(index)[0].get_nested("IFLA_LINKINFO", "IFLA_INFO_KIND") != "macvlan":  # it has no such switches
            send_singly(here.name)
        ip.link("set", index=index, mtu=plan.mtu, state="up")
    return index


def send_singly(device: str) -> None:
    """Switch off the offloads, so that one packet of a capture is one packet on the wire."""
    ethtool = IoctlEthtool(device)
    for offload in _OFFLOADS:
        ethtool.set_offload_flag(offload, 0)
    ethtool.close()
