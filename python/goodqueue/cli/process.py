"""The command as a process: the streams that it writes to, and the signals that end it."""

import io
import os
import sys
from typing import NoReturn, TextIO


def prepare_streams() -> None:
    """Make sure that there is an output, that all of a text arrives, and that no character ends the program."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by who started us
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
            continue
        if isinstance(getattr(stream, "buffer", None), io.RawIOBase):
            setattr(sys, name, _buffered(stream))
        if hasattr(stream, "reconfigure"):
            getattr(sys, name).reconfigure(errors="backslashreplace")


def _buffered(stream: TextIO) -> TextIO:
    """Return ``stream``, which PYTHONUNBUFFERED (or ``-u``) made unbuffered, with a buffer that each line empties.

    Python's text layer takes a short write of a raw file for a whole one: on a full disk the rest of a text would be
    lost, and nobody told. A buffer writes until all is written, or raises.
    """
    raw = io.FileIO(stream.fileno(), "wb", closefd=False)
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding=stream.encoding, line_buffering=True)


def draw_into_files() -> None:
    """Keep what MPLBACKEND says from matplotlib: we open no window.

    Jupyter sets it for whatever it starts; where its package is not installed, importing matplotlib would fail, and
    with it the figures of runs that are done.
    """
    os.environ["MPLBACKEND"] = "agg"


def clean_up_when_terminated() -> None:
    """Let SIGTERM end the program like an exception does: what is half done is removed."""
    import signal
    import threading

    def end(number: int, _: object) -> NoReturn:
        sys.exit(128 + number)

    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        signal.signal(signal.SIGTERM, end)


def give_up_output(status: int) -> int:
    """Send what is still to be written to nowhere, lest the interpreter complains when it flushes at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return status
