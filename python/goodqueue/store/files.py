"""Writes files atomically: a file is either complete or absent, and is never overwritten."""

import errno
import os
import stat
from pathlib import Path

from goodqueue.files import drafts


def add(path: Path, data: bytes) -> bool:
    """Write ``data`` to ``path`` if there is no such file yet, and return whether it was written.

    The file gets its name only after all its bytes are on the disk. If several processes write it, on any machine that
    shares the file system, one succeeds and the others leave its file alone. Raises OSError, and then leaves no file.
    """
    draft = drafts.create(path)
    try:
        with draft.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        added = _name(draft, path)
    finally:
        drafts.discard(draft)
    _sync(path.parent)
    return added


def _name(draft: Path, path: Path) -> bool:
    """Give ``draft`` the name ``path``, unless it is taken. Return whether it was free."""
    try:
        os.link(draft, path)
    except FileExistsError:
        return False
    except OSError:  # the file system has no hard links
        if path.exists():
            return False
        draft.rename(path)
    return True


def _sync(folder: Path) -> None:
    """Flush the names in ``folder`` to the disk too, if the system can."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def remove_partial(store: Path) -> None:
    """Remove the drafts that ended writers left in ``store`` and among its runs."""
    for folder in (store, *store.glob("*/*")):
        drafts.sweep(folder)


def read(path: Path) -> bytes:
    """Return the content of the file ``path``. Raises OSError, also if it is no regular file: a pipe may never end."""
    number = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(number, "rb") as file:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise OSError(errno.EINVAL, "no regular file", str(path))
        return file.read()
