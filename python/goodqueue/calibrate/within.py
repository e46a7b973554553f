"""``python -m goodqueue.calibrate.within END FOLDER``: the programs of one run at one end of a link.

END is ``server`` or ``client``. FOLDER has the orders, and gets the programs' output. The clients start together when
all servers listen. When all clients have ended, the servers may end by themselves, and are ended otherwise.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from goodqueue.calibrate.starting import take_precedence

DEVICE = "path"
"""The network device of each end of a link (docs/guides/link.md)."""

ORDERS, READY, STATUSES = "orders.json", "ready", "statuses.json"

PATIENCE_S = 15.0
"""How long the servers may take until all of them listen."""

GRACE_S = 2.0
"""How long a server may take to end by itself when the clients have ended."""

_LOOK_S = 0.02

_LISTENS = {"tcp": "0A", "udp": "07"}
"""The states of sockets in /proc/net that may be connected to."""


@dataclass(frozen=True, slots=True)
class Order:
    """One program at one end."""

    name: str
    command: Sequence[str]
    output: str
    """The file for its standard output. Standard error goes beside it, into a file called ``….err``."""
    protocol: str = ""
    """What it listens with: ``tcp``, ``udp``, or nothing."""
    port: int = 0
    is_once: bool = False
    """Whether a server ends by itself after its client."""


def give(folder: Path, congestion_control: str, servers: Sequence[Order], clients: Sequence[Order]) -> None:
    """Write the orders into ``folder``: the TCP of both ends, and the programs of each."""
    ends = {"server": [asdict(server) for server in servers], "client": [asdict(client) for client in clients]}
    orders = {"congestion_control": congestion_control, **ends}
    (folder / ORDERS).write_text(json.dumps(orders), encoding="utf-8")


def command(end: str, folder: Path) -> list[str]:
    """Return the command for one ``end`` of the link."""
    return [sys.executable, "-P", "-m", "goodqueue.calibrate.within", end, str(folder)]


def main() -> None:
    """Run the programs of one end."""
    end, folder = sys.argv[1], Path(sys.argv[2])
    orders: Mapping[str, Any] = json.loads((folder / ORDERS).read_text(encoding="utf-8"))
    own_orders = [Order(**order) for order in orders[end]]
    _use(orders["congestion_control"])
    with ExitStack() as open_files:
        if end == "server":
            _serve(own_orders, folder, open_files)
        else:
            _await(folder / READY)
            started = [(order.name, _start(order, open_files)) for order in own_orders]
            statuses = {name: process.wait() for name, process in started}
            (folder / STATUSES).write_text(json.dumps(statuses), encoding="utf-8")


def _use(congestion_control: str) -> None:
    """Set the congestion control of this end's connections by its routes, as not all programs have an option for it.

    It must be on each route: a server's connections follow the route to their client, and not the default. The sysctl
    would refuse what the machine does not permit to everybody (Linux, TCP_CONG_NON_RESTRICTED).
    """
    routes = _ip(["-4", "route", "show", "dev", DEVICE]).splitlines()
    changes = [f"route replace {route} dev {DEVICE} congctl {congestion_control}" for route in routes]
    _ip(["-4", "-batch", "-"], "\n".join(changes))


def _ip(words: Sequence[str], text: str = "") -> str:
    """Return what the command ``ip`` says."""
    ip = shutil.which("ip", path=os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"]))
    done = subprocess.run([ip or "ip", *words], check=False, capture_output=True, text=True, input=text)
    if done.returncode:
        sys.exit(f"ip {' '.join(words)}: {done.stderr.strip() or 'it failed'}")
    return done.stdout


def _serve(orders: Sequence[Order], folder: Path, open_files: ExitStack) -> None:
    if not any(order.protocol for order in orders):  # the link waits for something that listens
        open_files.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)).bind(("", 0))
    started = [_start(order, open_files) for order in orders]
    end = time.monotonic() + PATIENCE_S
    while not all(_listens(order) for order in orders if order.protocol) and time.monotonic() < end:
        time.sleep(_LOOK_S)
    (folder / READY).touch()
    while not (folder / STATUSES).exists():
        time.sleep(_LOOK_S)
    end = time.monotonic() + GRACE_S
    for order, process in zip(orders, started, strict=True):
        if not order.is_once:
            process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, end - time.monotonic()))
        process.kill()


def _start(order: Order, open_files: ExitStack) -> "subprocess.Popen[bytes]":
    """Start a program. Its files are closed with ``open_files``."""
    output, errors = Path(order.output), Path(f"{order.output}.err")
    return subprocess.Popen(
        list(order.command),
        stdin=subprocess.DEVNULL,
        stdout=open_files.enter_context(output.open("wb")),
        stderr=open_files.enter_context(errors.open("wb")),
        preexec_fn=take_precedence,  # noqa: PLW1509 - this process has one thread
    )


def _await(file: Path) -> None:
    end = time.monotonic() + PATIENCE_S
    while not file.exists() and time.monotonic() < end:
        time.sleep(_LOOK_S)


def _listens(order: Order) -> bool:
    """Return whether a socket of this network namespace listens at the order's port."""
    for name in (order.protocol, f"{order.protocol}6"):
        file = Path("/proc/self/net", name)
        lines = file.read_text(encoding="ascii").splitlines()[1:] if file.exists() else []
        for line in lines:
            words = line.split()
            if words[3] == _LISTENS[order.protocol] and int(words[1].rpartition(":")[2], 16) == order.port:
                return True
    return False


if __name__ == "__main__":
    main()
