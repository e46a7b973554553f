"""Reads what several kinds of record have at different keys: the source of an import, the times of an application."""

from collections.abc import Mapping
from typing import Any

from goodqueue import traffic
from goodqueue.record import App, Delay, Record, SourceFile, layout

UNKNOWN = "unknown"
"""The value of keys in a scenario if an imported measurement does not describe its link."""


def source_of(record: Record) -> SourceFile | None:
    """Return the source of a record that was imported, or None for a run of ours."""
    by_key: Mapping[str, Any] = record
    return next((by_key[name] for name in layout.sources() if name in by_key), None)


def statistic(times: Delay | None, name: str) -> float | None:
    """Return one number of a distribution by its ``name``, such as ``p95``. None if there was nothing to measure."""
    times_by_name: Mapping[str, object] = times or {}
    value = times_by_name.get(name)
    return value if isinstance(value, int | float) else None


def times_of(app: App) -> Mapping[str, float | None]:
    """Return the distribution of the times by which an application is judged. Empty if it measured none."""
    columns: Mapping[str, Mapping[str, float | None] | None] = app  # type: ignore[assignment]
    return columns.get(traffic.kinds()[app["kind"]].times) or {}
