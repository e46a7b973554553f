"""``guest.py OUT``: transfers between two network namespaces, in the kernel engine's machine.

Its processor takes time: a receiver reads only when the processor has taken all segments that wait. A veth connects the
two, without segmentation and receive offloads. The sender's end has the discipline of the case, and ``netem`` delays
the ACKs at the receiver's end. OUT has one capture per case, from the receiver's end. /plan.json has the cases.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import libc  # the laboratory's
import netlink

SENDER, RECEIVER = "10.0.0.1", "10.0.0.2"
NETWORK = "10.0.0.0/24"
MACS = {"s0": "02:00:00:00:00:01", "r0": "02:00:00:00:00:02"}
PORT = 5001
SYSCTLS = {
    "ipv6/conf/all/disable_ipv6": "1",
    "ipv6/conf/default/disable_ipv6": "1",
    "ipv4/tcp_no_metrics_save": "1",
    "ipv4/tcp_rmem": "4096 131072 6291456",
    "ipv4/tcp_wmem": "4096 16384 4194304",
}
READ_BYTES = 1 << 16
REPEATS, PHASE_S = 8, 0.00013


def namespace() -> int:
    """Enter a new network namespace for good, and return its descriptor."""
    libc.new_network()
    descriptor = os.open("/proc/self/ns/net", os.O_RDONLY)
    for name, value in SYSCTLS.items():
        path = Path("/proc/sys/net", name)
        if path.exists():
            path.write_text(value, encoding="ascii")
    netlink.set_up(netlink.LOOPBACK)
    return descriptor


def raised(device: str, address: str, other: str, beside: str) -> int:
    """Bring ``device`` up with ``address``, without offloads. ``other`` is at the MAC address ``beside``."""
    index = netlink.index_of(device)
    netlink.send_singly(device)
    netlink.set_up(index)
    netlink.add_own_addresses(address)
    netlink.add_neighbour(other, beside, index)
    netlink.add_route(NETWORK, other, index, netlink.MAIN_TABLE)
    return index


def tc(device: str, lines: list[str]) -> None:
    """Give ``lines`` to tc."""
    text = "\n".join(line.replace("DEV", f"dev {device}") for line in lines)
    subprocess.run(["tc", "-batch", "-"], input=text, text=True, check=True)


def send(listening: socket.socket, size: int) -> None:
    """Send ``size`` bytes to each that connects, one after the other."""
    for _ in range(REPEATS):
        connection, _ = listening.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.sendall(bytes(size))
        connection.shutdown(socket.SHUT_WR)
        connection.recv(1)
        connection.close()


def receive() -> None:
    """Ask for each transfer, and read it to its end. Each begins at another phase of the clocks."""
    for number in range(REPEATS):
        time.sleep(0.5 + number * PHASE_S)
        with socket.create_connection((SENDER, PORT), source_address=(RECEIVER, 0)) as connection:
            while connection.recv(READ_BYTES):
                pass


def forked(task, *arguments) -> int:  # type: ignore[no-untyped-def]
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


def transfer(case: dict, file: Path) -> None:  # type: ignore[type-arg]
    """Do the transfer of ``case``, and capture it in ``file``."""
    sending = namespace()
    receiving = namespace()
    libc.enter_network(sending)
    netlink.add_veth(("s0", MACS["s0"]), ("r0", MACS["r0"]), receiving, 1)
    index = raised("s0", SENDER, RECEIVER, MACS["r0"])
    if case["single"]:
        netlink.forbid_segments(index)
    tc("s0", case["sender"])
    libc.enter_network(receiving)
    raised("r0", RECEIVER, SENDER, MACS["s0"])
    tc("r0", case["receiver"])
    watching = ["tcpdump", "-i", "r0", "-n", "-p", "-Z", "root", "-s", "128", "-B", "8192", "-w", str(file)]
    capture = subprocess.Popen([*watching, "--time-stamp-precision=nano", "ip"], stderr=subprocess.PIPE, text=True)
    assert capture.stderr is not None
    for line in capture.stderr:
        if "listening on" in line:
            break
    receiver = forked(receive)
    libc.enter_network(sending)
    for child in (forked(send, socket.create_server((SENDER, PORT)), case["size"]), receiver):
        os.waitpid(child, 0)
    time.sleep(1)
    capture.send_signal(signal.SIGINT)
    capture.wait()


def main() -> None:
    """Do all cases."""
    cases = json.loads(Path("/plan.json").read_text(encoding="utf-8"))
    for place, (name, case) in enumerate(cases.items()):
        os.waitpid(forked(transfer, case, Path(sys.argv[-1], f"{name}.pcap")), 0)
        print(f"progress {(place + 1) / len(cases):.3f}", flush=True)
    Path(sys.argv[-1], "kernel").write_text(os.uname().release, encoding="ascii")


main()
