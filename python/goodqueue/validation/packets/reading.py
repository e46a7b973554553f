"""A run's capture as columns: one row per packet, point by point.

Ports and first sequence numbers are drawn by chance. So a connection is known by its addresses and its place among the
connections between them, and sequence numbers are counted from the SYN of their direction.
"""

import struct
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from socket import IPPROTO_TCP, IPPROTO_UDP
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from goodqueue.capture import EPOCH_S

Column = NDArray[np.int64]
Sack = tuple[tuple[int, int], ...]
Pair = tuple[int, int]
"""Two addresses, the lower first."""

POINTS = ("down-in", "up-in", "down-out", "up-out")
"""Where packets are compared: what servers and clients send when it arrives at the queue, and what leaves the queue."""
SENT = POINTS[:2]
"""The points that see what the hosts send."""

FLAGS = "FSRPAUECN"
"""TCP's flags from the lowest bit up: FIN, SYN, RST, PSH, ACK, URG, ECE, CWR, and AE (RFC 9768)."""
_SYN, _ACK = 2, 16
_ETHERNET, _IP, _TCP = 14, 20, 20
_TIMESTAMPS = 12
"""Bytes of the option that each segment has. A SACK option makes them more."""
_MODULUS = 1 << 32
_SACK, _NOP, _END = 5, 1, 0
_INTERFACE_BLOCK, _PACKET_BLOCK = 1, 6
_BLOCK = struct.Struct("<II")
_INTERFACE = struct.Struct("<HHI")
_PACKET = struct.Struct("<IIIII")
_NAME = struct.Struct("<HH")
_EDGES = struct.Struct(">II")


class Packet(NamedTuple):
    """One packet."""

    time_ns: int
    flow: int
    """The connection's number (`Flows`)."""
    seq: int
    length: int
    """Bytes of payload."""
    flags: int
    ack: int
    sack: Sack
    ecn: int
    """The two bits of the IP header."""
    window: int
    """The offered window's field. It is shown, and not compared."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The packets at one point."""

    time_ns: Column
    """The time of the run."""
    content: Column
    """A row per packet: connection, sequence number, payload, flags, ACK, ECN bits, and a number for the SACK blocks.
    """
    window: Column
    sacks: dict[int, Sack]
    """The SACK blocks by the packet's place, where there are some."""

    def __len__(self) -> int:
        return len(self.time_ns)

    def until(self, end_ns: int) -> "Seen":
        """Return the packets before ``end_ns``."""
        count = int(np.searchsorted(self.time_ns, end_ns))
        return Seen(self.time_ns[:count], self.content[:count], self.window[:count], self.sacks)

    def packet(self, place: int) -> Packet:
        """Return one packet."""
        flow, seq, length, flags, ack, ecn, _ = map(int, self.content[place])
        sack = self.sacks.get(place, ())
        return Packet(int(self.time_ns[place]), flow, seq, length, flags, ack, sack, ecn, int(self.window[place]))


@dataclass(slots=True)
class Flows:
    """The numbers of connections. Captures that are compared share them."""

    numbers: dict[tuple[Pair, int], int] = field(default_factory=dict)

    def number(self, pair: Pair, nth: int) -> int:
        """Return the number of the connection that is the ``nth`` between the addresses ``pair``."""
        return self.numbers.setdefault((pair, nth), len(self.numbers))


@dataclass(slots=True)
class _Connections:
    """One capture's connections: their numbers, and the first sequence number of each direction."""

    flows: Flows
    by_ends: dict[tuple[int, int], int] = field(default_factory=dict)
    between: dict[Pair, int] = field(default_factory=dict)
    firsts: dict[tuple[int, int], int] = field(default_factory=dict)

    def number(self, ends: tuple[int, int]) -> int:
        """Return the number of the connection between ``ends``, each an address and a port in one number."""
        pair = (min(ends), max(ends))
        if pair not in self.by_ends:
            low, high = sorted(end >> 16 for end in pair)
            addresses = (low, high)
            nth = self.between[addresses] = self.between.get(addresses, -1) + 1
            self.by_ends[pair] = self.flows.number(addresses, nth)
        return self.by_ends[pair]

    def note(self, seen: "_Columns") -> None:
        """Note the first sequence numbers in the SYNs among ``seen``."""
        for place in np.flatnonzero(seen.flags & _SYN).tolist():
            self.firsts[seen.ways[place]] = int(seen.seq[place])


def read(file: Path, known: Flows) -> dict[str, Seen]:
    """Return what is in ``file``, a capture that goodqueue wrote, by point."""
    data = file.read_bytes()
    names, frames = _frames(data)
    octets = np.frombuffer(data, dtype=np.uint8)
    connections = _Connections(known)
    points = sorted(frames, key=lambda number: POINTS.index(names[number]))
    columns = {names[number]: _columns(octets, frames[number]) for number in points}
    for seen in columns.values():  # a direction counts from its SYN, which may be at a point that comes later
        connections.note(seen)
    return {name: _seen(data, seen, connections) for name, seen in columns.items()}


