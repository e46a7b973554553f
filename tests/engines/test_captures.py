"""Captures as people have them: every link type, tag and tunnel, cut, compressed, and with TCP as it arrives."""

import gzip
import json
import struct
import subprocess
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import captures
from captures import ACK, ETHERNET, RST, SYN, WRAPPINGS, Frame, Segment
from conftest import Result
from goodqueue import _goodqueue
from goodqueue.files import inputs

SENDS = [[">", 100, 9000], ["<", 3000, 8000]]
"""What the ends of `captures.connection` send, and how long they wait, without the path."""


def read(folder: Path, content: bytes) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the connections of a capture, and the counts of what else it has."""
    (folder / "some.pcap").write_bytes(content)
    path = folder / "some.pcap"
    with inputs.opened(path, "a capture") as file:
        connections, others = _goodqueue.connection_vectors(str(path), file)
    return [json.loads(one) for one in connections], json.loads(others)


def carried(folder: Path, content: bytes) -> list[tuple[int, int]]:
    """Return the bytes up and down of each connection. Fails if a frame was not understood."""
    connections, others = read(folder, content)
    assert (others["not_understood"], others["other"], others["partial"], others["cut"]) == ({}, 0, 0, False), others
    return [bytes_of(one) for one in connections]


def bytes_of(one: dict[str, Any]) -> tuple[int, int]:
    """Return the bytes of a connection up and down."""
    up, down = (sum(size for direction, size, _ in one["sends"] if direction == end) for end in "><")
    return up, down


@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_a_connection_is_found_in_every_wrapping(tmp_path: Path, wrapping: str) -> None:
    link, wrap = WRAPPINGS[wrapping]
    connections, others = read(tmp_path, captures.pcap(captures.frames(captures.connection(), wrap), link))
    assert [one["sends"] for one in connections] == [SENDS]
    assert (connections[0]["rtt_us"], connections[0]["concurrent"]) == (40_000, False)
    assert (others["tcp"], others["not_understood"], others["other"]) == (others["frames"], {}, 0)


@pytest.mark.needs("tshark")
def test_tshark_counts_the_same_bytes_in_every_wrapping(tmp_path: Path) -> None:
    """All wrappings are in one file, each at an interface of its own link type and with a port of its own."""
    blocks = [captures.section()]
    blocks += [captures.interface(link) for link, _ in WRAPPINGS.values()]
    for number, (_, wrap) in enumerate(WRAPPINGS.values()):
        segments = captures.connection(40000 + number)
        blocks += [captures.packet(frame, number) for frame in captures.frames(segments, wrap)]
    file = tmp_path / "all.pcapng"
    file.write_bytes(b"".join(blocks))
    fields = [word for name in ("tcp.srcport", "tcp.dstport", "tcp.len") for word in ("-e", name)]
    command = ["tshark", "-r", str(file), "-d", "mpls.label==300,pwethcw", "-T", "fields", *fields]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    theirs: Counter[tuple[int, int]] = Counter()
    for line in done.stdout.splitlines():
        if line.strip():
            source, target, length = (int(word) for word in line.split("\t"))
            theirs[source, target] += length
    ours = carried(tmp_path, file.read_bytes())
    ports = range(40000, 40000 + len(WRAPPINGS))
    assert ours == [(theirs[port, 80], theirs[80, port]) for port in ports]
    assert ours == [(100, 3000)] * len(WRAPPINGS)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("nanoseconds", [False, True])
def test_pcap_in_both_byte_orders_and_clocks(tmp_path: Path, order: str, nanoseconds: bool) -> None:
    frames = captures.frames(captures.connection())
    connections, _ = read(tmp_path, captures.pcap(frames, order=order, nanoseconds=nanoseconds))
    assert [one["sends"] for one in connections] == [SENDS]
    # Frames whose check sequences were captured say so in the link type's upper bits.
    assert carried(tmp_path, captures.pcap(frames, ETHERNET | 0x24000000, order)) == [(100, 3000)]


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(
    ("options", "ticks"),
    [
        ([], 10**6),
        ([(9, b"\x09")], 10**9),
        ([(2, b"eth0"), (9, b"\x03")], 10**3),
        ([(9, b"\x94")], 2**20),
        ([(14, 1000)], 10**6),
    ],
    ids=["us", "ns", "ms", "2^-20", "offset"],
)
def test_clocks_of_interfaces(tmp_path: Path, order: str, options: list[tuple[int, bytes | int]], ticks: int) -> None:
    """The interface is the second of the section, and the first one has another link type and clock."""
    shift = next((value for _, value in options if isinstance(value, int)), 0)
    written = [(code, struct.pack(f"{order}q", value) if isinstance(value, int) else value) for code, value in options]
    first = captures.frames(captures.connection(1), WRAPPINGS["RAW"][1])[0]
    blocks = [
        captures.section(order),
        captures.interface(captures.RAW, order),
        captures.interface(ETHERNET, order, written),
        captures.packet(replace(first, at=-1), 0, order),
        block_of_nobody(order),
        *(
            captures.packet(replace(frame, at=frame.at - shift), 1, order, ticks)
            for frame in captures.frames(captures.connection())
        ),
    ]
    (one,), _ = read(tmp_path, b"".join(blocks))
    assert (one["start_us"], one["sends"], one["rtt_us"]) == (10**6, SENDS, 40_000)


def block_of_nobody(order: str) -> bytes:
    """Return a block that only its writer knows, larger than a buffer."""
    return captures.block(0x0BAD_CAFE, bytes(300_000), order)


def test_sections_have_byte_orders_and_interfaces_of_their_own(tmp_path: Path) -> None:
    content = b""
    for number, (order, wrapping) in enumerate([("<", "Ethernet"), (">", "Linux cooked 2"), ("<", "RAW, IPv6")]):
        link, wrap = WRAPPINGS[wrapping]
        content += captures.section(order) + captures.interface(link, order)
        frames = captures.frames(captures.connection(40000 + number), wrap)
        content += b"".join(captures.packet(frame, 0, order) for frame in frames)
    assert carried(tmp_path, content) == [(100, 3000)] * 3


@pytest.mark.parametrize("order", ["<", ">"])
def test_obsolete_and_simple_packets(tmp_path: Path, order: str) -> None:
    """A simple packet has no time and does not say how many of its bytes are padding."""
    frames = captures.frames(captures.connection())
    begin = captures.section(order) + captures.interface(ETHERNET, order)
    old = begin + b"".join(captures.packet(frame, 0, order, kind=2) for frame in frames)
    assert carried(tmp_path, old) == [(100, 3000)]
    most = 67
    begin = captures.section(order) + captures.interface(ETHERNET, order, most=most)
    content = begin + b"".join(captures.simple(frame, order) for frame in captures.cut(frames, most))
    assert carried(tmp_path, content) == [(100, 3000)]
    assert read(tmp_path, content)[1]["untimed"] == len(frames)


@pytest.mark.parametrize("most", [54, 57, 58, 61, 66, 68])
def test_a_snap_length_may_cut_the_options_and_not_the_header(tmp_path: Path, most: int) -> None:
    """The window scale stands behind the MSS and an option that nobody knows. A part of it is no scale."""
    options = bytes([2, 4, 5, 180, 222, 3, 9, 3, 3, 7])
    frames = captures.cut(captures.frames(captures.connection(options=options)), most)
    (one,), others = read(tmp_path, captures.pcap(frames))
    whole = most >= 14 + 20 + 20 + len(options)
    assert (one["sends"], others["not_understood"]) == (SENDS, {})
    assert one["windows"] == [65000 << 7 if whole else 65000] * 2


def test_a_snap_length_that_cuts_the_header_is_counted(tmp_path: Path) -> None:
    frames = captures.frames(captures.connection())
    assert read(tmp_path, captures.pcap(captures.cut(frames, 47)))[1]["not_understood"] == {
        "cut within the headers": 12
    }
    # Up to TCP's flags, only the windows are missing.
    assert carried(tmp_path, captures.pcap(captures.cut(frames, 48))) == [(100, 3000)]


@pytest.mark.parametrize("version", [4, 6])
def test_a_packet_of_segmentation_offload_has_the_length_of_its_frame(tmp_path: Path, version: int) -> None:
    """Large segments have length 0, beyond 64 KiB, too. Short frames are padded, and then the length is theirs."""
    large = 100_000
    segments = [replace(one, payload=large) if one.payload == 100 else one for one in captures.connection()]
    segments = [replace(one, ack=large + 1) if one.ack == 101 else one for one in segments]

    def wrap(up: bool, tcp: bytes, number: int) -> list[bytes]:
        del number
        length = 0 if len(tcp) > 1000 else None
        if version == 4:
            return [captures.ethernet(0x0800, captures.ip4(up, tcp, length=length)) + bytes(3)]
        return [captures.ethernet(0x86DD, captures.ip6(up, tcp, length=length)) + bytes(3)]

    frames = captures.frames(segments, wrap)
    frames = [replace(one, data=one.data[:-3]) if len(one.data) > 1000 else one for one in frames]
    assert carried(tmp_path, captures.pcap(captures.cut(frames, 100))) == [(large, 3000)]


def test_frames_that_are_not_understood_are_counted_by_reason(tmp_path: Path) -> None:
    tcp = captures.connection()[0].tcp()
    ip = captures.ip4(True, tcp)
    second = captures.fragments4(True, tcp * 9, 5, 80)[1]
    wrong: dict[str, list[tuple[int, bytes]]] = {
        "encrypted (802.11)": [(105, captures.wifi(captures.snap(0x0800, ip), flags=0x41))],
        "encrypted (ESP)": [(ETHERNET, captures.ethernet(0x0800, captures.ip4(True, tcp, 50)))],
        "encrypted (MACsec)": [(ETHERNET, captures.ethernet(0x88E5, ip))],
        "wrong check sequence (802.11)": [(127, captures.radiotap(captures.wifi(captures.snap(0x0800, ip)), 0x40))],
        "802.11 fragment": [(105, captures.wifi(ip, sequence=1))],
        "compressed": [(9, b"\xff\x03\0\xfd" + ip), (9, b"\0\x2d" + ip)],
        "IP fragment without the first one": [(ETHERNET, captures.ethernet(0x0800, second))],
        "EtherType 0x1234": [(ETHERNET, captures.ethernet(0x1234, ip))],
        "link type 189": [(189, ip)],
        "malformed": [
            (ETHERNET, b""),
            (ETHERNET, captures.ethernet(0x0800, b"\x55" + bytes(60))),
            (ETHERNET, captures.ethernet(0x0800, captures.ip4(True, tcp[:12] + b"\x40" + tcp[13:]))),
            (ETHERNET, captures.ethernet(0x0800, captures.ip4(True, tcp, length=19))),
        ],
        "too many headers": [(ETHERNET, captures.ethernet(0x8100, struct.pack(">HH", 7, 0x8100) * 99 + ip))],
        "unknown within MPLS": [(ETHERNET, captures.ethernet(0x8847, struct.pack(">I", 0x100) + b"\x90" + bytes(40)))],
    }  # fmt: skip
    other = [
        (ETHERNET, captures.ethernet(0x0806, bytes(28))),
        (ETHERNET, captures.ethernet(39, bytes([0x42, 0x42, 3]) + bytes(36))),
        (ETHERNET, captures.ethernet(0x0800, captures.ip4(True, captures.udp(53, b"name"), 17))),
        (ETHERNET, captures.ethernet(0x0800, captures.ip4(True, bytes(8), 1))),
        (ETHERNET, captures.ethernet(0x86DD, captures.ip6(True, bytes([58, 0, 5, 2, 0, 0, 1, 0]) + bytes(8), 0))),
        (9, b"\xff\x03\xc0\x21" + bytes(10)),
        (105, captures.wifi(b"", kind=0x80)),
        (113, struct.pack(">HHH8sH", 0, 824, 0, bytes(8), 0) + bytes(40)),
    ]
    frames = [frame for several in wrong.values() for frame in several] + other
    numbers = count()
    blocks = [captures.packet(Frame(0, data), next(numbers)) for _, data in frames]
    content = captures.section() + b"".join(captures.interface(link) for link, _ in frames) + b"".join(blocks)
    found, others = read(tmp_path, content)
    assert found == []
    assert others["not_understood"] == {reason: len(several) for reason, several in wrong.items()}
    assert (others["frames"], others["tcp"], others["other"]) == (len(frames), 0, len(other))


def moved(segments: list[Segment], number: int, at: float) -> list[Segment]:
    """Return segments of which one was captured at another time."""
    one = segments.pop(number)
    return sorted([*segments, replace(one, at=at)], key=lambda segment: segment.at)


@pytest.mark.parametrize(
    ("order", "sends"),
    [
        # The SYN is captured after the SYN-ACK, after the handshake's ACK, after data, or not at all.
        (lambda it: [replace(it[1], at=0), replace(it[0], at=0.04), *it[2:]], SENDS),
        (lambda it: moved(it, 0, 0.0405), None),
        (lambda it: moved(it, 0, 0.095), None),
        (lambda it: it[1:], None),
        # The SYN-ACK is captured after the ACK or after data, or not at all.
        (lambda it: moved(it, 1, 0.0405), None),
        (lambda it: moved(it, 1, 0.0911), None),
        (lambda it: it[:1] + it[2:], None),
        # Data are captured before the SYN-ACK, so that only the SYN is there.
        (lambda it: moved(it, 5, 0.0399), None),
        # Repeated SYNs and SYN-ACKs: the time between the first SYN and the answer to the third is no round trip.
        (lambda it: [replace(it[0], at=-3), replace(it[0], at=-1), *it], SENDS),
        (lambda it: [*it[:2], replace(it[1], at=0.0401), *it[2:]], SENDS),
        # Each segment twice, as `tcpdump -i any` sees those that cross a bridge.
        (lambda it: [same for one in it for same in (one, one)], SENDS),
        # Retransmissions, and data that overlap.
        (lambda it: [*it[:9], replace(it[5], at=0.0925), replace(it[6], seq=501, at=0.0926), *it[9:]], None),
        # A keep-alive of one byte that the other end has.
        (lambda it: [*it[:9], Segment(0.095, False, 3000, 101, ACK, 1, it[0].options), *it[9:]], SENDS),
        # A RST ends the connection, with a text that is no data.
        (lambda it: [*it[:9], Segment(0.1, True, 101, 3001, RST | ACK, 12, it[0].options)], SENDS),
    ],
)  # fmt: skip
def test_tcp_as_it_arrives(
    tmp_path: Path, order: Callable[[list[Segment]], list[Segment]], sends: list[list[Any]] | None
) -> None:
    (one,), others = read(tmp_path, captures.pcap(captures.frames(order(captures.connection()))))
    assert (bytes_of(one), one["concurrent"]) == ((100, 3000), False)
    assert (others["partial"], others["silent"], others["one_sided"]) == (0, 0, 0)
    if sends is not None:
        assert (one["sends"], one["rtt_us"]) == (sends, 40_000)


@pytest.mark.parametrize("syn_is_first", [True, False])
def test_data_in_a_syn_count_once(tmp_path: Path, syn_is_first: bool) -> None:
    """TCP Fast Open (RFC 7413): the SYN-ACK covers the data, or the data come again. Both SYNs may have data."""
    syn, answer, *rest = captures.connection()
    fast = replace(syn, payload=60)
    for covered in (61, 1):
        accept = replace(answer, ack=covered, payload=0)
        begin = [fast, accept] if syn_is_first else [replace(accept, at=0), replace(fast, at=0.04)]
        assert carried(tmp_path, captures.pcap(captures.frames([*begin, *rest]))) == [(100, 3000)]
    both = [fast, replace(answer, ack=61, payload=1000), *rest]
    assert carried(tmp_path, captures.pcap(captures.frames(both))) == [(100, 3000)]


def test_ends_that_open_at_the_same_time_have_one_connection(tmp_path: Path) -> None:
    syn, answer, *rest = captures.connection()
    crossed = [
        syn,
        Segment(0.001, False, 0, 0, SYN, 0, syn.options),
        Segment(0.040, True, 0, 1, SYN | ACK, 0, syn.options),
        replace(answer, at=0.041),
        *rest[1:],
    ]
    assert carried(tmp_path, captures.pcap(captures.frames(sorted(crossed, key=lambda one: one.at)))) == [(100, 3000)]


def test_a_port_that_is_used_again_begins_another_connection(tmp_path: Path) -> None:
    """From the same end, or from the other one, and if only the second SYN-ACK was captured."""

    def again(after: float, syn: bool) -> list[Segment]:
        later = [
            replace(one, at=one.at + after, seq=one.seq + 10**6, ack=one.ack + 10**6) for one in captures.connection()
        ]
        return later if syn else later[1:]

    for syn in (True, False):
        found = carried(tmp_path, captures.pcap(captures.frames([*captures.connection(), *again(5, syn)])))
        assert found == [(100, 3000)] * 2
    turned = [replace(one, up=not one.up, at=one.at + 5, seq=one.seq + 7) for one in captures.connection()]
    turned = [replace(one, ack=one.ack + 7) for one in turned]
    found = carried(tmp_path, captures.pcap(captures.frames([*captures.connection(), *turned])))
    assert found == [(100, 3000)] * 2


def test_half_of_a_connection_is_said_to_be_half(tmp_path: Path) -> None:
    for up, half in ((True, (100, 0)), (False, (0, 3000))):
        one_way = [one for one in captures.connection() if one.up == up]
        (one,), others = read(tmp_path, captures.pcap(captures.frames(one_way)))
        assert (bytes_of(one), one["rtt_us"], others["one_sided"]) == (half, None, 1)
    _, others = read(tmp_path, captures.pcap(captures.frames(captures.connection()[3:])))
    assert (others["partial"], others["silent"]) == (1, 0)


@pytest.mark.parametrize(
    "options", [b"\xfd\0", b"\xfd\x01", b"\x08\xff", b"\xfe", b"\0\x03\x03\x07", b"\x22\x0c" + bytes(10)]
)
def test_options_that_nobody_knows_or_that_are_malformed(tmp_path: Path, options: bytes) -> None:
    """An unknown option hides no window scale behind it. A malformed one ends the options."""
    segments = captures.connection(options=options + b"\x03\x03\x07")
    (one,), others = read(tmp_path, captures.pcap(captures.frames(segments)))
    assert (one["sends"], others["not_understood"]) == (SENDS, {})
    assert one["windows"] == [65000 << 7 if options[0] == 0x22 else 65000] * 2


def packed(how: str, content: bytes) -> bytes:
    """Return compressed bytes, in two parts after each other."""
    if how == "gzip":
        return gzip.compress(content[:2000]) + gzip.compress(content[2000:])
    skipped = struct.pack("<II", 0x184D2A50, 5) + b"about"
    return skipped + zstd(content[:2000]) + skipped + zstd(content[2000:])


def zstd(content: bytes) -> bytes:
    """Return a frame of zstd whose blocks are not compressed, and repeated bytes (RFC 8878, 3.1.1)."""
    block = struct.pack("<I", len(content) << 3 | 1)[:3] + content
    return struct.pack("<IBB", 0xFD2FB528, 0, 0x58) + block


@pytest.mark.parametrize("how", ["gzip", "zstd"])
def test_compressed_files_whole_cut_and_damaged(tmp_path: Path, how: str) -> None:
    content = captures.pcap(captures.frames(captures.connection()))
    whole = packed(how, content)
    assert carried(tmp_path, whole) == [(100, 3000)]
    connections, others = read(tmp_path, whole[:-200])
    assert (len(connections), others["cut"]) == (1, True)
    for place in range(0, len(whole), 97):
        damaged = bytearray(whole)
        damaged[place] ^= 0x55
        try:
            read(tmp_path, bytes(damaged))
        except ValueError as error:
            assert "\n" not in str(error)


def test_what_is_no_capture_is_named(tmp_path: Path) -> None:
    for begin, why in (
        (b"\x04\x22\x4d\x18", "found an lz4 file"),
        (b"\xfd7zXZ\0", "found an xz file"),
        (b"BZh91AY", "found a bzip2 file"),
        (b"snoop\0\0\0", "found a capture of snoop"),
        (b"", "offset 0: an empty file"),
        (b"\xd4\xc3\xb2\xa1", "offset 0: no header of a capture"),
        (gzip.compress(b""), "offset 0: an empty file"),
        (b"\x1f\x8b" + bytes(40), "cannot be decompressed: "),
        (struct.pack("<IBB", 0xFD2FB528, 0, 0xFF), "cannot be decompressed: "),
        (captures.section() + bytes(12), "offset 28: no frame"),
        (captures.section() + captures.packet(Frame(0, b"")), "offset 28: a frame of no interface"),
        (captures.pcap([]) + struct.pack("<IIII", 0, 0, 2**32 - 1, 0), "offset 24: a block of 4294967311 bytes"),
    ):
        with pytest.raises(ValueError, match=r"\A.*some.pcap: ") as refused:
            read(tmp_path, begin)
        assert why in str(refused.value), (begin, refused.value)
        assert "\n" not in str(refused.value)


def test_a_capture_of_only_itself_is_empty(tmp_path: Path) -> None:
    for content in (captures.pcap([]), captures.section(), captures.section() + captures.interface(ETHERNET)):
        connections, others = read(tmp_path, content)
        assert (connections, others["frames"], others["cut"]) == ([], 0, False)


def test_a_file_that_is_being_written_is_read_up_to_the_frame_that_is_cut(tmp_path: Path) -> None:
    frames = captures.frames(captures.connection())
    end = captures.section() + captures.interface(ETHERNET) + b"".join(captures.packet(one) for one in frames)
    for content, last in ((captures.pcap(frames), 16 + 66), (end, 32 + 68)):
        for left in (1, 12, last - 1):
            connections, others = read(tmp_path, content[: len(content) - last + left])
            assert [one["sends"] for one in connections] == [SENDS]
            assert (others["cut"], others["frames"]) == (True, len(frames) - 1)


def test_a_block_that_contradicts_itself_is_no_end_of_the_file(tmp_path: Path) -> None:
    """The frame's length is larger than its block. What follows must not be left out as if the file had ended."""
    frames = captures.frames(captures.connection())
    blocks = [captures.packet(one) for one in frames]
    blocks[3] = blocks[3][:20] + struct.pack("<I", 10**6) + blocks[3][24:]
    with pytest.raises(ValueError, match="no frame; accepted"):
        read(tmp_path, captures.section() + captures.interface(ETHERNET) + b"".join(blocks))


