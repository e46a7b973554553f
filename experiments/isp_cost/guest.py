"""``instructions_guest.py OUT``: counts instructions per packet of queue disciplines, in the kernel engine's machine.

The machine's clock counts instructions, one nanosecond each. So a program that is always busy reads from the clock how
many instructions it and the kernel took. It sends packets from a packet socket into a veth, whose other end drops them.
CASES is a JSON object: by name, commands of `tc` and how packets are sent. OUT/instructions.json has, by name, the time
for two numbers of packets.

Each subscriber has a socket of its own. The socket's priority (SO_PRIORITY) is the class of the subscriber, as
LibreQoS's programs in the kernel set it, unless a case has filters.
"""

import gc
import json
import os
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

from pyroute2 import IPRoute

CASES = Path("/plan.json")
DEVICE, OTHER = "v0", "v1"
_ELSEWHERE = bytes.fromhex("02ffffffffff02000000000a0800")
"""An Ethernet header to an address that nobody has: the other end drops such a packet first of all."""


def frame(subscriber: int, flow: int, length: int) -> bytes:
    """Return a UDP packet to a subscriber, of a flow: the source port is the flow's."""
    datagram = length - 14 - 20
    address = (100 << 24) + (64 << 16) + 1 + subscriber
    ip = struct.pack(">BBHHHBBHII", 0x45, 0, length - 14, 0, 0, 64, 17, 0, (9 << 24) + 1, address)
    udp = struct.pack(">HHHH", 1024 + flow, 2000, datagram, 0)
    return (_ELSEWHERE + ip + udp).ljust(length, b"\0")


def link() -> None:
    """Make the veth anew, without IPv6."""
    with IPRoute() as ip:
        if found := ip.link_lookup(ifname=DEVICE):
            ip.link("del", index=found[0])
        ip.link("add", ifname=DEVICE, kind="veth", peer={"ifname": OTHER})
        for name in (DEVICE, OTHER):
            Path(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6").write_text("1", encoding="ascii")
            ip.link("set", index=ip.link_lookup(ifname=name)[0], state="up")


def sockets(case: dict[str, object], subscribers: int) -> list[socket.socket]:
    """Return one socket per subscriber, each with the priority that is its class."""
    made = []
    for number in range(subscribers):
        one = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        one.bind((DEVICE, 0))
        if case["by"] == "priority":
            one.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, (1 << 16) + 0x10 + number)
        made.append(one)
    return made


def busy_ns() -> int:
    """Return how long the processor has been busy, in the resolution of /proc/stat (10 ms)."""
    fields = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()[1:]
    idle = int(fields[3]) + int(fields[4])
    return time.monotonic_ns() - idle * 1_000_000_000 // os.sysconf("SC_CLK_TCK")


def timed(case: dict[str, int], senders: list[socket.socket], frames: list[list[bytes]], packets: int) -> int:
    """Send ``packets`` and return the busy time in ns. Packets of a burst wait in the queue, until all have left."""
    burst, pause_s = case["burst"], case["pause_s"]
    turns = [(one.send, own) for one, own in zip(senders, frames, strict=True)]
    of, flows = len(turns), len(frames[0])
    begun, before = time.monotonic_ns(), busy_ns()
    if not burst:
        for number in range(packets):
            send, own = turns[number % of]
            send(own[0])
        return time.monotonic_ns() - begun
    sent = 0
    while sent < packets:
        for number in range(burst):
            send, own = turns[number % of]
            send(own[number // of % flows])
        sent += burst
        time.sleep(pause_s)
    return busy_ns() - before


def main() -> None:
    """Take all cases."""
    results = {}
    gc.disable()
    cases = json.loads(CASES.read_text(encoding="utf-8"))
    for place, (name, case) in enumerate(cases.items()):
        link()
        lines = "\n".join(line.replace("DEV", f"dev {DEVICE}") for line in case["tc"])
        batch = ["tc", "-batch", "-"]
        done = subprocess.run(batch, input=lines, capture_output=True, text=True, check=False)
        if done.returncode or done.stderr:
            raise SystemExit(f"error: {name}: {done.stderr.strip()}")
        senders = sockets(case, case["subscribers"])
        frames = [[frame(number, flow, case["length"]) for flow in range(8)] for number in range(case["subscribers"])]
        timed(case, senders, frames, case["packets"] // 4)  # the first packets allocate
        results[name] = [[many, timed(case, senders, frames, many)] for many in (case["packets"], 2 * case["packets"])]
        for one in senders:
            one.close()
        print(f"progress {(place + 1) / len(cases):.3f}", flush=True)
    kernel = f"{os.uname().release} {os.uname().version}"
    text = json.dumps({"kernel": kernel, "cases": results})
    Path(sys.argv[1], "instructions.json").write_text(text, encoding="utf-8")


main()
