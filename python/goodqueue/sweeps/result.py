"""The results of a sweep, as plain values. ``results.json`` stores them; tables and figures are made from them."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from goodqueue.comparison.comparing import difference_json, estimate_json
from goodqueue.errors import Option, UserError, quoted
from goodqueue.files.long_json import Each
from goodqueue.measures import measured, metrics, numbers, stats
from goodqueue.measures.metrics import Metric
from goodqueue.measures.ratios import Ratio
from goodqueue.measures.stats import Estimate
from goodqueue.record import Scenario
from goodqueue.store import checking, results
from goodqueue.sweeps import compact
from goodqueue.sweeps.compact import Numbers
from goodqueue.sweeps.grid import QDISC, Axis, Cell, Mix

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Goal:
    """The required precision of a metric: ``--until-ci``."""

    percent: float
    """The half-width of the 95 % confidence interval, in percent of the mean."""
    metric: str
    most: int
    """The largest number of seeds per cell."""


@dataclass(frozen=True, slots=True)
class Values:
    """The measurements of one cell's runs."""

    cell: Cell
    qdisc: str | None
    """The line with every parameter."""
    keys: tuple[str, ...]
    """The keys of the runs in the store, one per seed."""
    values: Mapping[str, Sequence[float | None]]
    """The values of each metric, one per seed."""
    delay_percentiles_ms: Mapping[str, Sequence[float] | None]
    """By direction, the 101 percentiles of the queueing delay of all seeds pooled. Empty if there are no values."""
    is_nil: bool
    """Whether there are several seeds and every seed gave the same numbers."""
    error: str | None
    """The error of a run. If there is one, the cell has no values."""
    reached: bool | None
    """Whether the goal was reached. None if there is no goal."""

    def tails(self) -> dict[str, list[float | None]]:
        """Return the 95th percentile of the delay in each direction, by the key of its metric."""
        distributions = self.delay_percentiles_ms.items()
        return {
            metrics.of_direction("delay_p95_ms", direction): [delays[95]]
            for direction, delays in distributions
            if delays
        }

    def estimate(self, metric: str) -> Estimate | None:
        """Return the mean over the seeds with its interval, or None if no seed has a number."""
        return measured.estimate(self.values, metric, self.is_nil)


