"""Response times of web users, from the sample of single responses in a run's series."""

from collections.abc import Iterator, Mapping
from statistics import median

from goodqueue.record import Record

NEAR = 0.25
"""The largest relative difference between a response's size and the size asked for."""


def response_near_ms(record: Record, options: Mapping[str, str | float]) -> float | None:
    """Return the median time of the sampled responses whose size is near ``bytes``. None if there are none."""
    near = _near([(size, time) for size, time, _ in _responses(record)], float(options["bytes"]))
    return median(near) if near else None


def late_s(record: Record, _: Mapping[str, str | float]) -> float | None:
    """Return how much longer a sampled response with a timeout takes than those of its size without one: the median.

    None if there is no such pair.
    """
    in_time = [(size, time) for size, time, timeout in _responses(record) if timeout is False]
    late = [
        time - median(near) for size, time, timeout in _responses(record) if timeout and (near := _near(in_time, size))
    ]
    return median(late) / 1e3 if late else None


def _responses(record: Record) -> Iterator[tuple[int, float, bool | None]]:
    """Yield the bytes and the milliseconds of each sampled response, and whether it had a timeout."""
    for flow in record.get("series", {}).get("web_users", []):
        yield from zip(flow["bytes"], flow["response_ms"], flow["timeout"], strict=True)


def _near(responses: list[tuple[int, float]], size_wanted: float) -> list[float]:
    """Return the times of the responses whose size is near ``size_wanted``."""
    return [time for size, time in responses if abs(size / size_wanted - 1) <= NEAR]
