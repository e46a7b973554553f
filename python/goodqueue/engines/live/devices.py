"""The device at each end of the path, and the descriptor from which the gateway gets its packets.

TUN is used if ``/dev/net/tun`` opens: its packets go straight to a descriptor. Otherwise a veth pair is used. The
pair's other end is in the network namespace of the gateway's process, with a packet socket on it.
"""

import fcntl
import os
import socket
import struct
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pyroute2 import IPRoute

TUN = Path("/dev/net/tun")
"""The file that makes TUN devices."""

NAME = "path"
"""The name of the device in the client's and in the server's namespace."""

MTU = 1500
QUEUE_PACKETS = 10_000
"""The queue between the kernel and the gateway. With less than TCP's window, a pause of the gateway would look to TCP
like a loss."""

_TUNSETIFF, _TUNSETOFFLOAD = 0x400454CA, 0x400454D0
_IFF_TUN, _IFF_NO_PI, _IFF_VNET_HDR = 0x0001, 0x1000, 0x4000
_OFFLOADS = 0x01 | 0x02 | 0x04 | 0x08
"""TUN_F_CSUM, TUN_F_TSO4, TUN_F_TSO6, TUN_F_TSO_ECN of ``linux/if_tun.h``: TCP passes large segments, which the gateway
splits."""

_SOL_PACKET, _PACKET_VNET_HDR, _PACKET_IGNORE_OUTGOING = 263, 15, 23
_SO_SNDBUFFORCE, _SO_RCVBUFFORCE = 32, 33
_ETH_P_ALL = 0x0003
_BUFFER_BYTES = 32 << 20
_MACS = {"server": ("02:00:00:00:00:01", "02:00:00:00:00:02"), "client": ("02:00:00:00:00:03", "02:00:00:00:00:04")}
"""For each side, the MAC address of the end with the IP address, and that of the gateway's end."""


@dataclass(frozen=True, slots=True)
class Device:
    """The gateway's access to one end of the path."""

    descriptor: int
    header: bytes = b""
    """The bytes in front of each packet."""


def open_tun() -> int | None:
    """Return a descriptor of the file `TUN`, or None if it does not open."""
    try:
        return os.open(TUN, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None


def tun(descriptor: int) -> Device:
    """Make a TUN device in this network namespace. Raises OSError."""
    request = struct.pack("16sH22x", NAME.encode(), _IFF_TUN | _IFF_NO_PI | _IFF_VNET_HDR)
    fcntl.ioctl(descriptor, _TUNSETIFF, request)
    fcntl.ioctl(descriptor, _TUNSETOFFLOAD, _OFFLOADS)
    return Device(descriptor)


def veth(side: str, name: str, home: dict[str, int]) -> None:
    """Make a veth device for ``side`` in this network namespace. Its other end, called ``side``, goes to ``home``.

    Raises OSError or NetlinkError.
    """
    near, far = _MACS[side]
    with IPRoute() as ip:
        peer = {"ifname": side, "address": far, **home}
        ip.link("add", ifname=name, kind="veth", address=near, peer=peer)


def taps(side: str) -> Device:
    """Return the gateway's end of the veth device of ``side``, which is in this network namespace. Raises OSError."""
    with IPRoute() as ip:
        ip.link("set", index=ip.link_lookup(ifname=side)[0], mtu=MTU, state="up", arp=False)
    tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW | socket.SOCK_NONBLOCK, 0)
    tap.setsockopt(_SOL_PACKET, _PACKET_VNET_HDR, 1)
    tap.setsockopt(_SOL_PACKET, _PACKET_IGNORE_OUTGOING, 1)
    for plain, forced in ((socket.SO_RCVBUF, _SO_RCVBUFFORCE), (socket.SO_SNDBUF, _SO_SNDBUFFORCE)):
        tap.setsockopt(socket.SOL_SOCKET, plain, _BUFFER_BYTES)  # as much as the system grants to everybody
        with suppress(PermissionError):
            tap.setsockopt(socket.SOL_SOCKET, forced, _BUFFER_BYTES)
    tap.bind((side, _ETH_P_ALL))
    return Device(tap.detach(), b"".join(bytes.fromhex(mac.replace(":", "")) for mac in _MACS[side]))