def test_the_command_says_what_was_not_understood(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, goodqueue: Callable[..., Result]
) -> None:
    monkeypatch.chdir(tmp_path)
    frames = captures.frames(captures.connection())
    ip = captures.ip4(True, captures.udp(53, b"name"), 17)
    more = [captures.ethernet(kind, ip) for kind in (0x0800, 0x1234, 0x1234, 0x88E5)]
    content = captures.pcap([*frames, *(Frame(1, data) for data in more)])
    Path("some.pcap.gz").write_bytes(gzip.compress(content[:-5]))
    done = goodqueue("vectors", "some.pcap.gz", "--out", "some.tmix")
    assert done.status == 0
    assert done.out == "Written: some.tmix, 1 connections, 0 of them concurrent.\n"
    assert done.err == (
        "goodqueue: some.pcap.gz: the file ends within a frame, which is left out\n"
        "goodqueue: some.pcap.gz: 15 frames: 12 with TCP, 1 of other protocols, 2 not understood (2 EtherType 0x1234)\n"
    )
    Path("none.pcap").write_bytes(captures.pcap([Frame(1, data) for data in more]))
    refused = goodqueue("vectors", "none.pcap", "--out", "none.tmix")
    assert refused.status == 2
    assert refused.err == (
        "goodqueue: none.pcap: found no TCP connection from its SYN on that carried data in 4 frames: 0 with TCP, "
        "1 of other protocols, 3 not understood (2 EtherType 0x1234, 1 encrypted (MACsec)); accepted: one or more\n"
    )
    assert not Path("none.tmix").exists()
