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
