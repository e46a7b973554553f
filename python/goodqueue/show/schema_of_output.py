"""The JSON Schemas of what goodqueue prints: of a record from the core's layout of it, and of a result.

A program that reads them may meet more keys than a schema has: a later version may add some (docs/reference/record.md).
"""

from typing import Any, get_type_hints

from goodqueue.measures.metrics import METRICS
from goodqueue.measures.stats import EstimateJson
from goodqueue.record import layout

Schema = dict[str, Any]

DRAFT = "https://json-schema.org/draft/2020-12/schema"

PLAIN: dict[str, Schema] = {
    "count": {"type": "integer"},
    "number": {"type": "number"},
    "text": {"type": "string"},
    "flag": {"type": "boolean"},
    "anything": {},
    "scenario": {"type": "object"},
}
"""The schemas of the layout's plain types."""

METRICS_OF = {"goodqueue compare": "qdiscs", "goodqueue sweep": "cells"}
"""By what made a result, its list whose items have ``metrics``."""


def record() -> Schema:
    """Return the schema of a record of any engine."""
    parts = layout.parts()
    defined = {name: _part(part) for name, part in parts.items() if name != "Record"}
    return {"$schema": DRAFT, "title": "goodqueue record", **_part(parts["Record"]), "$defs": defined}


def _part(part: layout.Part) -> Schema:
    """Return the schema of a table with known keys. Its kind may decide which other keys it has."""
    schema = {"type": "object", **({"description": part.help} if part.help else {}), **_fields(part.own)}
    if part.kinds:
        schema["allOf"] = [
            {
                "if": {"properties": {"kind": {"const": kind}}, "required": ["kind"]},
                "then": {"$ref": f"#/$defs/{other}"},
            }
            for kind, other in part.kinds.items()
        ]
    return schema


def _fields(fields: tuple[layout.Field, ...]) -> Schema:
    return {
        "properties": {field.key: _type(field.type) | _described(field) for field in fields},
        "required": [field.key for field in fields if field.is_required],
    }


def _described(field: layout.Field) -> Schema:
    words = " ".join(filter(None, [field.help, f"Unit: {field.unit}." if field.unit else ""]))
    return {"description": words} if words else {}


def _type(type_: layout.Type) -> Schema:
    match type_:
        case str():
            return PLAIN[type_]
        case {"part": name}:
            return {"$ref": f"#/$defs/{name}"}
        case {"nullable": inner}:
            return {"anyOf": [_type(inner), {"type": "null"}]}
        case {"list": inner}:
            return {"type": "array", "items": _type(inner)}
        case {"directions": inner}:
            return {"type": "object", "properties": {name: _type(inner) for name in ("down", "up")}}
        case {"table": inner}:
            return {"type": "object", "additionalProperties": _type(inner)}
    raise ValueError(type_)


def result() -> Schema:
    """Return the schema of what the verbs print with ``--json``, and write as results.json."""
    metrics = {metric.key: {"$ref": "#/$defs/Estimate"} | {"description": _words(metric)} for metric in METRICS}
    return {
        "$schema": DRAFT,
        "title": "goodqueue result",
        "type": "object",
        "properties": {
            "schema": {"const": 1, "description": "Version of this layout."},
            "made_by": {"type": "string", "pattern": "^goodqueue ", "description": "The command."},
            "version": {"type": "string", "description": "Version of goodqueue."},
        },
        "required": ["made_by", "version"],
        "allOf": [
            {
                "if": {"properties": {"made_by": {"const": made_by}}},
                "then": {
                    "properties": {
                        listed: {
                            "type": "array",
                            "items": {"properties": {"metrics": {"$ref": "#/$defs/Metrics"}}, "required": ["metrics"]},
                        }
                    },
                    "required": ["schema", listed],
                },
            }
            for made_by, listed in METRICS_OF.items()
        ],
        "$defs": {
            "Estimate": _typed(EstimateJson),
            "Metrics": {
                "type": "object",
                "properties": metrics,
                "additionalProperties": {"$ref": "#/$defs/Estimate"},
            },
        },
    }


def _words(metric: Any) -> str:
    unit = f", in {metric.unit}" if metric.unit else ""
    return f"{metric.label}{f' {metric.direction}' if metric.direction else ''}{unit}"


IN_JSON: dict[Any, Schema] = {
    int: {"type": "integer"},
    float | None: {"type": ["number", "null"]},
    list[float | None] | None: {"type": ["array", "null"], "items": {"type": ["number", "null"]}},
}
"""The schemas of Python's types."""


def _typed(declared: type) -> Schema:
    """Return the schema of a ``TypedDict``, all of whose keys are required."""
    hints = get_type_hints(declared)
    return {
        "type": "object",
        "description": declared.__doc__,
        "properties": {key: IN_JSON[hint] for key, hint in hints.items()},
        "required": list(hints),
    }
