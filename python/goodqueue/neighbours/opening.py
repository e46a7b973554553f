"""Unpacks a file, reads its JSON within bounds, and recognises the program that wrote it by the content."""

import bz2
import gzip
import io
import re
import zlib
from collections.abc import Iterator, Mapping
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

_BETWEEN = re.compile(r"(?<=\})[ \t\r]*+\n\s*+(?=\{)")
"""Matches what is between two values of one file: tests one after the other by iperf3's server, or events."""

_EVENT = re.compile(r'\s*\{\s*"event"\s*:')
_SEVERAL = re.compile(r'\s*\{\s*"event".*\n\s*\S')
"""Matches an event that a line follows."""

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


def content(name: str, accepted: str) -> str:
    """Return the text in the file ``name``, unpacked. Raises UserError as `unpacked` does."""
    try:
        return inputs.decoded(unpacked(name, accepted))
    except UnicodeDecodeError:
        raise UserError(name, f"not UTF-8; accepted: {accepted}") from None


def json(text: str, name: str, accepted: str) -> Any:
    """Return the JSON value in ``text``. Numbers that are none are None, as unknown ones are. Raises UserError."""
    try:
        return inputs.from_json(text, constants=True)
    except ValueError as error:
        why = f"not JSON: {error}" if text.strip() else "empty"
        raise UserError(name, f"{why}; accepted: {accepted}") from None


def documents(name: str) -> list[Any]:
    """Return the JSON values in the file ``name``: one, or several from iperf3's server.

    The events of ``iperf3 --json-stream`` become the tables that ``--json`` would have written. Those tables may follow
    them (``--json-stream-full-output``). Raises UserError.
    """
    text = content(name, ACCEPTED)
    if _CSV.match(text):
        raise UserError(name, f"found comma-separated values, as netperf and iperf 2 write; accepted: {ACCEPTED}")
    pieces = list(_pieces(text))
    if len(pieces) == 1 and not _EVENT.match(text):
        return [json(text, name, ACCEPTED)]
    values: list[Any] = []
    streamed: dict[str, Any] | None = None
    """The last value, if it is made of events."""
    for number, (line, piece) in enumerate(pieces, 1):
        is_event = _EVENT.match(piece) is not None
        try:
            value = json(piece, f"{name}:{line}", ACCEPTED)
        except UserError:
            is_cut = number == len(pieces) and not _SEVERAL.match(piece)
            if streamed is not None and is_cut:
                break  # iperf3 was ended while it wrote
            raise
        if is_event:
            if value["event"] == "start" or streamed is None:
                streamed = {"start": {}, "intervals": [], "end": {}}
                values.append(streamed)
            _add(value, streamed)
        else:
            if streamed is not None and _cookie(streamed) == _cookie(value):
                values.pop()  # the same test
            values.append(value)
            streamed = None
    return values


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """Yield each value in ``text`` with the number of its first line."""
    line, begin = 1, 0
    for between in _BETWEEN.finditer(text):
        yield line, text[begin : between.start()]
        line += text.count("\n", begin, between.end())
        begin = between.end()
    yield line, text[begin:]


def _add(event: Mapping[str, Any], streamed: dict[str, Any]) -> None:
    """Put what an event says into the test ``streamed``."""
    name = event["event"]
    if name == "interval":
        streamed["intervals"].append(event.get("data"))
    elif name in ("start", "end", "error", "server_output_json", "server_output_text"):
        streamed[name] = event.get("data")


def _cookie(data: Any) -> object:
    """Return the name that iperf3 gave a test."""
    start = data.get("start") if isinstance(data, dict) else None
    return start.get("cookie") if isinstance(start, dict) else None


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


def text(data: object, *keys: str) -> str:
    """Return the text at the path ``keys``, which only a person reads. A number is one, too. Empty if there is none."""
    for key in keys:
        data = data.get(key) if isinstance(data, Mapping) else None
    return bounded(str(data), 1000) if isinstance(data, str | int | float) and not isinstance(data, bool) else ""
