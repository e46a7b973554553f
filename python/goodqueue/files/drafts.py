"""Drafts: files and folders that are being written, until they get their names.

The draft of a file has no name at all (O_TMPFILE). It vanishes with the last process that has it open, however that
ends. Some file systems have no such files, and folders cannot be made in this way. Their drafts are hidden files and
folders beside the name that they will get.

The process that writes a draft with a name holds a lock on it (``flock``). The system releases the lock when the
process ends, in whatever way. So a draft without a lock is left over, and `sweep` removes it. The number of a process
would not do: a command behind a link and a process in a container share folders with processes whose numbers they
cannot see.

Locks hold among all processes of one kernel, and not always across a network. So the name of a draft has a mark of its
kernel. A draft with another mark, or on a system without locks, is left over when it is `OLD_S` old.
"""

import atexit
import errno
import os
import shutil
import socket
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

try:
    import fcntl

    HAS_LOCKS = True
except ImportError:  # Windows. It refuses to rename a file that is open, so a draft could not be held there.
    HAS_LOCKS = False

HAS_UNNAMED = hasattr(os, "O_TMPFILE")
"""Whether the system may have files without names."""

OLD_S = 86_400.0
"""The age in seconds after which nobody writes to a draft any more."""

PARTIAL = "partial"
"""The kind of a draft that is being written."""

OLD = "old"
"""The kind of a folder that makes room for its successor."""

_held: dict[Path, int] = {}
"""The drafts of this process, each with the descriptor that has the lock. -1: the file system has no locks."""

_OPEN = Path("/proc/self/fd")
"""The folder in which a draft without a name is found, under the number of its descriptor."""


def create(target: Path, folder: bool = False) -> Path:
    """Create an empty draft of ``target`` in the same folder, hold it, and return its path. Raises OSError.

    The caller gives the draft its name when it is complete (`settle`). It calls `discard` at the end in any case.
    """
    return (None if folder else _create_unnamed(target.parent)) or _create_named(target, folder)


def _create_named(target: Path, folder: bool) -> Path:
    """Create a draft beside ``target``."""
    while True:
        draft = beside(target, PARTIAL)
        if folder:
            draft.mkdir(parents=True)
        else:
            os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
        if hold(draft):
            return draft


def _create_unnamed(folder: Path) -> Path | None:
    """Return the path of a new file in ``folder`` that has no name, or None if there are no such files."""
    if not (HAS_UNNAMED and _OPEN.exists()):
        return None
    try:
        number = os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o666)
    except OSError:
        return None
    draft = _OPEN / str(number)
    _held[draft] = number
    return draft


def descriptor(draft: Path) -> int | None:
    """Return the descriptor of a ``draft`` that has no name, or None if it has one."""
    return int(draft.name) if draft.parent == _OPEN else None


def inherited(draft: str | None) -> list[int]:
    """Return the descriptors that another process must inherit under their numbers, so that it can write ``draft``."""
    number = None if draft is None else descriptor(Path(draft))
    return [] if number is None else [number]


def settle(draft: Path, path: Path, replace: bool) -> None:
    """Give the file ``draft`` the name ``path``. Raises FileExistsError if that exists, unless it may be replaced."""
    if not replace:
        _link(draft, path)
    elif descriptor(draft) is None:
        draft.replace(path)
    else:
        # No system call gives a name that is taken to a file that has none.
        with _named(draft, path) as temporary:
            temporary.replace(path)


def _link(draft: Path, path: Path) -> None:
    """Give the file ``draft`` the further name ``path``. Raises FileExistsError if that exists."""
    try:
        # With a descriptor, although it is not used, Python lets the system follow the link in /proc.
        os.link(draft, path, src_dir_fd=descriptor(draft))
    except FileExistsError:
        raise
    except OSError:  # the file system has no hard links
        if path.exists():
            raise FileExistsError(errno.EEXIST, "exists", str(path)) from None
        if descriptor(draft) is None:
            draft.rename(path)
            return
        with _copied(draft, path) as copy:
            copy.rename(path)


