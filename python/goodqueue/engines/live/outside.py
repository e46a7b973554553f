"""The command's part of a link: it starts the lab, handles the lab's messages, and passes signals on."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from errno import EEXIST
from pathlib import Path

from goodqueue.engines.kernel import folders
from goodqueue.engines.kernel.lab.libc import call
from goodqueue.engines.live import ends, init, ordering, outward
from goodqueue.engines.live.ordering import Task
from goodqueue.engines.live.talk import Channel, Message, pair, ready
from goodqueue.errors import UserError, quoted
from goodqueue.files import drafts
from goodqueue.record import Record

PRIORITY = "GOODQUEUE_LINK_PRIORITY"
"""A variable in the environment: the real-time priority of the path's thread (sched(7)), if the system permits it."""

GRACE_S = 5.0
"""How long CMD may take to end after a signal."""

_KILLED_S = 2.0
"""How long the lab may take to end after CMD was killed."""

STUCK_S = 15.0
"""How long a lab whose path has a discipline in Python may be silent. It normally sends a glance once a second."""

_LOOK_S = 0.05
_PR_SET_CHILD_SUBREAPER = 36
_SI_KERNEL = 0x80
"""Marks a signal from a terminal, which has reached CMD as well as this process."""

_PACKAGES = Path(__file__).resolve().parents[3]


@dataclass(frozen=True, slots=True)
class End:
    """The result of a link."""

    status: int
    """The status of the client's command, as a shell reports it."""
    record: str
    """The record as JSON."""
    no_capture: str | None
    """Why there is no capture, if one was requested."""
    printed: tuple[str, str] = ("", "")
    """CMD's standard output and standard error, if they were kept."""

    def as_record(self) -> Record:
        """Return the record as a dictionary."""
        record: Record = json.loads(self.record)
        return record


@dataclass(frozen=True, slots=True)
class Onlooker:
    """Receives reports while the link runs."""

    note: Callable[[str], None]
    """Called with a line that a person should know."""
    glances: Sequence[Callable[[Message], None]] = ()
    """Each is called five times a second with the current state (`Gateway.glance`)."""


def depth() -> int:
    """Return how many links this process is within."""
    text = os.environ.get(ordering.DEPTH, "")
    return int(text) if re.fullmatch(r"[0-9]{1,9}", text) else 0


def _priority() -> int:
    """Return the real-time priority that the environment names, or 0. Raises UserError."""
    text = os.environ.get(PRIORITY, "0")
    if not re.fullmatch(r"[0-9]{1,2}", text):
        raise UserError(PRIORITY, f"found {quoted(text)}; accepted: a real-time priority from 0 to 99")
    return int(text)


def run(task: Task, onlooker: Onlooker, ignored: list[int]) -> End:
    """Run ``task`` to its end. Raises UserError if the link cannot be built, or breaks.

    Must be called in the process's main thread, within `signals_held`, which yields ``ignored``: the lab dies with
    the thread that started it.
    """
    order = _order(task, onlooker) | {"ignored": ignored}
    ours, theirs = pair()
    with _alone(task), ours, theirs:
        command = [sys.executable, "-P", "-m", "goodqueue.engines.live.inside", str(theirs.fileno()), str(os.getpid())]
        modules = os.pathsep.join(filter(None, [str(_PACKAGES), os.environ.get("PYTHONPATH")]))
        with (
            _in_foreground(),
            subprocess.Popen(
                command,
                pass_fds=[theirs.fileno(), *drafts.inherited(task.trace.path if task.trace else None)],
                stdout=task.stdout,
                stderr=task.stderr,
                env=os.environ | {"PYTHONPATH": modules},
            ) as lab,
        ):
            theirs.close()
            try:
                return _attend(Channel(ours), lab, order, onlooker, _Silence(task.scenario))
            finally:
                lab.kill()


@contextmanager
def _alone(task: Task) -> Iterator[None]:
    """Wait at the end for all processes of the link, and remove the drafts of those that were killed.

    They all become children of this process when their own parents are killed. The first process of CMD's becomes a
    zombie only when all others of its process namespace are gone.
    """
    call("prctl", _PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        end = time.monotonic() + _KILLED_S
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0] or time.monotonic() < end:
                time.sleep(_LOOK_S)
        drafts.sweep(Path())
        if task.trace is not None:
            drafts.sweep(Path(task.trace.file).resolve().parent)
        folders.sweep()


def _order(task: Task, onlooker: Onlooker) -> Message:
    """Return the order for the lab."""
    from goodqueue.engines.live import privileges

    level = depth() + 1
    if level > ends.DEEPEST:
        accepted = f"{ends.DEEPEST} links within each other at most"
        raise UserError(ordering.DEPTH, f"found {level - 1}; accepted: {accepted}")
    nested = task.server is None and level > 1 and privileges.has(privileges.NET_ADMIN)
    direction = None
    if task.server is None and not nested:
        if (why := outward.why_not()) is None:
            direction = outward.choose()
        else:
            onlooker.note(f"the world outside cannot be reached: {why}")
    return ordering.order(task, level, direction) | {
        "nested": nested,
        "resolver": direction.resolver if direction is not None else None if nested else ordering.NO_RESOLVER,
        "looks": bool(onlooker.glances),
        "priority": _priority(),
    }


