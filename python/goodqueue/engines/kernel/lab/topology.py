"""The network namespaces of a plan in a row, as `chain` says, with a cable from each to the next.

Hosts stand beside their first hop; propagation follows the last.

Nothing has a name outside this process: the namespaces live by descriptors, and everything in them dies with them.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise

from pyroute2 import IPRoute
from pyroute2.ethtool.ioctl import IoctlEthtool

from . import commands, sysctls, tc
from .addresses import GATEWAY, SIDES, everybody, with_ecn
from .chain import Node, nodes
from .libc import enter_network, new_network
from .plan import Plan

_LOOPBACK = 1
_LOCAL_TABLE = 255
_RTAX_FEATURE_ECN = 1
_OFFLOADS = ("tcp-segmentation-offload", "generic-segmentation-offload", "generic-receive-offload")


class Namespace:
    """A network namespace, and the way into it and back."""

    def __init__(self) -> None:
        """Make a namespace; this process stays where it is, which is ``home``."""
        self.home = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        new_network()
        self.descriptor = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        enter_network(self.home)

    def enter(self) -> None:
        """Go there for good."""
        enter_network(self.descriptor)

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Be there for a while."""
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
    """The side that is reached through it."""


def build(plan: Plan) -> dict[str, Namespace]:
    """Build the network of ``plan`` and return its namespaces by name. Our own path, if any, is not there yet."""
    row = nodes(plan)
    spaces = {node.name: Namespace() for node in row}
    for name, space in spaces.items():
        with space.entered():
            sysctls.write(sysctls.QUIET)
            sysctls.write(sysctls.for_hosts(plan) if name in SIDES else sysctls.FORWARDING)
            with IPRoute() as ip:  # without an address of its own a namespace takes no route
                ip.link("set", index=_LOOPBACK, state="up")
                if name in SIDES:  # each address of the side is this host's own
                    here = {"type": "local", "scope": "host", "table": _LOCAL_TABLE, "oif": _LOOPBACK}
                    ip.route("add", dst=everybody(name), **here)
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
    """Give an interface its only neighbour, by MAC, and its routes, so that nobody has to ask (no ARP)."""
    with spaces[here.space].entered(), IPRoute() as ip:
        index = ip.link_lookup(ifname=here.name)[0]
        send_singly(here.name)
        ip.link("set", index=index, mtu=plan.mtu, state="up")
        ip.neigh("add", dst=GATEWAY, lladdr=beside, ifindex=index, state="permanent")
        via = {"gateway": GATEWAY, "oif": index, "flags": "onlink"}
        ip.route("add", dst=everybody(here.beyond), **via)
        if here.space in SIDES:
            for way in range(len(plan.ways)):
                ip.route("add", dst=with_ecn(here.beyond, way), metrics={"features": _RTAX_FEATURE_ECN}, **via)


def send_singly(device: str) -> None:
    """Let packets leave one by one, else one "packet" of a capture is many."""
    ethtool = IoctlEthtool(device)
    for offload in _OFFLOADS:
        ethtool.set_offload_flag(offload, 0)
    ethtool.close()
