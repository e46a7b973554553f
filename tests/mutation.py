"""Random mutations of JSON: one value anywhere is changed or removed."""

import copy
import random
from typing import Any

ODD: tuple[Any, ...] = (
    None, True, 0, -1, 1.5, 1 << 64, 10**400, 1e308, float("nan"), float("inf"), "", "x", "\x1b[2J", "9" * 5000,
    [], [[]], [None], ["x"], [1e308], {}, {"x": {}},
)  # fmt: skip


def mutated(data: Any, draw: random.Random) -> tuple[Any, str]:
    """Return a copy of ``data`` with one change, and a description of the change."""
    data = copy.deepcopy(data)
    here, path = data, []
    while True:
        keys = list(here) if isinstance(here, dict) else range(len(here))
        key = draw.choice(list(keys))
        path.append(str(key))
        inner = here[key]
        if isinstance(inner, dict | list) and inner and draw.random() < 0.85:
            here = inner
            continue
        if draw.random() < 0.15:
            del here[key]
            return data, f"{'.'.join(path)} gone"
        here[key] = draw.choice(ODD)
        return data, f"{'.'.join(path)} = {here[key]!r:.50}"
