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
from .addresses import GATEWAY, SIDES, everybody
from .chain import Node, nodes
from .libc import enter_network, new_network
from .plan import Plan

_LOOPBACK = 1
_LOCAL_TABLE = 255
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


def build(plan: Plan) -> dict[str, Namespace]:
    """Build the network of ``plan`` and return its namespaces by name. goodqueue's own path is not built here."""
    row = nodes(plan)
    spaces = {node.name: Namespace() for node in row}
    for name, space in spaces.items():
        with space.entered():
            sysctls.write(sysctls.QUIET)
            sysctls.write(sysctls.for_hosts(plan) if name in SIDES else sysctls.FORWARDING)
            with IPRoute() as ip:  # a namespace takes no route before its loopback is up
                ip.link("set", index=_LOOPBACK, state="up")
                if name in SIDES:  # each address of the side is this host's own
                    here = {"type": "local", "scope": "host", "table": _LOCAL_TABLE, "oif": _LOOPBACK}
                    ip.route("add", dst=everybody(name), **here)
                    ip.rule("add", table=_ECN_TABLE, fwmark=_ECN_MARK)
    for number, (left, right) in enumerate(pairwise(row) if plan.own is None else ()):
        near, far = _end(left, "client", 2 * number), _end(right, "server", 2 * number + 1)
        with spaces[near.space].entered(), IPRoute() as ip:
            peer = {"ifname": far.name, "address": far.mac, "net_ns_fd": spaces[far.space].descriptor}
            ip.link("add", ifname=near.name, kind="veth", address=near.mac, peer=peer)
        bring_up(spaces, near, far.mac, plan)
        bring_up(spaces, far, near.mac, plan)
    for node in row:
        with spaces[node.name].entered():
            for step in node.steps:
                tc.batch(commands.step(node.device(commands.TOWARDS[step.direction]), step, plan))
    return spaces


def _end(node: Node, side: str, number: int) -> Interface:
    return Interface(node.name, node.device(side), f"02:00:00:00:00:{number + 1:02x}", side)


def bring_up(spaces: dict[str, Namespace], here: Interface, beside: str, plan: Plan) -> None:
    """Configure an interface's routes and its only neighbour, by MAC address, so that ARP is not needed."""
    with spaces[here.space].entered(), IPRoute() as ip:
        index = ip.link_lookup(ifname=here.name)[0]
        send_singly(here.name)
        ip.link("set", index=index, mtu=plan.mtu, state="up")
        ip.neigh("add", dst=GATEWAY, lladdr=beside, ifindex=index, state="permanent")
        via = {"gateway": GATEWAY, "oif": index, "flags": "onlink"}
        ip.route("add", dst=everybody(here.beyond), **via)
        if here.space in SIDES:
            asking = {"table": _ECN_TABLE, "metrics": {"features": _RTAX_FEATURE_ECN}}
            ip.route("add", dst=everybody(here.beyond), **asking, **via)


def send_singly(device: str) -> None:
    """Switch off the offloads, so that one packet of a capture is one packet on the wire."""
    ethtool = IoctlEthtool(device)
    for offload in _OFFLOADS:
        ethtool.set_offload_flag(offload, 0)
    ethtool.close()
