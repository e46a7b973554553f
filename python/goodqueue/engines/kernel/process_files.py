"""The first file system of Linux as a process: one file beside the image, which all runs share.

qemu's machines start from a saved state, in which the laboratory has been compiled. Linux as a process starts anew for
each run, so its file system lacks what it needs not, and has the laboratory as the bytecode of the image's own Python.
Each release of Python has another bytecode.
"""

import hashlib
import shutil
import threading
from pathlib import Path
from typing import BinaryIO

from goodqueue import _goodqueue
from goodqueue.engines.kernel import cpio, folders, image, machine, making

_FOLDER, _MARK = "process", "first-"
"""The folder in the image's, in which qemu's first boot would keep others waiting, and the beginning of a file's name.
A hash of what goodqueue adds to the image follows."""

_PROGRAMS, _OF_SYSTEM = "programs-", ("usr/sbin/tc", "usr/bin/tcpdump")
"""The beginning of the name of a folder with programs of the image, and what is in it besides their libraries."""
_START = """#!/bin/sh
here=${0%/*}
exec "$here/lib/ld-linux-x86-64.so.2" --library-path "$here/lib" "$here/lib/${0##*/}" "$@"
"""
"""A program's start: the image's own loader takes the image's libraries, which lie beside it."""

_UNUSED = ("usr/lib/modules", "usr/lib/python3.*/pyroute2")


def opened(system: image.Image, stop: threading.Event) -> BinaryIO:
    """Return the file, open. It is made first if it is not there. Raises StoppedError.

    Another version of goodqueue may remove it meanwhile, so its name is good for nothing.
    """
    core = hashlib.sha256(Path(_goodqueue.__file__).read_bytes()).hexdigest()
    folder = system.folder / _FOLDER
    folder.mkdir(exist_ok=True)
    path = folder / f"{_MARK}{making.laboratory()}-{core[:12]}"
    with folders.alone(folder, stop):
        if not path.exists():
            for old in folder.glob(f"{_MARK}*"):
                old.unlink()
            with folders.private(folder) as work:
                _write(system, work / path.name, work / "root")
                (work / path.name).rename(path)
        return path.open("rb")


def programs(system: image.Image, stop: threading.Event) -> Path:
    """Return the folder with the image's ``tc`` and ``tcpdump``, as programs of this machine. It is made if necessary.

    They know what the image's Linux has, and this machine needs none of its own. Raises StoppedError.
    """
    folder = system.folder / _FOLDER
    folder.mkdir(exist_ok=True)
    made = folder / f"{_PROGRAMS}{hashlib.sha256(_START.encode()).hexdigest()[:12]}"
    with folders.alone(folder, stop):
        if not made.exists():
            with folders.private(folder) as work:
                cpio.unpack(system.initramfs.read_bytes(), work / "root")
                libraries = work / "root" / image.LIBRARIES
                (work / "made").mkdir()
                for program in _OF_SYSTEM:
                    name = Path(program).name
                    (work / "root" / program).rename(libraries / name)
                    (work / "made" / name).write_text(_START, encoding="ascii")
                    (work / "made" / name).chmod(0o755)
                libraries.rename(work / "made/lib")
                (work / "made").rename(made)
        return made


def _write(system: image.Image, file: Path, root: Path) -> None:
    cpio.unpack(system.initramfs.read_bytes(), root)
    for pattern in _UNUSED:
        for folder in root.glob(pattern):
            shutil.rmtree(folder)
    cpio.unpack(machine.archive("process.sh"), root)
    image.compile_python(root, root / machine.LAB)
    with file.open("wb") as archive:
        archive.writelines(cpio.tree(root))
        archive.write(cpio.trailer())
