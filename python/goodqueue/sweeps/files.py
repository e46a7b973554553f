"""The files of a sweep. They are also written beside the runs in their store: ``STORE/sweeps/<name>-<hash>/``.

The hash covers everything that was asked for: the same sweep is written to the same place, and another one beside it.
"""

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from goodqueue.engines import identity
from goodqueue.errors import UserError, warn
from goodqueue.files import output
from goodqueue.files.output import RESULTS
from goodqueue.scenario.quantity import quantities, quantity
from goodqueue.show import latex
from goodqueue.store import SWEEPS, DamagedError, Store, files
from goodqueue.sweeps import show
from goodqueue.sweeps.grid import Axis, value_of
from goodqueue.sweeps.result import Sweep, Values, as_json

SET = "set."
"""The prefix of the columns of keys that a sweep sets."""

TWINS = {"ms": "_ms", "Mbit/s": "_mbps", "kB": "_kb", "%": "_percent", "BDP": "_bdp", "": "_number"}
"""The suffix of a numeric column, by the unit of its values."""


def write(store: Store, sweep: Sweep) -> Path:
    """Write results.json, cells.csv, runs.parquet and tables.tex atomically, and return their folder.

    The same sweep gives the same bytes. Files that are missing or differ are written again. One that differs is kept
    among the store's damaged files, since somebody may have changed it. Raises UserError if the system refuses, or the
    store no longer exists.
    """
    data = as_json(sweep)
    question = {key: value for key, value in data.items() if key != "cells"}
    name = f"{Path(sweep.name).stem}-{identity.digest(question)[:8]}"
    folder = store.folder / SWEEPS / name
    contents = _contents(sweep, data)
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


def _fill(folder: Path, contents: Mapping[str, bytes]) -> None:
    for file, content in contents.items():
        (folder / file).write_bytes(content)


def _contents(sweep: Sweep, data: dict[str, Any]) -> dict[str, bytes]:
    """Return the files of a sweep in its store by name. ``data`` is what `as_json` made of it."""
    files = _beside(sweep, data)
    text = json.dumps(data | {"files": sorted([RESULTS, *files])}, ensure_ascii=False, indent=1) + "\n"
    return {**files, RESULTS: text.encode()}


def of(sweep: Sweep) -> dict[str, bytes]:
    """Return the files that stand beside results.json, by name."""
    return _beside(sweep, as_json(sweep))


def _beside(sweep: Sweep, data: dict[str, Any]) -> dict[str, bytes]:
    return {
        "cells.csv": as_csv(data).encode(),
        "runs.parquet": _runs(sweep),
        "tables.tex": latex.document(show.tables(sweep)).encode(),
    }


def _wrong(folder: Path, contents: Mapping[str, bytes]) -> list[Path]:
    """Return the files in ``folder`` that are missing, or do not have these ``contents``."""
    wrong = []
    for name, content in contents.items():
        file = folder / name
        try:
            stored = files.read(file)
            if stored != content and not (file.suffix == ".parquet" and _are_equal(stored, content)):
                wrong.append(file)
        except FileNotFoundError:
            wrong.append(file)
        except OSError as error:
            why = f"cannot be read: {error.strerror or error}"
            raise UserError(str(file), f"{why}; accepted: the results of this sweep, or nothing") from None
    return wrong


def _are_equal(first_bytes: bytes, other: bytes) -> bool:
    """Return whether two Parquet files hold equal tables. Versions of Arrow write different bytes."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        first, second = (parquet.read_table(pa.BufferReader(data)) for data in (first_bytes, other))
    except (pa.ArrowException, OSError, ValueError):
        return False
    return bool(first.equals(second))


def as_csv(data: dict[str, Any]) -> str:
    """Return the cells of `as_json`'s object, one per line: mean, ends of the interval and n of each metric."""
    axes = [axis["key"] for axis in data["axes"] if len(axis["values"]) > 1]
    parts = ("mean", "ci_low", "ci_high", "n")
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([*axes, "qdisc_line", "error", *(f"{key}_{part}" for key in data["metrics"] for part in parts)])
    for cell in data["cells"]:
        row = [*(cell["at"][axis] for axis in axes), cell["qdisc"] or "", cell["error"] or ""]
        for key in data["metrics"]:
            metric = cell["metrics"].get(key) or {"mean": None, "ci": None, "n": 0}
            row += ["" if value is None else value for value in (metric["mean"], *(metric["ci"] or (None, None)))]
            row.append(metric["n"])
        writer.writerow(row)
    return buffer.getvalue()


def rows(sweep: Sweep) -> list[dict[str, Any]]:
    """Return one row per run: its place in the grid, its seed, its key, and its metrics.

    An axis whose values are all numbers has numbers. Any other axis has its values as they were written. Each key that
    is set also has a column ``set.KEY`` with its text, and if all its values are quantities of one kind, a numeric twin
    that ends in the unit, such as ``set.path.rtt_ms``.
    """
    numeric = _numeric(sweep)
    twins = _twins(sweep)
    return [
        {
            **{key: float(value) if key in numeric else value for key, value in cell.cell.at.items()},
            **{f"{SET}{axis.key}": _value(cell, axis) for axis in sweep.axes},
            **{twins[axis.key]: _amount(_value(cell, axis)) for axis in sweep.axes if axis.key in twins},
            "engine": sweep.engine,
            "seed": sweep.first_seed + number,
            "key": key,
            "qdisc_line": cell.qdisc,
            **{metric: values[number] for metric, values in cell.values.items()},
        }
        for cell in sweep.cells
        for number, key in enumerate(cell.keys)
    ]


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
    buffer = pa.BufferOutputStream()
    parquet.write_table(pa.Table.from_pylist(rows(sweep), pa.schema(list(kinds.items()))), buffer, compression="zstd")
    data: bytes = buffer.getvalue().to_pybytes()
    return data
