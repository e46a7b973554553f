"""The subscribers and nodes of stored runs as tables: a row per subscriber or node and run.

A record has them as JSON, which tools that read tables do not unfold.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodqueue.errors import UserError
from goodqueue.files.output import RESULTS
from goodqueue.measures.metrics import DIRECTIONS
from goodqueue.record import Delay, Node, NodeSide, Subscriber, SubscriberSide
from goodqueue.store.results import Loose

if TYPE_CHECKING:
    import pyarrow as pa

RUN = ("run", "engine", "seed", "version", "qdisc")
"""The columns that identify the run. ``run`` counts from 0, in the order in which runs were found."""

FILES = {"subscribers.parquet": "subscribers", "nodes.parquet": "nodes"}
"""The files, with the part of the record that each has."""


def columns(part: str) -> list[tuple[str, str]]:
    """Return the columns of a part with their types: text, integer or float."""
    kinds: dict[str, Any] = {"nodes": (Node, NodeSide), "subscribers": (Subscriber, SubscriberSide)}
    whole, side = kinds[part]
    entry_columns = [
        (name, "integer" if name == "subscribers" else "text")
        for name in whole.__annotations__
        if name not in DIRECTIONS
    ]
    run = [(name, "integer" if name in ("run", "seed") else "text") for name in RUN]
    return (
        run
        + entry_columns
        + [
            (name, "float")
            for direction in DIRECTIONS
            for key in side.__annotations__
            for name in _names(direction, key)
        ]
    )


def _names(direction: str, key: str) -> list[str]:
    return (
        [f"{direction}_delay_{name}_ms" for name in Delay.__annotations__]
        if key == "delay_ms"
        else [f"{direction}_{key}"]
    )


def check(loose: Sequence[Loose]) -> None:
    """Raise UserError for a record without subscribers."""
    for run in loose:
        if "isp" not in run.record:
            where = run.place or "export"
            raise UserError(where, "a run without subscribers; accepted: runs of scenarios with [[subscriber]]")


def rows(loose: Sequence[Loose], part: str) -> Iterator[dict[str, Any]]:
    """Yield a row per subscriber or node of each record."""
    for number, loose_run in enumerate(loose):
        record: Any = loose_run.record
        run = {name: record.get(name) for name in RUN}
        run |= {"run": number, "qdisc": record["scenario"]["bottleneck"].get("qdisc")}
        for entry in record["isp"][part]:
            row = run | {name: value for name, value in entry.items() if name not in DIRECTIONS}
            for direction in DIRECTIONS:
                side = dict(entry[direction])
                row |= {
                    f"{direction}_delay_{name}_ms": value for name, value in (side.pop("delay_ms", None) or {}).items()
                }
                row |= {f"{direction}_{name}": value for name, value in side.items()}
            yield row


def table(loose: Sequence[Loose], part: str) -> "pa.Table":
    """Return the table of a part of all records."""
    import pyarrow as pa

    kinds = {"text": pa.string(), "integer": pa.int64(), "float": pa.float64()}
    schema = pa.schema([(name, kinds[kind]) for name, kind in columns(part)])
    return pa.Table.from_pylist(list(rows(loose, part)), schema)


def fill(folder: Path, loose: Sequence[Loose]) -> None:
    """Write the tables and a list of them into ``folder``. Raises OSError."""
    from pyarrow import parquet

    for name, part in FILES.items():
        parquet.write_table(table(loose, part), folder / name, compression="zstd")
    (folder / RESULTS).write_text(json.dumps(as_json(loose), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def as_json(loose: Sequence[Loose]) -> dict[str, Any]:
    """Return the content of ``results.json``: the files, and how many rows of each run they have."""
    isps = [run.record["isp"] for run in loose]
    runs = [
        {"run": number, "seed": run.record["seed"], "subscribers": len(isp["subscribers"]), "nodes": len(isp["nodes"])}
        for number, (run, isp) in enumerate(zip(loose, isps, strict=True))
    ]
    return {"schema": 1, "made_by": "goodqueue export", "files": sorted([RESULTS, *FILES]), "runs": runs}
