"""Both ends of the path: a network namespace for each, with its address and its routes."""

import os
from dataclasses import dataclass
from pathlib import Path

from pyroute2 import IPRoute
from pyroute2.netlink.exceptions import NetlinkError

from goodqueue.engines.kernel.lab import sysctls
from goodqueue.engines.kernel.lab.libc import new_network
from goodqueue.engines.kernel.lab.topology import Namespace
from goodqueue.engines.live import devices
from goodqueue.engines.live.devices import Device

SIDES = ("server", "client")
DEEPEST = 16
"""The maximum number of links within each other."""

_LOOPBACK = 1


def said(error: OSError | NetlinkError) -> str:
    """Return the kernel's error in words."""
    return str(error.args[1]) if isinstance(error, NetlinkError) else error.strerror or str(error)


@dataclass(frozen=True, slots=True)
class Addresses:
    """The addresses of one end of a link. ``depth`` is 1 for the outermost link.

    The IPv4 addresses are from the block for providers' NAT (RFC 6598), like mahimahi's. The IPv6 addresses are
    private (RFC 4193).
    """

    depth: int
    side: str

    @property
    def ipv4(self) -> str:
        """The address as text."""
        return f"100.64.{self.depth}.{SIDES.index(self.side) + 1}"

    @property
    def ipv6(self) -> str:
        """The address as text."""
        return f"fd67:6f6f:6471:{self.depth:x}::{SIDES.index(self.side) + 1}"

    def names(self) -> dict[str, list[str]]:
        """Return the addresses by name. The side's name is its IPv4 address, as in simulated runs."""
        addresses = {self.side: [self.ipv4]}
        return addresses | {f"{self.side}6": [self.ipv6]} if _has_ipv6() else addresses

    def beyond(self) -> list[str]:
        """Return the prefixes beyond the path: everything for a client, and deeper links' ends for a server."""
        if self.side == "client":
            return ["0.0.0.0/0", "::/0"]
        deeper = range(self.depth, DEEPEST + 1)
        return [prefix for at in deeper for prefix in (f"100.64.{at}.0/24", f"fd67:6f6f:6471:{at:x}::/64")]


@dataclass(frozen=True, slots=True)
class Ends:
    """The result of `build`: the gateway's devices, and the descriptors of the namespaces."""

    server: Device
    client: Device
    spaces: dict[str, int]


def build(depth: int, nested: bool) -> Ends:
    """Build both ends and leave this process in its own network namespace.

    With ``nested``, `place` has already put the server's end where the command runs, and that device's other end is
    here. Raises OSError or NetlinkError.
    """
    spaces = {side: Namespace() for side in SIDES if not (nested and side == "server")}
    devices_made = {}
    for side, space in spaces.items():
        with space.entered():
            sysctls.write(_switches())
            tun = devices.open_tun()
            if tun is not None:
                devices_made[side] = devices.tun(tun)
            else:
                devices.veth(side, devices.NAME, {"net_ns_fd": space.home})
            _bring_up(devices.NAME, Addresses(depth, side))
    for side in SIDES:
        if side not in devices_made:
            devices_made[side] = devices.taps(side)
    return Ends(
        devices_made["server"], devices_made["client"], {side: space.descriptor for side, space in spaces.items()}
    )


def leave() -> None:
    """Enter a new, empty network namespace."""
    new_network()
    sysctls.write(_switches())


def place(depth: int, process: int) -> None:
    """Put the server's end of an inner link into this process's network, the client's namespace of the outer link.

    Packets of the inner client thereby continue through the outer link. The device's other end goes to the namespace
    of ``process``. Raises OSError or NetlinkError.
    """
    name = f"{devices.NAME}{depth}"
    devices.veth("server", name, {"net_ns_pid": process})
    _bring_up(name, Addresses(depth, "server"))


def _switches() -> dict[str, str]:
    """Return the sysctls that are set before any device exists.

    The user's group may ping. Packets are forwarded, to the world or from an inner link. But IPv6 devices are not
    routers and have no link-local address, since the kernel would announce either across the path.
    """
    return {
        "ipv4/conf/all/rp_filter": "0",
        "ipv4/conf/default/rp_filter": "0",
        "ipv4/conf/all/send_redirects": "0",
        "ipv4/conf/default/send_redirects": "0",
        "ipv4/ping_group_range": f"{os.getegid()} {os.getegid()}",
        "ipv4/ip_unprivileged_port_start": "0",
        "ipv4/ip_forward": "1",
        "ipv4/conf/all/proxy_arp": "1",  # slirp4netns sends ARP requests for the client
        "ipv4/neigh/default/proxy_delay": "0",
        "ipv6/conf/all/forwarding": "1",
        "ipv6/conf/default/forwarding": "0",
        "ipv6/conf/default/accept_ra": "0",
        "ipv6/conf/default/addr_gen_mode": "1",
    }


def _bring_up(name: str, addresses: Addresses) -> None:
    """Give the device its addresses and its routes.

    ARP is off, which also keeps IPv6 from reporting multicast groups across the path.
    """
    with IPRoute() as ip:
        index = ip.link_lookup(ifname=name)[0]
        ip.link("set", index=_LOOPBACK, state="up")
        ip.link("set", index=index, mtu=devices.MTU, txqlen=devices.QUEUE_PACKETS, arp=False)
        ip.link("set", index=index, state="up")
        ip.addr("add", index=index, address=addresses.ipv4, prefixlen=32)
        with_ipv6 = _has_ipv6()
        if with_ipv6:
            ip.addr("add", index=index, address=addresses.ipv6, prefixlen=128)
        for prefix in addresses.beyond():
            if with_ipv6 or ":" not in prefix:
                ip.route("add", dst=prefix, oif=index)


def _has_ipv6() -> bool:
    return Path("/proc/self/net/if_inet6").exists()
