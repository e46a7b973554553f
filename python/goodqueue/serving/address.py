"""The address that opens an experiment in the page: a scenario, and the lines under which it runs, side by side.

`web/src/address.ts` reads it, and writes the same. Each ``qdisc`` is a line, and each ``label`` the name of a line, in
the same order; the other words are the scenario's keys, as ``--set`` names them.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import urlencode

PORT = 8289
"""The usual port of ``goodqueue serve``: the number of CoDel's RFC."""

PAGE = f"http://localhost:{PORT}/"

LINE = "qdisc"
LABEL = "label"


def address(scenario: dict[str, Any], lines: Sequence[str], labels: Sequence[str] = ()) -> str:
    """Return the address of ``scenario`` under ``lines``, on this machine. The scenario needs no line of its own.

    ``labels`` are what the page calls the lines.
    """
    words = [(LINE, line) for line in lines] + [(LABEL, label) for label in labels]
    words += [(key, _leaf_text(leaf)) for key, leaf in _leaves(scenario)]
    return f"{PAGE}#{urlencode(words)}"


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the dotted keys with their values. A list of numbers or words is one value."""
    is_tables = isinstance(value, list) and all(isinstance(item, dict) for item in value)
    inner = list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if is_tables else []
    if not inner:
        yield path, value
    for name, item in inner:
        yield from _leaves(item, f"{path}.{name}" if path else str(name))


def _leaf_text(leaf: Any) -> str:
    """Return text as it is, unless the page would read it as another value."""
    if isinstance(leaf, str):
        try:
            json.loads(leaf)
        except ValueError:
            return leaf
    return json.dumps(leaf, ensure_ascii=False, separators=(",", ":"))
