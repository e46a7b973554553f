"""``guest.py OUT``: transfers between two network namespaces, in the kernel engine's machine.

Its processor takes time: a receiver reads only when the processor has taken all segments that wait. A veth connects the
two, without segmentation and receive offloads. The sender's end has the discipline of the case, and ``netem`` delays
what the receiver sends. /plan.json has the cases. OUT/transfers.json has, by case, the ACKs and the time in ms of each
transfer. A receiver sends a SYN, the ACK that ends the handshake, and a FIN beside its ACKs.
"""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import libc  # the laboratory's
import netlink

SENDER, RECEIVER = "10.0.0.1", "10.0.0.2"
NETWORK = "10.0.0.0/24"
MACS = {"s0": "02:00:00:00:00:01", "r0": "02:00:00:00:00:02"}
PORT = 5001
READ_BYTES = 1 << 16
NO_ACKS = 3
REPEATS, PHASE_S = 8, 0.00013
PAUSE_S = 0.5
SYSCTLS = {
    "ipv6/conf/all/disable_ipv6": "1",
    "ipv6/conf/default/disable_ipv6": "1",
    "ipv4/tcp_no_metrics_save": "1",
}


def namespace(sysctls: dict[str, str]) -> int:
    """Enter a new network namespace for good, and return its descriptor."""
    libc.new_network()
    for name, value in (SYSCTLS | sysctls).items():
        path = Path("/proc/sys/net", name)
        if path.exists():
            path.write_text(value, encoding="ascii")
    netlink.set_up(netlink.LOOPBACK)
    return os.open("/proc/self/ns/net", os.O_RDONLY)


def raise_end(device: str, address: str, other: str, beside: str) -> None:
    """Bring ``device`` up with ``address``, without offloads. ``other`` is at the MAC address ``beside``."""
    index = netlink.index_of(device)
    netlink.send_singly(device)
    netlink.set_up(index)
    netlink.add_own_addresses(address)
    netlink.add_neighbour(other, beside, index)
    netlink.add_route(NETWORK, other, index, netlink.MAIN_TABLE)


def tc(device: str, lines: list[str]) -> None:
    """Give ``lines`` to tc."""
    text = "\n".join(line.replace("DEV", f"dev {device}") for line in lines)
    batch = ["tc", "-batch", "-"]
    subprocess.run(batch, input=text, text=True, check=True)


def sent_segments() -> int:
    """Return how many segments this namespace has sent."""
    names, values = (
        line.split() for line in Path("/proc/net/snmp").read_text(encoding="ascii").splitlines() if "Tcp:" in line
    )
    return int(values[names.index("OutSegs")])


def send(listening: socket.socket, size: int) -> None:
    """Send ``size`` bytes to each that connects, one after the other."""
    for _ in range(REPEATS):
        connection, _ = listening.accept()
        connection.sendall(bytes(size))
        connection.shutdown(socket.SHUT_WR)
        connection.recv(1)
        connection.close()


def receive(answers: int) -> None:
    """Ask for each transfer, and read it to its end. Each begins at another phase of the clocks."""
    transfers = []
    for number in range(REPEATS):
        time.sleep(PAUSE_S + number * PHASE_S)
        before, begun = sent_segments(), time.monotonic()
        with socket.create_connection((SENDER, PORT), source_address=(RECEIVER, 0)) as connection:
            while connection.recv(READ_BYTES):
                ended = time.monotonic()
        time.sleep(PAUSE_S)
        transfers.append([sent_segments() - before - NO_ACKS, 1000 * (ended - begun)])
    os.write(answers, json.dumps(transfers).encode())


def forked(task: Callable[..., None], *arguments: Any) -> int:
    """Do ``task`` in a process of its own, and return its number."""
    child = os.fork()
    if child == 0:
        try:
            task(*arguments)
        except OSError as error:
            print(f"error: {task.__name__}: {error}", flush=True)
            os._exit(1)
        os._exit(0)
    return child


def transfers(case: dict[str, Any], answers: int) -> None:
    """Do the transfers of ``case``, and write them to ``answers``."""
    sending, receiving = namespace(case["sysctls"]), namespace(case["sysctls"])
    libc.enter_network(sending)
    netlink.add_veth(("s0", MACS["s0"]), ("r0", MACS["r0"]), receiving, 1)
    raise_end("s0", SENDER, RECEIVER, MACS["r0"])
    if case["single"]:
        netlink.forbid_segments(netlink.index_of("s0"))
    tc("s0", case["sender"])
    listening = socket.create_server((SENDER, PORT))
    libc.enter_network(receiving)
    raise_end("r0", RECEIVER, SENDER, MACS["s0"])
    tc("r0", case["receiver"])
    for child in (forked(send, listening, case["size"]), forked(receive, answers)):
        os.waitpid(child, 0)


def main() -> None:
    """Do all cases."""
    cases = json.loads(Path("/plan.json").read_text(encoding="utf-8"))
    results = {}
    for place, (name, case) in enumerate(cases.items()):
        answer, answers = os.pipe()
        os.waitpid(forked(transfers, case, answers), 0)
        os.close(answers)
        with os.fdopen(answer) as file:
            results[name] = json.loads(file.read())
        print(f"progress {(place + 1) / len(cases):.3f}", flush=True)
    text = json.dumps({"kernel": os.uname().release, "cases": results})
    Path(sys.argv[-1], "transfers.json").write_text(text, encoding="utf-8")


main()
