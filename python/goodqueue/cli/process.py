"""The command as a process: its output streams and its environment."""

import io
import os
import sys
from typing import TextIO


def prepare_streams() -> None:
    """Make sure that output streams exist, that texts are written whole, and that no character raises an error."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # our parent has closed it
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
            continue
        if isinstance(getattr(stream, "buffer", None), io.RawIOBase):
            setattr(sys, name, _buffered(stream))
        if hasattr(stream, "reconfigure"):
            getattr(sys, name).reconfigure(errors="backslashreplace")


def _buffered(stream: TextIO) -> TextIO:
    """Return ``stream``, which PYTHONUNBUFFERED (or ``-u``) made unbuffered, with a buffer that is flushed per line.

    Python's text layer takes a short write to a raw file for a whole one. On a full disk the rest of a text would be
    lost without an error. A buffer writes until all is written, or raises.
    """
    raw = io.FileIO(stream.fileno(), "wb", closefd=False)
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding=stream.encoding, line_buffering=True)


def draw_into_files() -> None:
    """Hide MPLBACKEND's value from matplotlib: goodqueue opens no window.

    Jupyter sets it for every program that it starts. If Jupyter's package is not installed, importing matplotlib would
    fail, and so would the figures of finished runs.
    """
    os.environ["MPLBACKEND"] = "agg"


def give_up_output(status: int) -> int:
    """Discard unwritten output, so that Python does not complain when it flushes at exit. Return ``status``."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return status
