"""Files that are there whole or not at all, and are never overwritten."""

import os
import socket
from pathlib import Path

from goodqueue.output import alive

PARTIAL = ".partial"
"""How the name of a file ends that is being written."""


def add(path: Path, data: bytes) -> bool:
    """Write ``data`` to ``path``, if there is no such file yet, and return whether it was written.

    The file appears under its name when all of it is on the disk. Of several writers, on any machine that shares the
    file system, one succeeds and the others leave its file alone. Raises OSError; nothing is left behind then.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
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


def remove_partial(folder: Path) -> None:
    """Remove what writers of this machine that no longer live left half done below ``folder``."""
    own = f".{socket.gethostname()}."
    for draft in folder.glob(f"*/.*{PARTIAL}"):
        number = draft.name.removesuffix(PARTIAL).rpartition(own)[2]
        if number.isdecimal() and not alive(int(number)):
            draft.unlink(missing_ok=True)
