"""Parameters of qdisc lines: sets one, and returns all of them as numbers with their units in their names."""

import functools
import json
from typing import Any

from goodqueue.errors import Place, UserError, quoted
from goodqueue.scenario.discipline import is_python, name_of, split_stab

CHILD = "child"
"""The word before the line of an inner discipline."""

NUMERIC = {
    "packets", "bytes", "time", "milliseconds", "time or packets", "rate", "percent", "number", "signed number",
    "real number",
}  # fmt: skip
"""Units of the registry whose values are numbers."""


def set_one(table: Any, names: list[str], value: str, origin: Place) -> None:
    """Set a parameter in the ``qdisc`` line of ``table``: ``["target"]``, or ``["child", "target"]`` of the inner one.

    Raises UserError, which begins with ``origin``, if there is no line.
    """
    line = table.get("qdisc") if isinstance(table, dict) else None
    if not isinstance(line, str) or not line.split():
        raise UserError(origin, f"found no line to set {'.'.join(names)} in; accepted: where there is a qdisc")
    *inner, name = names
    heads, *children = line.split(f" {CHILD} ")
    parts = [heads, *children]
    if any(word != CHILD for word in inner) or len(inner) >= len(parts):
        problem = f"found {quoted('.'.join(names))} of {quoted(line)}"
        raise UserError(origin, f"{problem}; accepted: one of its parameters, or child.NAME where the line has a child")
    parts[len(inner)] = _with(parts[len(inner)], name, value)
    table["qdisc"] = f" {CHILD} ".join(parts)


def _with(line: str, name: str, value: str) -> str:
    """Return the ``line`` of one discipline with ``name`` at ``value``, in its old place or at the end."""
    stab, (head, *words) = split_stab(line)
    head = " ".join([*stab, head])
    if _unit(head.split()[-1], name) == "flag":
        others = [word for word in words if word not in (name, f"no{name}")]
        return " ".join([head, *others, name if value in ("true", "on", name) else f"no{name}"])
    if name in words[:-1]:
        words[words.index(name) + 1] = value
        return " ".join([head, *words])
    return " ".join([head, *words, name, value])


def numbers(line: str) -> dict[str, float | None]:
    """Return the numeric parameters of a ``line``, such as ``target_ms``. Parameters of inner disciplines are left out.

    Disciplines in Python and mac80211's queues have none.
    """
    from goodqueue import _goodqueue

    is_listed = not is_python(line) and name_of(line) in registry()
    values = _goodqueue.qdisc_values(line) if is_listed else {}
    # One discipline's flag may have the name of another's number: netem's and red_gentle's `bytes`.
    numeric = {key: value for key, value in values.items() if key in names() and not isinstance(value, bool)}
    return {key: float(value) for key, value in numeric.items() if isinstance(value, int | float)}


def declared(line: str) -> list[dict[str, Any]]:
    """Return the registry's entry of each parameter of a ``line``'s discipline: name, unit, default and more."""
    params: list[dict[str, Any]] = registry()[name_of(line)]["params"]
    return params


@functools.cache
def names() -> tuple[str, ...]:
    """Return the names of all numeric parameters of all disciplines, in the registry's order."""
    from goodqueue import _goodqueue

    keys: dict[str, None] = {}
    for spec in registry().values():
        values = iter(key for key in _goodqueue.qdisc_values(spec["name"]) if not key.startswith(CHILD))
        for param in spec["params"]:
            if param["unit"] in ("shorthand", "alias", "refused", "line"):
                continue
            key = next(values)
            if param["unit"] in NUMERIC:
                keys[key] = None
            if param["unit"] == "time or packets":
                keys[f"{param['name']}_packets"] = None
    return tuple(keys)


@functools.cache
def registry() -> dict[str, Any]:
    """Return what the core says of each discipline, by name."""
    from goodqueue import _goodqueue

    return {spec["name"]: spec for spec in json.loads(_goodqueue.qdiscs())}


def _unit(discipline: str, name: str) -> str:
    params = registry().get(discipline, {"params": []})["params"]
    return next((str(param["unit"]) for param in params if param["name"] == name), "")
