"""The measurements, as plain values. ``results.json`` stores them; tables and figures are made from them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, cast

from goodqueue.measures import numbers
from goodqueue.measures.numbers.changes import window
from goodqueue.measures.stats import Median, median
from goodqueue.record import Queue, Record
from goodqueue.record.reading import times_of
from goodqueue.traffic import BULK
from goodqueue.validation.cells import Cell, Draw

ENGINES = ("sim", "kernel")

_COMPARED = ("delay_mean_ms", "delay_p95_ms", "utilisation_percent", "goodput_mbps", "jain_goodput")

MEASURES = (
    *numbers.find([*_COMPARED, "dropped", "marked"]),
    replace(numbers.by_key()["window_recovery_s"], key="recovery_s"),  # as results.json calls it
)
"""The numbers taken from each record: of the `down` queue, its flows, and the recovery of a single flow."""


@dataclass(frozen=True, slots=True)
class Side:
    """The measurements of one engine in one cell."""

    values: Mapping[str, Sequence[float | None]]
    """The numbers of each seed, by key of `MEASURES`."""
    flows_mbps: Sequence[Sequence[float]]
    """Goodput of each flow down, the greatest first, seed by seed."""
    cwnd: Sequence[tuple[Sequence[float], Sequence[float | None]]]
    """Times (s) and congestion window (packets) of the only flow, seed by seed. Empty if there are several flows."""
    completions_ms: Mapping[str, Sequence[float | None]]
    """The completion time of each of the scenario's transfers by name (of several, the mean), seed by seed."""

    def median(self, key: str) -> Median | None:
        """Return the median over the seeds."""
        return median([value for value in self.values[key] if value is not None])


@dataclass(frozen=True, slots=True)
class Result:
    """One cell with the measurements of both engines."""

    qdisc: str
    change: str
    line: str
    """The qdisc with every parameter."""
    sim: Side
    kernel: Side
    again: Side | None = None
    """The simulator with the same number of other seeds: its difference is chance. None in older results."""

    @property
    def id(self) -> str:
        """The cell's name for ``--only``."""
        return f"{self.qdisc}/{self.change}"


@dataclass(frozen=True, slots=True)
class Validation:
    """A whole validation, and the systems on which it ran."""

    date: str
    """The day on which it ended, as 2025-12-31."""
    version: str
    build: str
    """Hash of the simulator's compiled code."""
    kernel: Mapping[str, str]
    """The systems that made the kernel engine's runs: release, tc, where, image, the laboratory's hash, and
    qemu or the hash of what Linux was built with. Several values are joined by a comma."""
    quick: bool
    seeds: Sequence[int]
    results: Sequence[Result]
    drawn: Draw | None = None
    """How the set was drawn. None for the fixed set."""


def of_records(cell: Cell, sim: Sequence[Record], kernel: Sequence[Record], again: Sequence[Record]) -> Result:
    """Return the measurements of ``cell`` from its records, one per seed. ``again`` are the simulator's other seeds."""
    line = cell.scenario["bottleneck"]["qdisc"]
    sides = (_side([_of_hop(record, cell.measured) for record in records]) for records in (sim, kernel, again))
    return Result(cell.qdisc, cell.change, line, *sides)


def beside(earlier: Result, cell: Cell, sim: Sequence[Record], again: Sequence[Record]) -> Result:
    """Return ``earlier``, which is of ``cell``, with new runs of the simulator."""
    ours, others = (_side([_of_hop(record, cell.measured) for record in records]) for records in (sim, again))
    return replace(earlier, sim=ours, again=others)


def _of_hop(record: Record, hop: str | None) -> Record:
    """Return ``record`` with the queue of ``hop``, a link, in place of the bottleneck's. Unchanged if it is None."""
    if hop is None:
        return record
    (queue,) = (hop_record for hop_record in record.get("hops", []) if hop_record["name"] == hop)
    return {**record, "queues": {**record["queues"], "down": cast("Queue", queue)}}


def _side(records: Sequence[Record]) -> Side:
    down = [[flow for flow in record["flows"] if flow["direction"] == "down"] for record in records]
    bulk = [[flow["name"] for flow in flows if flow["kind"] == BULK] for flows in down]
    single = all(len(names) == 1 for names in bulk) and all("series" in record for record in records)
    return Side(
        values={measure.key: [measure.pick(record) for record in records] for measure in MEASURES},
        flows_mbps=[sorted((flow["goodput_mbps"] for flow in flows), reverse=True) for flows in down],
        cwnd=[window(record, names[0]) for record, names in zip(records, bulk, strict=True)] if single else [],
        completions_ms={
            app["name"]: [_completion_ms(record, app["name"]) for record in records]
            for app in records[0]["apps"]
            if "completion_ms" in app
        },
    )


def _completion_ms(record: Record, name: str) -> float | None:
    return times_of(next(app for app in record["apps"] if app["name"] == name)).get("mean")


def kernel_of(records: Sequence[Record]) -> dict[str, str]:
    """Return the kernel engine's description of itself in ``records``."""
    kernels: list[Mapping[str, Any]] = [record.get("kernel") or {} for record in records]
    return {
        key: ", ".join(sorted({str(kernel[key]) for kernel in kernels if kernel.get(key)})) or "unknown"
        for key in ("release", "tc", "where")
    }


def as_json(validation: Validation) -> dict[str, Any]:
    """Return ``validation`` as JSON, without the numbers computed from it."""
    return {
        "date": validation.date,
        "version": validation.version,
        "build": validation.build,
        "kernel": dict(validation.kernel),
        "quick": validation.quick,
        "seeds": list(validation.seeds),
        "drawn": asdict(validation.drawn) if validation.drawn else None,
        "cells": [
            {
                "id": result.id,
                "qdisc": result.qdisc,
                "change": result.change,
                "line": result.line,
                "sim": _side_json(result.sim),
                "kernel": _side_json(result.kernel),
                **({"again": _side_json(result.again)} if result.again else {}),
            }
            for result in validation.results
        ],
    }


def _side_json(side: Side) -> dict[str, Any]:
    side_json: dict[str, Any] = {
        "values": {key: list(values) for key, values in side.values.items()},
        "flows_mbps": [list(flows) for flows in side.flows_mbps],
    }
    if side.cwnd:
        side_json["cwnd"] = [{"time_s": list(times), "packets": list(cwnd)} for times, cwnd in side.cwnd]
    if side.completions_ms:
        side_json["completions_ms"] = {name: list(values) for name, values in side.completions_ms.items()}
    return side_json


def from_json(data: Mapping[str, Any]) -> Validation:
    """Return the validation that `as_json` wrote."""
    results = [
        Result(
            cell["qdisc"],
            cell["change"],
            cell["line"],
            _side_from(cell["sim"]),
            _side_from(cell["kernel"]),
            _side_from(cell["again"]) if "again" in cell else None,
        )
        for cell in data["cells"]
    ]
    facts = {key: data[key] for key in ("date", "version", "build", "kernel", "quick", "seeds")}
    drawn = Draw(**data["drawn"]) if data.get("drawn") else None
    return Validation(**facts, results=results, drawn=drawn)


def _side_from(data: Mapping[str, Any]) -> Side:
    cwnd = [(run["time_s"], run["packets"]) for run in data.get("cwnd", [])]
    # Older validations lack the measures that were added later.
    unknown = {measure.key: [None] * len(data["flows_mbps"]) for measure in MEASURES}
    return Side(unknown | data["values"], data["flows_mbps"], cwnd, data.get("completions_ms", {}))
