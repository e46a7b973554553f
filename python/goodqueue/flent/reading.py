"""Reads and checks Flent's data files of any version, and converts them to the newest version."""

import bz2
import datetime as dt
import gzip
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

from goodqueue.errors import UserError, bounded, quoted
from goodqueue.files import inputs
from goodqueue.flent import EPOCH_S, PING, VERSION
from goodqueue.store import checking

ACCEPTED = "a data file of Flent's (.flent.gz, .flent.bz2 or .flent)"

SHORTEST_S = 1e-6
"""The shortest step. Times that are as far from the beginning as they may be differ by no less."""

MOST_BYTES = 64 * inputs.MIB
"""The maximum size of a file, unpacked. Flent's own files are a few megabytes."""

MOST = 1e12
"""The maximum of any number. Times since 1970 are 1e9."""

LONGEST_S = 1e6
"""The maximum of any time, relative to the file's beginning. A clock that jumped would otherwise fill memory."""

STALL_S = 5.0
"""A longer sample of exchanges was ended by a loss."""

Sample = dict[str, float]
"""The measurements at one time: ``t`` in seconds of the run, and numbers by Flent's names."""


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
    data = _json(_unpacked(name), name)
    if not isinstance(data, dict) or not {"metadata", "x_values", "results"} <= data.keys():
        raise UserError(name, f"not a data file of Flent's; accepted: {ACCEPTED}")
    version = data.get("version", 1)
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise UserError(name, f"version: found {quoted(version)}; accepted: 1 to {VERSION}")
    if version > VERSION:
        raise UserError(name, f"found version {version} of the format, of a newer Flent; accepted: 1 to {VERSION}")
    metadata = _table(data, "metadata", name)
    meta = metadata.get("SERIES_META") or {}
    if not isinstance(meta, dict):
        raise UserError(name, f"metadata: SERIES_META: found {quoted(meta)}; accepted: a table by name")
    about = {key: value for key, value in meta.items() if isinstance(value, dict)}
    grid = [_finite(x, f"{name}: x_values") for x in _list(data, "x_values", name)]
    results = {
        key: _column(values, len(grid), f"{name}: results: {key}")
        for key, values in _table(data, "results", name).items()
    }
    raw = (
        _table(data, "raw_values", name)
        if data.get("raw_values")
        else {key: value["RAW_VALUES"] for key, value in about.items() if version == 1 and "RAW_VALUES" in value}
    )
    samples = {key: _samples(values, f"{name}: raw_values: {key}") for key, values in raw.items()}
    _convert(samples, version)
    origin = _origin_s(metadata, samples, name)
    for own in samples.values():
        for sample in own:
            sample["t"] -= origin
        own.sort(key=lambda sample: sample["t"])
    _check_times(grid, samples, name)
    step = _finite(metadata.get("STEP_SIZE") or 0.2, f"{name}: metadata: STEP_SIZE")
    if not SHORTEST_S <= step <= LONGEST_S:
        accepted = f"{SHORTEST_S:g} to {LONGEST_S:g}"
        raise UserError(name, f"metadata: STEP_SIZE: found {quoted(step)}; accepted: {accepted}")
    return DataFile(
        place=name,
        test=_text(metadata, "NAME", name) or "unknown",
        title=_text(metadata, "TITLE", name),
        flent=_text(metadata, "FLENT_VERSION", name) or "unknown",
        time=_text(metadata, "TIME", name) or "unknown",
        step_s=step,
        grid_s=grid,
        results=results,
        samples=samples,
        about=about,
        ours=_ours(metadata.get("GOODQUEUE"), f"{name}: metadata: GOODQUEUE"),
    )


def _text(metadata: Mapping[str, Any], key: str, name: str) -> str:
    value = metadata.get(key)
    if isinstance(value, list | dict | bool):
        raise UserError(name, f"metadata: {key}: found {quoted(value)}; accepted: text")
    return "" if value is None else bounded(str(value), 1000)


def _ours(found: Any, place: str) -> dict[str, Any] | None:
    """Return the description of the run in a file that goodqueue wrote. Raises UserError if it was altered."""
    if not isinstance(found, dict) or not {"scenario", "seed"} <= found.keys():
        return None
    inputs.seed(found["seed"], f"{place}: seed")
    checking.scenario(found["scenario"], f"{place}: scenario")
    return found


def _check_times(grid: list[float], samples: Mapping[str, list[Sample]], name: str) -> None:
    """Refuse a file in which some times are far from the beginning."""
    times = [("x_values", grid), *((f"raw_values: {key}", [one["t"] for one in own]) for key, own in samples.items())]
    for place, own in times:
        if far := max((abs(at) for at in own), default=0.0) > LONGEST_S and max(own, key=abs):
            accepted = f"at most {LONGEST_S:g} s, as by a clock that never jumps"
            raise UserError(name, f"{place}: found a time {far:g} s from the beginning; accepted: {accepted}")


