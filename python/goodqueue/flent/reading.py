"""Reads and checks Flent's data files of any version, and converts them to the newest version."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from goodqueue.capture import EPOCH_S
from goodqueue.errors import UserError, quoted
from goodqueue.files import inputs
from goodqueue.flent import PING, VERSION
from goodqueue.neighbours import opening
from goodqueue.neighbours.opening import LONGEST_S, MOST, finite, items, table, text
from goodqueue.store import checking

ACCEPTED = "a data file of Flent's (.flent.gz, .flent.bz2 or .flent)"

SHORTEST_S = 1e-6
"""The shortest step. Times that are as far from the beginning as they may be differ by no less."""

BETWEEN = "::"
"""What is between the name of a series and the name of a part of it."""

STALL_S = 5.0
"""A longer sample of exchanges was ended by a loss."""

Sample = dict[str, float]
"""The measurements at one time: ``t`` in seconds of the run, and numbers by Flent's names.

A number in a table has the table's name before it, as in ``cake_av_delay::Best Effort``.
"""


@dataclass(frozen=True, slots=True)
class DataFile:
    """The content of a data file."""

    place: str
    test: str
    title: str
    flent: str
    """The version of Flent that wrote the file."""
    time: str
    """The time of the measurement, as written in the file."""
    step_s: float
    grid_s: list[float]
    """The times of the `results`."""
    results: dict[str, list[float | None]]
    samples: dict[str, list[Sample]]
    """The raw samples by series, in the order of time."""
    about: dict[str, dict[str, Any]]
    """The file's metadata for each series."""
    ours: dict[str, Any] | None
    """Only in a file that `writing` made: the description that repeats the run."""


def read(name: str) -> DataFile:
    """Return the content of the file ``name``.

    Versions below 4 have some samples in other units, which are converted. Raises UserError if the file is missing,
    truncated, damaged, not Flent's, or newer than version 4.
    """
    return parsed(opening.json(opening.content(name, ACCEPTED), name, ACCEPTED), name)


def parsed(data: Any, name: str) -> DataFile:
    """Return the content of ``data``, the JSON in the file ``name``. Raises UserError as `read` does."""
    if not isinstance(data, dict) or not {"metadata", "x_values", "results"} <= data.keys():
        raise UserError(name, f"not a data file of Flent's; accepted: {ACCEPTED}")
    version = data.get("version", 1)
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise UserError(name, f"version: found {quoted(version)}; accepted: 1 to {VERSION}")
    if version > VERSION:
        raise UserError(name, f"found version {version} of the format, of a newer Flent; accepted: 1 to {VERSION}")
    metadata = table(data, "metadata", name)
    meta = metadata.get("SERIES_META") or {}
    if not isinstance(meta, dict):
        raise UserError(name, f"metadata: SERIES_META: found {quoted(meta)}; accepted: a table by name")
    about = {key: value for key, value in meta.items() if isinstance(value, dict)}
    grid = [finite(x, f"{name}: x_values") for x in items(data, "x_values", name)]
    results = {
        key: _column(values, len(grid), f"{name}: results: {key}")
        for key, values in table(data, "results", name).items()
    }
    raw = (
        table(data, "raw_values", name)
        if data.get("raw_values")
        else {key: value["RAW_VALUES"] for key, value in about.items() if version == 1 and "RAW_VALUES" in value}
    )
    samples = {key: _samples(values, f"{name}: raw_values: {key}") for key, values in raw.items()}
    _convert(samples, version)
    origin = _origin_s(metadata, samples, name)
    for series in samples.values():
        for sample in series:
            sample["t"] -= origin
        series.sort(key=lambda sample: sample["t"])
    _check_times(grid, samples, name)
    step = finite(metadata.get("STEP_SIZE") or 0.2, f"{name}: metadata: STEP_SIZE")
    if not SHORTEST_S <= step <= LONGEST_S:
        accepted = f"{SHORTEST_S:g} to {LONGEST_S:g}"
        raise UserError(name, f"metadata: STEP_SIZE: found {quoted(step)}; accepted: {accepted}")
    return DataFile(
        place=name,
        test=text(metadata, "NAME") or "unknown",
        title=text(metadata, "TITLE"),
        flent=text(metadata, "FLENT_VERSION") or "unknown",
        time=text(metadata, "TIME") or "unknown",
        step_s=step,
        grid_s=grid,
        results=results,
        samples=samples,
        about=about,
        ours=_ours(metadata.get("GOODQUEUE"), f"{name}: metadata: GOODQUEUE"),
    )


