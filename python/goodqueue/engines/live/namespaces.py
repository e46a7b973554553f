"""Both ends of the path: a network namespace for each, with its address and its routes."""

import os
from dataclasses import dataclass
from pathlib import Path

from pyroute2 import IPRoute
from pyroute2.netlink.exceptions import NetlinkError

from goodqueue.engines.kernel.lab import sysctls
from goodqueue.engines.kernel.lab.addresses import SIDES
from goodqueue.engines.kernel.lab.libc import new_network
from goodqueue.engines.kernel.lab.topology import Namespace
from goodqueue.engines.live import devices
from goodqueue.engines.live.devices import Device
from goodqueue.engines.live.ends import End, beyond

_LOOPBACK = 1


def said(error: OSError | NetlinkError) -> str:
    """Return the kernel's error in words."""
    return str(error.args[1]) if isinstance(error, NetlinkError) else error.strerror or str(error)


@dataclass(frozen=True, slots=True)
class Built:
    """The result of `build`: the gateway's devices, and the descriptors of the namespaces."""

    server: Device
    client: Device
    spaces: dict[str, int]


def build(depth: int, ends: list[End], nested: bool, group: int) -> Built:
    """Build both ends, with the addresses of ``ends``, and leave this process in its own network namespace.

    The users of ``group`` may ping.

    With ``nested``, `place` has already put the server's end where the command runs, and that device's other end is
    here. Raises OSError or NetlinkError.
    """
    spaces = {side: Namespace() for side in SIDES if not (nested and side == "server")}
    devices_made = {}
    for side, space in spaces.items():
        with space.entered():
            sysctls.write(switches(group))
            tun = devices.open_tun()
            if tun is not None:
                devices_made[side] = devices.tun(tun)
            else:
                devices.veth(side, devices.NAME, {"net_ns_fd": space.home})
            _bring_up(devices.NAME, depth, side, ends)
    for side in SIDES:
        if side not in devices_made:
            devices_made[side] = devices.taps(side)
    return Built(
        devices_made["server"], devices_made["client"], {side: space.descriptor for side, space in spaces.items()}
    )


def leave() -> None:
    """Enter a new, empty network namespace."""
    new_network()
    sysctls.write(switches(os.getegid()))


def place(depth: int, ends: list[End], process: int) -> None:
    """Put the server's end of an inner link into this process's network, the client's namespace of the outer link.

    Packets of the inner client thereby continue through the outer link. The device's other end goes to the namespace
    of ``process``. Raises OSError or NetlinkError.
    """
    name = f"{devices.NAME}{depth}"
    devices.veth("server", name, {"net_ns_pid": process})
    _bring_up(name, depth, "server", ends)


def switches(group: int) -> dict[str, str]:
    """Return the sysctls that are set before any device exists.

    ``group`` may ping. Packets are forwarded, to the world or from an inner link. But IPv6 devices are not
    routers and have no link-local address, since the kernel would announce either across the path.
    """
    return {
        "ipv4/conf/all/rp_filter": "0",
        "ipv4/conf/default/rp_filter": "0",
        "ipv4/conf/all/send_redirects": "0",
        "ipv4/conf/default/send_redirects": "0",
        "ipv4/ping_group_range": f"{group} {group}",
        "ipv4/ip_unprivileged_port_start": "0",
        "ipv4/ip_forward": "1",
        "ipv4/conf/all/proxy_arp": "1",  # slirp4netns sends ARP requests for the client
        "ipv4/neigh/default/proxy_delay": "0",
        "ipv6/conf/all/forwarding": "1",
        "ipv6/conf/default/forwarding": "0",
        "ipv6/conf/default/accept_ra": "0",
        "ipv6/conf/default/addr_gen_mode": "1",
    }


def _bring_up(name: str, depth: int, side: str, ends: list[End]) -> None:
    """Give the device of ``side`` its addresses among ``ends``, and its routes.

    ARP is off, which also keeps IPv6 from reporting multicast groups across the path.
    """
    with IPRoute() as ip:
        index = ip.link_lookup(ifname=name)[0]
        ip.link("set", index=_LOOPBACK, state="up")
        ip.link("set", index=index, mtu=devices.MTU, txqlen=devices.QUEUE_PACKETS, arp=False)
        ip.link("set", index=index, state="up")
        with_ipv6 = _has_ipv6()
        for end in ends:
            if end.side == side:
                ip.addr("add", index=index, address=end.ipv4, prefixlen=32)
            if end.side == side and end.ipv6 is not None and with_ipv6:
                ip.addr("add", index=index, address=end.ipv6, prefixlen=128)
        for prefix in beyond(depth, side):
            if with_ipv6 or ":" not in prefix:
                ip.route("add", dst=prefix, oif=index)


def _has_ipv6() -> bool:
    return Path("/proc/self/net/if_inet6").exists()
