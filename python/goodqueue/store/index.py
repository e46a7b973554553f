"""The records of a store's runs once more, many in a file, so that 20,000 runs are not 20,000 files to read.

```
STORE/index/<digest>.parquet    per run its key, the stamp of its file, the simulator's build, and its record
```

The index is a cache. A row counts only as long as the run's own file has the size, the times and the place on the disk
that it had when the row was made. A part whose checksum is wrong is removed, and made anew by the next sweep; so any
part may be removed at any time. Small stores have none.
"""

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from goodqueue.files import drafts
from goodqueue.store import INDEX, Store, files

if TYPE_CHECKING:
    import pyarrow as pa

LEAST = 200
"""Fewer runs are read as fast from their own files."""

MOST = 2000
"""The most rows of a part. They are in memory together, and the process may be killed before they are written."""

MOST_SMALL = 8
"""With more small parts than these, the next write makes one of them."""

COLUMNS = ("key", "stamp", "build", "record")

Row = tuple[str, str | None, str]
"""The key of a run, the simulator's build, and the record."""


class Index:
    """The index of a store. It reads and writes."""

    def __init__(self, store: Store) -> None:
        """Read nothing yet."""
        self._store = store
        self._new: dict[str, tuple[str, str | None, str]] = {}
        self._large: set[Path] = set()
        """Parts that no write merges, and that it need not look into again: there may be 500."""

    def rows(self, keys: Iterable[str]) -> Iterator[Row]:
        """Yield what the index has of the runs ``keys``, each once."""
        left = set(keys)
        if len(left) < LEAST:
            return
        for part in self._parts():
            if (table := _read(part)) is None:
                continue
            noted = zip(table["key"].to_pylist(), table["stamp"].to_pylist(), strict=True)
            places = [place for place, (key, stamp) in enumerate(noted) if key in left and self._stamp(key) == stamp]
            for row in _rows(table, places).to_pylist():
                if row["key"] in left:
                    left.discard(row["key"])
                    yield row["key"], row["build"], row["record"]

    def note(self, key: str, build: str | None, record: str) -> None:
        """Note the ``record`` of a stored run."""
        if stamp := self._stamp(key):
            self._new[key] = stamp, build, record
        if len(self._new) >= MOST:
            self.write()

    def write(self) -> None:
        """Write what was noted, unless it is little. If the disk refuses, there is no such part."""
        import pyarrow as pa

        if len(self._new) < LEAST:
            return
        columns = zip(*((key, *row) for key, row in sorted(self._new.items())), strict=True)
        schema = pa.schema([(name, pa.string()) for name in COLUMNS])
        table = pa.table(dict(zip(COLUMNS, map(list, columns), strict=True)), schema)
        self._new.clear()
        with suppress(OSError):
            folder = self._store.folder / INDEX
            folder.mkdir(exist_ok=True)
            drafts.sweep(folder)
            small = []
            for part in (part for part in self._parts() if part not in self._large):
                if (read := _read(part, MOST // 2)) is None:
                    self._large.add(part)
                else:
                    small.append((part, read))
            if len(small) < MOST_SMALL:
                small = []
            made = self._add(self._merged([*(read for _, read in small), table]))
            for part, _ in small:
                if part != made:
                    part.unlink(missing_ok=True)

    def _merged(self, tables: list["pa.Table"]) -> "pa.Table":
        """Return one table with the rows whose runs are still as they say, each run once."""
        import pyarrow as pa

        whole = pa.concat_tables(tables)
        noted = zip(whole["key"].to_pylist(), whole["stamp"].to_pylist(), strict=True)
        places = {key: place for place, (key, stamp) in enumerate(noted) if self._stamp(key) == stamp}
        return _rows(whole, list(places.values()))

    def _add(self, table: "pa.Table") -> Path:
        from goodqueue.store import seal

        data = seal.write(table)
        path = self._store.folder / INDEX / f"{hashlib.sha256(data).hexdigest()[:16]}.parquet"
        files.add(path, data)
        return path

    def _parts(self) -> list[Path]:
        return sorted((self._store.folder / INDEX).glob("*.parquet"))

    def _stamp(self, key: str) -> str:
        """Return what changes whenever the file of the run ``key`` does, or nothing if there is no such file."""
        try:
            state = self._store.path(key).lstat()
        except (OSError, ValueError):
            return ""
        return f"{state.st_ino}-{state.st_size}-{state.st_mtime_ns}-{state.st_ctime_ns}"


def _rows(table: "pa.Table", places: list[int]) -> "pa.Table":
    """Return the rows at ``places``. Arrow takes an empty list of no type for one of nothing, and refuses it."""
    import pyarrow as pa

    return table.take(pa.array(places, pa.int64()))


def _read(part: Path, most_rows: int | None = None) -> "pa.Table | None":
    """Return a part of the index, or None if it has more than ``most_rows``, or is damaged: then it is removed."""
    import pyarrow as pa
    from pyarrow import parquet

    from goodqueue.store import seal

    with suppress(pa.ArrowException, OSError, ValueError, KeyError):
        data = files.read(part)
        if seal.is_sealed(data) and seal.holds(data):
            with parquet.ParquetFile(pa.BufferReader(data)) as file:
                if most_rows is not None and file.metadata.num_rows > most_rows:
                    return None
                return file.read(list(COLUMNS))
    with suppress(OSError):
        part.unlink()
    return None
