"""Both ends of the path: a network namespace each, its address, its routes."""

import os
from dataclasses import dataclass
from pathlib import Path

from pyroute2 import IPRoute

from goodqueue.engines.kernel.lab import sysctls
from goodqueue.engines.kernel.lab.libc import new_network
from goodqueue.engines.kernel.lab.topology import Namespace
from goodqueue.engines.live import devices
from goodqueue.engines.live.devices import Device

SIDES = ("server", "client")
DEEPEST = 16
"""So many links may be within each other."""

_LOOPBACK = 1


@dataclass(frozen=True, slots=True)
class Addresses:
    """Of one end of the link at a depth of nesting, 1 for the first.

    IPv4's are those that providers use behind their NAT (RFC 6598), as mahimahi's are; IPv6's are private (RFC 4193).
    """

    depth: int
    side: str

    @property
    def ipv4(self) -> str:
        """As text."""
        return f"100.64.{self.depth}.{SIDES.index(self.side) + 1}"

    @property
    def ipv6(self) -> str:
        """As text."""
        return f"fd67:6f6f:6471:{self.depth:x}::{SIDES.index(self.side) + 1}"

    def names(self) -> dict[str, list[str]]:
        """Return the addresses by name: that of the side is of IPv4, as the packets of simulated runs are."""
        own = {self.side: [self.ipv4]}
        return own | {f"{self.side}6": [self.ipv6]} if _has_ipv6() else own

    def beyond(self) -> list[str]:
        """Return the prefixes that are beyond the path: for a client everything, for a server deeper links' ends."""
        if self.side == "client":
            return ["0.0.0.0/0", "::/0"]
        deeper = range(self.depth, DEEPEST + 1)
        return [one for at in deeper for one in (f"100.64.{at}.0/24", f"fd67:6f6f:6471:{at:x}::/64")]


@dataclass(frozen=True, slots=True)
class Ends:
    """What was built: the gateway's devices, and the namespaces by descriptor."""

    server: Device
    client: Device
    spaces: dict[str, int]


def build(depth: int, nested: bool) -> Ends:
    """Build both ends and leave this process in a network namespace of its own.

    With ``nested`` the server's end is one that `place` has put where the command runs, and its other end is here.
    Raises OSError or NetlinkError.
    """
    spaces = {side: Namespace() for side in SIDES if not (nested and side == "server")}
    made = {}
    for side, space in spaces.items():
        with space.entered():
            sysctls.write(_switches())
            tun = devices.open_tun()
            if tun is not None:
                made[side] = devices.tun(tun)
            else:
                devices.veth(side, devices.NAME, {"net_ns_fd": space.home})
            _bring_up(devices.NAME, Addresses(depth, side))
    for side in SIDES:
        if side not in made:
            made[side] = devices.taps(side)
    return Ends(made["server"], made["client"], {side: space.descriptor for side, space in spaces.items()})


def leave() -> None:
    """Go to a new network namespace, in which nothing is."""
    new_network()
    sysctls.write(_switches())


def place(depth: int, process: int) -> None:
    """Put the server's end of an inner link where this process is, in the client's namespace of the outer one.

    So packets of the inner client go on through the outer link. ``process`` is where the device's other end goes.
    Raises OSError or NetlinkError.
    """
    name = f"{devices.NAME}{depth}"
    devices.veth("server", name, {"net_ns_pid": process})
    _bring_up(name, Addresses(depth, "server"))


def _switches() -> dict[str, str]:
    """Return what is set before any device exists.

    Whoever has our group may ping. Packets are forwarded, to the world or from an inner link; but a device of IPv6 is
    no router's, and has no link-local address, as it would announce either across the path.
    """
    return {
        "ipv4/conf/all/rp_filter": "0",
        "ipv4/conf/default/rp_filter": "0",
        "ipv4/conf/all/send_redirects": "0",
        "ipv4/conf/default/send_redirects": "0",
        "ipv4/ping_group_range": f"{os.getegid()} {os.getegid()}",
        "ipv4/ip_unprivileged_port_start": "0",
        "ipv4/ip_forward": "1",
        "ipv4/conf/all/proxy_arp": "1",  # slirp4netns asks who the client is
        "ipv4/neigh/default/proxy_delay": "0",
        "ipv6/conf/all/forwarding": "1",
        "ipv6/conf/default/forwarding": "0",
        "ipv6/conf/default/accept_ra": "0",
        "ipv6/conf/default/addr_gen_mode": "1",
    }


def _bring_up(name: str, own: Addresses) -> None:
    """Give the device its address and its routes.

    The address of IPv6 is the loopback device's: on ours, multicast listener reports of it would cross the path.
    """
    with IPRoute() as ip:
        index = ip.link_lookup(ifname=name)[0]
        ip.link("set", index=_LOOPBACK, state="up")
        ip.link("set", index=index, mtu=devices.MTU, txqlen=devices.QUEUE_PACKETS, arp=False)
        ip.link("set", index=index, state="up")
        ip.addr("add", index=index, address=own.ipv4, prefixlen=32)
        with_ipv6 = _has_ipv6()
        if with_ipv6:
            ip.addr("add", index=_LOOPBACK, address=own.ipv6, prefixlen=128)
        for prefix in own.beyond():
            if with_ipv6 or ":" not in prefix:
                ip.route("add", dst=prefix, oif=index)


def _has_ipv6() -> bool:
    return Path("/proc/self/net/if_inet6").exists()
