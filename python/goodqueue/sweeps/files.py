"""The files of a sweep. They are also written beside the runs in their store: ``STORE/sweeps/<name>-<hash>/``.

The hash covers everything that was asked for: the same sweep is written to the same place, and another one beside it.
"""

import csv
import io
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from goodqueue.comparison.comparing import estimate_json
from goodqueue.engines import identity
from goodqueue.errors import UserError, warn
from goodqueue.files import long_json, output
from goodqueue.files.output import RESULTS
from goodqueue.scenario.quantity import quantities, quantity
from goodqueue.show import latex
from goodqueue.store import SWEEPS, DamagedError, Store, files
from goodqueue.sweeps import show
from goodqueue.sweeps.grid import Axis, value_of
from goodqueue.sweeps.result import Sweep, Values, as_long_json

if TYPE_CHECKING:
    import pyarrow as pa

Content: TypeAlias = Callable[[], Iterable[bytes]]
"""Returns the bytes of a file in pieces, each time that it is called."""

SET = "set."
"""The prefix of the columns of keys that a sweep sets."""

TWINS = {"ms": "_ms", "Mbit/s": "_mbps", "kB": "_kb", "%": "_percent", "BDP": "_bdp", "": "_number"}
"""The suffix of a numeric column, by the unit of its values."""


GROUP = 200_000
"""The rows of a group in runs.parquet. A sweep of 10,000 cells with 20 seeds has one."""

TOGETHER = 2_000
"""The rows that become columns together."""


def write(store: Store, sweep: Sweep) -> Path:
    """Write results.json, cells.csv, runs.parquet and tables.tex atomically, and return their folder.

    The same sweep gives the same bytes. Files that are missing or differ are written again. One that differs is kept
    among the store's damaged files, since somebody may have changed it. Raises UserError if the system refuses, or the
    store no longer exists.
    """
    question = {key: value for key, value in as_long_json(sweep).items() if key != "cells"}
    name = f"{Path(sweep.name).stem}-{identity.digest(question)[:8]}"
    folder = store.folder / SWEEPS / name
    contents = _contents(sweep)
    store.check_there()
    if wrong := _wrong(folder, contents):
        for file in wrong:
            if file.exists() and file.stat().st_size:
                damaged = DamagedError(file, "it is not what this sweep gives")
                store.set_aside(damaged)
                warn(f"{damaged}; it is set aside and written again")
        try:
            # The folder is named after this sweep and is in a store of ours. So its files are ours, even if
            # results.json, which says so, was lost.
            output.replace(folder, lambda draft: _fill(draft, contents))
        except UserError:
            if _wrong(folder, contents):  # otherwise another process with the same sweep was faster
                raise
    return folder


def _fill(folder: Path, contents: Mapping[str, Content]) -> None:
    for file, content in contents.items():
        with (folder / file).open("wb") as written:
            written.writelines(content())


def _contents(sweep: Sweep) -> dict[str, Content]:
    """Return the files of a sweep in its store by name."""
    files = _beside(sweep)
    data = as_long_json(sweep) | {"files": sorted([RESULTS, *files])}
    return {**files, RESULTS: lambda: (piece.encode() for piece in long_json.pieces(data))}


def of(sweep: Sweep) -> dict[str, Iterable[bytes]]:
    """Return the files that stand beside results.json, by name, in pieces."""
    return {name: content() for name, content in _beside(sweep).items()}


def _beside(sweep: Sweep) -> dict[str, Content]:
    return {
        "cells.csv": lambda: (piece.encode() for piece in as_csv(sweep)),
        "runs.parquet": lambda: [sweep.once("runs.parquet", lambda: _runs(sweep))],
        "tables.tex": lambda: [latex.document(show.tables(sweep)).encode()],
    }


def _wrong(folder: Path, contents: Mapping[str, Content]) -> list[Path]:
    """Return the files in ``folder`` that are missing, or do not have these ``contents``."""
    wrong = []
    for name, content in contents.items():
        file = folder / name
        try:
            if not _holds(file, content()) and not (
                file.suffix == ".parquet" and _are_equal(files.read(file), b"".join(content()))
            ):
                wrong.append(file)
        except FileNotFoundError:
            wrong.append(file)
        except OSError as error:
            why = f"cannot be read: {error.strerror or error}"
            raise UserError(str(file), f"{why}; accepted: the results of this sweep, or nothing") from None
    return wrong


def _holds(file: Path, content: Iterable[bytes]) -> bool:
    """Return whether ``file`` has this ``content``. Raises OSError."""
    with files.opened(file) as stored:
        return all(stored.read(len(piece)) == piece for piece in content) and not stored.read(1)


