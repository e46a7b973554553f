"""Dotted paths in a record: returns the number at a path, and checks which paths can exist."""

from typing import Any

from goodqueue.record import Record, layout


def walk(record: Record, path: str) -> float | None:
    """Return the number at the dotted ``path``, or None if the value there or above it is null, or if it ends above.

    A record has no entry for a reason for which nothing was dropped or marked. The number of such a reason is 0.
    """
    here: Any = record
    above = ""
    for part in path.split("."):
        if not isinstance(here, dict | list):
            return None
        if isinstance(here, dict) and above in ("drops_by_reason", "marks_by_reason"):
            return float(here.get(part, 0))
        above = part
        here = dict(enumerate(here)).get(int(part)) if isinstance(here, list) else here.get(part)
    return None if here is None else float(here)


def check_path(path: str) -> str | None:
    """Return why no record has a number at ``path``, or None if a record may have one."""
    here: layout.Type = {"part": "Record"}
    walked: list[str] = []
    for part in path.split("."):
        where = ".".join(walked) or "a record"
        match layout.not_null(here):
            case {"part": name}:
                fields = layout.parts()[name].fields
                if part not in fields:
                    return f"{where} has no field {part!r}; accepted: {', '.join(fields)}"
                here = fields[part].type
            case {"list": inner}:
                if not part.isdecimal():
                    return f"{where} is a list; accepted: a number after it"
                here = inner
            case {"directions": inner}:
                if part not in ("down", "up"):
                    return f"{where} has no field {part!r}; accepted: down, up"
                here = inner
            case {"table": inner}:
                here = inner
            case "scenario":
                here = "anything"
            case _:
                return f"{where} is a number; accepted: nothing after it"
        walked.append(part)
    ends = layout.not_null(here)
    return None if ends in ("count", "number") else f"{path} is not a number; accepted: a path that ends at one"
