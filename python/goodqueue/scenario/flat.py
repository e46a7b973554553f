"""A scenario as a flat table: each dotted key with its value as text."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from goodqueue.record import Scenario


def flat(scenario: Scenario) -> dict[str, str]:
    """Return the value of each dotted key of a scenario, as text: ``traffic.0.cc`` is ``cubic``."""
    return dict(_below(scenario, ""))


def _below(value: Any, path: str) -> Iterator[tuple[str, str]]:
    items: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    else:
        yield path, value if isinstance(value, str) else json.dumps(value)
    for key, inner in items:
        yield from _below(inner, f"{path}.{key}" if path else str(key))
