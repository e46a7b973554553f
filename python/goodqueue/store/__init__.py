"""The store of runs: a folder of Parquet files, one per run. A file is named after the content of its run.

```
STORE/store.json                what this folder is, and the format of its files
STORE/runs/<ab>/<key>.parquet   one run: one row (see `columns`)
STORE/damaged/                  broken files that were moved away
STORE/index/                    a cache of the records (see `index`)
```

Each run's file contains its own checksum (`seal`). A run's key is a hash of its scenario, seed and engine, and of the
code that computed it (`identity`). Nothing is overwritten, and several processes may write at once.
docs/decisions/012-a-file-a-run.md gives the reasons.
"""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodqueue import extras
from goodqueue.engines.identity import Run
from goodqueue.errors import UserError, quoted, warn
from goodqueue.files import drafts, inputs, output
from goodqueue.store import files

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = 1
"""The format of the files. A reader refuses a higher format than it knows."""

MANIFEST = output.STORE
RUNS = "runs"
SWEEPS = "sweeps"
DAMAGED = "damaged"
INDEX = "index"


class DamagedError(Exception):
    """Raised for a broken file of the store. Its text is one line with the file and the fault."""

    def __init__(self, path: Path, why: str) -> None:
        """Name the file and the fault."""
        super().__init__(f"{path}: damaged ({why})")
        self.path = path


