"""Checks files that goodqueue wrote and that somebody may have changed by hand.

The core describes a record (`record.layout`), and `layouts` what else goodqueue reads. An error message names the first
wrong key, what was found and what is accepted.
"""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from types import NoneType
from typing import Any

from goodqueue import hops, traffic
from goodqueue.errors import UserError, quoted
from goodqueue.files import inputs
from goodqueue.record import Record, Scenario, layout
from goodqueue.store import layouts

MOST = 1e100
"""The upper bound of any number. Ours are far smaller, and the square of a larger one would be infinite."""


def results(data: Any, where: str) -> None:
    """Raise an error if results do not match their ``made_by``. Results without a known ``made_by`` are not checked."""
    made_by = data.get("made_by") if isinstance(data, dict) else None
    if isinstance(made_by, str) and made_by in layouts.RESULTS and not data.get("unfinished"):
        _check(data, {"part": layouts.RESULTS[made_by]}, where, "")
        if made_by == "goodqueue sweep":
            _grid(data, where)
        if made_by == "goodqueue validate":
            _seeds(data, where)


def _grid(sweep: Any, where: str) -> None:
    """Raise an error unless a sweep has each cell of its axes once, with as many values as runs."""
    places(sweep["axes"], [cell["at"] for cell in sweep["cells"]], where)
    for index, cell in enumerate(sweep["cells"]):
        _values(cell, where, index)


def places(axes: Sequence[Any], found: Sequence[Mapping[str, str]], where: str) -> None:
    """Raise an error unless each cell of the ``axes`` of a sweep was ``found`` once."""
    swept = {axis["key"]: axis["values"] for axis in axes if len(axis["values"]) != 1}
    count = math.prod(map(len, swept.values()))
    known = {frozenset(at.items()) for at in found}
    expected = (dict(zip(swept, at, strict=True)) for at in itertools.product(*swept.values()))
    if len(found) != count or any(frozenset(at.items()) not in known for at in expected):
        problem = f"found {len(found)} cells; accepted: one for each combination of the axes, {count}"
        raise UserError(where, f"cells: {problem}")


def cell(data: Any, where: str, index: int) -> None:
    """Raise an error if ``data`` is no cell of a sweep: the one at ``index``."""
    _check(data, {"part": "SweepCell"}, where, f"cells.{index}")
    _values(data, where, index)


def _values(cell: Any, where: str, index: int) -> None:
    for key, metric in cell["metrics"].items():
        if len(metric["values"]) != len(cell["runs"]):
            problem = f"found {len(metric['values'])} values; accepted: one per run, {len(cell['runs'])}"
            raise UserError(where, f"cells.{index}.metrics.{key}.values: {problem}")


def long_sweep(data: Any, where: str) -> None:
    """Raise an error if ``data`` is no sweep. Its cells are checked by `cell`, since they are not in memory."""
    _check({**data, "cells": []} if isinstance(data, dict) else data, {"part": "Sweep"}, where, "")


def _seeds(validation: Any, where: str) -> None:
    """Raise an error if a cell of a validation has more or fewer values than there were seeds."""
    count = len(validation["seeds"])
    for index, cell in enumerate(validation["cells"]):
        for name in [name for name in ("sim", "kernel", "again") if name in cell]:
            side = cell[name]
            columns = {f"values.{key}": seed_values for key, seed_values in side["values"].items()} | {
                "flows_mbps": side["flows_mbps"]
            }
            columns |= {f"completions_ms.{key}": times for key, times in side.get("completions_ms", {}).items()}
            for key, column in columns.items():
                if len(column) != count:
                    problem = f"found {len(column)} values; accepted: one per seed, {count}"
                    raise UserError(where, f"cells.{index}.{name}.{key}: {problem}")
        both = [set(cell[name].get("completions_ms", {})) for name in ("sim", "kernel")]
        if both[0] != both[1]:
            raise UserError(where, f"cells.{index}: the transfers of sim and kernel differ; accepted: the same")


