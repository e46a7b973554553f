"""Response times of web users, from the sample of single responses in a run's series."""

from collections.abc import Mapping
from statistics import median

from goodqueue.record import Record

NEAR = 0.25
"""The largest relative difference between a response's size and the size asked for."""


def response_near_ms(record: Record, options: Mapping[str, str | float]) -> float | None:
    """Return the median time of the sampled responses whose size is near ``bytes``. None if there are none."""
    wanted = float(options["bytes"])
    near = [
        time
        for flow in record.get("series", {}).get("web_users", [])
        for size, time in zip(flow["bytes"], flow["response_ms"], strict=True)
        if abs(size / wanted - 1) <= NEAR
    ]
    return median(near) if near else None