def _unpacked(name: str) -> bytes:
    try:
        with Path(name).open("rb") as file:
            begins = file.read(3)
            file.seek(0)
            stream: BinaryIO = file
            if begins[:2] == b"\x1f\x8b":
                stream = cast("BinaryIO", gzip.GzipFile(fileobj=file))
            elif begins == b"BZh":
                stream = cast("BinaryIO", bz2.BZ2File(file))
            data = inputs.up_to(stream, MOST_BYTES + 1)
    except FileNotFoundError:
        raise UserError(name, f"not found; accepted: {ACCEPTED}") from None
    except IsADirectoryError:
        raise UserError(name, f"found a folder; accepted: {ACCEPTED}") from None
    except EOFError:
        raise UserError(name, f"truncated: it ends before its data do; accepted: {ACCEPTED}, whole") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise UserError(name, f"damaged: {error}; accepted: {ACCEPTED}, whole") from None
    except (OSError, ValueError) as error:
        raise UserError(name, f"cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(data) > MOST_BYTES:
        raise UserError(name, f"holds more than {MOST_BYTES >> 20} MiB when unpacked; accepted: {ACCEPTED}")
    return data


def _json(data: bytes, name: str) -> Any:
    try:
        return inputs.from_json(data.decode("utf-8"), constants=True)
    except ValueError as error:
        why = "not UTF-8" if isinstance(error, UnicodeDecodeError) else f"not JSON: {error}"
        why = why if data.strip() else "empty"
        raise UserError(name, f"{why}; accepted: {ACCEPTED}") from None


def _table(data: Mapping[str, Any], key: str, name: str) -> dict[str, Any]:
    found = data[key]
    if not isinstance(found, dict):
        raise UserError(name, f"{key}: found {quoted(found)}; accepted: a table by name")
    return found


def _list(data: Mapping[str, Any], key: str, name: str) -> list[Any]:
    found = data[key]
    if not isinstance(found, list):
        raise UserError(name, f"{key}: found {quoted(found)}; accepted: a list")
    return found


def _finite(value: Any, place: str) -> float:
    if not inputs.is_finite(value) or abs(value) > MOST:
        raise UserError(place, f"found {quoted(value)}; accepted: a finite number, up to {MOST:g}")
    return float(value)


def _column(values: Any, length: int, place: str) -> list[float | None]:
    if not isinstance(values, list) or len(values) != length:
        found = f"{len(values)} values" if isinstance(values, list) else quoted(values)
        raise UserError(place, f"found {found}; accepted: as many as x_values, {length}")
    return [None if value is None else _finite(value, place) for value in values]


def _samples(values: Any, place: str) -> list[Sample]:
    """Return the numbers of each sample. Text and nested values are dropped."""
    if not isinstance(values, list):
        raise UserError(place, f"found {quoted(values)}; accepted: a list")
    found = []
    for value in values:
        if not isinstance(value, dict):
            raise UserError(place, f"found {quoted(value)}; accepted: a table with the key t")
        if "t" in value:
            numbers = {key: float(one) for key, one in value.items() if inputs.is_finite(one)}
            for key in ("t", *(key for key in ("val", "dur", "seq", "owd_up") if key in numbers)):
                numbers[key] = _finite(value[key], f"{place}: {key}")
            if not 0 <= numbers.get("dur", 0.0) <= LONGEST_S:
                raise UserError(place, f"dur: found {quoted(value['dur'])}; accepted: 0 to {LONGEST_S:g} s")
            found.append(numbers)
    return found


def _convert(samples: dict[str, list[Sample]], version: int) -> None:
    """Convert samples of older versions to the unit of the series, which version 4 introduced for all of them.

    netperf's exchange of datagrams stops at a loss. The long sample that ends it is no round trip and loses its
    value.
    """
    if version >= VERSION:
        return
    for name, own in samples.items():
        if name.startswith(PING) and "UDP" in name:
            for sample in own:  # netperf counts transactions per second; samples of other programs have no duration
                if "dur" in sample and (rate := sample.pop("val", 0.0)) > 0 and sample["dur"] <= STALL_S:
                    sample["val"] = 1000 / rate
        elif name == "HTTP latency":
            for sample in own:
                if "val" in sample:
                    sample["val"] *= 1000


def _origin_s(metadata: Mapping[str, Any], samples: Mapping[str, list[Sample]], name: str) -> float:
    """Return the time, in seconds since 1970, at which the grid begins.

    Old versions wrote it in local time. In that case whole quarters of an hour are added to match the first sample.
    """
    first = min((sample["t"] for own in samples.values() for sample in own), default=float(EPOCH_S))
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
