"""``guest.py JOBS OUT``: gives trees of `tc` commands and their packets to Linux, and notes what leaves.

It runs as the only program of a machine in virtual time, where work takes none. JOBS has the trees, as `write` of
``job.py`` wrote them. OUT gets for each of them what `tc` said, its counters at the end, and each packet that the
device sent: when, how long it was, and its first bytes.

The device is a `dummy`, which takes each packet at once: the pace is the tree's own. Packets come from packet sockets,
one for each mark and priority, at exact times. Another one sees what leaves the qdiscs, as a ring in memory, so that
nothing of this takes a part in the run.
"""

import ctypes
import fcntl
import json
import mmap
import os
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

DEVICE = "eth0"
SHOWN = 76
"""Bytes of a packet that are noted: all headers up to TCP's, of IPv6."""
PACKET = struct.Struct("<QIIIHBB")
"""When it comes, in nanoseconds; length, mark, priority, size of its segments or 0, their kind, bytes of its head."""
SENT = struct.Struct("<QI")

_SOL_PACKET, _RING_VERSION, _RING, _VNET = 263, 10, 5, 15
"""Options of packet sockets (linux/if_packet.h)."""
_SNDBUFFORCE, _PRIORITY, _MARK, _FILTER = 32, 12, 36, 26
_FRAME, _BLOCK, _BLOCKS = 256, 65536, 128
_FRAMES = _BLOCK * _BLOCKS // _FRAME
_ROUND_NS = 512 * 4_000_000
_FIRST_NS = 248 * 4_000_000
"""Linux counts ticks of 4 ms, from 75000 below zero on, at the boot (INITIAL_JIFFIES). Each tree is made when the count
is a multiple of 512. Timers in ticks, which the wheel rounds to multiples, then fire as if the count had begun then."""

_LEAST_NS = 300_000_000
LONGEST_NS = 1_000_000
"""So long it may take at most until a tree is made, as its timers begin with it."""
_LATE_NS = 2
"""A program wakes so much later than it asked to: by the shortest slack, and by the kernel's own look at the clock."""
_NO_BUFFERS = 105
"""The error of a call whose packet was dropped (ENOBUFS)."""
_SLACK = 29
"""A number of prctl(2): how late a program may wake."""

_TC = "/usr/sbin/tc"
"""Where the image has it."""
_SET_FLAGS = 0x8914
"""A number of ioctl(2): netdevice(7), SIOCSIFFLAGS."""

_libc = ctypes.CDLL(None)


def nap(until_ns: int) -> None:
    """Sleep until this time of CLOCK_MONOTONIC. No clock is read, as each reading would move it."""
    when = struct.pack("qq", *divmod(until_ns, 1_000_000_000))
    _libc.clock_nanosleep(1, 1, when, None)


class Ring:
    """What leaves the device, in memory."""

    def __init__(self) -> None:
        """Begin to look."""
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        code = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, SHOWN))  # the first bytes of each packet
        self._socket.setsockopt(socket.SOL_SOCKET, _FILTER, struct.pack("HxxxxxxP", 1, ctypes.addressof(code)))
        self._socket.setsockopt(_SOL_PACKET, _RING_VERSION, struct.pack("i", 1))
        self._socket.setsockopt(_SOL_PACKET, _RING, struct.pack("IIII", _BLOCK, _BLOCKS, _FRAME, _FRAMES))
        self._memory = mmap.mmap(self._socket.fileno(), _BLOCK * _BLOCKS)
        self._socket.bind((DEVICE, 3))
        self._next = 0

    def take(self, offset_ns: int) -> bytes:
        """Return what has left, with times of CLOCK_REALTIME less ``offset_ns``."""
        sent = bytearray()
        while True:
            at = self._next * _FRAME
            status, length, kept, mac, _, seconds, rest = struct.unpack_from("IIIHHII", self._memory, at)
            if not status & 1:
                return bytes(sent)
            sent += SENT.pack(seconds * 1_000_000_000 + rest - offset_ns, length)
            sent += self._memory[at + mac : at + mac + kept].ljust(SHOWN, b"\0")
            struct.pack_into("I", self._memory, at, 0)
            self._next = (self._next + 1) % _FRAMES


class Senders:
    """Packet sockets, by mark, priority and whether packets are merged."""

    def __init__(self) -> None:
        """Begin without any."""
        self._sockets: dict[tuple[int, int, bool], socket.socket] = {}

    def of(self, mark: int, priority: int, merged: bool) -> socket.socket:
        """Return the socket whose packets have this mark and this priority."""
        key = mark, priority, merged
        if key not in self._sockets:
            one = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
            one.bind((DEVICE, 0))
            one.setsockopt(socket.SOL_SOCKET, _SNDBUFFORCE, 1 << 29)
            one.setsockopt(socket.SOL_SOCKET, _PRIORITY, struct.pack("I", priority))
            one.setsockopt(socket.SOL_SOCKET, _MARK, struct.pack("I", mark))
            if merged:
                one.setsockopt(_SOL_PACKET, _VNET, 1)
            self._sockets[key] = one
        return self._sockets[key]

    def close(self) -> None:
        """Close all."""
        for one in self._sockets.values():
            one.close()
        self._sockets.clear()


