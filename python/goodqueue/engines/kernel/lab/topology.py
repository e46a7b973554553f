"""The dumbbell of network namespaces: ``server -- wan -- router -- client``.

Nothing has a name outside this process: the namespaces live by descriptors, and everything in them dies with them.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pyroute2 import IPRoute
from pyroute2.ethtool.ioctl import IoctlEthtool

from . import commands, sysctls, tc
from .addresses import CLIENTS, GATEWAY, SERVERS, SIDES, address, addresses
from .libc import enter_network, new_network
from .plan import Plan

_MTU = 1500
_LOOPBACK = 1
_RTAX_FEATURE_ECN = 1
_OFFLOADS = ("tcp-segmentation-offload", "generic-segmentation-offload", "generic-receive-offload")


class Namespace:
    """A network namespace, and the way into it and back."""

    def __init__(self) -> None:
        """Make a namespace; this process stays where it is."""
        self._home = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        new_network()
        self.descriptor = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        enter_network(self._home)

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
            enter_network(self._home)


@dataclass(frozen=True, slots=True)
class Interface:
    """One end of a cable."""

    space: str
    name: str
    mac: str
    beyond: tuple[str, ...]
    """The networks that are reached through it."""


CABLES = (
    (
        Interface("server", "s-wan", "02:00:00:00:00:01", (CLIENTS,)),
        Interface("wan", "w-srv", "02:00:00:00:00:02", (SERVERS,)),
    ),
    (
        Interface("wan", "w-rtr", "02:00:00:00:00:03", (CLIENTS,)),
        Interface("router", "r-wan", "02:00:00:00:00:04", (SERVERS,)),
    ),
    (
        Interface("router", "r-cli", "02:00:00:00:00:05", (CLIENTS,)),
        Interface("client", "c-rtr", "02:00:00:00:00:06", (SERVERS,)),
    ),
)
SPACES = ("server", "wan", "router", "client")
QUEUE_DEVICES = {"down": "r-cli", "up": "r-wan"}
"""The router's interfaces; each holds the queue of the direction that leaves there."""


def build(plan: Plan) -> dict[str, Namespace]:
    """Build the dumbbell of ``plan`` and return its namespaces by name."""
    spaces = {name: Namespace() for name in SPACES}
    for name, space in spaces.items():
        with space.entered():
            sysctls.write(sysctls.QUIET)
            sysctls.write(sysctls.for_hosts(plan) if name in SIDES else sysctls.FORWARDING)
            with IPRoute() as ip:  # without an address of its own a namespace takes no route
                ip.link("set", index=_LOOPBACK, state="up")
    for near, far in CABLES:
        with spaces[near.space].entered(), IPRoute() as ip:
            peer = {"ifname": far.name, "address": far.mac, "net_ns_fd": spaces[far.space].descriptor}
            ip.link("add", ifname=near.name, kind="veth", address=near.mac, peer=peer)
        _bring_up(spaces, near, far, plan)
        _bring_up(spaces, far, near, plan)
    with spaces["wan"].entered():
        tc.batch(commands.delays("w-srv", "dst", plan.rtts_s) + commands.delays("w-rtr", "src", plan.rtts_s))
    with spaces["router"].entered():
        tc.batch(commands.bottleneck("r-cli", plan.down) + commands.bottleneck("r-wan", plan.up))
    return spaces


def _bring_up(spaces: dict[str, Namespace], here: Interface, there: Interface, plan: Plan) -> None:
    """Give an interface its addresses, its only neighbour and its routes, so that nobody has to ask (no ARP)."""
    with spaces[here.space].entered(), IPRoute() as ip:
        index = ip.link_lookup(ifname=here.name)[0]
        ethtool = IoctlEthtool(here.name)
        for offload in _OFFLOADS:  # else one "packet" of a capture is many
            ethtool.set_offload_flag(offload, 0)
        ethtool.close()
        if here.space in SIDES:
            for own in addresses(here.space, plan):
                ip.addr("add", index=index, address=own, prefixlen=32)
        ip.link("set", index=index, mtu=_MTU, state="up")
        ip.neigh("add", dst=GATEWAY, lladdr=there.mac, ifindex=index, state="permanent")
        via = {"gateway": GATEWAY, "oif": index, "flags": "onlink"}
        for network in here.beyond:
            ip.route("add", dst=network, **via)
        if here.space in SIDES:
            other = SIDES[1 - SIDES.index(here.space)]
            for rtt in range(len(plan.rtts_s)):
                host = address(other, rtt, ecn=True)
                ip.route("add", dst=f"{host}/32", metrics={"features": _RTAX_FEATURE_ECN}, **via)
