"""Runs a program that dies with this process, prints its progress in lines, and can be stopped."""

import os
import selectors
import subprocess
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from goodqueue.errors import UserError, one_line
from goodqueue.running import Progress, StoppedError

STALL_S = 600.0
"""Wall-clock time without a line after which a program is killed. A run has 50 lines, and one may take minutes."""

_LOOK_S = 0.1
_KEPT_LINES = 100


class Ended:
    """How a program ended."""

    def __init__(self) -> None:
        """Start without any line."""
        self.status = 0
        self.error: str | None = None
        """The text after ``error:``."""
        self.lines: deque[str] = deque(maxlen=_KEPT_LINES)
        """The last lines."""


def watch(
    command: Sequence[str], progress: Progress, stop: threading.Event, name: str, inherited: Sequence[int] = ()
) -> Ended:
    """Run ``command`` to its end and return how it ended. The command dies with this process.

    It has the descriptors ``inherited`` under their numbers.

    Raises StoppedError if ``stop`` is set, and UserError if the program cannot be started or prints nothing for
    `STALL_S`. The program is dead by then.
    """
    ended = Ended()
    with _started(command, name, inherited) as process:
        for line in lines(process, stop, name):
            ended.lines.append(line)
            key, _, value = line.partition(" ")
            if key == "progress":
                progress(float(value))
            elif key == "error:":
                ended.error = one_line(value)
        ended.status = process.wait()
    return ended


@contextmanager
def _started(command: Sequence[str], name: str, inherited: Sequence[int]) -> Iterator[subprocess.Popen[bytes]]:
    # With setpriv the kernel kills the program when this process dies. The shell covers a death before setpriv ran.
    guard = [
        "setpriv",
        "--pdeathsig",
        "KILL",
        "sh",
        "-c",
        '[ "$PPID" = "$0" ] && exec "$@"',
        str(os.getpid()),
        *command,
    ]
    try:
        process = subprocess.Popen(
            guard,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=inherited,
            start_new_session=True,  # Ctrl-C is ours to handle
        )
    except FileNotFoundError:
        raise UserError(name, "found no setpriv; accepted: the program of util-linux on PATH") from None
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def lines(process: subprocess.Popen[bytes], stop: threading.Event, name: str) -> Iterator[str]:
    """Yield the lines that ``process`` prints, without carriage returns at their ends.

    Raises StoppedError if ``stop`` is set, and UserError if the program prints nothing for `STALL_S`.
    """
    assert process.stdout is not None
    output = process.stdout.fileno()
    heard, rest = time.monotonic(), b""
    with selectors.DefaultSelector() as selector:
        selector.register(output, selectors.EVENT_READ)
        while True:
            if stop.is_set():
                raise StoppedError
            if not selector.select(_LOOK_S):
                if time.monotonic() - heard > STALL_S:
                    raise UserError(name, f"nothing heard for {STALL_S:.0f} s: given up")
                continue
            heard = time.monotonic()
            if not (read := os.read(output, 65536)):
                break
            *whole, rest = (rest + read).split(b"\n")
            yield from (_text(line) for line in whole)
    if rest:
        yield _text(rest)


def _text(line: bytes) -> str:
    return line.decode(errors="replace").strip("\r")