def _attend(
    channel: Channel, lab: "subprocess.Popen[bytes]", order: Message, onlooker: Onlooker, silence: "_Silence"
) -> End:
    channel.send(order)
    messages = _Told(channel, lab)
    while not channel.closed:
        messages.look()
        if not ready([channel], _LOOK_S):
            silence.goes_on()
            continue
        silence.ends()
        message = channel.receive() or {}
        if "glance" in message:
            for tell in onlooker.glances:
                tell(message["glance"])
        elif "note" in message:
            onlooker.note(message["note"])
        elif "place" in message:
            _place(order, int(message["place"]))
            channel.send({"placed": True})
        elif "error" in message:
            raise UserError(message["error"])
        elif "end" in message:
            return _ended(message["end"], messages)
    status = lab.wait()
    raise UserError("link", f"its lab ended with status {status}, and CMD with it")


def _ended(end: Message, messages: "_Told") -> End:
    if end.get("record") is None:
        raise UserError("link", "it was ended before CMD began")
    status = end["status"] if end["status"] is not None else messages.status()
    if status is None:
        raise UserError("link", "the first process of CMD's was killed, and CMD with it")
    return End(status, end["record"], end.get("no_capture"))


def _place(order: Message, process: int) -> None:
    from pyroute2.netlink.exceptions import NetlinkError

    from goodqueue.engines.live.namespaces import place, said

    try:
        place(order["depth"], [ends.End(**end) for end in order["ends"]], process)
    except (OSError, NetlinkError) as error:
        what = "another one beside it" if isinstance(error, NetlinkError) and error.code == EEXIST else said(error)
        raise UserError("link within a link", f"found {what}; accepted: one at a time") from None


class _Silence:
    """Ends a link whose lab is silent, because code in C of a discipline's class never returns.

    Such code keeps Python's lock, which the lab needs to notice that CMD has ended. Only looks count, so that a link
    that was stopped for a while (Ctrl-Z) may go on.
    """

    def __init__(self, scenario: Message) -> None:
        from goodqueue.scenario import discipline, paths

        lines = [table["qdisc"] for _, table in paths.links(scenario)]
        self._classes = [line.split()[0] for line in lines if discipline.is_python(line)]
        self._looks = 0

    def ends(self) -> None:
        """Note that the lab has sent something."""
        self._looks = 0

    def goes_on(self) -> None:
        """Note a look without anything new. Raises UserError if the lab must be stuck."""
        self._looks += 1
        if self._classes and self._looks * _LOOK_S >= STUCK_S:
            stuck = " or ".join(self._classes)
            raise UserError(stuck, f"has not returned for {STUCK_S:.0f} s; the path has ended, and CMD with it")


class _Told:
    """Signals to this process: passes them on to CMD, and kills CMD if it does not end in time."""

    def __init__(self, channel: Channel, lab: "subprocess.Popen[bytes]") -> None:
        self._channel, self._lab = channel, lab
        self._number: int | None = None
        self._until = float("inf")
        self._killed = False

    def status(self) -> int | None:
        """Return a shell's status for a process ended by the last signal, or None without a signal."""
        return None if self._number is None else 128 + self._number

    def look(self) -> None:
        """Take a pending signal, if there is one. Kill CMD, and then the lab, if it did not end in time."""
        came = signal.sigtimedwait(init.SIGNALS, 0)
        now = time.monotonic()
        if came is not None:
            again = self._number is not None
            self._number = came.si_signo
            if again:
                self._until = now
            else:
                self._until = now + GRACE_S
                if came.si_signo != signal.SIGINT or came.si_code != _SI_KERNEL:
                    self._channel.send({"signal": came.si_signo})
        if now >= self._until:
            if self._killed:
                self._lab.kill()
            else:
                self._channel.send({"signal": int(signal.SIGKILL)})
                self._killed, self._until = True, now + _KILLED_S


@contextmanager
def signals_held() -> Iterator[list[int]]:
    """Hold signals back until `look` takes them, and yield the numbers of the signals that were ignored at the start.

    An ignored signal is not held back. The kernel would keep it pending, and `nohup goodqueue link` would end by
    SIGHUP.
    """
    ignored = [int(number) for number in init.SIGNALS if signal.getsignal(number) == signal.SIG_IGN]
    before = signal.pthread_sigmask(signal.SIG_BLOCK, set(init.SIGNALS) - set(ignored))
    try:
        yield ignored
    finally:
        while signal.sigtimedwait(init.SIGNALS, 0) is not None:
            pass
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _in_foreground() -> Iterator[None]:
    """Take the terminal's foreground back at the end, since CMD may be a shell, which takes the foreground."""
    try:
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        yield
        return
    was = _foreground(terminal) == os.getpgrp()
    try:
        yield
    finally:
        if was and _foreground(terminal) != os.getpgrp():
            blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTTOU])
            with suppress(OSError):
                os.tcsetpgrp(terminal, os.getpgrp())
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        os.close(terminal)


def _foreground(terminal: int) -> int | None:
    try:
        return os.tcgetpgrp(terminal)
    except OSError:
        return None
