"""Writes files atomically: a file is either complete or absent, and is never overwritten."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from goodqueue.files import drafts, inputs

MOST_BYTES = 1024 * inputs.MIB
"""The largest size of a file of a store. A run of two flows takes 18 kB."""


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
        drafts.settle(draft, path, replace=False)
    except FileExistsError:
        return False
    finally:
        drafts.discard(draft)
    _sync(path.parent)
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
    """Return the content of the file ``path``.

    Raises OSError, also if it is no regular file, since a pipe may never end, or if it is larger than `MOST_BYTES`.
    """
    with opened(path) as file:
        if os.fstat(file.fileno()).st_size > MOST_BYTES:
            raise OSError(errno.EFBIG, f"larger than {MOST_BYTES // inputs.MIB} MiB", str(path))
        return file.read()


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open the file ``path``, to read it in pieces. Raises OSError, also if it is no regular file."""
    inputs.note(path)
    number = os.open(path, inputs.FLAGS)
    with os.fdopen(number, "rb") as file:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise OSError(errno.EINVAL, "no regular file", str(path))
        yield file