class Store:
    """Runs in a folder."""

    def __init__(self, folder: Path) -> None:
        """Use ``folder`` without a check. `create` and `find` do the checks."""
        self.folder = folder

    def get(self, run: Run) -> str | None:
        """Return the record of ``run``, or None. Raises DamagedError."""
        path = self.path(run.key)
        return str(self._read(path, ["record"])["record"][0]) if os.path.lexists(path) else None

    def put(self, run: Run, text: str) -> None:
        """Write a record atomically. If the run is stored already, its file stays.

        Raises OSError, and UserError if the store no longer exists.
        """
        from goodqueue.store import columns, seal

        data = seal.write(columns.table(run, text))
        path = self.path(run.key)
        self.check_there()
        try:
            path.parent.mkdir(exist_ok=True)  # without parents: a store that was moved away is not created again
            files.add(path, data)
        except FileNotFoundError:
            self.check_there()
            raise

    def check_there(self) -> None:
        """Raise UserError if the store was moved or removed in the meantime."""
        if not (self.folder / MANIFEST).exists() or not (self.folder / RUNS).is_dir():
            accepted = "the same command, with the store where it is now, goes on from what is stored"
            raise UserError(str(self.folder), f"the store was moved or removed; accepted: {accepted}")

    def set_aside(self, damaged: DamagedError) -> None:
        """Move the broken file into the folder ``damaged``, under a free name. Raises OSError."""
        folder = self.folder / DAMAGED
        folder.mkdir(exist_ok=True)
        number = 1
        while os.path.lexists(target := folder / f"{damaged.path.stem}.{number}"):
            number += 1
        damaged.path.rename(target)

    def path(self, key: str) -> Path:
        """Return the path of the run ``key``, whether or not it exists."""
        return self.folder / RUNS / key[:2] / f"{key}.parquet"

    def all_keys(self) -> list[str]:
        """Return the keys of all runs, sorted."""
        paths = sorted((self.folder / RUNS).glob("*/*.parquet"), key=lambda path: path.stem)
        return [path.stem for path in inputs.found(paths, "the run that its name says")]

    def holds_a_run(self) -> bool:
        """Return whether any file is the intact run that its name says."""
        for path in (self.folder / RUNS).glob("??/*.parquet"):
            if path == self.path(path.stem):
                with suppress(DamagedError, UserError):
                    return bool(list(self.rows([path.stem], ["key"])))
        return False

    def rows(self, keys: Sequence[str], names: Sequence[str]) -> Iterator[dict[str, object]]:
        """Yield the columns ``names`` of the runs ``keys``. Raises DamagedError."""
        for key in keys:
            yield from self._read(self.path(key), names).to_pylist()

    def _read(self, path: Path, names: Sequence[str]) -> "pa.Table":
        import pyarrow as pa
        from pyarrow import parquet

        from goodqueue.store import columns, seal

        try:
            data = files.read(path)
        except PermissionError as error:
            raise UserError(str(path), f"cannot be read: {error.strerror}") from None
        except OSError as error:
            raise DamagedError(path, error.strerror or str(error)) from None
        sealed = seal.is_sealed(data)
        if sealed and not seal.holds(data):
            raise DamagedError(path, "its checksum is of other bytes")
        wanted_columns = dict.fromkeys(("key", *names))
        try:
            # The data as bytes, since Arrow would take a path such as a:b for the address of a server.
            with parquet.ParquetFile(pa.BufferReader(data), page_checksum_verification=True) as file:
                held = {*file.schema_arrow.names}
                missing = [name for name in wanted_columns if name not in held]
                table = file.read([name for name in wanted_columns if name not in missing])
            rows = table.to_pylist()
        except (pa.ArrowException, OSError, ValueError, TypeError, KeyError) as error:
            raise DamagedError(path, (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")) from None
        if len(rows) != 1 or rows[0].get("key") != path.stem:
            raise DamagedError(path, "it holds another run than its name says")
        if not sealed and (why := columns.trouble({name: rows[0].get(name) for name in wanted_columns})):
            raise DamagedError(path, why)
        for name in missing:  # a metric that was added after this file was written
            table = table.append_column(name, pa.nulls(1))
        return table


def create(folder: Path, origin: str) -> Store:
    """Return the store in ``folder``, and create it if it does not exist.

    ``origin`` names the option in error messages. Raises UserError if the folder cannot be written, or holds anything
    else.
    """
    check(folder, origin)
    try:
        if _about(folder) is None:
            folder.mkdir(parents=True, exist_ok=True)
            _write_manifest(Store(folder))
        (folder / RUNS).mkdir(exist_ok=True)
        files.remove_partial(folder)
    except OSError as error:
        raise UserError(origin, f"cannot be written: {error.strerror or error}") from None
    return Store(folder)


def _write_manifest(store: Store) -> None:
    """Write ``store.json``. A damaged one is set aside."""
    from goodqueue._goodqueue import VERSION

    path = store.folder / MANIFEST
    if os.path.lexists(path):
        with suppress(FileNotFoundError):  # another process was faster
            store.set_aside(DamagedError(path, ""))
    about = {"made_by": "goodqueue", "what": "a store of runs", "format": FORMAT, "version": VERSION}
    if files.add(path, (json.dumps(about, indent=1) + "\n").encode()) and store.holds_a_run():
        warn(f"{path}: was missing or damaged; it is made again, since the runs have the keys that their names say")


def check(folder: Path, origin: str) -> None:
    """Check that a folder can be a store of ours, before anything is written. Raises UserError."""
    extras.needed("pyarrow", origin)
    if is_one(folder):
        _check_format(folder, origin)
        return
    if folder.is_dir() and all(_is_of_new_store(entry) for entry in folder.iterdir()):
        return
    others = output.foreign(output.check_place(folder, origin))
    if others and not (folder / MANIFEST).exists():  # otherwise another process has just created the store
        accepted = "another name: a store, or a folder that is new or empty"
        raise UserError(origin, f"holds {output.held_in(folder) or others[0]}; accepted: {accepted}")


def _is_of_new_store(entry: Path) -> bool:
    """Return whether ``entry`` may be part of a store that another process is creating: a draft, or an empty folder."""
    return drafts.is_of(entry, MANIFEST) or (entry.name == RUNS and entry.is_dir() and not any(entry.iterdir()))


def is_one(folder: Path) -> bool:
    """Return whether ``folder`` is a store: it says so itself, or it holds a run under the name of the run's key."""
    return (folder / MANIFEST).exists() or Store(folder).holds_a_run()


def find(folder: Path, origin: str = "") -> Store:
    """Return the store in ``folder``. Raises UserError if there is none, or if its format is newer than ours.

    A store whose ``store.json`` was removed or damaged is known by its runs. A warning says so.
    """
    _check_format(folder, origin)
    if _about(folder) is None:
        writes = "`goodqueue sweep` with this store writes it again"
        warn(f"{folder / MANIFEST}: missing or damaged; the store is read by the keys of its runs; {writes}")
    return Store(folder)


def _check_format(folder: Path, origin: str) -> None:
    """Raise UserError if ``folder`` is no store, or has a newer format than ours."""
    name = origin or str(folder)
    about = _about(folder)
    if about is None:
        if Store(folder).holds_a_run():
            return
        if not os.path.lexists(folder / MANIFEST):
            raise UserError(name, f"holds no {MANIFEST}; accepted: a folder that `goodqueue sweep --store` made")
        raise UserError(str(folder / MANIFEST), "does not say which format the store has; accepted: ours")
    number = about["format"]
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= FORMAT:
        from goodqueue._goodqueue import VERSION

        version = str(about.get("version", "unknown"))[:40]
        problem = f"found a store of format {quoted(number)}, written by goodqueue {version}"
        accepted = f"format {FORMAT} at most (this is goodqueue {VERSION}; a newer one reads it)"
        raise UserError(name, f"{problem}; accepted: {accepted}")


def _about(folder: Path) -> dict[str, Any] | None:
    """Return the content of ``store.json``, or None if it is missing or damaged. Raises UserError."""
    try:
        about = inputs.from_json(files.read(folder / MANIFEST).decode())
    except PermissionError as error:
        raise UserError(str(folder / MANIFEST), f"cannot be read: {error.strerror}") from None
    except (OSError, ValueError):
        return None
    return about if isinstance(about, dict) and about.get("format") is not None else None