def _ours(block: Any, where: str) -> dict[str, Any] | None:
    """Return the description of the run in a file that goodqueue wrote. Raises UserError if it was altered."""
    if not isinstance(block, dict) or not {"scenario", "seed"} <= block.keys():
        return None
    inputs.seed(block["seed"], f"{where}: seed")
    checking.scenario(block["scenario"], f"{where}: scenario")
    return block


def _check_times(grid: list[float], samples: Mapping[str, list[Sample]], name: str) -> None:
    """Refuse a file in which some times are far from the beginning."""
    times = [
        ("x_values", grid),
        *((f"raw_values: {key}", [sample["t"] for sample in series]) for key, series in samples.items()),
    ]
    for what, times_s in times:
        if far := max((abs(at) for at in times_s), default=0.0) > LONGEST_S and max(times_s, key=abs):
            accepted = f"at most {LONGEST_S:g} s, as by a clock that never jumps"
            raise UserError(name, f"{what}: found a time {far:g} s from the beginning; accepted: {accepted}")


def _column(data: Any, length: int, where: str) -> list[float | None]:
    if not isinstance(data, list) or len(data) != length:
        what = f"{len(data)} values" if isinstance(data, list) else quoted(data)
        raise UserError(where, f"found {what}; accepted: as many as x_values, {length}")
    return [None if value is None else finite(value, where) for value in data]


def _samples(data: Any, where: str) -> list[Sample]:
    """Return the numbers of each sample, those in its tables included. Text is dropped."""
    if not isinstance(data, list):
        raise UserError(where, f"found {quoted(data)}; accepted: a list")
    samples = []
    for value in data:
        if not isinstance(value, dict):
            raise UserError(where, f"found {quoted(value)}; accepted: a table with the key t")
        if "t" in value:
            flat = {**value}
            for name in [key for key, field in value.items() if isinstance(field, dict)]:
                flat |= {f"{name}{BETWEEN}{key}": field for key, field in flat.pop(name).items()}
            numbers = {key: float(field) for key, field in flat.items() if inputs.is_finite(field)}
            for key in ("t", *(key for key in ("val", "dur", "seq", "owd_up") if key in numbers)):
                numbers[key] = finite(value[key], f"{where}: {key}")
            if not 0 <= numbers.get("dur", 0.0) <= LONGEST_S:
                raise UserError(where, f"dur: found {quoted(value['dur'])}; accepted: 0 to {LONGEST_S:g} s")
            samples.append({key: number for key, number in numbers.items() if abs(number) <= MOST})
    return samples


def _convert(samples: dict[str, list[Sample]], version: int) -> None:
    """Convert samples of older versions to the unit of the series, which version 4 introduced for all of them.

    netperf's exchange of datagrams stops at a loss. The long sample that ends it is no round trip and loses its
    value.
    """
    if version >= VERSION:
        return
    for name, series in samples.items():
        if name.startswith(PING) and "UDP" in name:
            for sample in series:  # netperf counts transactions per second; samples of other programs have no duration
                if "dur" in sample and (rate := sample.pop("val", 0.0)) > 0 and sample["dur"] <= STALL_S:
                    sample["val"] = 1000 / rate
        elif name == "HTTP latency":
            for sample in series:
                if "val" in sample:
                    sample["val"] *= 1000


def _origin_s(metadata: Mapping[str, Any], samples: Mapping[str, list[Sample]], name: str) -> float:
    """Return the time, in seconds since 1970, at which the grid begins.

    Old versions wrote it in local time. In that case whole quarters of an hour are added to match the first sample.
    """
    first = min((sample["t"] for series in samples.values() for sample in series), default=float(EPOCH_S))
    text = metadata.get("T0") or metadata.get("TIME")
    try:
        at = dt.datetime.fromisoformat(str(text))
    except ValueError:
        accepted = "a time such as 2017-05-30T15:42:47.075621Z"
        raise UserError(name, f"metadata: T0: found {quoted(text)}; accepted: {accepted}") from None
    if at.tzinfo:
        return at.timestamp()
    origin = at.replace(tzinfo=dt.UTC).timestamp()
    return origin + 900 * round((first - origin) / 900)
