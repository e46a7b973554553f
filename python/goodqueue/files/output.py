"""Writes folders and files of results atomically, and replaces nothing unless the user asks for it.

Everything is first written to a hidden draft next to the target. The complete draft takes the target's place. Without
``--force``, a target that is not empty is refused before any run. If the target appears during the runs, the results
are written next to it, under a free name. With ``--force``, a folder that holds only our files is replaced: its
``results.json`` lists them under ``files``. If it holds other files too, ours are written beside them.
"""

import errno
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import TypeVar

from goodqueue.errors import Option, Place, UserError, one_line
from goodqueue.files import drafts, inputs, long_json

Result = TypeVar("Result")

RESULTS = "results.json"

MOST_BYTES = 2048 * inputs.MIB
"""The largest size of a file of results or records."""

OUT, FORCE = Option("out"), Option("force")

STORE = "store.json"
"""The file that makes a folder a store of runs. `store` writes it."""


def check_force(force: bool, *written: str | None) -> None:
    """Refuse ``--force`` if the command writes nothing that was asked for, at none of ``written``. Raises UserError."""
    if force and not any(one is not None for one in written):
        raise UserError(FORCE, "found without --out; accepted: with --out DIR")


def check(out: str | Path, force: bool = False) -> None:
    """Raise UserError if a folder cannot or must not be written, before any work is done."""
    path = check_place(out, _at(OUT, out))
    if not force and (held := held_in(path)):
        direction = f" to {'write beside them' if _unlisted(path) else 'replace them'}"
        raise UserError(_at(OUT, out), [f"holds {held}; accepted: another name, or ", FORCE, direction])


def _at(option: Place, out: str | Path) -> Place:
    """Return the ``option`` with its value ``out``, for an error message."""
    return Option(option.name, str(out)) if isinstance(option, Option) else f"{option} {out}"


def check_place(out: str | Path, name: Place) -> Path:
    """Return the resolved path of the folder ``out``. Raises UserError with ``name`` if no folder can be there."""
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
    """Return the content of the folder ``path`` in words, or an empty text if it is empty or missing."""
    if not path.is_dir() or not any(path.iterdir()):
        return ""
    if (path / STORE).exists():
        return "a store of runs"
    if others := _unlisted(path):
        return f"files of others ({others[0]}{f' and {len(others) - 1} more' if len(others) > 1 else ''})"
    return f"results of {about(path).get('made_by', 'goodqueue')}"


def foreign(path: Path) -> list[str]:
    """Return the entries of the folder ``path`` that must stay: files of others, and folders, which may hold runs."""
    folders = (entry.name for entry in path.iterdir() if entry.is_dir()) if path.is_dir() else ()
    return sorted({*_unlisted(path), *folders})


def _unlisted(path: Path) -> list[str]:
    """Return the entries of the folder ``path`` that are not ours."""
    ours = listed(path)
    return sorted(entry.name for entry in path.iterdir() if entry.name not in ours) if path.is_dir() else []


def listed(path: Path) -> list[str]:
    """Return the entries of the folder ``path`` that are ours, as its ``results.json`` says."""
    files = about(path).get("files")
    return [name for name in files if isinstance(name, str)] if isinstance(files, list) else []


def write_results(folder: Path, data: dict[str, object], command: str) -> None:
    """Write the results ``data`` into ``folder``, with the ``command`` that repeats them and the list of all files.

    Raises OSError.
    """
    results = data | {"command": command, "files": sorted([RESULTS, *(file.name for file in folder.iterdir())])}
    with (folder / RESULTS).open("w", encoding="utf-8") as file:
        file.writelines(long_json.pieces(results))


