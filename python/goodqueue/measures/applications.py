"""The number that a metric makes of all applications of a kind in a record."""

from collections.abc import Callable, Sequence
from typing import Any

from goodqueue import traffic
from goodqueue.record import App, Record
from goodqueue.scenario import seconds


def number(kind: str, measure: traffic.Measure) -> Callable[[Record], float | None]:
    """Return the function that picks the number that ``measure`` makes of all applications of ``kind``."""
    path = measure.path.split(".")

    def pick(record: Record) -> float | None:
        numbers = [_at(app, path) for app in record["apps"] if app["kind"] == kind]
        present = [value for value in numbers if value is not None]
        if not present or measure.sum == "total":
            return float(sum(present)) if present else None
        return _share(record, kind, sum(present)) if measure.sum == "share_of_time" else sum(present) / len(present)

    return pick


def _share(record: Record, kind: str, spent_ms: float) -> float | None:
    """Return ``spent_ms`` of all applications of ``kind`` in percent of the time in which there was one.

    That is what they played, too. (The first records of streams do not have it: there it is the measured time.)
    """
    apps = [app for app in record["apps"] if app["kind"] == kind]
    played = [_at(app, ["played_ms"]) for app in apps]
    known = [one for one in played if one is not None]
    whole_ms = spent_ms + sum(known) if len(known) == len(apps) else 1000 * _measured_s(record) * len(apps)
    return 100 * spent_ms / whole_ms if whole_ms else None


def _at(app: App, path: Sequence[str]) -> float | None:
    here: Any = app
    for part in path:
        here = (here or {}).get(part)
    return None if here is None else float(here)


def _measured_s(record: Record) -> float:
    scenario = record["scenario"]
    return seconds(scenario["duration"]) - seconds(scenario["warmup"])
