"""The files of the machine as Linux as a process sees them: all read-only, except the working directory and /tmp."""

import os
from contextlib import suppress
from pathlib import Path

from goodqueue.engines.kernel.lab.libc import call

TEMPORARY = Path("/tmp")  # noqa: S108
"""The folder that is in memory. It begins with what the machine has there, read-only."""

_BIND = 4096
"""MS_BIND of mount(2)."""


def see(cwd: str) -> None:
    """Mount ``cwd`` as a folder that may be changed, unless it is the root, and `TEMPORARY`. Raises OSError."""
    os.symlink("/proc/self/fd", "/dev/fd")
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        os.symlink(f"/proc/self/fd/{number}", f"/dev/{name}")
    _make_temporary()
    if cwd != "/":
        call("mount", b"hostfs", os.fsencode(cwd), b"hostfs", 0, os.fsencode(cwd))


def _make_temporary() -> None:
    before = os.open(TEMPORARY, os.O_PATH | os.O_DIRECTORY)
    entries = list(os.scandir(TEMPORARY))
    call("mount", b"tmpfs", bytes(TEMPORARY), b"tmpfs", 0, b"mode=1777")
    for entry in entries:
        target = TEMPORARY / entry.name
        with suppress(OSError):  # one that vanished meanwhile
            if entry.is_symlink():
                target.symlink_to(os.readlink(entry.name, dir_fd=before))
                continue
            if entry.is_dir():
                target.mkdir()
            elif entry.is_file():
                target.touch()
            else:
                continue  # nobody of this machine answers at a socket there
            call("mount", os.fsencode(f"/proc/self/fd/{before}/{entry.name}"), bytes(target), None, _BIND, None)
    os.close(before)
