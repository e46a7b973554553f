"""Files that are there whole or not at all, and are never overwritten."""

import errno
import os
import socket
import stat
import time
from contextlib import suppress
from pathlib import Path

from goodqueue.files.output import alive

PARTIAL = ".partial"
"""How the name of a file ends that is being written."""

OLD_S = 86_400.0
"""A draft of which nobody writes any more."""


def add(path: Path, data: bytes) -> bool:
    """Write ``data`` to ``path``, if there is no such file yet, and return whether it was written.

    The file appears under its name when all of it is on the disk. Of several writers, on any machine that shares the
    file system, one succeeds and the others leave its file alone. Raises OSError; nothing is left behind then.
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
    """Give ``draft`` the name ``path``, unless that is taken."""
    try:
        os.link(draft, path)
    except FileExistsError:
        return False
    except OSError:  # a file system without hard links
        if path.exists():
            return False
        draft.rename(path)
    return True


def _sync(folder: Path) -> None:
    """Bring the names in ``folder`` to the disk too, where the system can."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def is_partial(path: Path, name: str) -> bool:
    """Whether ``path`` is what becomes the file ``name`` beside it."""
    return path.name.startswith(f".{name}.") and path.name.endswith(PARTIAL)


def remove_partial(store: Path) -> None:
    """Remove what writers left half done in ``store`` and among its runs.

    Those are drafts of this machine whose process lives no more, and drafts of any machine that are older than a day:
    to write one takes seconds.
    """
    own = f".{socket.gethostname()}."
    for draft in (*store.glob(f".*{PARTIAL}"), *store.glob(f"*/*/.*{PARTIAL}")):
        number = draft.name.removesuffix(PARTIAL).rpartition(own)[2]
        with suppress(OSError):  # another process may have been first
            if (number.isdecimal() and not alive(int(number))) or time.time() - draft.lstat().st_mtime > OLD_S:
                draft.unlink()


def read(path: Path) -> bytes:
    """Return what the file ``path`` holds. Raises OSError, also where it is no file: a pipe would never end."""
    number = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(number, "rb") as file:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise OSError(errno.EINVAL, "no regular file", str(path))
        return file.read()
