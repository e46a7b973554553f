"""A run as a row of a Parquet table: its identity, its metrics as flat columns, its time series, and the whole record.

The record is the engine's own text, byte for byte. The columns are for tools that read tables.
"""

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from goodqueue.engines.identity import Run
from goodqueue.files import inputs
from goodqueue.measures import metrics
from goodqueue.measures.base import path_ms
from goodqueue.record import Record, Scenario
from goodqueue.record.reading import UNKNOWN
from goodqueue.scenario import parameters, paths, seconds
from goodqueue.scenario.flat import flat
from goodqueue.show import describe

if TYPE_CHECKING:
    import pyarrow as pa

ABOUT = {
    "key": "digest of scenario, seed, engine, version, build and code: the run's identity, and its file's name",
    "scenario_hash": "digest of the resolved scenario without its seed: alike for repeats",
    "engine": "what ran it: sim, kernel, live, or for what was imported flent, irtt, iperf3",
    "seed": "what its draws derive from",
    "version": "goodqueue's",
    "build": "digest of the simulator's compiled code; null for others",
    "code": "digest of disciplines written in Python; null without any",
    "qdisc": "the line of the way down, with every parameter",
    "rate": "of the link down",
    "rtt": "base RTT of the path",
    "duration": "of the run",
    "traffic": "its mix in words, as figures name it: `1 × bulk cubic down, 2 × voip g711 down`",
    "cc": "the congestion controls of its TCP flows, each once, by commas; null without any",
    "scenario": "the resolved scenario as JSON, without its seed",
    "keys": "each key of the resolved scenario with its value as text, a map: `traffic.0.cc` is `cubic`",
    "delay_percentiles_ms": "the 0th to the 100th percentile of the queueing delay down",
    "series_time_s": "ends of the time series' intervals; null without `[series]`",
    "series": "each time series by its place in the record, such as `queues.down.delay_ms`",
    "record": "the whole record, the engine's own text to the byte",
}
"""The columns that are not metrics, with their descriptions."""

WHO = tuple(ABOUT)[: list(ABOUT).index("scenario")]
"""The columns that identify the run."""

NUMBERS = {
    "rate_mbps": "of the link down; of one that follows a file, its mean",
    "up_rate_mbps": "of the link up, as `rate_mbps`",
    "rtt_ms": "base RTT of the path",
    "duration_s": "of the run",
}
"""Columns of the scenario as numbers. The parameters of the line down follow as ``qdisc_target_ms`` and so on."""

QDISC = "qdisc_"
"""The prefix of a parameter's column."""


def table(run: Run, text: str) -> "pa.Table":
    """Return the table of one row that holds the record ``text`` of ``run``."""
    import pyarrow as pa

    return pa.Table.from_pylist([_row(run, text)], schema())


def schema() -> "pa.Schema":
    """Return the columns and their types. All except the first four of `WHO` and ``record`` may be null."""
    import pyarrow as pa

    kinds: dict[str, pa.DataType] = dict.fromkeys(WHO, pa.string())
    kinds |= {"seed": pa.int64(), "scenario": pa.string(), "keys": pa.map_(pa.string(), pa.string())}
    kinds |= dict.fromkeys((*NUMBERS, *(f"{QDISC}{name}" for name in parameters.names())), pa.float64())
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
"""The columns that every file has had since the first format, and that are never null."""


def trouble(row: Mapping[str, object]) -> str | None:
    """Return why the columns of a run's row cannot be genuine, or None."""
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
        "rate": scenario["bottleneck"].get("rate"),
        "rtt": scenario["path"]["rtt"],
        "duration": scenario["duration"],
        "traffic": describe.traffic(scenario),
        "cc": ",".join(dict.fromkeys(cc for flow in record["flows"] if (cc := flow.get("cc")))) or None,
        **_numbers(scenario),
        "scenario": json.dumps(scenario, ensure_ascii=False),
        "keys": list(flat(scenario).items()),
        **metrics.numbers(record),
        "delay_percentiles_ms": record["queues"]["down"]["delay_percentiles_ms"],
        "record": text,
    }
    if series := record.get("series"):
        row["series_time_s"] = series["time_s"]
        row["series"] = [{"name": name, "values": values} for name, values in series_of(series)]
    return row


def _numbers(scenario: Scenario) -> dict[str, float | None]:
    """Return the scenario as numbers. For Flent's measurements, which do not describe their link, only the duration.

    The rate of a link that follows a file is its mean. The ends of a Wi-Fi cell have no rate.
    """
    numbers: dict[str, float | None] = {"duration_s": seconds(scenario["duration"])}
    down = scenario["bottleneck"]
    if down.get("rate") == UNKNOWN:
        return numbers
    rates = {"rate_mbps": down, "up_rate_mbps": down["up"]}
    numbers |= {name: paths.rate_bps(link) / 1e6 for name, link in rates.items() if "wifi" not in down}
    numbers |= {"rtt_ms": path_ms(scenario)}
    return numbers | {f"{QDISC}{name}": value for name, value in parameters.numbers(down["qdisc"]).items()}


def series_of(series: Any) -> Iterator[tuple[str, list[float | None]]]:
    """Yield the series by name: ``queues.down.delay_ms``, ``queues.down.law.count``, ``flows.bulk/0.cwnd_packets``.

    A link beside the bottleneck is named ``hops.modem``.

    Series of single packets and of pings have their own times. They are only in the record.
    """
    queues = {f"queues.{direction}": queue for direction, queue in series["queues"].items()}
    queues |= {f"hops.{hop}": queue for hop, queue in series.get("hops", {}).items()}
    for where, queue in queues.items():
        for name, values in queue.items():
            if name == "law":
                for variable, sampled in values.items():
                    yield f"{where}.law.{variable}", sampled
            else:
                yield f"{where}.{name}", values
    for flow in series["flows"]:
        for name, values in flow.items():
            if name == "tcp":
                for variable, sampled in values.items():
                    yield f"flows.{flow['name']}.tcp.{variable}", sampled
            elif name != "name":
                yield f"flows.{flow['name']}.{name}", values
