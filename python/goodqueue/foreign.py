"""Code from files: the classes of disciplines written in Python, the ``numbers.py`` and ``figures.py`` of studies.

Nothing else that a file contains is ever executed. SECURITY.md says so to users. ``--no-code`` is `refused`.
"""

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from goodqueue import interrupts
from goodqueue.errors import UserError

VARIABLE = "GOODQUEUE_NO_CODE"
"""A variable of the environment, and so of all processes that this one starts: not empty, if no file's code may run."""

_OWN = (Path(__file__).parent, Path(__file__).resolve().parent)
"""The package's folder as Python found it, and without symbolic links, as `libraries` names what is in it."""

_lock = threading.Lock()
_within = 0
_streams: tuple[TextIO, TextIO] = (sys.stdout, sys.stderr)


@contextmanager
def refused() -> Iterator[None]:
    """Let this process, and those that it starts, execute no file's code within this block."""
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = before


def allowed(file: str) -> bool:
    """Return whether the code in ``file`` may be executed.

    goodqueue's own always may, which the studies and suites in its package are. The same files in another folder are
    no more goodqueue's own: whoever has that folder may have changed them.
    """
    path = Path(os.path.abspath(file))  # noqa: PTH100 - not through symbolic links: a source tree has some in the package
    return not os.environ.get(VARIABLE) or any(path.is_relative_to(own) for own in _OWN)


def check(file: str) -> None:
    """Raise UserError if the code in ``file`` may not be executed. Must be called before each execution."""
    if not allowed(file):
        raise UserError(file, "found Python code; accepted with --no-code: files without code")
    interrupts.end_if_stuck()


@contextmanager
def running(blame: Callable[[BaseException], UserError | None]) -> Iterator[None]:
    """Run a file's code in this block. An exception of the code becomes the one that ``blame`` returns, if any.

    Ctrl-C and SIGTERM are not the code's. At the end the process has its output streams back, whatever the code did to
    ``sys.stdout``. Runs in several threads share them: the first block takes note of them, the last one restores them.
    """
    global _within, _streams  # noqa: PLW0603 - the streams belong to the process
    with _lock:
        if not _within:
            _streams = sys.stdout, sys.stderr
        _within += 1
    try:
        with interrupts.in_code():
            yield
    except BaseException as error:
        if interrupts.ours(error) or (blamed := blame(error)) is None:
            raise
        raise blamed from error
    finally:
        with _lock:
            _within -= 1
            if not _within:
                sys.stdout, sys.stderr = _streams
    for name in ("stdout", "stderr"):
        if getattr(sys, name).closed:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115 - also takes its place
            raise blame(ValueError(f"sys.{name} is closed")) or UserError(f"sys.{name}", "closed")
