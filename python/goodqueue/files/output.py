"""Folders and files of results: whole or not at all, and nothing that is there is replaced unasked.

Everything is first written to a hidden draft beside the target, which takes the target's place when it is complete. A
target that holds anything is refused without ``--force``, before any run. If it appears while the runs are on, what was
measured goes beside it, under a free name. With ``--force`` a folder that holds nothing but our files, which its
``results.json`` lists under ``files``, is replaced; beside files of others ours are written.
"""

import errno
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import TypeVar

from goodqueue.errors import UserError, one_line

Result = TypeVar("Result")

RESULTS = "results.json"

STORE = "store.json"
"""What makes a folder a store of runs, as `store` writes it."""


def check(out: str | Path, force: bool = False) -> None:
    """Refuse a folder that cannot or must not be written, before any work is done. Raises UserError."""
    path = check_place(out, f"--out {out}")
    if not force and (held := held_in(path)):
        way = f"--force to {'write beside them' if _unlisted(path) else 'replace them'}"
        raise UserError(f"--out {out}", f"holds {held}; accepted: another name, or {way}")


def check_place(out: str | Path, name: str) -> Path:
    """Return where the folder ``out`` leads. Raises UserError, which begins with ``name``, where none can be there."""
    path = _resolved(out, name)
    if path.exists() and not path.is_dir():
        raise UserError(name, "found a file; accepted: a folder, new or empty")
    parent = path
    while not parent.exists():
        parent = parent.parent
    if not parent.is_dir():
        raise UserError(name, f"cannot be written: {parent} is no folder")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise UserError(name, f"cannot be written: no permission in {parent}")
    return path


def held_in(path: Path) -> str:
    """Return in words what the folder ``path`` holds; nothing where it is empty, or not there."""
    if not path.is_dir() or not any(path.iterdir()):
        return ""
    if (path / STORE).exists():
        return "a store of runs"
    if others := _unlisted(path):
        return f"files of others ({others[0]}{f' and {len(others) - 1} more' if len(others) > 1 else ''})"
    return f"results of {_about(path).get('made_by', 'goodqueue')}"


def foreign(path: Path) -> list[str]:
    """Return what must stay of what the folder ``path`` holds: files of others, and folders, which may hold runs."""
    folders = (entry.name for entry in path.iterdir() if entry.is_dir()) if path.is_dir() else ()
    return sorted({*_unlisted(path), *folders})


def _unlisted(path: Path) -> list[str]:
    """Return what the folder ``path`` holds that is not ours."""
    ours = listed(path)
    return sorted(entry.name for entry in path.iterdir() if entry.name not in ours) if path.is_dir() else []


def listed(path: Path) -> list[str]:
    """Return what in the folder ``path`` we made, as its ``results.json`` says."""
    files = _about(path).get("files")
    return [name for name in files if isinstance(name, str)] if isinstance(files, list) else []


