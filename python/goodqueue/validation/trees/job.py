"""A tree of `tc` commands with the packets that come to it, and how both are written for Linux and for goodqueue."""

import json
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from goodqueue.validation.trees import guest

FIRST_NS = 3_000_000_000
"""When the first packet comes, after the tree was made: the limits of `codel` count drops within its first 1.6 s."""

_IPV4, _IPV6 = b"\x08\x00", b"\x86\xdd"
TCP, UDP, ICMP, ICMP_V6 = 6, 17, 1, 58
BY_SEQUENCE = range(20_000, 30_000)
"""Source ports of flows whose packets are known by their sequence numbers, as Linux may split them."""


@dataclass(frozen=True, slots=True)
class Packet:
    """A packet and when it comes."""

    at: int
    """Nanoseconds after the tree was made."""
    length: int
    """With Ethernet's header. Of a merged one all bytes, with one head."""
    mark: int
    priority: int
    head: bytes
    size: int = 0
    """Bytes of data in each segment of a merged packet. 0: it is a single one."""
    flow: int = 0

    def written(self) -> bytes:
        """Return the packet as both sides read it."""
        kind = 0 if not self.size else 1 if self.head[12:14] == _IPV4 else 4
        fields = self.at, self.length, self.mark, self.priority, self.size, kind, len(self.head)
        return guest.PACKET.pack(*fields) + self.head


@dataclass(frozen=True, slots=True)
class Job:
    """A tree and its packets."""

    seed: int
    number: int
    commands: tuple[str, ...]
    """Without `tc` in front."""
    packets: tuple[Packet, ...]
    drain_ns: int = 1_500_000_000
    """How long is waited after the last packet."""

    @property
    def end_ns(self) -> int:
        """When the play ends, after the tree was made."""
        return (self.packets[-1].at if self.packets else FIRST_NS) + self.drain_ns

    @property
    def draws(self) -> int:
        """The state of the random numbers at the beginning: 128 bits of which the lowest is set."""
        return (
            self.seed * 0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835 + self.number * 0x2545_F491_4F6C_DD1D
        ) % 2**128 | 1

    def with_only(self, commands: Sequence[str], packets: Sequence[Packet]) -> "Job":
        """Return the job with these commands and these packets alone, which are numbered anew."""
        numbered = (_numbered(packet, number) for number, packet in enumerate(packets))
        return replace(self, commands=tuple(commands), packets=tuple(numbered))

    def described(self) -> dict[str, object]:
        """Return what Linux is told besides the packets."""
        return {
            "commands": list(self.commands),
            "packets": len(self.packets),
            "end": self.end_ns,
            "draws": str(self.draws),
        }


@dataclass(frozen=True, slots=True)
class Flow:
    """What the packets of a flow have in common."""

    number: int
    is_v6: bool
    protocol: int
    source: int
    destination: int
    source_port: int
    destination_port: int
    dscp: int
    ecn: int
    mark: int
    priority: int
    ttl: int = 64
    label: int = 0

    @property
    def header_bytes(self) -> int:
        """Return the length of all headers."""
        return 14 + (40 if self.is_v6 else 20) + {TCP: 20, UDP: 8}.get(self.protocol, 8)

    def head(self, number: int, length: int, tcp: tuple[int, int, int] | None = None) -> bytes:
        """Return the headers of packet ``number``. ``tcp``: its sequence number, acknowledgement and flags.

        Its number is where the checksum of the transport would be.
        """
        tos = self.dscp << 2 | self.ecn
        ethernet = bytes((2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2))
        if self.is_v6:
            first = 6 << 28 | tos << 20 | self.label
            ip = struct.pack(">IHBB", first, min(length - 54, 65535), self.protocol, self.ttl)
            ip = _IPV6 + ip + self.source.to_bytes(16, "big") + self.destination.to_bytes(16, "big")
        else:
            fields = 0x45, tos, min(length - 14, 65535), number & 0xFFFF, 0, self.ttl, self.protocol, 0
            ip = _IPV4 + struct.pack(">BBHHHBBHII", *fields, self.source, self.destination)
        check = number & 0xFFFF
        ports = struct.pack(">HH", self.source_port, self.destination_port)
        if self.protocol == TCP:
            sequence, acknowledged, flags = tcp or (number << 16 & 0xFFFF_FFFF, 1, 0x10)
            transport = ports + struct.pack(">IIBBHHH", sequence, acknowledged, 0x50, flags, 1000, check, 0)
        elif self.protocol == UDP:
            transport = ports + struct.pack(">HH", min(length - len(ip) - 12, 65535), check)
        else:
            transport = struct.pack(">BBHHH", 128 if self.is_v6 else 8, 0, check, self.number, 1)
        return ethernet + ip + transport


def _place_of(head: bytes) -> tuple[int, int, bool]:
    """Return where the transport's header begins and where its checksum is, and whether the sequence number counts."""
    protocol, at = (head[20], 54) if head[12:14] == _IPV6 else (head[23], 34)
    by_sequence = protocol == TCP and int.from_bytes(head[at : at + 2], "big") in BY_SEQUENCE
    return at, at + {TCP: 16, UDP: 6}.get(protocol, 2), by_sequence


def _numbered(packet: Packet, number: int) -> Packet:
    """Return the packet with another number."""
    at, check, by_sequence = _place_of(packet.head)
    head = packet.head[:check] + (number & 0xFFFF).to_bytes(2, "big") + packet.head[check + 2 :]
    if by_sequence:
        head = head[: at + 4] + (number << 16 & 0xFFFF_FFFF).to_bytes(4, "big") + head[at + 8 :]
    return replace(packet, head=head)


def number_of(head: bytes, sizes: Sequence[int]) -> tuple[int, int]:
    """Return the number of the packet with this head, and of its segment. ``sizes`` are those of all packets."""
    at, check, by_sequence = _place_of(head)
    if by_sequence:
        number, behind = divmod(int.from_bytes(head[at + 4 : at + 8], "big"), 1 << 16)
        return number, behind // sizes[number] if sizes[number] else 0
    return int.from_bytes(head[check : check + 2], "big"), 0


def tos_of(head: bytes) -> int:
    """Return the codepoints of a packet: the octet that was the type of service."""
    if head[12:14] == _IPV6:
        return (head[14] << 4 | head[15] >> 4) & 0xFF
    return head[15]


def packets_of(job: Job, moved: Iterable[tuple[int, int]] = ()) -> bytes:
    """Return the packets of a job as both sides read them. Some came later: ``moved`` has their numbers and times."""
    times = dict(moved)
    return b"".join(
        (replace(packet, at=times[number]) if number in times else packet).written()
        for number, packet in enumerate(job.packets)
    )


def for_linux(jobs: Iterable[Job]) -> bytes:
    """Return jobs as `guest` reads them, counted from 0."""
    written = bytearray()
    for place, job in enumerate(jobs):
        text = json.dumps(job.described() | {"number": place}).encode()
        written += struct.pack("<I", len(text)) + text + packets_of(job)
    return bytes(written)
