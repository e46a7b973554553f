"""Ctrl-C and SIGTERM: they end the process soon, once, and with one line of output at most.

The first signal raises `KeyboardInterrupt` or `TerminatedError`, and half-finished files are removed on the way out.
Further ones would interrupt that removal, so they are ignored for `GRACE_S`. After that a signal ends the process at
once, since something does not end by itself.

The exception may come at any instruction, for example between taking a lock and the block that releases it. A thread
that needs that lock would then never end, nor the process. So code that shares locks with threads holds signals back
(`held`), and asks for them (`check`) from time to time.
"""

import atexit
import os
import signal
import sys
import threading
import time
from _thread import start_new_thread
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

GRACE_S = 5.0
"""The time in seconds that cleaning up may take before another signal ends the process."""

LINE = "goodqueue: interrupted"
STATUS = 128 + signal.SIGINT


class TerminatedError(SystemExit):
    """Raised by SIGTERM. The process ends with the status 143."""

    def __init__(self) -> None:
        """Take the status that a shell reports for SIGTERM."""
        super().__init__(128 + signal.SIGTERM)


_answers = False
"""Whether the handlers of this module are in place."""

_first: tuple[int, float] | None = None
"""The number of the first signal, and its time by `time.monotonic`."""

_watched: int | None = None
"""The descriptor to which a 0 is written as long as Python runs after a signal."""

_reported: set[str] = set()
"""The lines that `_unraisable` has printed."""

_code_since: float | None = None
"""Since when the main thread is in the code of a file, by `time.monotonic`."""

_gave_up = False
"""Whether a thread is stuck in the code of a file, and the process ends without it."""

_holders = 0
"""How many blocks of `held` this process is within."""


def answer() -> None:
    """Handle Ctrl-C and SIGTERM from now on, unless our parent has made us ignore them, as a shell does with Ctrl-C."""
    global _answers, _first  # noqa: PLW0603 - signals belong to the process
    if threading.current_thread() is not threading.main_thread():
        return
    _first = None
    _answers = True
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) not in (signal.SIG_IGN, None):
            signal.signal(number, _came)
    sys.unraisablehook = _unraisable
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)  # at its end Python would restore its own handler


def check() -> None:
    """Raise the first signal's exception, if one was held or a library swallowed its exception."""
    if _first is not None and threading.current_thread() is threading.main_thread():
        raise _exception(_first[0])


@contextmanager
def held() -> Iterator[None]:
    """Hold signals, which `check` raises. The end of the block raises them, too.

    In a program that only imports goodqueue, such as a notebook, this holds for Ctrl-C, and only within the block.
    """
    global _holders, _first  # noqa: PLW0603
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    lent = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if lent:
        signal.signal(signal.SIGINT, _came)
    _holders += 1
    try:
        yield
        check()
    finally:
        _holders -= 1
        if lent:
            _first = None
            signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def in_code() -> Iterator[None]:
    """Note that the code of a file runs in this block. After a signal it may take `GRACE_S` at most."""
    global _code_since  # noqa: PLW0603
    if _code_since is not None or threading.current_thread() is not threading.main_thread():
        yield
        return
    _code_since = time.monotonic()
    try:
        yield
    finally:
        _code_since = None


def give_up() -> None:
    """Let `leave` end the process without its other threads, one of which does not end."""
    global _gave_up  # noqa: PLW0603
    _gave_up = True


def leave(status: int) -> NoReturn:
    """Exit with ``status``."""
    if _gave_up:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(status)
    sys.exit(status)


def ours(error: BaseException) -> bool:
    """Return whether ``error`` is the exception of a signal, and was not raised by the code of a file itself."""
    interrupted = isinstance(error, KeyboardInterrupt) and (_first is not None or not _answers)
    return interrupted or isinstance(error, TerminatedError)


def end_if_stuck() -> None:
    """End the process, from now on, if no Python has run for `GRACE_S` at any time after a signal.

    Python handles a signal between two of its own instructions. Code in C that never returns has none, such as
    ``sum(iter(int, 1))`` in a discipline's class. It may begin before the signal is handled, or, in another thread,
    after that. A thread that needs no Python ends the process then. The process also ends if a file's code keeps the
    main thread for `GRACE_S` after a signal, since it swallows the exception. Drafts of files stay, until the next
    command that writes into their folder.
    """
    if _answers and threading.current_thread() is threading.main_thread() and os.name == "posix":
        from goodqueue._goodqueue import watch_signals

        global _watched  # noqa: PLW0603
        # The thread inherits the mask. The kernel would give it signals that the main thread holds back.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            _watched = watch_signals(GRACE_S, LINE)
        except OSError:  # no thread can be started: then what is stuck needs kill -9
            return
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        signal.set_wakeup_fd(_watched, warn_on_full_buffer=False)


def _exception(number: int) -> BaseException:
    return KeyboardInterrupt() if number == signal.SIGINT else TerminatedError()


def _unraisable(raised: "sys.UnraisableHookArgs") -> None:
    """Report an exception that Python can only report, except a signal's, which `check` raises again.

    That is one of a ``__del__``, for example of a file's class. It is one line, once, however many objects raise it.
    """
    if isinstance(raised.exc_value, (KeyboardInterrupt, TerminatedError)) and _first is not None:
        return
    trace = raised.exc_traceback
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}: " if trace is not None else ""
    what = " ".join(f"{raised.exc_type.__name__}: {raised.exc_value}".split())
    line = f"goodqueue: {where}ignored, since Python calls this when it likes: {what}"
    if line not in _reported and sys.stderr is not None:
        _reported.add(line)
        print(line, file=sys.stderr)


def _beat(descriptor: int) -> None:
    """Tell the thread of `end_if_stuck` for ever that Python runs. End the process if only a file's code runs."""
    while True:
        with suppress(OSError):
            os.write(descriptor, b"\0")
        since = _code_since
        if _first is not None and since is not None and time.monotonic() - max(since, _first[1]) >= GRACE_S:
            _end_at_once(_first[0])
        time.sleep(GRACE_S / 5)


def _end_at_once(number: int) -> NoReturn:
    if number == signal.SIGINT:
        os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, f"{LINE}\n".encode())
    os._exit(128 + number)


def _came(number: int, frame: FrameType | None) -> None:
    global _first  # noqa: PLW0603
    del frame
    now = time.monotonic()
    if _first is None:
        _first = number, now
        if _watched is not None:
            # A thread of `threading` would need a lock, which the code that is interrupted here may hold.
            with suppress(RuntimeError):  # no thread can be started: the process has GRACE_S to end
                start_new_thread(_beat, (_watched,))
        if not _holders:
            raise _exception(number)
    elif now - _first[1] >= GRACE_S:
        _end_at_once(number)
