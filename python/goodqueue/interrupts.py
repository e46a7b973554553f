"""Ctrl-C: handled promptly, once, and with one line of output.

The first Ctrl-C raises KeyboardInterrupt, and half-finished files are removed on the way out. Further ones would
interrupt that removal, so they are ignored for `GRACE_S`. After that a Ctrl-C ends the process at once, since
something does not end by itself.
"""

import atexit
import os
import signal
import sys
import threading
import time

GRACE_S = 5.0
"""The time in seconds that cleaning up may take before another Ctrl-C ends the process."""

LINE = "goodqueue: interrupted"
STATUS = 130

_first: float | None = None
"""The time of the first Ctrl-C, by `time.monotonic`."""


def answer() -> None:
    """Handle Ctrl-C from now on, unless our parent has made us ignore it, as a shell does in the background."""
    global _first  # noqa: PLW0603 - signals belong to the process
    _first = None
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) not in (
        signal.SIG_IGN,
        None,
    ):
        signal.signal(signal.SIGINT, _interrupted)
        sys.unraisablehook = _unraisable
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)  # at its end Python would restore its own handler


def _unraisable(raised: "sys.UnraisableHookArgs") -> None:
    """Report an exception that Python can only report, except Ctrl-C, which `check` raises again."""
    if not (isinstance(raised.exc_value, KeyboardInterrupt) and _first is not None):
        sys.__unraisablehook__(raised)


def check() -> None:
    """Raise KeyboardInterrupt again if a library swallowed it."""
    if _first is not None and threading.current_thread() is threading.main_thread():
        raise KeyboardInterrupt


def _interrupted(number: int, frame: object) -> None:
    global _first  # noqa: PLW0603
    del number, frame
    now = time.monotonic()
    if _first is None:
        _first = now
        raise KeyboardInterrupt
    if now - _first >= GRACE_S:
        os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, f"{LINE}\n".encode())
        os._exit(STATUS)
