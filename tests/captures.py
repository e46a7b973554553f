"""Writes captures: one TCP connection within any link type, tag and tunnel, as pcap or pcapng. Also reads captures."""

import struct
import subprocess
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16

CLIENT = bytes([192, 0, 2, 10])
SERVER = bytes([198, 51, 100, 20])
CLIENT6 = bytes.fromhex("20010db8000000000000000000000010")
SERVER6 = bytes.fromhex("20010db8000100000000000000000020")
START = 1_700_000_000.0

ETHERNET, RAW = 1, 101


@dataclass(frozen=True)
class Segment:
    """A TCP segment, seen at ``at`` seconds. ``seq`` and ``ack`` count from the SYNs."""

    at: float
    up: bool
    seq: int
    ack: int
    flags: int
    payload: int = 0
    options: bytes = b""
    port: int = 40000

    def tcp(self) -> bytes:
        """Return header and data. The initial numbers are near the end, so that they wrap."""
        first = (0xFFFFFFF0, 0xFFFFFA00)
        own, other = first if self.up else first[::-1]
        ports = (self.port, 80) if self.up else (80, self.port)
        options = self.options + bytes(-len(self.options) % 4)
        ack = (other + self.ack) % 2**32 if self.flags & ACK else 0
        words = (*ports, (own + self.seq) % 2**32, ack, (5 + len(options) // 4) << 12 | self.flags, 65000, 0, 0)
        return struct.pack(">HHIIHHHH", *words) + options + b"d" * self.payload


TIMESTAMPS = bytes([1, 1, 8, 10]) + bytes(8)


def connection(port: int = 40000, options: bytes = TIMESTAMPS) -> list[Segment]:
    """Return a connection of 100 bytes up and 3000 down, with a handshake of 40 ms and its end."""
    steps = [
        (0.000, True, 0, 0, SYN, 0),
        (0.040, False, 0, 1, SYN | ACK, 0),
        (0.040, True, 1, 1, ACK, 0),
        (0.041, True, 1, 1, PSH | ACK, 100),
        (0.081, False, 1, 101, ACK, 0),
        (0.090, False, 1, 101, ACK, 1000),
        (0.091, False, 1001, 101, ACK, 1000),
        (0.092, False, 2001, 101, PSH | ACK, 1000),
        (0.092, True, 101, 3001, ACK, 0),
        (0.100, True, 101, 3001, FIN | ACK, 0),
        (0.140, False, 3001, 102, FIN | ACK, 0),
        (0.140, True, 102, 3002, ACK, 0),
    ]
    return [Segment(*step, options=options, port=port) for step in steps]


def ip4(
    up: bool, inside: bytes, protocol: int = 6, number: int = 0, fragment: int = 0, length: int | None = None
) -> bytes:
    """Return an IPv4 packet. ``fragment`` is the field of flags and offset."""
    total = 20 + len(inside) if length is None else length
    ends = (CLIENT, SERVER) if up else (SERVER, CLIENT)
    return struct.pack(">BBHHHBBH", 0x45, 0, total, number, fragment, 64, protocol, 0) + b"".join(ends) + inside


def ip6(up: bool, inside: bytes, following: int = 6, length: int | None = None) -> bytes:
    """Return an IPv6 packet."""
    total = len(inside) if length is None else length
    ends = (CLIENT6, SERVER6) if up else (SERVER6, CLIENT6)
    return struct.pack(">IHBB", 6 << 28, total, following, 64) + b"".join(ends) + inside


def ethernet(kind: int, inside: bytes) -> bytes:
    """Return an Ethernet frame."""
    return bytes([2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2]) + kind.to_bytes(2) + inside


def udp(port: int, inside: bytes) -> bytes:
    """Return a datagram."""
    return struct.pack(">HHHH", 50000, port, 8 + len(inside), 0) + inside


def snap(kind: int, inside: bytes) -> bytes:
    """Return LLC with SNAP."""
    return bytes([0xAA, 0xAA, 3, 0, 0, 0]) + kind.to_bytes(2) + inside


def wifi(inside: bytes, kind: int = 0x08, flags: int = 1, sequence: int = 0, behind: bytes = b"") -> bytes:
    """Return an 802.11 frame. ``behind`` stands between the header and the body."""
    addresses = bytes([2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 3])
    return bytes([kind, flags, 0, 0]) + addresses + sequence.to_bytes(2, "little") + behind + inside


def radiotap(inside: bytes, flags: int = 0, time: bool = False) -> bytes:
    """Return a frame behind a radiotap header with two words of fields."""
    present = 0x8000_0002 | int(time)
    fields = (bytes(4) + bytes(8) if time else b"") + bytes([flags])  # the time stands at a multiple of 8
    return struct.pack("<BBHII", 0, 0, 12 + len(fields), present, 0) + fields + inside


def aggregate(packets: Sequence[bytes]) -> bytes:
    """Return an aggregate of MSDUs. All except the last are padded to a multiple of four bytes."""
    frames = [bytes(12) + len(one).to_bytes(2) + one for one in packets]
    padded = [one + bytes(-len(one) % 4) for one in frames[:-1]]
    return b"".join([*padded, *frames[-1:]])


def fragments4(up: bool, tcp: bytes, number: int, most: int) -> list[bytes]:
    """Return an IPv4 packet in fragments of at most ``most`` bytes, a multiple of eight."""
    places = [*range(0, len(tcp), most), len(tcp)]
    more = 0x2000
    return [
        ip4(up, tcp[start:end], number=number, fragment=start // 8 | (more if end < len(tcp) else 0))
        for start, end in pairwise(places)
    ]


def fragments6(up: bool, tcp: bytes, number: int, most: int) -> list[bytes]:
    """Return an IPv6 packet in fragments."""
    places = [*range(0, len(tcp), most), len(tcp)]
    return [
        ip6(up, struct.pack(">BBHI", 6, 0, start | (end < len(tcp)), number) + tcp[start:end], 44)
        for start, end in pairwise(places)
    ]


def extended(tcp: bytes) -> bytes:
    """Return a packet's content behind IPv6's hop-by-hop, routing, destination and authentication headers."""
    hops = bytes([43, 0, 1, 4, 0, 0, 0, 0])
    routing = bytes([60, 2, 0, 0]) + bytes(20)
    destination = bytes([51, 0, 1, 4, 0, 0, 0, 0])
    return hops + routing + destination + authentication(tcp)


def authentication(inside: bytes, following: int = 6) -> bytes:
    """Return an authentication header with 12 bytes of check value."""
    return bytes([following, 4]) + bytes(2 + 4 + 4 + 12) + inside


Wrap = Callable[[bool, bytes, int], list[bytes]]


def within(frame: Callable[[bytes], bytes], packet: Callable[[bool, bytes], bytes] = ip4) -> Wrap:
    """Return what wraps a segment in an IP packet, and the packet in a frame."""
    return lambda up, tcp, _: [frame(packet(up, tcp))]


def tagged(*tags: int) -> Callable[[bytes], bytes]:
    """Return what makes an Ethernet frame with VLAN tags of these types."""
    return lambda packet: ethernet(
        tags[0], b"".join(struct.pack(">HH", 7, kind) for kind in (*tags[1:], 0x0800)) + packet
    )


def labelled(packet: bytes) -> bytes:
    """Return two MPLS labels and what they carry."""
    return struct.pack(">II", 100 << 12 | 64, 200 << 12 | 0x100 | 64) + packet


def pseudowire(packet: bytes) -> bytes:
    """Return a label, a control word and an Ethernet frame."""
    return struct.pack(">II", 300 << 12 | 0x100 | 64, 0) + ethernet(0x0800, packet)


def pppoe(number: bytes, packet: bytes) -> bytes:
    """Return a PPPoE session's header and what it carries, by PPP's protocol number."""
    return struct.pack(">BBHH", 0x11, 0, 9, len(number) + len(packet)) + number + packet


def in_ethernet(kind: int = 0x0800) -> Callable[[bytes], bytes]:
    """Return what makes an Ethernet frame."""
    return lambda packet: ethernet(kind, packet)


def tunnel(
    protocol: int, header: Callable[[bytes], bytes] = bytes, inner: Callable[[bool, bytes], bytes] = ip4
) -> Wrap:
    """Return what wraps a segment's packet in a tunnel over IPv4."""
    return within(in_ethernet(), lambda up, tcp: ip4(up, header(inner(up, tcp)), protocol))


def gre(flags: int, kind: int, fields: bytes = b"", inner: Callable[[bytes], bytes] = bytes) -> Wrap:
    """Return what wraps a segment's packet in GRE over IPv4."""
    return tunnel(47, lambda packet: struct.pack(">HH", flags, kind) + fields + inner(packet))


def vxlan(packet: bytes) -> bytes:
    """Return an Ethernet frame in VXLAN."""
    return udp(4789, struct.pack(">II", 8 << 24, 42 << 8) + ethernet(0x0800, packet))


def geneve(packet: bytes) -> bytes:
    """Return an Ethernet frame in Geneve with an option."""
    return udp(6081, struct.pack(">BBHII", 1, 0, 0x6558, 42 << 8, 0x01020300) + ethernet(0x0800, packet))


def fragmented(kind: int, cut: Callable[[bool, bytes, int, int], list[bytes]]) -> Wrap:
    """Return what sends a segment in fragments, each in an Ethernet frame."""
    return lambda up, tcp, number: [ethernet(kind, one) for one in cut(up, tcp, number + 1, 400)]


def cooked(packet: bytes, *kinds: int) -> bytes:
    """Return a frame of `tcpdump -i any`, version 1, with the protocol and perhaps a VLAN tag's words."""
    return struct.pack(f">HHH8s{len(kinds)}H", 0, 1, 6, bytes(8), *kinds) + packet


def cooked2(packet: bytes, kind: int = 0x0800) -> bytes:
    """Return a frame of `tcpdump -i any`, version 2."""
    return struct.pack(">HHIHBB8s", kind, 0, 2, 1, 0, 6, bytes(8)) + packet


def session(packet: bytes) -> bytes:
    """Return IPv4 in a PPPoE session, without a link's header."""
    return pppoe(b"\0\x21", packet)


def wifi4(packet: bytes) -> bytes:
    """Return an 802.11 data frame of IPv4."""
    return wifi(snap(0x0800, packet))


def wifi_aggregate(packet: bytes) -> bytes:
    """Return an aggregate with an ARP and an IPv4 packet."""
    return wifi(aggregate([snap(0x0806, bytes(29)), snap(0x0800, packet)]), 0x88, behind=b"\x80\0")


WRAPPINGS: dict[str, tuple[int, Wrap]] = {
    "Ethernet": (ETHERNET, within(in_ethernet())),
    "Ethernet, IPv6": (ETHERNET, within(in_ethernet(0x86DD), ip6)),
    "802.1Q": (ETHERNET, within(tagged(0x8100))),
    "802.1ad": (ETHERNET, within(tagged(0x88A8, 0x8100))),
    "QinQ 0x9100": (ETHERNET, within(tagged(0x9100, 0x8100))),
    "three tags": (ETHERNET, within(tagged(0x8100, 0x8100, 0x8100))),
    "PPPoE": (ETHERNET, within(lambda packet: ethernet(0x8864, session(packet)))),
    "PPPoE, IPv6, short number": (ETHERNET, within(lambda packet: ethernet(0x8864, pppoe(b"\x57", packet)), ip6)),
    "PPPoE in 802.1Q": (ETHERNET, within(lambda packet: ethernet(0x8100, b"\0\7\x88\x64" + session(packet)))),
    "MPLS": (ETHERNET, within(lambda packet: ethernet(0x8847, labelled(packet)))),
    "MPLS, IPv6": (ETHERNET, within(lambda packet: ethernet(0x8847, labelled(packet)), ip6)),
    "Ethernet over MPLS": (ETHERNET, within(lambda packet: ethernet(0x8847, pseudowire(packet)))),
    "LLC with SNAP": (ETHERNET, within(lambda packet: ethernet(len(packet) + 8, snap(0x0800, packet)))),
    "IPIP": (ETHERNET, tunnel(4)),
    "6in4": (ETHERNET, tunnel(41, inner=ip6)),
    "4in6": (ETHERNET, within(in_ethernet(0x86DD), lambda up, tcp: ip6(up, ip4(up, tcp), 4))),
    "GRE": (ETHERNET, gre(0, 0x0800)),
    "GRE with checksum, key and number": (ETHERNET, gre(0xB000, 0x0800, struct.pack(">III", 0, 7, 1))),
    "Ethernet in GRE": (ETHERNET, gre(0, 0x6558, inner=in_ethernet())),
    "ERSPAN": (ETHERNET, gre(0x1000, 0x88BE, struct.pack(">IQ", 1, 0x1007 << 48), in_ethernet())),
    "PPTP": (ETHERNET, gre(0x3001, 0x880B, struct.pack(">HHI", 1084, 7, 1), lambda packet: b"\xff\3\0\x21" + packet)),
    "VXLAN": (ETHERNET, tunnel(17, vxlan)),
    "Geneve": (ETHERNET, tunnel(17, geneve)),
    "AH": (ETHERNET, within(in_ethernet(), lambda up, tcp: ip4(up, authentication(tcp), 51))),
    "IPv6 with extensions": (ETHERNET, within(in_ethernet(0x86DD), lambda up, tcp: ip6(up, extended(tcp), 0))),
    "IPv4 fragments": (ETHERNET, fragmented(0x0800, fragments4)),
    "IPv6 fragments": (ETHERNET, fragmented(0x86DD, fragments6)),
    "IPv6 atomic fragment": (ETHERNET, within(in_ethernet(0x86DD), lambda up, tcp: fragments6(up, tcp, 1, 9000)[0])),
    "NULL": (0, within(lambda packet: struct.pack("<I", 2) + packet)),
    "NULL, big-endian": (0, within(lambda packet: struct.pack(">I", 2) + packet)),
    "NULL, IPv6 of macOS": (0, within(lambda packet: struct.pack("<I", 30) + packet, ip6)),
    "PPP": (9, within(lambda packet: b"\xff\3\0\x21" + packet)),
    "PPP in HDLC": (50, within(lambda packet: b"\xff\3\0\x21" + packet)),
    "PPPoE alone": (51, within(session)),
    "RAW": (RAW, within(bytes)),
    "RAW, IPv6": (RAW, within(bytes, ip6)),
    "RAW, IPv4 only": (228, within(bytes)),
    "RAW, IPv6 only": (229, within(bytes, ip6)),
    "Cisco's HDLC": (104, within(lambda packet: b"\x0f\0\x08\0" + packet)),
    "802.11": (105, within(wifi4)),
    "LOOP": (108, within(lambda packet: struct.pack(">I", 2) + packet)),
    "Linux cooked": (113, within(lambda packet: cooked(packet, 0x0800))),
    "Linux cooked, 802.1Q": (113, within(lambda packet: cooked(packet, 0x8100, 7, 0x0800))),
    "Linux cooked 2": (276, within(cooked2)),
    "Linux cooked 2, IPv6": (276, within(lambda packet: cooked2(packet, 0x86DD), ip6)),
    "radiotap": (127, within(lambda packet: radiotap(wifi4(packet)))),
    "radiotap, check sequences": (127, within(lambda packet: radiotap(wifi4(packet) + bytes(4), 0x10, time=True))),
    "802.11 QoS": (105, within(lambda packet: wifi(snap(0x0800, packet), 0x88, behind=bytes(2)))),
    "802.11 padded": (127, within(lambda packet: radiotap(wifi(snap(0x0800, packet), 0x88, behind=bytes(4)), 0x20))),
    "802.11, long header": (
        105,
        within(lambda packet: wifi(snap(0x0800, packet), 0x88, 0x83, behind=bytes(6 + 2 + 4))),
    ),
    "802.11 aggregate": (105, within(wifi_aggregate)),
}
"""Each way to carry a segment: the link type, and what makes the frames of a segment."""


@dataclass(frozen=True)
class Frame:
    """A frame in a file. ``length`` is that on the wire, if it differs."""

    at: float
    data: bytes
    length: int | None = None

    @property
    def wire(self) -> int:
        """Return the bytes on the wire."""
        return len(self.data) if self.length is None else self.length


def frames(segments: Iterable[Segment], wrap: Wrap = WRAPPINGS["Ethernet"][1]) -> list[Frame]:
    """Return the frames that carry ``segments``."""
    return [
        Frame(segment.at, data)
        for number, segment in enumerate(segments)
        for data in wrap(segment.up, segment.tcp(), number)
    ]


def cut(all_frames: Iterable[Frame], most: int) -> list[Frame]:
    """Return frames of which at most ``most`` bytes were captured."""
    return [replace(frame, data=frame.data[:most], length=frame.wire) for frame in all_frames]


def pcap(all_frames: Iterable[Frame], link: int = ETHERNET, order: str = "<", nanoseconds: bool = False) -> bytes:
    """Return a pcap file."""
    ticks = 10**9 if nanoseconds else 10**6
    magic = 0xA1B23C4D if nanoseconds else 0xA1B2C3D4
    file = [struct.pack(f"{order}IHHiIII", magic, 2, 4, 0, 0, 262144, link)]
    for frame in all_frames:
        whole, part = divmod(round((START + frame.at) * ticks), ticks)
        file += [struct.pack(f"{order}IIII", whole, part, len(frame.data), frame.wire), frame.data]
    return b"".join(file)


def block(kind: int, content: bytes, order: str = "<") -> bytes:
    """Return a block of pcapng."""
    content += bytes(-len(content) % 4)
    length = struct.pack(f"{order}I", 12 + len(content))
    return struct.pack(f"{order}I", kind) + length + content + length


def section(order: str = "<") -> bytes:
    """Return the beginning of a section."""
    return block(0x0A0D0D0A, struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1), order)


def interface(link: int, order: str = "<", options: Sequence[tuple[int, bytes]] = (), most: int = 0) -> bytes:
    """Return an interface's description."""
    words = [struct.pack(f"{order}HH", code, len(value)) + value + bytes(-len(value) % 4) for code, value in options]
    return block(1, struct.pack(f"{order}HHI", link, 0, most) + b"".join(words) + (bytes(4) if words else b""), order)


def packet(frame: Frame, number: int = 0, order: str = "<", ticks: int = 10**6, kind: int = 6) -> bytes:
    """Return a packet's block: enhanced, or obsolete."""
    time = round((START + frame.at) * ticks)
    at = struct.pack(f"{order}I" if kind == 6 else f"{order}HH", *((number,) if kind == 6 else (number, 3)))
    words = struct.pack(f"{order}IIII", time >> 32, time & 0xFFFFFFFF, len(frame.data), frame.wire)
    return block(kind, at + words + frame.data, order)


def simple(frame: Frame, order: str = "<") -> bytes:
    """Return a simple packet's block."""
    return block(3, struct.pack(f"{order}I", frame.wire) + frame.data, order)


def tshark(file: Path, shown: str, *fields: str) -> list[list[str]]:
    """Return the fields of the packets that match a display filter, with all checksums checked."""
    options = [word for name in ("ip", "tcp", "udp", "wlan") for word in ("-o", f"{name}.check_checksum:TRUE")]
    options += [word for name in fields or ("frame.number",) for word in ("-e", name)]
    command = ["tshark", "-n", "-r", str(file), "-Y", shown, "-T", "fields", *options]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    assert "cut short" not in result.stderr
    return [line.split("\t") for line in result.stdout.splitlines()]
