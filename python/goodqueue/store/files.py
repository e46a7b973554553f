"""Writes files atomically: a file is either complete or absent, and is never overwritten."""

import errno
import os
import socket
import stat
import time
from contextlib import suppress
from pathlib import Path

from goodqueue.files.output import alive

PARTIAL = ".partial"
"""The suffix of a file that is being written."""

OLD_S = 86_400.0
"""The age in seconds after which nobody writes to a draft any more."""


def add(path: Path, data: bytes) -> bool:
    """Write ``data`` to ``path`` if there is no such file yet, and return whether it was written.

    The file gets its name only after all its bytes are on the disk. If several processes write it, on any machine that
    shares the file system, one succeeds and the others leave its file alone. Raises OSError, and then leaves no file.
    """
    draft = path.parent / f".{path.name}.{socket.gethostname()}.{os.getpid()}{PARTIAL}"
    try:
        with draft.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        added = _name(draft, path)
    finally:
        draft.unlink(missing_ok=True)
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


def is_partial(path: Path, name: str) -> bool:
    """Return whether ``path`` is a draft of the file ``name`` in the same folder."""
    return path.name.startswith(f".{name}.") and path.name.endswith(PARTIAL)


def remove_partial(store: Path) -> None:
    """Remove drafts that writers left in ``store`` and among its runs.

    It removes drafts of this machine whose process has ended, and drafts of any machine that are older than a day.
    Writing a file takes seconds.
    """
    own = f".{socket.gethostname()}."
    for draft in (*store.glob(f".*{PARTIAL}"), *store.glob(f"*/*/.*{PARTIAL}")):
        number = draft.name.removesuffix(PARTIAL).rpartition(own)[2]
        with suppress(OSError):  # another process may have removed it first
            if (number.isdecimal() and not alive(int(number))) or time.time() - draft.lstat().st_mtime > OLD_S:
                draft.unlink()


def read(path: Path) -> bytes:
    """Return the content of the file ``path``. Raises OSError, also if it is no regular file: a pipe may never end."""
    number = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(number, "rb") as file:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise OSError(errno.EINVAL, "no regular file", str(path))
        return file.read()