def _about(path: Path) -> dict[str, object]:
    """Return what the ``results.json`` in the folder ``path`` says, if that is ours."""
    try:
        about = json.loads((path / RESULTS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return about if isinstance(about, dict) else {}


def _resolved(out: str | Path, name: str = "") -> Path:
    """Return where ``out`` leads; a link is followed, so that its target is what is replaced. Raises UserError."""
    try:
        return Path(out).resolve()
    except (OSError, RuntimeError, ValueError) as error:
        message = getattr(error, "strerror", None) or one_line(str(error))
        raise UserError(name or f"--out {out}", f"cannot be written: {message}") from None


def _sweep(path: Path) -> None:
    """Remove what processes that were killed left beside ``path``; a folder that one had moved away comes back."""
    for kind in ("old", "partial"):
        prefix = f".{path.name}.{kind}-"
        left = path.parent.iterdir() if path.parent.is_dir() else ()
        for entry in sorted(entry for entry in left if entry.name.startswith(prefix) and entry.is_dir()):
            number = entry.name.removeprefix(prefix)
            if not number.isdecimal() or alive(int(number)):
                continue
            if kind == "old" and not path.exists():
                entry.rename(path)
            else:
                shutil.rmtree(entry, ignore_errors=True)


def remove_drafts(folder: Path) -> None:
    """Remove the files that processes which were killed left half written in ``folder``."""
    for entry in folder.glob(".*.partial-*"):
        number = entry.name.rpartition("-")[2]
        if number.isdecimal() and int(number) != os.getpid() and not alive(int(number)) and entry.is_file():
            with suppress(OSError):  # another's, in a folder that we may not change
                entry.unlink()


def alive(pid: int) -> bool:
    """Whether another process has the number ``pid``."""
    if pid == os.getpid():
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


def write(out: str | Path, force: bool, fill: Callable[[Path], Result]) -> tuple[str, Result]:
    """Let ``fill`` write its files into a new folder, then put that in the place of ``out``.

    Return where that is, and what ``fill`` returned. It is ``out``, or a free name beside it where `check`
    would refuse ``out`` now: see `appeared`. On any error ``out`` is as it was. Raises UserError where the system
    refuses.
    """

    def put(draft: Path, path: Path) -> Path:
        if force and path.is_dir():
            return _force(draft, path)
        return _settled(path, lambda free: _rename(draft, free))

    return _written(out, fill, put)


def replace(out: str | Path, fill: Callable[[Path], None]) -> None:
    """As `write` with force, into a folder whose name says that it is ours, as that of a sweep in its store."""
    _written(out, fill, _force)


def _written(out: str | Path, fill: Callable[[Path], Result], put: Callable[[Path, Path], Path]) -> tuple[str, Result]:
    path = _resolved(out)
    try:
        _sweep(path)
        with _workshop(path) as draft:
            result = fill(draft)
            return _shown(out, path, put(draft, path)), result
    except OSError as error:
        raise UserError(f"--out {out}", f"cannot be written: {error.strerror or error}") from error


def _shown(out: str | Path, path: Path, found: Path) -> str:
    """Return ``out``, or the name beside it under which its contents were ``found``."""
    return str(out) if found == path else str(found if Path(out).is_symlink() else Path(out).with_name(found.name))


def appeared(out: str | Path, written: str, option: str = "--out") -> UserError:
    """Return what to say where ``out`` was ``written`` under another name."""
    return UserError(f"{option} {out}", f"appeared in the meantime and stays as it is; written: {written}")


def _settled(path: Path, place: Callable[[Path], None]) -> Path:
    """Return the first of ``path`` and the names after it that ``place`` can take: it raises FileExistsError else."""
    ending = "".join(path.suffixes[-2:]) if path.suffix == ".gz" else path.suffix
    stem = path.name.removesuffix(ending)
    for number in count(1):
        free = path if number == 1 else path.with_name(f"{stem}-{number}{ending}")
        try:
            place(free)
        except FileExistsError:
            continue
        return free
    raise AssertionError("numbers do not end")


def _rename(draft: Path, path: Path) -> None:
    """Move the folder ``draft`` to ``path``. Raises FileExistsError unless that is an empty folder, or nothing."""
    try:
        draft.rename(path)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
            raise FileExistsError(error.errno, "exists", str(path)) from None
        raise


def _force(draft: Path, path: Path) -> Path:
    """Replace ``path`` by ``draft``; where ``path`` holds files of others, move ours beside them."""
    if foreign(path):
        for file in sorted(draft.iterdir()):
            file.replace(path / file.name)
    else:
        _swap(draft, path)
    return path


@contextmanager
def _workshop(path: Path) -> Iterator[Path]:
    """Give a hidden folder beside ``path`` that is gone afterwards, unless it was moved."""
    made = [parent for parent in path.parents if not parent.exists()]
    draft = draft_of(path)
    try:
        draft.mkdir(parents=True)
        yield draft
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        for parent in made:
            try:
                parent.rmdir()
            except OSError:
                break
        raise
    shutil.rmtree(draft, ignore_errors=True)


def _swap(draft: Path, path: Path) -> None:
    """Put ``draft`` in the place of ``path``, which may exist."""
    old = path.parent / f".{path.name}.old-{os.getpid()}"
    if path.exists():
        path.rename(old)
    try:
        draft.rename(path)
    except BaseException:
        if old.exists():
            old.rename(path)
        raise
    shutil.rmtree(old, ignore_errors=True)


def check_file(out: str | Path, force: bool = False, option: str = "--out") -> None:
    """Refuse a file that cannot be written, or that is there already, before any work is done. Raises UserError."""
    name = f"{option} {out}"
    path = _resolved(out, name)
    if path.exists() and not path.is_file():
        raise UserError(name, f"found a {'folder' if path.is_dir() else 'device'}; accepted: a file")
    parent = path.parent
    if not parent.is_dir():
        raise UserError(name, f"cannot be written: {Path(out).parent} is no folder")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise UserError(name, f"cannot be written: no permission in {parent}")
    if path.exists() and not force:
        raise UserError(name, "exists already; accepted: another name, or --force to replace it")


def write_file(out: str | Path, force: bool, data: bytes, option: str = "--out") -> str:
    """Write ``data`` to ``out``, whole or not at all, and return where it is, as `write` does. Raises UserError."""
    path = _resolved(out)
    remove_drafts(path.parent)
    draft = draft_of(path)
    try:
        draft.write_bytes(data)
        return settle(draft, out, force)
    except OSError as error:
        raise UserError(f"{option} {out}", f"cannot be written: {error.strerror or error}") from error
    finally:
        draft.unlink(missing_ok=True)


def draft_of(path: Path) -> Path:
    """Return where this process writes what is to become ``path``: `remove_drafts` finds a file, `_sweep` a folder."""
    return path.parent / f".{path.name}.partial-{os.getpid()}"


def settle(draft: Path, out: str | Path, force: bool) -> str:
    """Move the file ``draft`` to ``out``, or to a free name beside it, and return where it is. Raises OSError.

    Only with ``force`` is a file replaced.
    """
    path = _resolved(out)
    if force:
        draft.replace(path)
        return str(out)
    return _shown(out, path, _settled(path, lambda free: _link(draft, free)))


def _link(draft: Path, path: Path) -> None:
    """Move the file ``draft`` to ``path``. Raises FileExistsError where something is there."""
    try:
        os.link(draft, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if path.exists():
            raise FileExistsError(errno.EEXIST, "exists", str(path)) from None
        draft.rename(path)
    else:
        draft.unlink()
