"""The files that programs behind the path see: /proc, the names of both ends, and the resolver of other names."""

import os
from contextlib import suppress
from pathlib import Path

from goodqueue.engines.kernel.lab.libc import call

HOSTS, RESOLVER = Path("/etc/hosts"), Path("/etc/resolv.conf")

_BIND, _RECURSIVE, _PRIVATE, _DETACH = 4096, 16384, 1 << 18, 2
"""MS_BIND, MS_REC and MS_PRIVATE of mount(2), MNT_DETACH of umount(2)."""

_PROC = Path("/proc")


def see(addresses: dict[str, list[str]], resolver: str | None) -> None:
    """Mount, for this process and its children, ``addresses`` in /etc/hosts, the text ``resolver``, and an own /proc.

    This process must have its own mount namespace. Nothing is written to a disk. The files are in memory, which is
    mounted at /proc for a moment, and exist as long as they are mounted. Raises OSError.
    """
    call("mount", b"none", b"/", None, _RECURSIVE | _PRIVATE, None)
    call("mount", b"tmpfs", bytes(_PROC), b"tmpfs", 0, b"size=1m,mode=755")
    try:
        for target, text in ((HOSTS, hosts(_read(HOSTS), addresses)), (RESOLVER, resolver)):
            if text is not None and target.exists():
                file = _PROC / target.name
                file.write_text(text, encoding="utf-8", errors="surrogateescape")
                call("mount", os.fsencode(file), os.fsencode(target.resolve()), None, _BIND, None)
    finally:
        call("umount2", bytes(_PROC), _DETACH)
    # In a container that hides parts of /proc, the kernel refuses a new /proc that hides nothing. The old one stays.
    with suppress(PermissionError):
        call("mount", b"proc", bytes(_PROC), b"proc", 0, None)


def hosts(text: str, addresses_of: dict[str, list[str]]) -> str:
    """Return ``text`` of an /etc/hosts with the names and addresses in ``addresses_of``. Their older entries go."""
    lines_left = []
    for line in text.splitlines():
        words = line.partition("#")[0].split()
        if left := [word for word in words[1:] if word not in addresses_of]:
            lines_left.append(line if len(left) == len(words) - 1 else " ".join([words[0], *left]))
    added = [f"{address} {name}" for name, addresses in addresses_of.items() for address in addresses]
    return "\n".join([*lines_left, *added, ""])


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="surrogateescape") if file.exists() else ""
