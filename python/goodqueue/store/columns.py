"""A run as a row of a Parquet table: who it is, its metrics as flat columns, its time series, and the whole record.

The record is the engine's own text, to the byte; the columns are for tools that read tables.
"""

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from goodqueue import inputs, metrics
from goodqueue.record import Record
from goodqueue.store.identity import Run

if TYPE_CHECKING:
    import pyarrow as pa

WHO = ("key", "scenario_hash", "engine", "seed", "version", "build", "code", "qdisc", "rate", "rtt", "duration")
"""The columns that say what was run."""


def table(run: Run, text: str) -> "pa.Table":
    """Return the table of one row that holds the record ``text`` of ``run``."""
    import pyarrow as pa

    return pa.Table.from_pylist([_row(run, text)], schema())


def schema() -> "pa.Schema":
    """Return the columns and their types. All but the first four of `WHO` and ``record`` may be null."""
    import pyarrow as pa

    kinds: dict[str, pa.DataType] = dict.fromkeys(WHO, pa.string())
    kinds |= {"seed": pa.int64(), "scenario": pa.string()}
    kinds |= {metric.key: pa.float64() for metric in metrics.METRICS}
    numbers = pa.list_(pa.float64())
    kinds |= {
        "delay_percentiles_ms": numbers,
        "series_time_s": numbers,
        "series": pa.list_(pa.struct({"name": pa.string(), "values": numbers})),
        "record": pa.string(),
    }
    return pa.schema(list(kinds.items()))


NEEDED = (*WHO[:4], "record")
"""The columns that each file has had from the first format on, and that are never null."""


def trouble(row: Mapping[str, object]) -> str | None:
    """Return why some columns of a run's row cannot be what was written, or None."""
    for name in NEEDED:
        if name in row and row[name] is None:
            return f"it has no {name}"
    if "record" in row:
        try:
            record = inputs.from_json(str(row["record"]))
        except ValueError:
            record = None
        if not isinstance(record, dict) or not {"queues", "flows", "scenario", "seed"} <= record.keys():
            return "its record is none"
    return None


def _row(run: Run, text: str) -> dict[str, Any]:
    record: Record = json.loads(text)
    scenario = {key: value for key, value in run.scenario.items() if key != "seed"}
    row: dict[str, Any] = {
        "key": run.key,
        "scenario_hash": run.scenario_hash,
        "engine": run.engine,
        "seed": run.seed,
        "version": run.made_by.version,
        "build": run.made_by.build,
        "code": run.made_by.code,
        "qdisc": scenario["bottleneck"]["qdisc"],
        "rate": scenario["bottleneck"]["rate"],
        "rtt": scenario["path"]["rtt"],
        "duration": scenario["duration"],
        "scenario": json.dumps(scenario, ensure_ascii=False),
        **metrics.numbers(record),
        "delay_percentiles_ms": record["queues"]["down"]["delay_percentiles_ms"],
        "record": text,
    }
    if series := record.get("series"):
        row["series_time_s"] = series["time_s"]
        row["series"] = [{"name": name, "values": values} for name, values in series_of(series)]
    return row


def series_of(series: Any) -> Iterator[tuple[str, list[float | None]]]:
    """Yield the series by name: ``queues.down.delay_ms``, ``queues.down.law.count``, ``flows.bulk/0.cwnd_packets``.

    Those of single packets and pings have times of their own, and stand in the record alone.
    """
    for way, queue in series["queues"].items():
        for name, values in queue.items():
            if name == "law":
                for variable, sampled in values.items():
                    yield f"queues.{way}.law.{variable}", sampled
            else:
                yield f"queues.{way}.{name}", values
    for flow in series["flows"]:
        for name, values in flow.items():
            if name == "tcp":
                for variable, sampled in values.items():
                    yield f"flows.{flow['name']}.tcp.{variable}", sampled
            elif name != "name":
                yield f"flows.{flow['name']}.{name}", values