def record(data: Any, where: str) -> Record:
    """Return ``data`` as a record. Raises UserError with the first key that does not belong to a record."""
    _check(data, {"part": "Record"}, where, "")
    scenario(data["scenario"], f"{where}: scenario")
    inputs.seed(data["seed"], f"{where}: seed")
    for direction in ("down", "up"):
        if direction not in data["queues"]:
            raise UserError(where, f"queues.{direction}: missing; accepted: both, down and up")
        _queue(data["queues"][direction], where, f"queues.{direction}")
    for index, hop in enumerate(data.get("hops", [])):
        _kind_of_hop(hop, f"{where}: hops.{index}.kind")
        _check(hop, {"part": "Queue" if hops.has_queue(hop) else "Wire"}, where, f"hops.{index}")
        if hops.has_queue(hop):
            _queue(hop, where, f"hops.{index}")
    measuring = [kind.name for kind in traffic.kinds().values() if kind.times]
    for index, app in enumerate(data["apps"]):
        if app["kind"] not in measuring:
            problem = f"found {quoted(app['kind'])}; accepted: {', '.join(measuring)}"
            raise UserError(where, f"apps.{index}.kind: {problem}")
    if series := data.get("series"):
        _lengths(series, where)
    found_record: Record = data
    return found_record


def _kind_of_hop(hop: Mapping[str, Any], where: str) -> None:
    if hop["kind"] not in hops.kinds():
        raise UserError(where, f"found {quoted(hop['kind'])}; accepted: {', '.join(hops.kinds())}")


def _queue(queue: Mapping[str, Any], where: str, key: str) -> None:
    _words(queue["qdisc"], f"{where}: {key}.qdisc")
    delays = queue["delay_percentiles_ms"]
    if delays is not None and len(delays) != 101:
        raise UserError(where, f"{key}.delay_percentiles_ms: found {len(delays)} numbers; accepted: 101")


def scenario(data: Scenario, where: str) -> None:
    """Raise UserError if a resolved scenario lacks keys that tables and figures read."""
    from goodqueue import scenario as scenarios

    try:
        inputs.check_depth(data)
    except inputs.TooDeepError as error:
        raise UserError(where, f"{error}; accepted: a scenario") from None
    _check(data, {"part": "Scenario"}, where, "")
    _words(data["bottleneck"]["qdisc"], f"{where}.bottleneck.qdisc")
    if not data["bottleneck"].keys() & {"rate", "trace", "wifi"}:
        raise UserError(where, "bottleneck.rate: missing")
    for index, source in enumerate(data["traffic"]):
        if source["kind"] not in traffic.kinds():
            problem = f"found {quoted(source['kind'])}; accepted: {', '.join(traffic.kinds())}"
            raise UserError(f"{where}.traffic.{index}.kind", problem)
    for index, station in enumerate(data["bottleneck"].get("wifi", {}).get("station", [])):
        if not _is_rate(rate := station.get("rate", "")):
            problem = f"found {quoted(rate)}; accepted: a rate's name, or a list of times with such names"
            raise UserError(f"{where}.bottleneck.wifi.station.{index}.rate", problem)
    for index, hop in enumerate(data.get("hop", [])):
        _kind_of_hop(hop, f"{where}.hop.{index}.kind")
        if hops.has_queue(hop):
            _words(hop.get("qdisc", ""), f"{where}.hop.{index}.qdisc")
    for key in ("duration", "warmup"):
        try:
            length = scenarios.seconds(str(data.get(key, "0s")))
        except ValueError:
            length = -1.0
        if not 0 <= length < math.inf:
            raise UserError(f"{where}.{key}", f"found {quoted(data[key])}; accepted: a time, as 10s")


def _is_rate(rate: Any) -> bool:
    """Return whether ``rate`` is what a station's may be: a name, or a list of steps, each a time and a name."""
    if not isinstance(rate, list):
        return isinstance(rate, str)
    return all(isinstance(step, list) and len(step) == 2 and isinstance(step[1], str) for step in rate)


def _words(line: str, where: str) -> None:
    if not line.strip():
        raise UserError(where, f"found {quoted(line)}; accepted: a qdisc's line")


