"""Ctrl-C: answered soon, once, and with a line.

The first raises KeyboardInterrupt where the program is, and what is half done is removed on the way out. More of them
would interrupt just that, so they are passed over for `GRACE_S`; after that one ends the process at once, as somewhere
something does not end.
"""

import atexit
import os
import signal
import sys
import threading
import time

GRACE_S = 5.0
"""How long cleaning up may take before another Ctrl-C ends the process."""

LINE = "goodqueue: interrupted"
STATUS = 130

_first: float | None = None
"""When the first Ctrl-C came, on the clock of `time.monotonic`."""


def answer() -> None:
    """Answer Ctrl-C from now on, unless whoever started us has it ignored, as a shell does in the background."""
    global _first  # noqa: PLW0603 - signals are the process's
    _first = None
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) not in (
        signal.SIG_IGN,
        None,
    ):
        signal.signal(signal.SIGINT, _interrupted)
        sys.unraisablehook = _unraisable
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)  # Python, as it ends, would take our answer away


def _unraisable(raised: "sys.UnraisableHookArgs") -> None:
    """Tell of what was raised where Python can only tell of it, but for Ctrl-C, which `check` raises again."""
    if not (isinstance(raised.exc_value, KeyboardInterrupt) and _first is not None):
        sys.__unraisablehook__(raised)


def check() -> None:
    """Raise KeyboardInterrupt again where a library swallowed the one that there was."""
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
