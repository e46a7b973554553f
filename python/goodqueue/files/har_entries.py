"""What an entry of a HAR file moved across the network: nothing if a cache, a worker or the browser itself answered.

A size of 0 is a size; only -1 and null are unknown (HAR 1.2, "response"). Programs differ in what they write:

- Chrome: ``_transferSize`` is what came in, headers included. ``_fromCache`` and ``_fetchedViaServiceWorker`` say who
  answered. A redirect without a count has 0 there, and minus ``headersSize`` as ``bodySize``.
- Safari: ``_transferSize`` too, and ``_fetchType`` says who answered.
- Firefox: a response from its cache has ``bodySize`` 0, or -1 and a table ``cache``, or it took no time.
- WebPageTest: ``_bytesIn`` is what came in, sometimes as text. Playwright: the status of a failed fetch is -1.
"""

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from goodqueue.errors import quoted
from goodqueue.files import inputs

CACHE, WORKER, FAILED, SOCKET, OWN, OTHER = (
    "from a cache",
    "from a service worker",
    "failed",
    "WebSocket",
    "answered by the browser itself",
    "not HTTP, such as data:",
)
"""Why an entry moved nothing that belongs to the page's fetches."""

MOST = 1e12
"""The largest size."""

_BODILESS = (204, 205, 304)
_FETCH_TYPES = {"Memory Cache": CACHE, "Disk Cache": CACHE, "Service Worker": WORKER, "Inspector Override": OWN}


@dataclass(frozen=True, slots=True)
class Entry:
    """What is used of an entry."""

    page: str | None
    """The id of its page."""
    began: float | None
    """When it began, in seconds since 1970."""
    host: str
    request: int
    """Bytes of the request, or 0 if they are unknown."""
    moved: int
    """Bytes of the response that crossed the network, or 0 if none did."""
    why: str = ""
    """Why nothing was moved."""


def read(entry: Any, creator: str) -> Entry:
    """Return what is used of ``entry``, which the program ``creator`` wrote.

    Raises KeyError, TypeError, ValueError or AttributeError for a malformed one.
    """
    request, response = entry["request"], entry["response"]
    address = urlsplit(request["url"])
    if address.scheme in ("ws", "wss") or response.get("status") == 101 or entry.get("_resourceType") == "websocket":
        moved, why = 0, SOCKET
    elif address.scheme not in ("http", "https"):
        moved, why = 0, OTHER
    else:
        moved, why = _moved(entry, request, response, creator)
    page = entry.get("pageref")
    request_bytes = (_bytes(request, "headersSize") or 0) + (_bytes(request, "bodySize") or 0)
    began = seconds(entry.get("startedDateTime"))
    return Entry(None if page is None else str(page), began, address.netloc, request_bytes, moved, why)


def seconds(text: object) -> float | None:
    """Return a time in seconds since 1970, or None if ``text`` is not one. A time without a zone is in UTC."""
    try:
        at = dt.datetime.fromisoformat(str(text))
        return (at if at.tzinfo else at.replace(tzinfo=dt.UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def left_out(entries: Iterable[Entry]) -> str:
    """Return in words how many ``entries`` moved nothing, by reason. Empty if each moved something."""
    counts = Counter(entry.why for entry in entries if not entry.moved)
    return ", ".join(f"{count} {why}" for why, count in counts.most_common())


def _moved(
    entry: Mapping[str, Any], request: Mapping[str, Any], response: Mapping[str, Any], creator: str
) -> tuple[int, str]:
    """Return the bytes of the response that crossed the network, and if that is 0, why."""
    status = _status(response)
    transferred = _first(_bytes(response, "_transferSize"), _bytes(entry, "_bytesIn"))
    headers = _bytes(response, "headersSize")
    why = _answered_here(entry, response) or (FAILED if status is not None and status <= 0 else "")
    if why or transferred:
        return transferred or 0, why
    if transferred == 0:
        uncounted = 300 <= (status or 0) < 400 and headers and response.get("bodySize") == -headers
        return (headers or 0) if uncounted else 0, CACHE
    body = 0 if status in _BODILESS or request.get("method") == "HEAD" else _body(entry, response, creator)
    if body is None or body == headers == 0:
        return 0, CACHE
    return max(1, (headers or 0) + body), ""


def _body(entry: Mapping[str, Any], response: Mapping[str, Any], creator: str) -> int | None:
    """Return the bytes of the body that crossed the network, 0 if they are unknown, or None if a cache had them."""
    body, content = _bytes(response, "bodySize"), _bytes(response.get("content") or {}, "size")
    if content and (body == 0 or (body is None and _cached(entry, creator))):
        return None
    return _first(body, _length(response), content) or 0


def _answered_here(entry: Mapping[str, Any], response: Mapping[str, Any]) -> str:
    """Return who on the user's machine answered, if the file says it. Otherwise return an empty text."""
    if entry.get("_fromCache"):
        return CACHE
    if why := _FETCH_TYPES.get(str(entry.get("_fetchType"))):
        return why
    if response.get("_fetchedViaServiceWorker") is True:
        return WORKER
    names = [str(header.get("name")).lower() for header in _headers(response)]
    is_answered_here = (
        response.get("statusText") == "Internal Redirect" or "non-authoritative-reason" in names
    )  # as HSTS makes them
    return OWN if is_answered_here else ""


def _cached(entry: Mapping[str, Any], creator: str) -> bool:
    """Return whether a response of unknown size was in the browser's cache."""
    state = entry.get("cache")
    if isinstance(state, dict) and state.keys() & {"beforeRequest", "afterRequest"}:
        return True
    return creator == "Firefox" and entry.get("time") == 0


def _length(response: Mapping[str, Any]) -> int | None:
    """Return the length of a body on its way: as its header says, or as its size without what compression saved."""
    for header in _headers(response):
        text = str(header.get("value")).strip()
        if (
            str(header.get("name")).lower() == "content-length"
            and text.isascii()
            and text.isdecimal()
            and len(text) < 13
        ):
            return int(text)
    content = response.get("content") or {}
    size, saved = _bytes(content, "size"), _bytes(content, "compression")
    return None if size is None or saved is None else max(0, size - saved)


def _headers(response: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    headers = response.get("headers")
    return [header for header in headers if isinstance(header, dict)] if isinstance(headers, list) else []


def _status(response: Mapping[str, Any]) -> int | None:
    """Return the status, or None if the file has none."""
    status = response.get("status")
    if isinstance(status, str) and status.isascii() and status.isdecimal() and len(status) < 5:
        return int(status)
    return status if isinstance(status, int) and not isinstance(status, bool) else None


def _first(*sizes: int | None) -> int | None:
    """Return the first size that is known."""
    return next((size for size in sizes if size is not None), None)


def _bytes(part: Mapping[str, Any], name: str) -> int | None:
    """Return a size, or None if it is missing, null or negative, which all mean "unknown". WebPageTest writes text."""
    value = part.get(name)
    if name == "_bytesIn" and isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 13:
        return int(value)
    if value is None:
        return None
    if not inputs.is_finite(value) or value > MOST:
        raise ValueError(f"found {quoted(value)} for {name}")
    return int(value) if value >= 0 else None
