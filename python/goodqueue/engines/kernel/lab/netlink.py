"""Links, routes, rules and neighbours of the network namespace that this process is in, by rtnetlink (netlink(7)).

pyroute2 does the same and far more. To import it takes 370 modules, which in Linux as a process is half of the time
between the boot and a run. Numbers are those of Linux's headers ``linux/rtnetlink.h``, ``if_link.h``, ``fib_rules.h``
and ``neighbour.h``.
"""

import ctypes
import fcntl
import os
import socket
import struct
from typing import Final

LOOPBACK: Final = 1
"""The index of a namespace's loopback interface."""
LOCAL_TABLE: Final = 255
MAIN_TABLE: Final = 254

_NEW_LINK, _GET_LINK, _NEW_ROUTE, _NEW_NEIGHBOUR, _NEW_RULE = 16, 18, 24, 28, 32
_ERROR = 2
_REQUEST, _ACKNOWLEDGE, _EXCLUSIVE, _CREATE = 0x1, 0x4, 0x200, 0x400
_NESTED = 0x8000
_IFF_UP = 1
_UNICAST, _LOCAL = 1, 2
_LINK_SCOPE_HOST, _STATIC, _ON_LINK, _PERMANENT = 254, 4, 4, 0x80
_TO_TABLE = 1
_MACVLAN_PRIVATE = 1
_RULE_PRIORITY = 32000
"""Of a rule without one: before the main table's."""

_IFLA_ADDRESS, _IFLA_IFNAME, _IFLA_MTU, _IFLA_LINK, _IFLA_LINKINFO = 1, 3, 4, 5, 18
_IFLA_GROUP, _IFLA_NET_NS_FD, _IFLA_NUM_TX_QUEUES, _IFLA_NUM_RX_QUEUES, _IFLA_GSO_MAX_SEGS = 27, 28, 31, 32, 40
_INFO_KIND, _INFO_DATA = 1, 2
_VETH_PEER = 1
_MACVLAN_MODE = 1
_RTA_DST, _RTA_OIF, _RTA_GATEWAY, _RTA_METRICS, _RTA_TABLE, _RTAX_FEATURES = 1, 4, 5, 8, 15, 12
_NDA_DST, _NDA_LLADDR = 1, 2
_FRA_SRC, _FRA_PRIORITY, _FRA_FWMARK, _FRA_TABLE = 2, 6, 10, 15

_SIOCETHTOOL = 0x8946
_SET_OFFLOADS = (0x1F, 0x24, 0x2C)
"""Of TCP's segmentation, of all segmentation, and of merging (``linux/ethtool.h``)."""


def index_of(name: str) -> int:
    """Return the index of the interface ``name``."""
    return socket.if_nametoindex(name)


def set_up(index: int, mtu: int | None = None) -> None:
    """Bring an interface up."""
    _request(_NEW_LINK, 0, _link(index, _IFF_UP) + (_number(_IFLA_MTU, mtu) if mtu is not None else b""))


def forbid_segments(index: int) -> None:
    """Let an interface take packets of a single segment only."""
    _request(_NEW_LINK, 0, _link(index) + _number(_IFLA_GSO_MAX_SEGS, 1))


def set_group(index: int, number: int) -> None:
    """Put an interface into a group."""
    _request(_NEW_LINK, 0, _link(index) + _number(_IFLA_GROUP, number))


def add_veth(near: tuple[str, str], far: tuple[str, str], far_namespace: int, queues: int) -> None:
    """Make a cable: the names and MAC addresses of its ends, of which the far one is in another namespace."""
    count = _number(_IFLA_NUM_TX_QUEUES, queues) + _number(_IFLA_NUM_RX_QUEUES, queues)
    peer = _link() + _named(*far) + count + _number(_IFLA_NET_NS_FD, far_namespace)
    data = _attribute(_INFO_DATA | _NESTED, _attribute(_VETH_PEER | _NESTED, peer))
    _add_link(_named(*near) + count, "veth", data)


def add_macvlan(name: str, mac: str, below: int, namespace: int) -> None:
    """Make a private macvlan above the interface of index ``below``, in another namespace."""
    data = _attribute(_INFO_DATA | _NESTED, _number(_MACVLAN_MODE, _MACVLAN_PRIVATE))
    place = _number(_IFLA_LINK, below) + _number(_IFLA_NET_NS_FD, namespace)
    _add_link(_named(name, mac) + place, "macvlan", data)


def kind_of(index: int) -> str:
    """Return the kind of an interface, such as ``veth``."""
    attributes = _attributes(_request(_GET_LINK, 0, _link(index))[16:])
    about = _attributes(attributes.get(_IFLA_LINKINFO, b""))
    return about.get(_INFO_KIND, b"").rstrip(b"\0").decode()