def _are_equal(first_bytes: bytes, other: bytes) -> bool:
    """Return whether two Parquet files hold equal tables. Versions of Arrow write different bytes."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        first, second = (parquet.read_table(pa.BufferReader(data)) for data in (first_bytes, other))
    except (pa.ArrowException, OSError, ValueError):
        return False
    return bool(first.equals(second))


def as_csv(sweep: Sweep) -> Iterator[str]:
    """Yield the lines of cells.csv, one per cell: mean, ends of the interval and n of each metric."""
    axes = [axis.key for axis in sweep.swept()]
    parts = ("mean", "ci_low", "ci_high", "n")
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    keys = [metric.key for metric in sweep.metrics]
    writer.writerow([*axes, "qdisc_line", "error", *(f"{key}_{part}" for key in keys for part in parts)])
    for cell in sweep.cells:
        row: list[object] = [*(cell.cell.at[axis] for axis in axes), cell.qdisc or "", cell.error or ""]
        for key in keys:
            metric = estimate_json(cell.estimate(key))
            row += ["" if value is None else value for value in (metric["mean"], *(metric["ci"] or (None, None)))]
            row.append(metric["n"])
        writer.writerow(row)
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()
    yield buffer.getvalue()


def rows(sweep: Sweep) -> Iterator[dict[str, Any]]:
    """Yield one row per run: its place in the grid, its seed, its key, and its metrics.

    An axis whose values are all numbers has numbers. Any other axis has its values as they were written. Each key that
    is set also has a column ``set.KEY`` with its text, and if all its values are quantities of one kind, a numeric twin
    that ends in the unit, such as ``set.path.rtt_ms``.
    """
    numeric = _numeric(sweep)
    twins = _twins(sweep)
    for cell in sweep.cells:
        about = {
            **{key: float(value) if key in numeric else value for key, value in cell.cell.at.items()},
            **{f"{SET}{axis.key}": _value(cell, axis) for axis in sweep.axes},
            **{twins[axis.key]: _amount(_value(cell, axis)) for axis in sweep.axes if axis.key in twins},
            "engine": sweep.engine,
        }
        values = dict(cell.values)
        for number, key in enumerate(cell.keys):
            yield {
                **about,
                "seed": sweep.first_seed + number,
                "key": key,
                "qdisc_line": cell.qdisc,
                **{metric: numbers[number] for metric, numbers in values.items()},
            }


def _value(cell: Values, axis: Axis) -> str:
    """Return the value of a key in a cell. A key with a single value is the same in all cells."""
    return cell.cell.at.get(axis.key, axis.values[0])


def _amount(text: str) -> float | None:
    amount = quantity(text)
    return amount[0] if amount else None


def _twins(sweep: Sweep) -> dict[str, str]:
    """Return the name of the numeric column of each key whose values are quantities of one kind."""
    by_axis = {axis.key: quantities(axis.values) for axis in sweep.axes}
    return {key: f"{SET}{key}{TWINS[numbers[1]]}" for key, numbers in by_axis.items() if numbers}


def _numeric(sweep: Sweep) -> list[str]:
    """Return the axes whose values are all numbers."""
    return [axis.key for axis in sweep.swept() if all(not isinstance(value_of(value), str) for value in axis.values)]


def _runs(sweep: Sweep) -> bytes:
    """Return `rows` as a Parquet file."""
    import pyarrow as pa
    from pyarrow import parquet

    numeric = _numeric(sweep)
    kinds: dict[str, pa.DataType] = {
        axis.key: pa.float64() if axis.key in numeric else pa.string() for axis in sweep.swept()
    }
    kinds |= {f"{SET}{axis.key}": pa.string() for axis in sweep.axes}
    kinds |= dict.fromkeys(_twins(sweep).values(), pa.float64())
    kinds |= {"engine": pa.string(), "seed": pa.int64(), "key": pa.string(), "qdisc_line": pa.string()}
    kinds |= {metric.key: pa.float64() for metric in sweep.metrics}
    schema = pa.schema(list(kinds.items()))
    buffer = pa.BufferOutputStream()
    with parquet.ParquetWriter(buffer, schema, compression="zstd") as writer:
        for group in _tables(rows(sweep), schema):
            writer.write_table(group)
    data: bytes = buffer.getvalue().to_pybytes()
    return data


def _tables(rows: Iterable[dict[str, Any]], schema: "pa.Schema") -> "Iterator[pa.Table]":
    """Yield ``rows`` as tables of `GROUP` rows, of which one may be empty. Only a few rows are dicts at a time."""
    import pyarrow as pa

    left = iter(rows)
    some = iter(lambda: list(itertools.islice(left, TOGETHER)), [])
    tables = (pa.Table.from_pylist(each, schema) for each in some)
    group = list(itertools.islice(tables, GROUP // TOGETHER)) or [pa.Table.from_pylist([], schema)]
    while group:
        yield pa.concat_tables(group).combine_chunks()
        group = list(itertools.islice(tables, GROUP // TOGETHER))
