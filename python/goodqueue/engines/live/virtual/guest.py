"""Runs the lab of a link in Linux as a process, and hands what it prints and how it ends to the host's folder."""

import json
import os
import selectors
import signal
import socket
import time
import traceback
import tty
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from goodqueue.capture import Trace
from goodqueue.engines.kernel.lab.libc import call, die_with_parent
from goodqueue.engines.live import init, ordering
from goodqueue.engines.live.ends import Declared
from goodqueue.engines.live.talk import Channel, Message, pair
from goodqueue.engines.live.virtual import FOLDER, job, moments
from goodqueue.engines.live.virtual.job import Job

_SIGNALS = "/dev/ttyS0"
"""The line on which the host sends the numbers of signals."""

_PRIORITY = 1
"""The real-time priority of the path's thread. Linux lets any other thread wait in poll(2) for 0.1 % longer than it
asks for."""


def run() -> None:
    """Do the job in the host's folder."""
    work = Job.read(FOLDER)
    socket.sethostname(work.host_name)
    _see(work.cwd)
    os.environ.clear()
    os.environ.update(work.environment)
    trace = None if work.trace is None else Trace(**work.trace | {"path": str(FOLDER / job.CAPTURE)})
    hosts = tuple(Declared(*host) for host in work.hosts)
    task = ordering.Task(work.scenario, work.client, work.server, trace, hosts=hosts, plan=work.plan)
    order = ordering.order(task, 1) | {"ignored": work.ignored, "virtual_time": True, "priority": _PRIORITY}
    order["user"] = [work.user, work.group, work.groups]
    order |= {"results": str(FOLDER / job.RESULTS), "programs": str(FOLDER / job.PROGRAMS)}
    time.sleep(max(0.0, job.UPTIME_S - time.monotonic()))
    with _Relay() as relay:
        channel = _start_lab(work, relay)
        channel.send(order)
        answer = relay.attend(channel)
    answer["kernel"] = f"{os.uname().release} {os.uname().version}"
    _write(FOLDER / job.ANSWER, json.dumps(answer).encode())


def _see(cwd: str) -> None:
    """Let programs find what a system's start makes in /dev, and the host's folder ``cwd``, which they may change."""
    for name, target in (("fd", "fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        Path("/dev", name).symlink_to(f"/proc/self/{target}")
    if cwd != "/":
        call("mount", b"hostfs", os.fsencode(cwd), b"hostfs", 0, os.fsencode(cwd))


def _start_lab(work: Job, relay: "_Relay") -> Channel:
    """Start the lab, with the ends of pipes as its standard output and standard error."""
    ours, theirs = pair()
    out = relay.pipe(FOLDER / job.STDOUT)
    err = out if work.joins_output else relay.pipe(FOLDER / job.STDERR)
    if os.fork() == 0:
        try:
            ours.close()
            given = FOLDER / job.STDIN
            os.dup2(os.open(given if given.exists() else os.devnull, os.O_RDONLY), 0)
            os.dup2(out, 1)
            os.dup2(err, 2)
            relay.close()
            for number in init.SIGNALS:
                signal.signal(number, signal.SIG_IGN)
            os.chdir(work.cwd)
            die_with_parent()
            from goodqueue.engines.live.inside import Lab

            Lab(Channel(theirs)).run()
        except BaseException:  # noqa: BLE001 - a fork must never return into its parent's code
            traceback.print_exc()
        finally:
            os._exit(0)
    theirs.close()
    for end in {out, err}:
        os.close(end)
    return Channel(ours)


class _Relay:
    """Hands on what programs print and the signals that come in, and lets the clock's file beat."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._files: list[int] = []
        self._pipes = 0
        self._clock = _open(FOLDER / job.CLOCK)
        self._notes = _open(FOLDER / job.NOTES)
        self._line = os.open(_SIGNALS, os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC)
        tty.setraw(self._line)

    def __enter__(self) -> "_Relay":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close everything: this process hands on nothing more."""
        for key in list(self._selector.get_map().values()):
            os.close(key.fd)
        self._selector.close()
        for file in (*self._files, self._clock, self._notes, self._line):
            with suppress(OSError):
                os.close(file)

    def pipe(self, file: Path) -> int:
        """Return the end of a pipe for a program's output, which goes to the host's ``file``."""
        read_end, write_end = os.pipe()
        target = _open(file)
        self._files.append(target)
        self._selector.register(read_end, selectors.EVENT_READ, lambda: self._pass_on(read_end, target))
        self._pipes += 1
        return write_end

    def attend(self, channel: Channel) -> Message:
        """Return the lab's last message, once all that was printed has been handed on."""
        answer: Message = {"error": "link: its lab ended, and CMD with it"}

        def hear() -> None:
            nonlocal answer
            message = channel.receive(0)
            if message is not None and "note" in message:
                _append(self._notes, f"{message['note']}\n".encode())
            elif message is not None and "moment" in message:
                moments.wait_and_draw_anew() if message["moment"] == init.FIRST else moments.wait()
                channel.send(message)
            elif message is not None:
                answer = message
            if channel.closed:
                self._selector.unregister(channel)

        self._selector.register(self._line, selectors.EVENT_READ, lambda: self._signal(channel))
        self._selector.register(channel, selectors.EVENT_READ, hear)
        due = time.monotonic() + moments.until()
        while self._pipes or not channel.closed:
            if (wait := due - time.monotonic()) <= 0:
                os.pwrite(self._clock, b"%d" % time.monotonic_ns(), 0)
                os.fsync(self._clock)
                due += moments.WHOLE_S
                continue
            for key, _ in self._selector.select(wait):
                work: Callable[[], None] = key.data
                work()
            while channel.waiting():
                hear()
        return answer

    def _pass_on(self, pipe: int, file: int) -> None:
        if text := os.read(pipe, 1 << 16):
            _append(file, text)
        else:
            self._selector.unregister(pipe)
            os.close(pipe)
            self._pipes -= 1

    def _signal(self, channel: Channel) -> None:
        words = os.read(self._line, 64).split()
        if not words:  # the host is gone, and Linux with it
            self._selector.unregister(self._line)
        for word in words:
            channel.send({"signal": int(word)})


def _open(file: Path) -> int:
    return os.open(file, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _append(file: int, text: bytes) -> None:
    """Write ``text``, which the host sees at once."""
    while text:
        text = text[os.write(file, text) :]
    os.fsync(file)


def _write(file: Path, text: bytes) -> None:
    descriptor = _open(file)
    _append(descriptor, text)
    os.close(descriptor)
