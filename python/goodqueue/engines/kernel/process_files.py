"""The root of Linux as a process: one folder beside the image, which all runs read and none writes.

qemu's machines start from a saved state, in which the laboratory has been compiled. Linux as a process starts anew for
each run. So it unpacks nothing and reads the files that it needs from the host, and the laboratory is bytecode of the
image's own Python. Each release of Python has another bytecode.
"""

import fcntl
import hashlib
import os
import shlex
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from goodqueue import _goodqueue
from goodqueue.engines.kernel import cpio, folders, image, machine, making

FIRST = f"/{machine.LAB}/first.pyc"
"""The program that the first process runs."""

_FOLDER, _MARK = "process", "root-"
"""The folder in the image's, in which qemu's first boot would keep others waiting, and the beginning of a root's name.
A hash of what goodqueue adds to the image follows."""

_START = """#!/bin/sh
exec {root}/usr/lib64/ld-linux-x86-64.so.2 --library-path {root}/{libraries} {root}/{program} "$@"
"""
"""A program's start from outside of the root: the image's own loader takes the image's libraries."""

_UNUSED = ("usr/lib/modules", "usr/lib/python3.*/pyroute2")
_MOUNTED = ("dev", "host", "out", "proc", "sys")


@contextmanager
def root(system: image.Image, stop: threading.Event) -> Iterator[Path]:
    """Yield the folder. It is made first if it is not there, and nobody removes it meanwhile. Raises StoppedError."""
    folder = system.folder / _FOLDER
    folder.mkdir(exist_ok=True)
    path = folder / f"{_MARK}{making.laboratory()}-{_core()}"
    with folders.alone(folder, stop):
        if not path.exists():
            for old in folder.glob(f"{_MARK}*"):
                _remove(old)
            with folders.private(folder) as work:
                _write(system, work / path.name)
                (work / path.name).rename(path)
        used = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(used, fcntl.LOCK_SH)
    try:
        yield path
    finally:
        os.close(used)


def programs(root: Path, folder: Path) -> None:
    """Make ``tc`` and ``tcpdump`` of the ``root`` programs of this machine, in the new ``folder``.

    They know what the image's Linux has, and this machine needs none of its own.
    """
    folder.mkdir()
    for program in ("usr/sbin/tc", "usr/bin/tcpdump"):
        words = {"root": shlex.quote(str(root)), "libraries": image.LIBRARIES, "program": program}
        start = folder / Path(program).name
        start.write_text(_START.format(**words), encoding="utf-8")
        start.chmod(0o755)


def _core() -> str:
    """Return a name of the compiled core that another core does not have.

    To hash its bytes takes longer than Linux takes to boot.
    """
    file = Path(_goodqueue.__file__).stat()
    return hashlib.sha256(f"{file.st_size} {file.st_mtime_ns}".encode()).hexdigest()[:12]


def _remove(old: Path) -> None:
    """Remove a root, unless a run uses it."""
    used = os.open(old, os.O_RDONLY | os.O_DIRECTORY)
    with suppress(BlockingIOError):
        fcntl.flock(used, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(old, ignore_errors=True)  # of another user
    os.close(used)


def _write(system: image.Image, root: Path) -> None:
    cpio.unpack(system.initramfs.read_bytes(), root)
    for pattern in _UNUSED:
        for folder in root.glob(pattern):
            shutil.rmtree(folder)
    first = {f"{machine.LAB}/first.py": Path(__file__).with_name("first.py").read_bytes()}
    cpio.unpack(cpio.files(machine.laboratory() | first), root)
    image.compile_python(root, root / machine.LAB)
    for name in _MOUNTED:
        (root / name).mkdir(exist_ok=True)