def frame(head: bytes, length: int, size: int, kind: int) -> bytes:
    """Return a packet as its socket takes it. A merged one has a description in front (linux/virtio_net.h)."""
    whole = head.ljust(length, b"\0")
    if not size:
        return whole
    at = 34 if head[12:14] == b"\x08\0" else 54
    header = at + (head[at + 12] >> 4) * 4
    return struct.pack("<BBHHHH", 1, kind, header, size, at, 16) + whole


def send(packets: list[tuple[int, int, int, int, int, int, bytes]], start_ns: int) -> list[tuple[int, int]]:
    """Send each packet at its time behind ``start_ns``.

    Return the numbers of those that came later, with their times. A call that fails, as the qdisc drops its packet,
    takes Linux as a process some nanoseconds, and the next packet may be due by then.
    """
    senders, now, moved = Senders(), 0, []
    ready = [
        (when, senders.of(mark, priority, size > 0).send, frame(head, length, size, kind))
        for when, length, mark, priority, size, kind, head in packets
    ]
    for number, (when, give, whole) in enumerate(ready):
        if when - _LATE_NS > now:
            nap(start_ns + when - _LATE_NS)
            now = when
        elif when != now:
            moved.append((number, now))
        try:
            give(whole)
        except OSError as error:
            if error.errno != _NO_BUFFERS:
                raise
            now = time.clock_gettime_ns(time.CLOCK_MONOTONIC) - start_ns
    senders.close()
    return moved


def carry_out(job: dict[str, object], packets: list[tuple[int, int, int, int, int, int, bytes]], ring: Ring) -> bytes:
    """Make one tree, send its packets, and return what became of it."""
    batch = "".join(f"{command}\n" for command in job["commands"])  # type: ignore[attr-defined]
    now = time.clock_gettime_ns(time.CLOCK_MONOTONIC) + _LEAST_NS
    begin = now + (_FIRST_NS - now) % _ROUND_NS
    nap(begin)
    draw(job)
    said = subprocess.run([_TC, "-force", "-batch", "-"], input=batch, capture_output=True, text=True, check=False)
    made = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    offset = time.clock_gettime_ns(time.CLOCK_REALTIME) - made - 1
    ring.take(0)
    moved = send(packets, begin)
    nap(begin + int(job["end"]))  # type: ignore[call-overload]
    ended = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    sent = ring.take(offset + begin)
    counters = subprocess.run([_TC, "-s", "qdisc", "show", "dev", DEVICE], capture_output=True, text=True, check=False)
    subprocess.run([_TC, "qdisc", "del", "dev", DEVICE, "root"], capture_output=True, check=False)
    ring.take(0)
    answer = {
        "said": said.stderr,
        "moved": moved,
        "made_ns": made - begin,
        "ended_ns": ended - begin,
        "counters": counters.stdout,
        "sent": len(sent) // (SENT.size + SHOWN),
    }
    text = json.dumps(answer).encode()
    return struct.pack("<II", len(text), len(sent)) + text + sent


def draw(job: dict[str, object]) -> None:
    """Let Linux's disciplines draw from the generator whose state the job has."""
    state = int(job["draws"])  # type: ignore[call-overload]
    for name, part in (("high", state >> 64), ("low", state & 0xFFFF_FFFF_FFFF_FFFF)):
        Path(f"/sys/module/kernel/parameters/net_draws_{name}").write_text(f"{part}\n", encoding="ascii")


def make_device() -> None:
    """Make the device. Linux itself sends nothing through it."""
    for name in ("default", "all"):
        Path(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6").write_text("1\n", encoding="ascii")

    def part(number: int, data: bytes) -> bytes:
        return struct.pack("HH", 4 + len(data), number) + data + bytes(-len(data) % 4)

    body = bytes(16) + part(3, DEVICE.encode() + b"\0") + part(18, part(1, b"dummy\0"))
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as netlink:
        netlink.send(struct.pack("IHHII", 16 + len(body), 16, 0x605, 1, 0) + body)
        if error := struct.unpack_from("i", netlink.recv(4096), 16)[0]:
            raise SystemExit(f"no device {DEVICE}: error {-error}")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sH14x", DEVICE.encode(), 1))  # up


def main() -> None:
    """Carry out all jobs."""
    jobs, out = sys.argv[1:]
    _libc.prctl(_SLACK, 1, 0, 0, 0)
    make_device()
    ring = Ring()
    # Soon after the boot the timers still tick coarsely, and the burst that `tc` gives a class of htb is longer.
    time.sleep(1)
    with Path(jobs).open("rb") as source, Path(out).open("wb") as answers:
        while size := source.read(4):
            job = json.loads(source.read(struct.unpack("<I", size)[0]))
            packets = []
            for _ in range(job["packets"]):
                *fields, head = PACKET.unpack(source.read(PACKET.size))
                packets.append((*fields, source.read(head)))
            answers.write(carry_out(job, packets, ring))
            answers.flush()
            print("progress", job["number"], flush=True)


if __name__ == "__main__":
    main()
    os.sync()
