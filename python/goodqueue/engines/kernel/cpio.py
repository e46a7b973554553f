"""The archive that Linux unpacks as its first file system: cpio in the "newc" format (Linux's initramfs buffer format).

Owner, time and inode numbers are constant, so the same files give the same bytes. Archives may be appended to one
another.
"""

import stat
from collections.abc import Iterator
from pathlib import Path

_ALIGN, _HEAD = 4, 110
_TRAILER = "TRAILER!!!"


def entry(name: str, mode: int, data: bytes = b"") -> bytes:
    """Return a file's entry. ``name`` has no leading slash, ``data`` is a link's target, and a folder has no data."""
    path = name.encode() + b"\0"
    fields = [0, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(path), 0]
    head = b"070701" + b"".join(b"%08x" % field for field in fields) + path
    return _padded(head) + _padded(data)


def trailer() -> bytes:
    """Return the entry that ends an archive."""
    return entry(_TRAILER, 0)


def tree(root: Path) -> Iterator[bytes]:
    """Yield the entries of everything under ``root``, in the order of the names."""
    for path in sorted(root.rglob("*")):
        mode, name = path.lstat().st_mode, path.relative_to(root).as_posix()
        if stat.S_ISLNK(mode):
            yield entry(name, stat.S_IFLNK | 0o777, str(path.readlink()).encode())
        elif stat.S_ISDIR(mode):
            yield entry(name, stat.S_IFDIR | 0o755)
        else:
            yield entry(name, stat.S_IFREG | (0o755 if mode & 0o100 else 0o644), path.read_bytes())


def files(contents: dict[str, bytes]) -> bytes:
    """Return a whole archive of programs and other files, with the folders that contain them."""
    folders = sorted({parent.as_posix() for name in contents for parent in Path(name).parents} - {"."})
    entries = [entry(folder, stat.S_IFDIR | 0o755) for folder in folders]
    entries += [entry(name, stat.S_IFREG | 0o755, data) for name, data in sorted(contents.items())]
    return b"".join(entries) + trailer()


def unpack(archive: bytes, root: Path) -> None:
    """Write what an archive of this module has into the new or existing folder ``root``."""
    root.mkdir(exist_ok=True)
    at = 0
    while at < len(archive):
        size, name_size = (int(archive[at + 6 + 8 * field : at + 14 + 8 * field], 16) for field in (6, 11))
        mode = int(archive[at + 14 : at + 22], 16)
        name = archive[at + _HEAD : at + _HEAD + name_size - 1].decode()
        start = at + _HEAD + name_size
        start += -start % _ALIGN
        data, at = archive[start : start + size], start + size + -size % _ALIGN
        path = root / name
        if stat.S_ISDIR(mode):
            path.mkdir(parents=True, exist_ok=True)
        elif stat.S_ISLNK(mode):
            path.symlink_to(data.decode())
        elif name != _TRAILER:
            path.write_bytes(data)
            path.chmod(stat.S_IMODE(mode))


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % _ALIGN)
