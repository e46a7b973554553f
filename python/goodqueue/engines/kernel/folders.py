"""Private folders that do not outlive their process, however it ends.

A process holds a lock on each of its folders as long as it lives. The next process to make a folder removes the
folders that nobody locks, and no others.
"""

import errno
import fcntl
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from goodqueue.errors import UserError
from goodqueue.running import StoppedError

MARK = "goodqueue-kernel-"
"""The prefix of the names of these folders."""


@contextmanager
def private(parent: Path | None = None) -> Iterator[Path]:
    """Yield a new, empty folder in ``parent`` (by default where temporary files go) and remove it afterwards.

    Raises UserError if the disk is full or the folder cannot be made.
    """
    base = parent or Path(tempfile.gettempdir())
    try:
        base.mkdir(parents=True, exist_ok=True)
        sweep(base)
        folder, lock = _made(base)
    except OSError as error:
        raise UserError(str(error.filename or base), error.strerror or str(error)) from None
    try:
        yield folder
    except OSError as error:
        # A write to a full disk does not say where; that it was here is likely.
        if error.errno in (errno.ENOSPC, errno.EDQUOT) or str(error.filename).startswith(str(base)):
            raise UserError(str(error.filename or base), error.strerror or str(error)) from None
        raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


@contextmanager
def alone(folder: Path, stop: threading.Event) -> Iterator[None]:
    """Wait until no other thread or process does this in ``folder``. Raises StoppedError once ``stop`` is set."""
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        while True:
            if stop.is_set():
                raise StoppedError
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(0.1)
        yield
    finally:
        os.close(lock)


def _made(base: Path) -> tuple[Path, int]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=MARK, dir=base))
        if (lock := _locked(folder)) is not None:
            return folder, lock


def sweep(base: Path | None = None) -> None:
    """Remove the folders in ``base`` (by default where temporary files go) that ended processes left."""
    base = base or Path(tempfile.gettempdir())
    for folder in base.glob(f"{MARK}*"):
        with suppress(FileNotFoundError):  # another process was quicker to remove it
            if folder.lstat().st_uid != os.geteuid():
                continue
        if (lock := _locked(folder)) is not None:
            shutil.rmtree(folder, ignore_errors=True)
            os.close(lock)


def _locked(folder: Path) -> int | None:
    """Return a lock on ``folder``, or None if another process holds it or just removed it, or if it is not a folder."""
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Between open and lock, another process may have removed the folder. Then the lock is worthless.
        if os.fstat(lock).st_nlink and folder.stat().st_ino == os.fstat(lock).st_ino:
            return lock
    except OSError:
        pass
    os.close(lock)
    return None
