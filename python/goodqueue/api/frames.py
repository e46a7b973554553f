"""Builds pandas DataFrames. Pandas is optional: arrays, tables as text and figures work without it."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from goodqueue import extras

if TYPE_CHECKING:
    import pandas as pd


def frame(rows: Sequence[Mapping[str, Any]] | Mapping[str, Any], index: str | None = None) -> "pd.DataFrame":
    """Return ``rows`` (or columns) as a DataFrame; a missing value is NaN. Raises UserError if pandas is missing."""
    extras.needed("pandas", "DataFrames")
    import pandas as pd

    made = pd.DataFrame(rows)
    return made if index is None else made.set_index(index)


def flat(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``table`` without nesting: ``p95`` of ``rtt_ms`` becomes ``rtt_p95_ms``. Lists are left out."""
    found: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, Mapping):
            stem, _, unit = key.rpartition("_")
            found |= {f"{stem}_{name}_{unit}": inner for name, inner in value.items()}
        elif not isinstance(value, list):
            found[key] = value
    return found
