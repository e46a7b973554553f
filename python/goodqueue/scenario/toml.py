"""Writes scenarios as TOML text."""

import json
from collections.abc import Mapping
from typing import Any

from goodqueue.record import Scenario


def to_toml(scenario: Scenario) -> str:
    """Return ``scenario`` as TOML text that parses to the same scenario. Keys without a value (None) are left out."""
    return "\n".join(_toml_lines(scenario, "")) + "\n"


def _toml_lines(table: Mapping[str, Any], path: str) -> list[str]:
    """Return a table's own keys, then its inner tables, each under its heading."""
    plain, tables = [], []
    for key, value in table.items():
        name = key if key.replace("_", "").replace("-", "").isalnum() and key.isascii() else _toml_text(key)
        inner = f"{path}.{name}" if path else name
        if isinstance(value, dict):
            tables += ["", f"[{inner}]", *_toml_lines(value, inner)]
        elif isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            for item in value:
                tables += ["", f"[[{inner}]]", *_toml_lines(item, inner)]
        elif value is not None:
            plain.append(f"{name} = {_toml_value(value)}")
    return plain + tables


def _toml_value(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_toml_value(item) for item in value)}]"
    if isinstance(value, dict):
        inner = (f"{_toml_text(key)} = {_toml_value(item)}" for key, item in value.items() if item is not None)
        return f"{{{', '.join(inner)}}}"
    return _toml_text(value) if isinstance(value, str) else json.dumps(value)


def _toml_text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
