"""The layout of what goodqueue reads of its own files besides records: ``layouts.toml``."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from goodqueue.record import layout

FILE = Path(__file__).parent / "layouts.toml"

RESULTS = {
    "goodqueue sweep": "Sweep",
    "goodqueue study": "Study",
    "goodqueue claims": "Claims",
    "goodqueue validate": "Validation",
}
"""The part that a file of results is, by its ``made_by``."""


@cache
def parts() -> dict[str, layout.Part]:
    """Return the parts of records, and of what else goodqueue reads, by name."""
    own_parts = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return layout.parts() | {name: _part(name, keys) for name, keys in own_parts.items()}


def _part(name: str, keys: Mapping[str, layout.Type]) -> layout.Part:
    fields = [layout.Field(key.rstrip("?"), type_, not key.endswith("?")) for key, type_ in keys.items()]
    return layout.Part(name, "", tuple(fields), {}, {field.key: field for field in fields})