@contextmanager
def _named(draft: Path, target: Path) -> Iterator[Path]:
    """Yield a name beside ``target`` of a ``draft`` that has none. It is removed afterwards, if it still exists."""
    temporary = beside(target, PARTIAL)
    if HAS_LOCKS:
        with suppress(OSError):
            fcntl.flock(_held[draft], fcntl.LOCK_EX)
    try:
        _link(draft, temporary)
        yield temporary
    finally:
        _remove(temporary)


@contextmanager
def _copied(draft: Path, target: Path) -> Iterator[Path]:
    """Yield a copy of a ``draft`` that has no name, beside ``target``. It is removed afterwards, if it still exists."""
    copy = _create_named(target, folder=False)
    try:
        shutil.copyfile(draft, copy)
        yield copy
    finally:
        discard(copy)


def beside(target: Path, kind: str) -> Path:
    """Return the name of a new draft of ``target``. No other process chooses the same."""
    return target.with_name(f".{target.name}.{kind}-{_kernel()}-{os.urandom(4).hex()}")


def hold(path: Path, name: Path | None = None) -> bool:
    """Hold the file or folder ``path`` as the draft ``name`` (default: ``path``) until `discard`.

    Return False if a sweep removed it before it was locked.
    """
    number = -1
    if HAS_LOCKS:
        try:
            number = os.open(path, os.O_RDONLY)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(number, fcntl.LOCK_EX)
            if not (path.exists() and os.path.samestat(os.fstat(number), path.stat())):
                os.close(number)
                return False
        except OSError:  # the file system has no locks
            os.close(number)
            number = -1
    _held[name or path] = number
    return True


@atexit.register
def discard_all() -> None:
    """Discard the drafts of a process that ends without its work done."""
    for draft in list(_held):
        discard(draft)


def discard(draft: Path) -> None:
    """Remove ``draft`` if it still has this name, and release it."""
    if descriptor(draft) is None:
        _remove(draft)
    number = _held.pop(draft, -1)
    if number >= 0:
        os.close(number)


def sweep(folder: Path, name: str = "", kind: str = PARTIAL) -> None:
    """Remove the drafts of this ``kind`` that ended processes left in ``folder``: all, or those of ``name``."""
    for draft in left_over(folder, name, kind):
        _remove(draft)


def left_over(folder: Path, name: str = "", kind: str = PARTIAL) -> Iterator[Path]:
    """Yield each draft in ``folder`` that no process holds. It is held meanwhile, so nobody else deals with it."""
    entries = sorted(folder.glob(f".*.{kind}-*")) if folder.is_dir() else []
    for draft in entries:
        if draft in _held or (name and not is_of(draft, name, kind)):
            continue
        with suppress(OSError):  # another process was faster, or the draft is another user's
            number = _take(draft)
            if number is None:
                continue
            try:
                yield draft
            finally:
                if number >= 0:
                    os.close(number)


def is_of(draft: Path, name: str, kind: str = PARTIAL) -> bool:
    """Return whether ``draft`` is a draft of the file or folder ``name``."""
    return draft.name.startswith(f".{name}.{kind}-")


def _take(draft: Path) -> int | None:
    """Return the descriptor of a lock on ``draft``, -1 if its age shows that it is left over, or None if it is held."""
    by_age = -1 if time.time() - draft.lstat().st_mtime > OLD_S else None
    if not HAS_LOCKS or f"-{_kernel()}-" not in draft.name:
        return by_age
    number = os.open(draft, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(number)
        return None if isinstance(error, BlockingIOError) else by_age
    return number


def _remove(draft: Path) -> None:
    if draft.is_dir() and not draft.is_symlink():
        shutil.rmtree(draft, ignore_errors=True)
    else:
        with suppress(OSError):
            draft.unlink()


@cache
def _kernel() -> str:
    """Return a mark of the running kernel, which all its namespaces and containers share."""
    try:
        mark = Path("/proc/sys/kernel/random/boot_id").read_bytes()
    except OSError:
        mark = socket.gethostname().encode()
    return f"{zlib.crc32(mark):08x}"


def _forget() -> None:
    """Leave the drafts to the parent, in a new child process. A lock stays as long as one descriptor of it is open."""
    for number in _held.values():
        if number >= 0:
            with suppress(OSError):
                os.close(number)
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
