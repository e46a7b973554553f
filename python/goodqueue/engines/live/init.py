"""The first process of a process namespace: starts the programs on both sides, and takes all with it when it ends.

It is forked while still in the host's network, since the way out has its sockets there. It enters the server's
namespace once that exists. It exchanges messages with the lab (`inside`): receives the namespaces, sends ``ready``,
receives ``go``, sends the client's ``status``.
"""

import os
import select
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

from goodqueue.engines.kernel.lab.libc import call, die_with_parent, enter_network
from goodqueue.engines.live import mounts, outward, privileges
from goodqueue.engines.live.talk import Channel, Message
from goodqueue.errors import one_line

LISTENING_S = 10.0
"""How long SERVER may take until a program listens."""

WORLD_S = 5.0
"""How long the way out may take until there is a route."""

GRACE_S = 0.3
"""How long SERVER may go on after CLIENT has ended, and again after SIGTERM."""

SIGNALS = (signal.SIGINT, signal.SIGHUP, signal.SIGTERM)
"""The signals that this process ignores, since they are meant for CMD."""

NOT_STARTED, NOT_FOUND = 126, 127
"""A shell's status for a command that cannot be started, and for one that does not exist."""

FIRST, LATER = "first", "later"
"""The moments of virtual time (`virtual.moments`): before the networks are made, and before SERVER and CLIENT start."""

_LOOK_S = 0.02


def fork(order: dict[str, Any], channel: Channel, other: Channel) -> int:
    """Start the first process and its parent, and return the parent's PID. ``channel`` is for the first process.

    ``order`` names the programs to start. The kernel creates a process namespace only for a process's children, and a
    process that waits for such children must not have threads. Hence the parent, which only waits.
    """
    lab = os.getpid()
    parent = os.fork()
    if not parent:
        _surely_ends(lambda: _wait(order, channel, other, lab))
    return parent


def _surely_ends(work: Callable[[], int]) -> NoReturn:
    """Do ``work`` and exit with the status that it returns. A fork must never return into its parent's code."""
    status = 1
    try:
        status = work()
    finally:
        os._exit(status)


def _wait(order: dict[str, Any], channel: Channel, other: Channel, lab: int) -> int:
    die_with_parent()
    other.close()
    if os.getppid() != lab:
        return 1
    try:
        call("unshare", privileges.NEW_PROCESSES | privileges.NEW_MOUNTS)
    except OSError as error:
        channel.send({"error": f"process namespace: {error.strerror}"})
        return 1
    leash, held = os.pipe()
    if (first := os.fork()) == 0:
        os.close(held)
        _surely_ends(lambda: _first(order, channel, leash))
    channel.close()
    _, status = os.waitpid(first, 0)
    return os.waitstatus_to_exitcode(status)


def _first(order: dict[str, Any], channel: Channel, leash: int) -> int:
    die_with_parent()
    if select.select([leash], [], [], 0)[0]:  # the parent died before die_with_parent took effect
        return 1
    try:
        Init(order, channel).run()
    except OSError as error:
        channel.send({"error": f"starting what is to run: {error.strerror or error}"})
    return 0


