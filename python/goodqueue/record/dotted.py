"""Dotted paths in a record: returns the number at a path, and checks which paths can exist."""

from typing import Any, get_args, get_origin, get_type_hints, is_typeddict

from goodqueue import traffic
from goodqueue.record import App, Delay, Record


def walk(record: Record, path: str) -> float | None:
    """Return the number at the dotted ``path``, or None if the value there or above it is null.

    A record has no entry for a reason for which nothing was dropped or marked. The number of such a reason is 0.
    """
    here: Any = record
    above = ""
    for part in path.split("."):
        if here is None:
            return None
        if above in ("drops_by_reason", "marks_by_reason"):
            return float(here.get(part, 0))
        above = part
        here = dict(enumerate(here)).get(int(part)) if isinstance(here, list) else here.get(part)
    return None if here is None else float(here)


def check_path(path: str) -> str | None:
    """Return why no record has a number at ``path``, or None if a record may have one."""
    here: Any = Record
    walked: list[str] = []
    for part in path.split("."):
        here = without_none(here)
        place = ".".join(walked) or "a record"
        if is_typeddict(here):
            fields = fields_of(here)
            if part not in fields:
                return f"{place} has no field {part!r}; accepted: {', '.join(fields)}"
            here = fields[part]
        elif get_origin(here) is list:
            if not part.isdecimal():
                return f"{place} is a list; accepted: a number after it"
            here = get_args(here)[0]
        elif get_origin(here) is dict:
            if walked == ["queues"] and part not in ("down", "up"):
                return f"queues has no field {part!r}; accepted: down, up"
            here = get_args(here)[1]
        else:
            return f"{place} is a number; accepted: nothing after it"
        walked.append(part)
    ends = without_none(here)
    return None if ends in (int, float) else f"{path} is not a number; accepted: a path that ends at one"


def fields_of(table: type) -> dict[str, Any]:
    """Return the keys of ``table``, a type of `goodqueue.record`, with their types. `App` has the keys of all kinds."""
    types: dict[str, Any] = {
        "times": Delay | None,
        "percentiles": list[float | None] | None,
        "number": float | None,
        "count": int,
    }
    fields = [field for kind in traffic.kinds().values() for field in kind.fields] if table is App else []
    return {field.key: types[field.type] for field in fields} | get_type_hints(table)


def without_none(hint: Any) -> Any:
    """Return ``X`` for the type ``X | None``, and any other type unchanged."""
    options = [option for option in get_args(hint) if option is not type(None)]
    return options[0] if type(None) in get_args(hint) and len(options) == 1 else hint