@dataclass(frozen=True, slots=True)
class Sweep:
    """A completed sweep."""

    name: str
    """The scenario's file."""
    scenario: Scenario
    """The scenario as in the file, unresolved."""
    engine: str
    version: str
    build: str | None
    axes: Sequence[Axis]
    metrics: Sequence[Metric]
    first_seed: int
    seeds: int
    """The number of seeds per cell that was asked for. With a goal a cell may have more."""
    goal: Goal | None
    cells: Sequence[Values]
    against: tuple[str, str] | None = None
    """The key and the value from which all others differ. If None, the first qdisc."""
    correct: str = ""
    """The correction of the stars for the number of comparisons: none, or ``holm``."""
    mixes: Sequence[Mix] = ()
    """The mixes of traffic that are the values of an axis."""
    _places: dict[frozenset[tuple[str, str]], Values] = field(default_factory=dict, repr=False, compare=False)
    """The cells by their values."""
    _known: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """What `once` has made. A sweep with another baseline, made by `dataclasses.replace`, begins without it."""

    def __post_init__(self) -> None:
        """Note where each cell is: each has to find others, and there may be 100,000."""
        self._places.update((frozenset(cell.cell.at.items()), cell) for cell in self.cells)

    def cell(self, at: Mapping[str, str]) -> Values:
        """Return the cell with the values ``at``, by key."""
        return self._places[frozenset(at.items())]

    def once(self, name: str, make: Callable[[], Result]) -> Result:
        """Return what ``make`` made of this sweep when the ``name`` was first asked for: tables and sentences ask."""
        if name not in self._known:
            self._known[name] = make()
        made: Result = self._known[name]
        return made

    @property
    def is_asked(self) -> bool:
        """Whether somebody chose the metrics."""
        return metrics.are_asked(self.metrics)

    def loaded(self) -> tuple[str, ...]:
        """Return the directions that are loaded in at least one cell."""
        found = ({**cell.tails(), **_some(cell.values, metrics.LOADS)} for cell in self.cells)
        return self.once("loaded", lambda: metrics.loaded(found))

    def shown(self) -> list[Metric]:
        """Return the metrics to show: those asked for, or those of the loaded directions and the applications."""
        values = (cell.values for cell in self.cells)
        return list(self.once("shown", lambda: metrics.shown(self.metrics, values, self.loaded())))

    def swept(self) -> list[Axis]:
        """Return the axes that have several values."""
        return [axis for axis in self.axes if len(axis.values) > 1]

    def baseline(self) -> tuple[str, str] | None:
        """Return the key and the value from which others differ: those asked for, or the first of several qdiscs."""
        first = next((axis.values[0] for axis in self.swept() if axis.key == QDISC), None)
        return self.against or (None if first is None else (QDISC, first))

    def reference(self, cell: Values) -> Values | None:
        """Return the cell that differs from ``cell`` only in having the baseline, or None if ``cell`` has it."""
        baseline = self.baseline()
        if baseline is None or cell.cell.at[baseline[0]] == baseline[1]:
            return None
        return self.cell({**cell.cell.at, baseline[0]: baseline[1]})

    def difference(self, cell: Values, metric: str) -> Estimate | None:
        """Return the difference of ``cell`` from its reference, paired by the seeds that both have."""
        other = self.reference(cell)
        if other is None:
            return None
        return measured.difference(cell.values, other.values, metric, cell.is_nil and other.is_nil)

    def ratio(self, cell: Values, metric: str) -> Ratio | None:
        """Return the ratio of ``cell`` to its reference. None if there is none, or if the ratio is not known."""
        if (other := self.reference(cell)) is None:
            return None
        return measured.ratio(cell.values, other.values, metric, cell.is_nil and other.is_nil)


def baseline(text: str, axes: Sequence[Axis]) -> tuple[str, str]:
    """Return the key and the value that ``KEY=VALUE`` names, among several values of ``axes``. Raises UserError."""
    key, equals, value = (part.strip() for part in text.partition("="))
    swept = [axis for axis in axes if len(axis.values) > 1]
    matching = [axis for axis in swept if axis.key == key] or [axis for axis in swept if axis.key.endswith(f".{key}")]
    if not equals or len(matching) != 1:
        keys = ", ".join(axis.key for axis in swept) or "a sweep of a key with several values"
        raise UserError(Option("against"), f"found {quoted(text)}; accepted: KEY=VALUE of {keys}")
    value = " ".join(value.split())
    if value not in matching[0].values:
        raise UserError(Option("against"), f"found {quoted(value)}; accepted: {', '.join(matching[0].values)}")
    return matching[0].key, value


def as_json(sweep: Sweep) -> dict[str, Any]:
    """Return ``sweep`` as the object that ``sweep --json`` prints and ``results.json`` holds."""
    data = as_long_json(sweep)
    return {**data, "cells": [*data["cells"]]}


def as_long_json(sweep: Sweep) -> dict[str, Any]:
    """Return what `as_json` does, but each cell is made when it is written: 100,000 do not fit into memory."""
    goal = sweep.goal
    return {
        "schema": 1,
        "made_by": "goodqueue sweep",
        "version": sweep.version,
        "build": sweep.build,
        "engine": sweep.engine,
        "name": sweep.name,
        "scenario": sweep.scenario,
        "axes": [{"key": axis.key, "values": list(axis.values)} for axis in sweep.axes],
        "metrics": [metric.key for metric in sweep.metrics],
        "first_seed": sweep.first_seed,
        "seeds": sweep.seeds,
        "until_ci": goal and {"percent": goal.percent, "metric": goal.metric, "max_seeds": goal.most},
        "confidence": stats.CONFIDENCE,
        **({"against": dict([sweep.against])} if sweep.against else {}),
        **({"correct": sweep.correct} if sweep.correct else {}),
        **({"mixes": [asdict(mix) for mix in sweep.mixes]} if sweep.mixes else {}),
        "cells": Each(lambda: (_cell_json(sweep, cell) for cell in sweep.cells)),
    }


