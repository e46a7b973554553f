"""Unpacks a file, reads its JSON within bounds, and recognises the program that wrote it by the content."""

import bz2
import gzip
import io
import re
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, cast

from goodqueue.errors import UserError, bounded, quoted
from goodqueue.files import inputs

ACCEPTED = (
    "a data file of Flent's (.flent.gz, .flent.bz2 or .flent), irtt's JSON (irtt client -o FILE) "
    "or iperf3's JSON (iperf3 --json)"
)

MOST_BYTES = 64 * inputs.MIB
"""The maximum size of a file, unpacked. Flent's own files are a few megabytes; irtt writes 1.2 kB per packet."""

MOST = 1e12
"""The maximum of any number. Times since 1970 are 1e9."""

LONGEST_S = 1e6
"""The maximum of any time, relative to the file's beginning. A clock that jumped would otherwise fill memory."""

_BETWEEN = re.compile(r"(?<=\n\})\s+(?=\{)")
"""Matches what is between two tables of one file, as iperf3's server writes one after the other."""

_EVENT = re.compile(r'\s*\{\s*"event"\s*:')
_CSV = re.compile(r"[^,\n{\[]*(,[^,\n]*){4}")


def unpacked(name: str, accepted: str) -> bytes:
    """Return the content of the file ``name``, uncompressed. Raises UserError: file, what was found, ``accepted``."""
    packed = inputs.read(Path(name), MOST_BYTES, accepted)
    stream: BinaryIO = io.BytesIO(packed)
    if packed[:2] == b"\x1f\x8b":
        stream = cast("BinaryIO", gzip.GzipFile(fileobj=stream))
    elif packed[:3] == b"BZh":
        stream = cast("BinaryIO", bz2.BZ2File(stream))
    try:
        data = inputs.up_to(stream, MOST_BYTES + 1)
    except EOFError:
        raise UserError(name, f"truncated: it ends before its data do; accepted: {accepted}, whole") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise UserError(name, f"damaged: {error}; accepted: {accepted}, whole") from None
    except (OSError, ValueError) as error:
        raise UserError(name, f"cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(data) > MOST_BYTES:
        raise UserError(name, f"holds more than {MOST_BYTES >> 20} MiB when unpacked; accepted: {accepted}")
    return data


def json(data: bytes, name: str, accepted: str) -> Any:
    """Return the JSON value in ``data``. Raises UserError."""
    try:
        return inputs.from_json(data.decode("utf-8-sig"), constants=True)
    except ValueError as error:
        why = "not UTF-8" if isinstance(error, UnicodeDecodeError) else f"not JSON: {error}"
        why = why if data.strip() else "empty"
        raise UserError(name, f"{why}; accepted: {accepted}") from None


def documents(name: str) -> list[Any]:
    """Return the JSON values in the file ``name``: one, or several from iperf3's server.

    The lines of ``iperf3 --json-stream`` become the tables that ``--json`` would have written. Raises UserError.
    """
    data = unpacked(name, ACCEPTED)
    text = data.decode("utf-8-sig", errors="replace")
    if _EVENT.match(text):
        return _streamed(text, name)
    if _CSV.match(text):
        raise UserError(name, f"found comma-separated values, as netperf and iperf 2 write; accepted: {ACCEPTED}")
    pieces = _BETWEEN.split(text)
    if len(pieces) > 1:
        return [json(piece.encode(), name, ACCEPTED) for piece in pieces]
    return [json(data, name, ACCEPTED)]


def _streamed(text: str, name: str) -> list[dict[str, Any]]:
    """Return the tests in the lines of ``iperf3 --json-stream``. The last line may be cut if there was one before."""
    tests: list[dict[str, Any]] = []
    lines = [line for line in text.splitlines() if line.strip()]
    for number, line in enumerate(lines, 1):
        try:
            value = inputs.from_json(line, constants=True)
        except ValueError as error:
            if number == len(lines) and tests:
                break
            raise UserError(f"{name}:{number}", f"not JSON: {error}; accepted: {ACCEPTED}") from None
        event, inner = (value.get("event"), value.get("data")) if isinstance(value, dict) else (None, None)
        if event == "start" or not tests:
            tests.append({"start": {}, "intervals": [], "end": {}})
        if event == "interval":
            tests[-1]["intervals"].append(inner)
        elif event in ("start", "end", "error"):
            tests[-1][event] = inner
    return tests


def program(data: Any) -> str:
    """Return the program that wrote ``data``: ``flent``, ``irtt`` or ``iperf3``. Empty if it is none of these."""
    if not isinstance(data, dict):
        return ""
    if {"metadata", "x_values", "results"} <= data.keys():
        return "flent"
    if "round_trips" in data or {"stats", "config", "system_info"} <= data.keys():
        return "irtt"
    if "start" in data and data.keys() & {"intervals", "end", "error"}:
        return "iperf3"
    return ""


# What is checked while a file is read. Each function raises UserError: place, what was found, what is accepted.


def table(data: Mapping[str, Any], key: str, where: str) -> dict[str, Any]:
    """Return the table at ``key``."""
    value = data[key]
    if not isinstance(value, dict):
        raise UserError(where, f"{key}: found {quoted(value)}; accepted: a table by name")
    return value


def table_or_none(data: Mapping[str, Any], key: str, where: str) -> dict[str, Any]:
    """Return the table at ``key``. Empty if there is none."""
    return table(data, key, where) if data.get(key) is not None else {}


def items(data: Mapping[str, Any], key: str, where: str) -> list[Any]:
    """Return the list at ``key``."""
    value = data[key]
    if not isinstance(value, list):
        raise UserError(where, f"{key}: found {quoted(value)}; accepted: a list")
    return value


def tables(data: Mapping[str, Any], key: str, where: str) -> list[dict[str, Any]]:
    """Return the list of tables at ``key``. Empty if there is none."""
    listed = items(data, key, where) if data.get(key) is not None else []
    for index, item in enumerate(listed):
        if not isinstance(item, dict):
            raise UserError(where, f"{key}.{index}: found {quoted(item)}; accepted: a table")
    return listed


def finite(value: Any, where: str, most: float = MOST) -> float:
    """Return ``value``, a number of at most ``most``."""
    if not inputs.is_finite(value) or abs(value) > most:
        raise UserError(where, f"found {quoted(value)}; accepted: a finite number, up to {most:g}")
    return float(value)


def number(data: Mapping[str, Any], key: str, where: str, most: float = MOST) -> float | None:
    """Return the number at ``key``, or None if there is none."""
    return None if data.get(key) is None else finite(data[key], f"{where}.{key}", most)


def text(data: Mapping[str, Any], key: str, where: str) -> str:
    """Return the text at ``key``. A number is one, too."""
    value = data.get(key)
    if isinstance(value, list | dict | bool):
        raise UserError(where, f"{key}: found {quoted(value)}; accepted: text")
    return "" if value is None else bounded(str(value), 1000)