def add_own_addresses(network: str) -> None:
    """Let every address of ``network`` be one of this namespace."""
    kind = _route(network, LOCAL_TABLE, _LINK_SCOPE_HOST, _LOCAL, 0)
    _request(_NEW_ROUTE, _CREATE | _EXCLUSIVE, kind + _number(_RTA_OIF, LOOPBACK))


def add_route(network: str, gateway: str, index: int, table: int, features: int = 0) -> None:
    """Let packets to ``network`` leave to ``gateway`` by an interface. ``features`` are the route's metric."""
    body = _route(network, table, 0, _UNICAST, _ON_LINK) + _attribute(_RTA_GATEWAY, socket.inet_aton(gateway))
    body += _number(_RTA_OIF, index)
    if features:
        body += _attribute(_RTA_METRICS | _NESTED, _number(_RTAX_FEATURES, features))
    _request(_NEW_ROUTE, _CREATE | _EXCLUSIVE, body)


def add_rule(table: int, mark: int | None = None, source: str | None = None, priority: int = _RULE_PRIORITY) -> None:
    """Let packets with ``mark``, or from the address ``source``, take the routes of ``table``."""
    head = struct.pack("8BI", socket.AF_INET, 0, 32 if source else 0, 0, _in_byte(table), 0, 0, _TO_TABLE, 0)
    body = head + _number(_FRA_TABLE, table) + _number(_FRA_PRIORITY, priority)
    body += _number(_FRA_FWMARK, mark) if mark is not None else b""
    body += _attribute(_FRA_SRC, socket.inet_aton(source)) if source is not None else b""
    _request(_NEW_RULE, _CREATE | _EXCLUSIVE, body)


def add_neighbour(address: str, mac: str, index: int) -> None:
    """Let ``address`` be behind an interface for good, so that no ARP asks for its MAC address."""
    body = struct.pack("BxxxiHBB", socket.AF_INET, index, _PERMANENT, 0, 0)
    body += _attribute(_NDA_DST, socket.inet_aton(address)) + _attribute(_NDA_LLADDR, _ethernet(mac))
    _request(_NEW_NEIGHBOUR, _CREATE | _EXCLUSIVE, body)


def send_singly(device: str) -> None:
    """Switch off the offloads, so that one packet of a capture is one packet on the wire."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        for command in _SET_OFFLOADS:
            off = (ctypes.c_uint32 * 2)(command, 0)
            asked = struct.pack("16sP16x", device.encode(), ctypes.addressof(off))
            fcntl.ioctl(any_socket, _SIOCETHTOOL, asked)


def _add_link(body: bytes, kind: str, data: bytes) -> None:
    about = _attribute(_INFO_KIND, kind.encode()) + data
    _request(_NEW_LINK, _CREATE | _EXCLUSIVE, _link() + body + _attribute(_IFLA_LINKINFO | _NESTED, about))


def _link(index: int = 0, flags: int = 0) -> bytes:
    return struct.pack("BxHiII", socket.AF_UNSPEC, 0, index, flags, flags)


def _named(name: str, mac: str) -> bytes:
    return _attribute(_IFLA_IFNAME, name.encode() + b"\0") + _attribute(_IFLA_ADDRESS, _ethernet(mac))


def _route(network: str, table: int, scope: int, kind: int, flags: int) -> bytes:
    address, _, length = network.partition("/")
    numbers = (socket.AF_INET, int(length or 32), 0, 0, _in_byte(table), _STATIC, scope, kind, flags)
    return struct.pack("8BI", *numbers) + _attribute(_RTA_DST, socket.inet_aton(address)) + _number(_RTA_TABLE, table)


def _in_byte(table: int) -> int:
    """Return the number of ``table`` where the header has one byte for it. An attribute has it as a whole."""
    return table if table < 256 else 0


def _ethernet(mac: str) -> bytes:
    return bytes.fromhex(mac.replace(":", ""))


def _number(kind: int, number: int) -> bytes:
    return _attribute(kind, struct.pack("I", number))


def _attribute(kind: int, content: bytes) -> bytes:
    return struct.pack("HH", 4 + len(content), kind) + content + bytes(-len(content) % 4)


def _attributes(data: bytes) -> dict[int, bytes]:
    """Return the values of the attributes in ``data`` by their kinds."""
    values = {}
    while len(data) >= 4:
        length, kind = struct.unpack_from("HH", data)
        values[kind & ~_NESTED] = data[4:length]
        data = data[max(4, length + 3 & ~3) :]
    return values


def _request(kind: int, flags: int, body: bytes) -> bytes:
    """Send one message, and return the body of the answer. Raises OSError with Linux's refusal."""
    header = struct.pack("IHHII", 16 + len(body), kind, _REQUEST | _ACKNOWLEDGE | flags, 1, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as route:
        route.sendall(header + body)
        answer = route.recv(1 << 16)
    if struct.unpack_from("IH", answer)[1] == _ERROR and (number := -struct.unpack_from("i", answer, 16)[0]):
        raise OSError(number, f"rtnetlink, message {kind}: {os.strerror(number)}")
    return answer[16:]