def _cell_json(sweep: Sweep, cell: Values) -> dict[str, Any]:
    paired = sweep.reference(cell) is not None and cell.error is None
    differences = {
        metric.key: difference_json(sweep.difference(cell, metric.key)) for metric in sweep.metrics if paired
    }
    return {
        "at": dict(cell.cell.at),
        "qdisc": cell.qdisc,
        "n": len(cell.keys),
        "seeds_are_equal": cell.is_nil,
        "error": cell.error,
        "reached": cell.reached,
        "metrics": {
            key: estimate_json(cell.estimate(key)) | {"values": list(values)} for key, values in cell.values.items()
        },
        "difference_from_against" if sweep.against else "difference_from_first_qdisc": differences or None,
        "delay_percentiles_ms": _listed(cell.delay_percentiles_ms.get("down")),
        "up_delay_percentiles_ms": _listed(cell.delay_percentiles_ms.get("up")),
        "runs": list(cell.keys),
    }


def _some(by_metric: metrics.Values, keys: Sequence[str]) -> metrics.Values:
    return {key: by_metric[key] for key in keys if key in by_metric}


def _listed(delays_ms: Sequence[float] | None) -> list[float] | None:
    return None if delays_ms is None else list(delays_ms)


def from_json(data: Mapping[str, Any]) -> Sweep:
    """Return the sweep that `as_json` wrote. Raises KeyError, TypeError or UserError if `as_json` did not write it."""
    goal = data["until_ci"]
    return Sweep(
        name=data["name"],
        scenario=data["scenario"],
        engine=data["engine"],
        version=data["version"],
        build=data["build"],
        axes=[Axis(axis["key"], tuple(axis["values"])) for axis in data["axes"]],
        metrics=numbers.find(data["metrics"]),
        first_seed=data["first_seed"],
        seeds=data["seeds"],
        goal=goal and Goal(goal["percent"], goal["metric"], goal["max_seeds"]),
        cells=[_cell(cell) for cell in data["cells"]],
        against=next(iter(data["against"].items())) if "against" in data else None,
        correct=data.get("correct", ""),
        mixes=[Mix(mix["name"], mix["said"], mix["traffic"]) for mix in data.get("mixes", [])],
    )


def long(file: Path, accepted: str) -> Sweep:
    """Return the sweep of a long results.json, of which one cell at a time is read. Raises as `from_json` does."""
    where = str(file)

    def take(index: int, cell: Any) -> Values:
        checking.cell(cell, where, index)
        return _cell(cell)

    data = results.long(file, accepted, take)
    results.check_schema(data, where)
    checking.long_sweep(data, where)
    checking.places(data["axes"], [cell.cell.at for cell in data["cells"]], where)
    return from_json(data)


def _cell(cell: Any) -> Values:
    """Return the cell that `_cell_json` wrote, or one that is here already."""
    if isinstance(cell, Values):
        return cell
    return Values(
        cell=Cell(cell["at"], None, cell["error"]),
        qdisc=cell["qdisc"] and sys.intern(cell["qdisc"]),
        keys=tuple(cell["runs"]),
        values=Numbers({key: metric["values"] for key, metric in cell["metrics"].items()}),
        delay_percentiles_ms={
            "down": compact.percentiles(cell["delay_percentiles_ms"]),
            "up": compact.percentiles(cell.get("up_delay_percentiles_ms")),  # missing in sweeps of older versions
        },
        is_nil=cell.get("seeds_are_equal", False),
        error=cell["error"],
        reached=cell["reached"],
    )