class Init:
    """The work of the first process."""

    def __init__(self, order: dict[str, Any], channel: Channel) -> None:
        """Take the order. Nothing is started yet."""
        self._order, self._channel = order, channel
        self._ended: dict[int, int] = {}
        """The status of each child that has ended."""

    def run(self) -> None:
        """Start the programs and wait for CLIENT. Children that remain die with this process. Raises OSError."""
        order = self._order
        mounts.see(order["hosts"], order["resolver"])
        namespaces_told = self._awaited_message("namespaces")
        if namespaces_told is None:
            return
        spaces = dict(zip(namespaces_told["namespaces"], self._channel.descriptors, strict=True))
        if order["outward"]:
            self._start_outward(order["outward"], spaces["server"])
        self._await_moment()
        server = None
        if order["server"]:
            enter_network(spaces["server"])  # the namespace in which its listening sockets show
            server = self._start(order["server"], spaces["server"])
            self._await_listening(server)
        self._await_moment()
        self._channel.send({"ready": True})
        if self._awaited_message("go") is None:
            return
        status = self._await(self._start(order["client"], spaces["client"]), server)
        if status is not None:
            self._channel.send({"status": status})
            if server is not None:
                self._end(server)

    def _await_moment(self) -> None:
        """In virtual time, wait for a moment from which nothing depends on what came before (`virtual.moments`)."""
        if self._order["virtual_time"]:
            self._channel.send({"moment": LATER})
            self._awaited_message("moment")

    def _awaited_message(self, word: str) -> Message | None:
        """Return the message that contains ``word``, or None if the run is to end before it began."""
        while (message := self._channel.receive()) is not None:
            if word in message:
                return message
            if "signal" in message:
                return None
        return None

    def _start(self, command: list[str], space: int) -> int:
        """Start ``command`` in a network namespace, with the caller's signals and no power beyond that network."""

        def become() -> None:
            enter_network(space)
            for number in SIGNALS:
                ignored = int(number) in self._order["ignored"]
                signal.signal(number, signal.SIG_IGN if ignored else signal.SIG_DFL)
            if self._order["user"]:
                privileges.become(*self._order["user"])
            privileges.keep(privileges.OF_COMMANDS)

        return _spawn(command, self._order["environment"], become)

    def _start_outward(self, command: list[str], space: int) -> None:
        """Start the way out, which has its sockets in this process's network, and wait for its route in ``space``."""

        def become() -> None:
            os.setsid()  # Ctrl-C is meant for CMD
            nowhere = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(nowhere, stream)
            privileges.keep()

        path = f"/proc/{_stay(space)}/ns/net"
        started = _spawn([path if word == outward.SPACE else word for word in command], dict(os.environ), become)
        enter_network(space)  # the namespace in which the route shows
        end = time.monotonic() + WORLD_S
        while not _has_way_out():
            if self._has_ended(started) or time.monotonic() > end:
                self._channel.send({"note": f"{Path(command[0]).name} leads to no world outside"})
                return
            time.sleep(_LOOK_S)

    def _await_listening(self, server: int) -> None:
        end = time.monotonic() + LISTENING_S
        while not _listens():
            if self._has_ended(server):
                self._channel.send({"note": f"SERVER ended with status {self._ended[server]} before it listened"})
                return
            if time.monotonic() > end:
                self._channel.send({"note": f"SERVER listens at nothing after {LISTENING_S:g} s; CLIENT starts"})
                return
            time.sleep(_LOOK_S)

    def _await(self, client: int, server: int | None) -> int | None:
        """Return the status of ``client``, or None if all must end at once. Passes signals on to CLIENT and SERVER."""
        with _watched(client) as watched:
            while not self._has_ended(client):
                select.select([watched, self._channel.fileno()], [], [], 0.5)  # wakes to reap others, too
                while (message := self._channel.receive(0)) is not None:
                    number = message.get("signal")
                    if number == signal.SIGKILL:
                        return 128 + signal.SIGKILL
                    for process in (client, server):
                        if number and process is not None and not self._has_ended(process):
                            os.kill(process, number)
                if self._channel.closed:
                    return None
        return self._ended[client]

    def _end(self, server: int) -> None:
        """Let SERVER end by itself, as a server for one client does. Otherwise send SIGTERM."""
        for number in (0, signal.SIGTERM):
            if not self._has_ended(server):
                os.kill(server, number)
                end = time.monotonic() + GRACE_S
                while not self._has_ended(server) and time.monotonic() < end:
                    time.sleep(_LOOK_S)

    def _has_ended(self, process: int) -> bool:
        """Return whether ``process`` has ended. Reaps all children that have."""
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                status = os.waitstatus_to_exitcode(ended[1])
                self._ended[ended[0]] = status if status >= 0 else 128 - status
        return process in self._ended


def _stay(space: int) -> str:
    """Leave a process in a network namespace, and return the process's PID as /proc shows it.

    The process has no capabilities. A process that gave up its own capabilities, as pasta does, can see a namespace
    only of such a process.
    """
    read_end, tell = os.pipe()
    if not os.fork():

        def work() -> int:
            enter_network(space)
            privileges.keep(())
            os.write(tell, bytes(Path("/proc/self").readlink()))
            while True:
                signal.pause()

        _surely_ends(work)
    os.close(tell)
    number = os.read(read_end, 32).decode()
    os.close(read_end)
    return number


def _spawn(command: list[str], environment: dict[str, str], become: Callable[[], None]) -> int:
    def work() -> int:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores these; programs would inherit that
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        try:
            become()
            os.execvpe(command[0], command, environment)  # noqa: S606 - no shell is wanted
        except OSError as error:
            line = f"goodqueue: {one_line(f'{command[0]}: cannot be started: {error.strerror or error}')}\n"
            os.write(2, line.encode(errors="replace"))
            return NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_STARTED

    process = os.fork()
    if not process:
        _surely_ends(work)
    return process


@contextmanager
def _watched(process: int) -> Iterator[int]:
    """Yield a descriptor that becomes ready when ``process`` has ended."""
    watched = os.pidfd_open(process)
    try:
        yield watched
    finally:
        os.close(watched)


def _listens() -> bool:
    """Return whether a program listens in this network namespace: at a TCP port, or with a UDP socket."""
    for name, state in (("tcp", "0A"), ("tcp6", "0A"), ("udp", "07"), ("udp6", "07")):
        file = Path("/proc/self/net", name)
        lines = file.read_text(encoding="ascii").splitlines()[1:] if file.exists() else []
        if any(line.split()[3] == state for line in lines):
            return True
    return False


def _has_way_out() -> bool:
    """Return whether this network namespace has a default route for IPv4, or one for IPv6 through a device."""
    lines = Path("/proc/self/net/route").read_text(encoding="ascii").splitlines()[1:]
    if any(line.split()[1] == "00000000" for line in lines):
        return True
    file = Path("/proc/self/net/ipv6_route")
    routes = [line.split() for line in (file.read_text(encoding="ascii").splitlines() if file.exists() else [])]
    return any(route[1] == "00" and route[0] == "0" * 32 and route[9] != "lo" for route in routes)
