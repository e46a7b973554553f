"""Runs a link in Linux as an ordinary process, in virtual time, and hands on what CMD prints and the signals to CMD."""

import json
import os
import platform
import re
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from goodqueue.engines import kernel
from goodqueue.engines.kernel import folders, image, process, process_build, process_files
from goodqueue.engines.kernel.lab.plan import Plan
from goodqueue.engines.live import init
from goodqueue.engines.live.ordering import Task
from goodqueue.engines.live.outside import GRACE_S, End, depth
from goodqueue.engines.live.virtual import job
from goodqueue.engines.live.virtual.job import Job
from goodqueue.errors import UserError, one_line, quoted

MEMORY_MB = {False: 2048, True: 4096}
"""Linux's memory by whether the path is Linux's own, whose captures lie there: at most in half of it. The host has as
much of it as is used."""

START = "SOURCE_DATE_EPOCH"
"""A variable in the environment: the calendar's time when CMD starts, in seconds since 1970."""

STILL_S = 20.0
"""After so much time of the processor without virtual time a note says so."""

_GLANCE_S = 1.0
"""How often the processor's time is read while no virtual time passes."""

_LOOK_S = 0.05
_KILLED_S = 5.0
"""How long Linux may take to end after CMD was killed."""

_FIRST = Path(__file__).with_name("first.py")
_PACKAGES = Path(__file__).resolve().parents[4]
_CONSOLE = "console.txt"
_CHUNK = 1 << 16


def why_not(release: str | None) -> str | None:
    """Return why no link can run in virtual time, in Linux of ``release`` or in that of this machine. None: one can."""
    if depth():
        return "found within another link; accepted: outside of one"
    return process_build.why_not(release)


def run(task: Task, release: str | None, note: Callable[[str], None], ignored: list[int]) -> End:
    """Run ``task`` to its end in Linux of ``release``, or in that of this machine.

    Must be called within `outside.signals_held`, which yields ``ignored``. Raises UserError if the link cannot be
    built, or breaks.
    """
    started_ns = _started_ns()
    system = image.find(release)
    assert system is not None  # `why_not` has seen it
    with folders.private() as folder, ExitStack() as used:
        _prepare(folder, task, ignored)
        if task.plan is not None:
            process_files.programs(
                used.enter_context(process_files.root(system, threading.Event())), folder / job.PROGRAMS
            )
        memory_mb = MEMORY_MB[task.plan is not None]
        with _started(folder, process_build.program(system), system.release, started_ns, memory_mb) as (linux, line):
            _Attendance(folder, linux, line, task, note).run()
        return _ended(folder, task, release)


