"""Folders of results: whole or not at all.

Everything is first written to a hidden folder beside the target, which takes the target's place when it is complete.
A folder is replaced only if all that it holds was made by us, which its ``results.json`` lists under ``files``.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from goodqueue.errors import UserError, one_line

RESULTS = "results.json"


def check(out: str | Path, force: bool = False) -> None:
    """Refuse a target that cannot or must not be written, before any work is done. Raises UserError."""
    path, name = _resolved(out), f"--out {out}"
    if path.exists() and not path.is_dir():
        raise UserError(name, "found a file; accepted: a folder, new, empty or made by goodqueue")
    parent = path
    while not parent.exists():
        parent = parent.parent
    if not parent.is_dir():
        raise UserError(name, f"cannot be written: {parent} is no folder")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise UserError(name, f"cannot be written: no permission in {parent}")
    if foreign := [] if force else _foreign(path):
        more = f" and {len(foreign) - 1} more" if len(foreign) > 1 else ""
        accepted = "a folder that is new, empty or made by goodqueue, or --force to write beside them"
        raise UserError(name, f"holds files of others ({foreign[0]}{more}); accepted: {accepted}")


def _resolved(out: str | Path) -> Path:
    """Return where ``out`` leads; a link is followed, so that its target is what is replaced. Raises UserError."""
    try:
        return Path(out).resolve()
    except (OSError, RuntimeError, ValueError) as error:
        message = getattr(error, "strerror", None) or one_line(str(error))
        raise UserError(f"--out {out}", f"cannot be written: {message}") from None


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


def _foreign(path: Path) -> list[str]:
    """Return what ``path`` holds that is not ours."""
    if not path.is_dir():
        return []
    try:
        ours = set(json.loads((path / RESULTS).read_text(encoding="utf-8"))["files"])
    except (OSError, ValueError, KeyError, TypeError):
        ours = set()
    return sorted(entry.name for entry in path.iterdir() if entry.name not in ours)


def write(out: str | Path, force: bool, fill: Callable[[Path], None]) -> None:
    """Let ``fill`` write its files into a new folder, then put that in the place of ``out``.

    With ``force`` the files replace those of the same name in ``out`` and leave others alone. On any error ``out`` is
    as it was. Raises UserError where the system refuses.
    """
    path = _resolved(out)
    check(out, force)
    try:
        _sweep(path)
        with _workshop(path) as draft:
            fill(draft)
            if path.is_dir() and _foreign(path):
                for file in sorted(draft.iterdir()):
                    file.replace(path / file.name)
            else:
                _swap(draft, path)
    except OSError as error:
        raise UserError(f"--out {out}", f"cannot be written: {error.strerror or error}") from error


@contextmanager
def _workshop(path: Path) -> Iterator[Path]:
    """Give a hidden folder beside ``path`` that is gone afterwards, unless it was moved."""
    made = [parent for parent in path.parents if not parent.exists()]
    draft = path.parent / f".{path.name}.partial-{os.getpid()}"
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


PAGE = b'content="goodqueue'
"""What each page of ours says in its head, where `check_page` looks."""


def check_page(out: str | Path, force: bool = False) -> None:
    """Refuse a page that cannot or must not be written, before any work is done. Raises UserError."""
    path, name = _place(out, "new or a page that goodqueue made")
    if path.exists() and not force:
        with path.open("rb") as file:
            if PAGE not in file.read(1000):
                raise UserError(
                    name, "found a file of others; accepted: a new one, one that goodqueue made, or --force"
                )


def check_file(out: str | Path, force: bool = False) -> None:
    """Refuse a file that cannot be written, or that is there already, before any work is done. Raises UserError."""
    path, name = _place(out, "new")
    if path.exists() and not force:
        raise UserError(name, "exists already; accepted: a new file, or --force to replace it")


def _place(out: str | Path, accepted: str) -> tuple[Path, str]:
    """Return where a file goes, and the name of that in refusals. Raises UserError where none can be."""
    path, name = _resolved(out), f"--out {out}"
    if path.is_dir():
        raise UserError(name, f"found a folder; accepted: a file, {accepted}")
    parent = path.parent
    if not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
        raise UserError(name, f"cannot be written: no folder {parent}, or no permission in it")
    return path, name


def write_page(out: str | Path, force: bool, text: str) -> None:
    """Write ``text`` to ``out``, whole or not at all. Raises UserError where the system refuses."""
    check_page(out, force)
    _replace(out, text.encode())


def write_file(out: str | Path, force: bool, data: bytes) -> None:
    """Write ``data`` to ``out``, whole or not at all. Raises UserError where the system refuses."""
    check_file(out, force)
    _replace(out, data)


def _replace(out: str | Path, data: bytes) -> None:
    path = _resolved(out)
    remove_drafts(path.parent)
    draft = path.parent / f".{path.name}.partial-{os.getpid()}"
    try:
        draft.write_bytes(data)
        draft.replace(path)
    except OSError as error:
        raise UserError(f"--out {out}", f"cannot be written: {error.strerror or error}") from error
    finally:
        draft.unlink(missing_ok=True)
