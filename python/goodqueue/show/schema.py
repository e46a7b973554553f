"""The JSON Schema (draft 2020-12) of a scenario, made from the core's description of tables, keys and kinds of traffic.

It is for editors, which complete keys and underline mistakes. It does not cover rules between keys, ranges of times and
rates, or qdisc lines: the core checks those.
"""

import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

from goodqueue.show import reference
from goodqueue.show.reference import Key

Schema = dict[str, Any]


def scenario() -> Schema:
    """Return the schema of a scenario's file."""
    top: Schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "goodqueue scenario",
        **_table([]),
        "$defs": {},
    }
    for table in reference.tables():
        name = table["name"]
        if not name:
            top |= _table(table["keys"]) | {"description": table["help"]}
            continue
        schema = _table(table["keys"]) | {"description": table["help"]}
        if table["kinds"]:
            what = name.strip("[]")
            schema = _with_kinds(what, table) | {"description": table["help"]}
            top["$defs"] |= {
                f"{what}.{kind['name']}": _table([*table["keys"], *kind["keys"]]) for kind in table["kinds"]
            }
        holder, last = top, name.strip("[]")
        while "." in last:
            first, _, last = last.partition(".")
            holder = holder["properties"][first]
        is_list = name.startswith("[")
        holder["properties"][last] = {"type": "array", "items": schema} if is_list else schema
        if is_list and table["required"]:
            holder["properties"][last]["minItems"] = 1
        if table["required"]:
            holder["required"] = [*holder["required"], last]
    # Subscribers have traffic of their own, and `evening = true` stands for the usual evening.
    top["required"] = [key for key in top["required"] if key != "traffic"]
    top["anyOf"] = [{"required": [key]} for key in ("traffic", "subscriber", "isp")]
    top["properties"]["evening"] = {"anyOf": [top["properties"]["evening"], {"const": True}]}
    return top


def _table(keys: Iterable[Key]) -> Schema:
    """Return the schema of a table that accepts only ``keys``."""
    keys = list(keys)
    return {
        "type": "object",
        "properties": {key["name"]: _key(key) for key in keys},
        "required": [key["name"] for key in keys if key["required"]],
        "additionalProperties": False,
    }


def _key(key: Key) -> Schema:
    """Return the schema of a key's value, with the description that an editor shows."""
    default, accepted = reference.default_of(key), reference.accepted_of(key)
    words = [f"{key['help']}.", f"Default: {default}." if default not in ("–", "required") else ""]
    words += [f"Accepted: {accepted}." if key["range"] else "", f"Source: {key['source']}." if key["source"] else ""]
    schema: Schema = key["schema"] | {"description": " ".join(word for word in words if word)}
    if (example := _value(key["example"])) is not None:
        schema |= {"examples": [example]}
    if (value := _value(key["default"])) is not None:
        schema |= {"default": value}
    return schema


def _value(text: str) -> Any:
    """Return the TOML value of ``text``, or None if it is words."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except ValueError:
        return None


def _with_kinds(what: str, table: Mapping[str, Any]) -> Schema:
    """Return the schema of a ``table`` whose kind decides which keys it has.

    It also lists all keys of all kinds in one place, since editors complete from that list.
    """
    kinds = table["kinds"]
    every = {key["name"]: {"description": key["help"]} for kind in kinds for key in kind["keys"]}
    by_kind = [
        {
            "if": {"properties": {"kind": {"const": kind["name"]}}, "required": ["kind"]},
            "then": {"$ref": f"#/$defs/{what}.{kind['name']}"},
        }
        for kind in kinds
    ]
    listed = _table(table["keys"])
    return {
        "type": "object",
        "properties": every | listed["properties"],
        "required": listed["required"],
        "allOf": by_kind,
    }
