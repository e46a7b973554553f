"""Web pages from HAR files (HTTP Archive 1.2), as browsers save them: the objects of a scenario's ``page``.

Only sizes and hosts are used. An entry becomes an object; the entry that began first becomes the document. The size
of a response is ``_transferSize`` if the file has it (Chrome does), and otherwise the sum of its headers and body.
Entries from the browser's cache (``_fromCache``) and addresses that are not HTTP (``data:``) are left out.
"""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from goodqueue.errors import UserError, quoted
from goodqueue.files import inputs

KEY = "page"
"""The key of a traffic source that may name a HAR file."""

ACCEPTED = "a HAR file, as a browser's developer tools save it"

MOST_BYTES = 256 * inputs.MIB
"""The largest size of a file. It may hold the pages' content too."""


def is_har(page: object) -> bool:
    """Return whether ``page`` names a HAR file."""
    return isinstance(page, str) and page.lower().endswith(".har")


def expand(traffic: Any, folder: Path) -> None:
    """Add to each table of ``traffic`` whose ``page`` is a HAR file (relative to ``folder``) the objects in the file.

    A malformed ``traffic`` is left for the core to refuse. Raises UserError for a broken file.
    """
    for source in traffic if isinstance(traffic, list) else []:
        if isinstance(source, dict) and is_har(source.get(KEY)) and "objects" not in source:
            file = folder / source[KEY]
            source |= {KEY: file.name, "objects": objects(file)}


def objects(file: Path) -> list[dict[str, str]]:
    """Return the objects of ``file`` as a scenario has them: ``host``, ``request`` (if known) and ``response``.

    Raises UserError with the file, what was found and what is accepted.
    """
    text = inputs.read_text(file, MOST_BYTES, ACCEPTED)
    try:
        data = inputs.from_json(text)
    except ValueError as error:
        raise UserError(str(file), f"cannot be read: {error}; accepted: {ACCEPTED}") from None
    log = data.get("log") if isinstance(data, dict) else None
    entries = log.get("entries") if isinstance(log, dict) else None
    if not isinstance(entries, list):
        raise UserError(str(file), f"found no log.entries; accepted: {ACCEPTED}")
    found = []
    for place, entry in enumerate(entries):
        try:
            if (made := _object(entry)) is not None:
                found.append((str(entry.get("startedDateTime", "")), made))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            why = f"no {error}" if isinstance(error, KeyError) else str(error)
            raise UserError(str(file), f"log.entries[{place}]: {why}; accepted: {ACCEPTED}") from None
    if not found:
        raise UserError(str(file), f"found {len(entries)} entries, none of them fetched by HTTP; accepted: {ACCEPTED}")
    return [made for _, made in sorted(found, key=lambda pair: pair[0])]


def _object(entry: dict[str, Any]) -> dict[str, str] | None:
    """Return one entry's object, or None if the browser fetched nothing."""
    request, response = entry["request"], entry["response"]
    address = urlsplit(request["url"])
    if address.scheme not in ("http", "https") or entry.get("_fromCache"):
        return None
    made = {"host": address.netloc}
    asked = _bytes(request, "headersSize") + _bytes(request, "bodySize")
    if asked > 0:
        made["request"] = f"{asked}B"
    moved = _bytes(response, "_transferSize")
    moved = moved or _bytes(response, "headersSize") + (
        _bytes(response, "bodySize") or _bytes(response.get("content") or {}, "size")
    )
    made["response"] = f"{max(1, moved)}B"
    return made


def _bytes(part: dict[str, Any], name: str) -> int:
    """Return a size, or 0 if it is missing or -1, which means "unknown" in the format."""
    value = part.get(name, 0)
    if value is not None and (not inputs.is_finite(value) or value > 1e12):
        raise ValueError(f"found {quoted(value)} for {name}")
    return max(0, int(value or 0))
