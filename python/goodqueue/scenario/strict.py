"""JSON that any reader accepts: what of a scenario it can hold, and the first thing that it cannot."""

import json
from collections.abc import Iterable
from typing import Any


def text(value: Any) -> str:
    """Return JSON that any reader accepts: finite numbers, and UTF-8 text (a command line may hold other bytes)."""
    as_json = json.dumps(value, allow_nan=False, ensure_ascii=False)
    as_json.encode("utf-8")
    return as_json


def first_unusable(value: Any, key: str = "", depth: int = 0) -> tuple[str, Any] | None:
    """Return the dotted key and the value of the first thing in ``value`` that JSON cannot hold."""
    if depth > 100:
        return key, None
    if isinstance(value, dict | list):
        items: Iterable[tuple[Any, Any]] = value.items() if isinstance(value, dict) else enumerate(value)
        for name, inner in items:
            if unusable := first_unusable(inner, f"{key}.{name}" if key else f"{name}", depth + 1):
                return unusable
        return None
    try:
        text(value)
    except (TypeError, ValueError):
        return key, value
    return None
