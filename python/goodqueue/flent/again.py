"""Runs stored runs again, with the time series that Flent's files are made of.

A run of the simulator repeats to the byte, and time series only observe it. So everything else in the new record must
be as in the stored one; otherwise another version of the simulator made that, and the run is refused.

A record is read as data, whoever wrote it. So a run is refused if its scenario names Python code, and no code that it
might name otherwise is executed.
"""

import copy
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from goodqueue import engines, foreign
from goodqueue.errors import UserError, quoted
from goodqueue.record import Record
from goodqueue.record.reading import source_of
from goodqueue.running import Progress
from goodqueue.scenario import discipline
from goodqueue.store.results import Loose

INTERVAL = "200ms"
"""The interval of the series, which is Flent's."""

SET = f"--set series.interval={INTERVAL} --set series.tcp=true"
"""The options of a run that has the series."""

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
        if code := discipline.code_in(loose[at].record["scenario"]):
            problem = f"holds no time series, and names Python code ({quoted(code)}), which a result may not run"
            raise UserError(loose[at].place, f"{problem}; accepted: a run with {SET}")
        scenario: Any = copy.deepcopy(loose[at].record["scenario"])
        scenario["seed"] = loose[at].record["seed"]
        scenario["series"] = {**(scenario.get("series") or {}), "interval": INTERVAL, "tcp": True}
        scenarios.append(scenario)
    with foreign.refused():
        texts = engines.run_many("sim", scenarios, None, progress)
    for at, text in zip(which, texts, strict=True):
        before: Any = loose[at].record
        after = json.loads(text)
        if any(before.get(part) != after.get(part) for part in SAME):
            problem = (
                f"holds no time series, and its scenario alone gives other numbers in goodqueue {after['version']}"
            )
            raise UserError(loose[at].place, f"{problem}; accepted: a run with {SET}")
        completed[at] = replace(loose[at], text=text, record=after)
    return completed