def about(path: Path) -> dict[str, object]:
    """Return the content of the ``results.json`` in the folder ``path``, if it is ours."""
    try:
        data = long_json.read_file(path / RESULTS, "our results", "cells", lambda *_: None)
    except (UserError, OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


def _resolved(out: str | Path, name: Place = "") -> Path:
    """Return the path of ``out`` with links followed, so that a link's target is replaced. Raises UserError."""
    try:
        return Path(out).resolve()
    except (OSError, RuntimeError, ValueError) as error:
        message = getattr(error, "strerror", None) or one_line(str(error))
        raise UserError(name or _at(OUT, out), f"cannot be written: {message}") from None


def _sweep(path: Path) -> None:
    """Remove what ended processes left next to ``path``. A folder that one had moved away is moved back."""
    for old in drafts.left_over(path.parent, path.name, drafts.OLD):
        if path.exists():
            shutil.rmtree(old, ignore_errors=True)
        else:
            old.rename(path)
    drafts.sweep(path.parent, path.name)


def write(out: str | Path, force: bool, fill: Callable[[Path], Result]) -> tuple[str, Result]:
    """Let ``fill`` write its files into a new folder, then move that to ``out``.

    Return its path, and the result of ``fill``. The path is ``out``, or a free name next to it (see `appeared`) if
    `check` would refuse ``out`` by now, or if ``out`` has files of others under names of ours. On any error ``out``
    stays as it was. Raises UserError if the system refuses.
    """

    def put(draft: Path, path: Path) -> Path:
        if force and path.is_dir() and not _collide(draft, path):
            return _force(draft, path)
        return _settled(path, lambda free: _rename(draft, free))

    return _write(out, fill, put)


def replace(out: str | Path, fill: Callable[[Path], None]) -> None:
    """Write with force into a folder whose name shows that it is ours, as that of a sweep in its store. See `write`."""
    _write(out, fill, _force)


def _write(out: str | Path, fill: Callable[[Path], Result], put: Callable[[Path, Path], Path]) -> tuple[str, Result]:
    path = _resolved(out)
    try:
        _sweep(path)
        with _workshop(path) as draft:
            result = fill(draft)
            return _name_shown(out, path, put(draft, path)), result
    except OSError as error:
        raise UserError(_at(OUT, out), f"cannot be written: {error.strerror or error}") from error


def _name_shown(out: str | Path, path: Path, written: Path) -> str:
    """Return ``out``, or the name next to it under which its content was written (``written``)."""
    return (
        str(out) if written == path else str(written if Path(out).is_symlink() else Path(out).with_name(written.name))
    )


def appeared(out: str | Path, written: str, option: Place = OUT, force: bool = False) -> UserError:
    """Return the error message for an ``out`` that was ``written`` under another name."""
    why = "holds files of others under names of ours" if force else "appeared in the meantime"
    return UserError(_at(option, out), f"{why} and stays as it is; written: {written}")


def _settled(path: Path, put_at: Callable[[Path], None]) -> Path:
    """Return the first of ``path`` and its numbered names for which ``put_at`` does not raise FileExistsError."""
    ending = "".join(path.suffixes[-2:]) if path.suffix == ".gz" else path.suffix
    stem = path.name.removesuffix(ending)
    for number in count(1):
        free = path if number == 1 else path.with_name(f"{stem}-{number}{ending}")
        try:
            put_at(free)
        except FileExistsError:
            continue
        return free
    raise AssertionError("numbers do not end")


def _rename(draft: Path, path: Path) -> None:
    """Move the folder ``draft`` to ``path``. Raises FileExistsError unless that is an empty folder, or missing."""
    try:
        draft.rename(path)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
            raise FileExistsError(error.errno, "exists", str(path)) from None
        raise


def _collide(draft: Path, path: Path) -> bool:
    """Return whether a file of others in ``path`` has the name of a file in ``draft``."""
    others = _unlisted(path)
    return any(file.name in others for file in draft.iterdir())


def _force(draft: Path, path: Path) -> Path:
    """Replace ``path`` by ``draft``. If ``path`` holds files of others, move ours beside them."""
    if foreign(path):
        for name in listed(path):  # results of other runs, which a reader would take for these
            if (path / name).is_file():
                (path / name).unlink()
        for file in sorted(draft.iterdir()):
            file.replace(path / file.name)
    else:
        _swap(draft, path)
    return path


@contextmanager
def _workshop(path: Path) -> Iterator[Path]:
    """Yield a hidden folder next to ``path``. It is removed afterwards, unless it was moved."""
    new_parents = [parent for parent in path.parents if not parent.exists()]
    draft = drafts.create(path, folder=True)
    try:
        yield draft
    except BaseException:
        drafts.discard(draft)
        for parent in new_parents:
            try:
                parent.rmdir()
            except OSError:
                break
        raise
    drafts.discard(draft)


def _swap(draft: Path, path: Path) -> None:
    """Move ``draft`` to ``path``, which may exist."""
    old = drafts.beside(path, drafts.OLD)
    if path.exists() and drafts.hold(path, old):
        path.rename(old)
    try:
        draft.rename(path)
    except BaseException:
        if old.exists():
            old.rename(path)
        raise
    finally:
        drafts.discard(old)


def check_file(out: str | Path, force: bool = False, option: Place = OUT) -> None:
    """Raise UserError if a file cannot be written, or if it exists already, before any work is done."""
    name = _at(option, out)
    path = _resolved(out, name)
    if path.exists() and not path.is_file():
        raise UserError(name, f"found a {'folder' if path.is_dir() else 'device'}; accepted: a file")
    parent = path.parent
    if not parent.is_dir():
        raise UserError(name, f"cannot be written: {Path(out).parent} is no folder")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise UserError(name, f"cannot be written: no permission in {parent}")
    if path.exists() and not force:
        raise UserError(name, ["exists already; accepted: another name, or ", FORCE, " to replace it"])


def spare(out: str | Path, read: Iterable[Path], option: Place = OUT) -> None:
    """Raise UserError if the file ``out`` is one that the same command reads, or if the folder ``out`` holds one.

    ``read`` comes from `inputs.noted`. ``--force`` replaces earlier results, but not what the new ones are made from.
    The same file may have several names: symbolic links, hard links.
    """
    path_out = Path(out)
    if not path_out.exists():
        return
    target = path_out.stat()
    for path in read:
        for input_path, what in ((path, "found a file that"), (path.parent, f"holds {path.name}, which")):
            with suppress(OSError):  # it was removed in the meantime, so nobody can overwrite it
                if os.path.samestat(target, input_path.stat()):
                    raise UserError(_at(option, out), f"{what} this command reads; accepted: another name")


def are_same(path: str | Path, other: str | Path) -> bool:
    """Return whether two names are, or would be, the same file."""
    if Path(path).resolve() == Path(other).resolve():
        return True
    return Path(path).exists() and Path(other).exists() and Path(path).samefile(other)


def write_file(out: str | Path, force: bool, data: bytes, option: Place = OUT) -> str:
    """Write ``data`` to ``out`` atomically, and return its path, as `write` does. Raises UserError."""
    path = _resolved(out)
    try:
        with draft_of(path) as draft:
            draft.write_bytes(data)
            return settle(draft, out, force)
    except OSError as error:
        raise UserError(_at(option, out), f"cannot be written: {error.strerror or error}") from error


@contextmanager
def draft_of(path: Path) -> Iterator[Path]:
    """Yield the path of a new, empty draft of the file ``path``. Raises OSError.

    The draft is removed afterwards, unless it was moved. Drafts that ended processes left in the folder are, too.
    """
    drafts.sweep(path.parent)
    draft = drafts.create(path)
    try:
        yield draft
    finally:
        drafts.discard(draft)


def settle(draft: Path, out: str | Path, force: bool) -> str:
    """Move the file ``draft`` to ``out``, or to a free name next to it, and return its path. Raises OSError.

    A file is replaced only with ``force``.
    """
    path = _resolved(out)
    if force:
        drafts.settle(draft, path, replace=True)
        return str(out)
    return _name_shown(out, path, _settled(path, lambda free: drafts.settle(draft, free, replace=False)))