def _frames(data: bytes) -> tuple[list[str], dict[int, list[tuple[int, int]]]]:
    """Return the interfaces' names, and the times and places of the frames of each interface."""
    names: list[str] = []
    frames: dict[int, list[tuple[int, int]]] = {}
    at = 0
    while at < len(data):
        kind, length = _BLOCK.unpack_from(data, at)
        if kind == _PACKET_BLOCK:
            interface, high, low, _, _ = _PACKET.unpack_from(data, at + _BLOCK.size)
            place = at + _BLOCK.size + _PACKET.size
            frames[interface].append(((high << 32 | low) - EPOCH_S * 10**9, place))
        elif kind == _INTERFACE_BLOCK:
            begin = at + _BLOCK.size + _INTERFACE.size
            _, size = _NAME.unpack_from(data, begin)
            frames[len(names)] = []
            names.append(data[begin + _NAME.size : begin + _NAME.size + size].decode())
        at += length
    return names, frames


@dataclass(frozen=True, slots=True)
class _Columns:
    """The packets at one point with the numbers that their headers have."""

    time_ns: Column
    ways: list[tuple[int, int]]
    """Source and sink, each an address and a port in one number."""
    options: Column
    """Where TCP's options begin."""
    options_bytes: Column
    seq: Column
    ack: Column
    flags: Column
    length: Column
    ecn: Column
    window: Column


def _columns(octets: NDArray[np.uint8], frames: list[tuple[int, int]]) -> _Columns:
    rows = np.array(frames, dtype=np.int64).reshape(-1, 2)
    ip = rows[:, 1] + _ETHERNET
    tcp = ip + _IP
    last = len(octets) - 1

    def number(at: Column, size: int) -> Column:
        value = np.zeros(len(at), dtype=np.int64)
        for offset in range(size):
            value = value << 8 | octets[np.minimum(at + offset, last)]
        return value

    protocol = octets[ip + 9]
    is_tcp = protocol == IPPROTO_TCP
    has_ports = is_tcp | (protocol == IPPROTO_UDP)
    ends = [
        (number(ip + address, 4) << 16 | np.where(has_ports, number(tcp + port, 2), 0)).tolist()
        for address, port in ((12, 0), (16, 2))
    ]
    header = np.where(is_tcp, number(tcp + 12, 1) >> 4 << 2, 0)
    seq, ack, window = (np.where(is_tcp, number(tcp + at, size), 0) for at, size in ((4, 4), (8, 4), (14, 2)))
    return _Columns(
        time_ns=rows[:, 0],
        ways=list(zip(*ends, strict=True)),
        options=tcp + _TCP,
        options_bytes=header - _TCP,
        seq=seq,
        ack=ack,
        flags=np.where(is_tcp, number(tcp + 12, 2) & 0x1FF, 0),
        length=number(ip + 2, 2) - _IP - header,
        ecn=number(ip + 1, 1) & 3,
        window=window,
    )


def _seen(data: bytes, columns: _Columns, connections: _Connections) -> Seen:
    ways = columns.ways
    mine = np.array([connections.firsts.get(way, 0) for way in ways], dtype=np.int64)
    others = np.array([connections.firsts.get(way[::-1], 0) for way in ways], dtype=np.int64)
    sacks, in_short = {}, np.zeros(len(ways), dtype=np.int64)
    for place in np.flatnonzero(columns.options_bytes > _TIMESTAMPS).tolist():
        begin = int(columns.options[place])
        options = data[begin : begin + int(columns.options_bytes[place])]
        if blocks := _sack(options, int(others[place])):
            sacks[place], in_short[place] = blocks, zlib.crc32(repr(blocks).encode())
    content = [
        np.array([connections.number(way) for way in ways], dtype=np.int64),
        (columns.seq - mine) % _MODULUS,
        columns.length,
        columns.flags,
        np.where(columns.flags & _ACK, (columns.ack - others) % _MODULUS, 0),
        columns.ecn,
        in_short,
    ]
    return Seen(columns.time_ns, np.column_stack(content), columns.window, sacks)


def _sack(options: bytes, first: int) -> Sack:
    """Return the SACK blocks in ``options``, counted from the first sequence number of the other direction."""
    at = 0
    while at + 1 < len(options) and options[at] != _END:
        if options[at] == _NOP:
            at += 1
            continue
        if options[at] == _SACK:
            edges = (_EDGES.unpack_from(options, begin) for begin in range(at + 2, at + options[at + 1] - 1, 8))
            return tuple(((start - first) % _MODULUS, (end - first) % _MODULUS) for start, end in edges)
        at += max(options[at + 1], 2)
    return ()