def _lengths(series: Mapping[str, Any], where: str) -> None:
    """Raise an error if a time series is shorter or longer than the times."""
    times = len(series["time_s"])
    columns_of = [(f"queues.{direction}", columns) for direction, columns in series["queues"].items()]
    columns_of += [(f"hops.{name}", columns) for name, columns in series.get("hops", {}).items()]
    for index, flow in enumerate(series["flows"]):
        columns_of += [(f"flows.{index}", flow), (f"flows.{index}.tcp", flow.get("tcp") or {})]
    for name, columns in columns_of:
        for key, values in columns.items():
            if isinstance(values, list) and len(values) != times:
                problem = f"found {len(values)} values; accepted: as many as series.time_s, {times}"
                raise UserError(where, f"series.{name}.{key}: {problem}")
    for kind in (*(kind.series for kind in traffic.kinds().values() if kind.series), "packets"):
        tables = series.get(kind) or []
        for which, lists in tables.items() if isinstance(tables, dict) else enumerate(tables):
            lengths = {len(values) for values in lists.values() if isinstance(values, list)}
            if len(lengths) > 1:
                raise UserError(where, f"series.{kind}.{which}: found lists of several lengths; accepted: of one")


def _check(value: Any, expected: layout.Type, where: str, key: str) -> None:
    """Raise an error if ``value`` is not of the type ``expected``.

    Unknown keys are accepted: another version wrote them. The kernel engine's description of itself has grown over
    time. All of its keys are optional here.
    """
    if _is_plainly(value, expected):
        return
    match expected:
        case {"nullable": inner}:
            if value is not None:
                _check(value, inner, where, key)
            return
        case {"part": name} if isinstance(value, dict):
            for field in layouts.parts()[name].fields.values():
                if field.key in value:
                    _check(value[field.key], field.type, where, f"{key}.{field.key}" if key else field.key)
                elif field.is_required and name != "Kernel":
                    raise UserError(where, f"{key}.{field.key}: missing" if key else f"{field.key}: missing")
            return
        case {"list": inner} if isinstance(value, list):
            for number, item in enumerate(value):
                _check(item, inner, where, f"{key}.{number}")
            return
        case {"table": inner} | {"directions": inner} if isinstance(value, dict):
            for word, item in value.items():
                _check(item, inner, where, f"{key}.{word}")
            return
    is_huge = isinstance(value, int | float) and abs(value) >= MOST
    accepted = f"numbers below {MOST:g}" if is_huge else _type_name(expected)
    raise UserError(where, key, f"found {quoted(value)}; accepted: {accepted}")


def _is_plainly(value: Any, expected: layout.Type) -> bool:
    """Return whether a quick test can confirm the type of ``value``. Long lists of numbers have such a test."""
    if isinstance(expected, str):
        return _PLAINLY[expected](value)
    plain = next((types for inner, types in _NUMBERS if inner == expected.get("list")), None)
    if plain is None or not isinstance(value, list):
        return False
    return set(map(type, value)) <= plain and max(map(abs, filter(None, value)), default=0) < MOST


_PLAINLY: Mapping[str, Callable[[Any], bool]] = {
    "anything": lambda _: True,
    "count": lambda value: isinstance(value, int) and not isinstance(value, bool) and abs(value) < MOST,
    "number": lambda value: inputs.is_finite(value) and abs(value) < MOST,
    "text": lambda value: isinstance(value, str),
    "flag": lambda value: isinstance(value, bool),
    "scenario": lambda value: isinstance(value, dict),
}
_NUMBERS: Sequence[tuple[layout.Type, set[type]]] = (
    ("count", {int}),
    ("number", {int, float}),
    ({"nullable": "number"}, {int, float, NoneType}),
)


def _type_name(expected: layout.Type) -> str:
    """Return the name of a type in the words of JSON."""
    names = {"text": "text", "count": "a whole number", "number": "a finite number", "flag": "true or false"}
    if isinstance(expected, str):
        return names.get(expected, "a table")
    if inner := expected.get("nullable"):
        return f"{_type_name(inner)} or null"
    return "a list" if "list" in expected else "a table"
