"""Runs stored runs again, with the time series that Flent's files are made of.

A run of the simulator repeats to the byte, and time series only observe it. So everything else in the new record must
be as in the stored one; otherwise another version of the simulator made that, and the run is refused.
"""

import copy
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from goodqueue import engines
from goodqueue.errors import UserError
from goodqueue.record import Record
from goodqueue.record.reading import source_of
from goodqueue.running import Progress
from goodqueue.store.results import Loose

INTERVAL = "200ms"
"""The interval of the series, which is Flent's."""

SAME = ("queues", "flows", "apps", "fairness")
"""The parts of a record that must not change."""


def lacking(loose: Sequence[Loose]) -> list[int]:
    """Return which of ``loose`` have no time series, and can be run again: those of the simulator."""
    return [
        at
        for at, run in enumerate(loose)
        if not has_series(run.record) and run.record["engine"] == "sim" and not source_of(run.record)
    ]


def has_series(record: Record) -> bool:
    """Return whether ``record`` has time series."""
    series = record.get("series")
    return series is not None and series["interval_s"] is not None


def with_series(loose: Sequence[Loose], progress: Progress) -> list[Loose]:
    """Return ``loose`` with the records that lack time series run again. Raises UserError if a number differs."""
    completed = list(loose)
    which = lacking(loose)
    scenarios: list[dict[str, Any]] = []
    for at in which:
        scenario: Any = copy.deepcopy(loose[at].record["scenario"])
        scenario["seed"] = loose[at].record["seed"]
        scenario["series"] = {**(scenario.get("series") or {}), "interval": INTERVAL, "tcp": True}
        scenarios.append(scenario)
    for at, text in zip(which, engines.run_many("sim", scenarios, None, progress), strict=True):
        before: Any = loose[at].record
        after = json.loads(text)
        if any(before.get(part) != after.get(part) for part in SAME):
            other = f"of goodqueue {before['version']}, which measured other numbers than {after['version']} does"
            raise UserError(loose[at].place, f"holds no time series, and is {other}; accepted: runs of this version")
        completed[at] = replace(loose[at], text=text, record=after)
    return completed
