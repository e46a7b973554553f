"""What a cell of Wi-Fi says of one of its stations."""

from collections.abc import Mapping
from typing import Any

from goodqueue.record import Record


def of_station(record: Record, options: Mapping[str, str | float]) -> float | None:
    """Return ``number`` of the station called ``station``: of both ways together, or one that names its direction.

    Such as ``airtime_percent``, or ``down.aggregate_frames``.
    """
    cell: Any = record.get("wifi")
    here: Any = next((one for one in cell["stations"] if one["name"] == options["station"]), None) if cell else None
    for part in str(options["number"]).split("."):
        here = here.get(part) if here else None
    return None if here is None else float(here)