def _started_ns() -> int:
    """Return the calendar's time at the start of Linux. Raises UserError."""
    text = os.environ.get(START, str(process.STARTED_NS // 10**9))
    if not re.fullmatch(r"[0-9]{1,10}", text) or int(text) < job.UPTIME_S:
        raise UserError(START, f"found {quoted(text)}; accepted: seconds since 1970, such as 1767225600")
    return (int(text) - job.UPTIME_S) * 10**9


def _prepare(folder: Path, task: Task, ignored: list[int]) -> None:
    joins = task.stderr == task.stdout and _are_one(1, 2) if task.stdout is None else task.stderr == task.stdout
    trace = None if task.trace is None else task.trace._asdict()
    Job(
        scenario=task.scenario,
        server=task.server,
        client=task.client,
        trace=trace,
        seed=task.scenario["seed"],
        cwd=str(Path.cwd()),
        environment=dict(os.environ) | {"TMPDIR": "/tmp"},  # noqa: S108
        user=os.geteuid(),
        group=os.getegid(),
        groups=os.getgroups(),
        host_name=platform.node(),
        ignored=ignored,
        joins_output=joins,
        hosts=[list(host) for host in task.hosts],
        plan=task.plan,
    ).write(folder)
    (folder / job.RESULTS).mkdir()
    modules = [str(_PACKAGES), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    (folder / "modules").write_text(json.dumps(modules), encoding="utf-8")
    shutil.copyfile(_FIRST, folder / "first.py")
    first = folder / "init"
    first.write_text(f"#!/bin/sh\nexec {shlex.quote(sys.executable)} -S -B /proc/self/cwd/first.py\n", encoding="utf-8")
    first.chmod(0o755)
    _keep_input(folder / job.STDIN)


def _keep_input(file: Path) -> None:
    """Copy standard input to ``file`` if it is a file. A terminal or a pipe has no place in virtual time."""
    with suppress(OSError):
        if stat.S_ISREG(os.fstat(0).st_mode):
            with file.open("wb") as copy:
                while text := os.read(0, _CHUNK):
                    copy.write(text)


def _are_one(one: int, other: int) -> bool:
    """Return whether two descriptors are the same file."""
    with suppress(OSError):
        return os.path.sameopenfile(one, other)
    return False


@contextmanager
def _started(
    folder: Path, program: Path, release: str, started_ns: int, memory_mb: int
) -> Iterator[tuple["subprocess.Popen[bytes]", "_Line"]]:
    words = [
        f"mem={memory_mb}M",
        "root=/dev/root",
        "rootfstype=hostfs",
        "rootflags=/",
        "ro",
        "init=/proc/self/cwd/init",
    ]
    reading, writing = os.pipe()
    with process.core() as core, (folder / _CONSOLE).open("wb") as console:
        command = process.command(program, [*words, "ssl0=fd:0,null", "PYTHONHASHSEED=0"], release, core, started_ns)
        linux = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", *command],  # noqa: S607 - the program on PATH
            stdin=reading,
            stdout=console,
            stderr=console,
            start_new_session=True,  # Ctrl-C is ours to handle
            cwd=folder,
            env=os.environ | {"TMPDIR": str(process.memorys_folder(folder, memory_mb))},
        )
        try:
            with _guarded(linux.pid):
                yield linux, _Line(reading, writing)
        finally:
            linux.kill()
            linux.wait()
            os.close(reading)
            os.close(writing)


@contextmanager
def _guarded(group: int) -> Iterator[None]:
    """Kill the processes of ``group`` at the end, however this process ends: Linux, and programs that it traces.

    Up to 6.12 a program that Linux traces goes on when Linux is killed, and one that spins would never end.
    """
    leash, held = os.pipe()
    guard = ["sh", "-c", 'read -r _; kill -s KILL -- "-$0"', str(group)]
    with subprocess.Popen(guard, stdin=leash, stderr=subprocess.DEVNULL, start_new_session=True) as process:
        os.close(leash)
        try:
            yield
        finally:
            os.close(held)  # which the guard notices, as it would if this process were killed
            process.wait()


class _Line:
    """The line on which Linux gets the numbers of signals."""

    def __init__(self, reading: int, writing: int) -> None:
        self._reading, self._writing = reading, writing

    def send(self, number: int) -> None:
        """Send the signal ``number`` to CMD."""
        os.set_blocking(self._reading, False)  # Linux shares this end, and reads until nothing is left
        os.write(self._writing, b"%d\n" % number)


class _Attendance:
    """Waits for Linux to end."""

    def __init__(
        self,
        folder: Path,
        linux: "subprocess.Popen[bytes]",
        line: _Line,
        task: Task,
        note: Callable[[str], None],
    ) -> None:
        self._folder, self._linux, self._line, self._note = folder, linux, line, note
        self._outputs = [
            _Output(folder / job.STDOUT, 1 if task.stdout is None else task.stdout),
            _Output(folder / job.STDERR, 2 if task.stderr is None else task.stderr),
        ]
        self._noted = 0
        self._clock, self._used_s, self._due = b"", 0.0, time.monotonic()
        self._is_noted = False
        self._number: int | None = None
        self._until = float("inf")

    def run(self) -> None:
        """Hand on output and signals until Linux ends."""
        while self._linux.poll() is None:
            if (came := signal.sigtimedwait(init.SIGNALS, _LOOK_S)) is not None:
                self._signal(came.si_signo)
            if time.monotonic() > self._until:
                self._linux.kill()
            self._look()
        self._look()

    def _look(self) -> None:
        for output in self._outputs:
            if not output.pass_on():
                self._line.send(signal.SIGPIPE)  # as it would reach CMD from a pipe
        notes = _read(self._folder / job.NOTES).split(b"\n")[:-1]
        for line in notes[self._noted :]:
            self._note(line.decode(errors="replace"))
        self._noted = len(notes)
        self._watch_clock()

    def _watch_clock(self) -> None:
        now, clock = time.monotonic(), _read(self._folder / job.CLOCK)
        if clock != self._clock:
            self._clock, self._used_s, self._due, self._is_noted = clock, 0.0, now, False
        elif now >= self._due and not self._is_noted:
            used_s = _processor_s(self._linux.pid)
            self._used_s, self._due = self._used_s or used_s, now + _GLANCE_S
            if used_s - self._used_s < STILL_S:
                return
            self._is_noted = True
            at = int(clock or b"0") / 1e9
            self._note(
                f"no virtual time has passed for {STILL_S:g} s of the processor, at {at:.1f} s: CMD computes, which "
                "takes no time here, or it waits in a loop without sleeping, which never ends"
            )

    def _signal(self, number: int) -> None:
        if self._number is None:
            self._line.send(number)
            self._until = time.monotonic() + GRACE_S + _KILLED_S
        else:
            self._line.send(signal.SIGKILL)
            self._until = time.monotonic() + _KILLED_S
        self._number = number


class _Output:
    """What a program prints: handed on from Linux's file to a descriptor of this process."""

    def __init__(self, file: Path, descriptor: int) -> None:
        self._file, self._descriptor = file, descriptor
        self._done = 0

    def pass_on(self) -> bool:
        """Hand on what is new. Returns whether somebody takes it."""
        if not self._file.exists():
            return True
        with self._file.open("rb") as file:
            file.seek(self._done)
            while text := file.read(_CHUNK):
                self._done += len(text)
                try:
                    while text:
                        text = text[os.write(self._descriptor, text) :]
                except BrokenPipeError:
                    return False
        return True


def _processor_s(session: int) -> float:
    """Return the processor's time that the living processes of ``session`` have used: Linux and its programs."""
    ticks = 0
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            words = file.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            if int(words[3]) == session:
                ticks += int(words[11]) + int(words[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return b""


def _ended(folder: Path, task: Task, release: str | None = None) -> End:
    """Return the end that Linux reported. Raises UserError if it reported none."""
    if not (text := _read(folder / job.ANSWER)):
        lines = _read(folder / _CONSOLE).decode(errors="replace").strip().splitlines()
        raise UserError("link", f"Linux ended before CMD did{one_line(f': {lines[-1]}') if lines else ''}")
    answer: dict[str, Any] = json.loads(text)
    if "error" in answer:
        raise UserError(answer["error"])
    end = answer["end"]
    measured = end.get("lab") if task.plan is not None else end.get("record")
    if measured is None or end["status"] is None:
        raise UserError("link", "it was ended before CMD began")
    if task.plan is not None:
        return _across_linux(folder, task, release, end)
    record = json.loads(measured)
    record["kernel"] = {
        "release": answer["kernel"],
        "where": "process",
        "clock": "virtual",
        "sysctls": {},
        "capture_lost": 0,
    }
    if task.trace is not None and end.get("no_capture") is None:
        shutil.copyfile(folder / job.CAPTURE, task.trace.path)
    return End(end["status"], json.dumps(record, ensure_ascii=False), end.get("no_capture"))


def _across_linux(folder: Path, task: Task, release: str | None, end: dict[str, Any]) -> End:
    from goodqueue.engines.live.routed import measuring

    results, engine = folder / job.RESULTS, "-".join(filter(None, ["kernel", release]))
    record = measuring.record(task.scenario, Plan.from_json(task.plan or ""), results, end["lab"], engine)
    if task.trace is not None:
        kernel.keep(task.trace, results, end["lab"]["start_ns"])
    return End(end["status"], json.dumps(record, ensure_ascii=False), None)
