"""The engine ``live``: a scenario's traffic with this host's own TCP across goodqueue's own path, in real time.

planning → Plan → the kernel engine's laboratory, with `between` in place of its routers → measure → record
"""

import hashlib
import json
import os
import threading
from pathlib import Path
from typing import Any

from goodqueue.capture import Trace
from goodqueue.engines.kernel import folders, host, making, measure, sightings
from goodqueue.engines.kernel.lab.run import OWN
from goodqueue.engines.live import planning
from goodqueue.errors import UserError
from goodqueue.record import Kernel, Queue, Record, Scenario, Series
from goodqueue.running import Progress

NAME = "live engine"
"""What refusals of the laboratory begin with."""


def run(scenario: Scenario, progress: Progress, stop: threading.Event, trace: Trace | None = None) -> str:
    """Run the resolved ``scenario`` on this host and return its record as JSON.

    Raises UserError if the hosts cannot do what the scenario asks for or if the run fails. Raises StoppedError once
    ``stop`` is set.
    """
    plan = planning.plan(scenario, trace)
    with folders.private() as folder:
        try:
            host.run(plan, folder, progress, stop, NAME)
        except UserError as error:
            why = str(error).removeprefix(f"{NAME}: ")
            if trace is not None and why.startswith(f"{trace.path}: "):
                raise trace.refusal(ValueError(why)) from None
            raise
        results = folder / "results"
        lab = measure.results(results)
        middle = OwnPath(json.loads((results / OWN).read_bytes()), lab)
        record = measure.around(middle, scenario, plan, lab, sightings.read(results, plan, lab))
    return json.dumps(record, ensure_ascii=False)


def build(simulator: str) -> str:
    """Return a hash of what computes a run (see `making.build`): the ``simulator``, the laboratory, and this kernel."""
    between = hashlib.sha256(Path(__file__).with_name("between.py").read_bytes()).hexdigest()
    made_of = [simulator, making.laboratory(), between, os.uname().release, os.uname().version]
    return hashlib.sha256(json.dumps(made_of).encode()).hexdigest()[:12]


class OwnPath:
    """goodqueue's own path between the hosts (`measure.Middle`), which measured itself."""

    engine = "live"

    def __init__(self, record: Record, lab: dict[str, Any]) -> None:
        """Take the path's own record, and the laboratory's notes."""
        self._own, self._lab = record, lab

    def queues(self) -> dict[str, Queue]:
        """Return the bottleneck's queues."""
        return self._own["queues"]

    def add_to(self, record: Record) -> None:
        """Add the kernel, the measurements of the path itself, and its hops and cells."""
        record["kernel"] = Kernel(
            release=self._lab["kernel"],
            where="host",
            clock="real",
            sysctls=self._lab["sysctls"],
            capture_lost=sum(self._lab["capture_dropped"].values()),
        )
        record["live"] = self._own["live"]
        for key in ("hops", "wifi"):
            if key in self._own:
                record[key] = self._own[key]

    def add_series(self, series: Series, ends: list[int]) -> None:
        """Add the path's time series, cut to the length of ``ends``: the path ran for a while after these."""
        own_series = self._own["series"]
        for key in ("queues", "hops", "stations"):
            if key in own_series:
                series[key] = _cut(own_series[key], len(ends))
        for key in ("packets", "air"):
            if key in own_series:
                series[key] = own_series[key]  # type: ignore[literal-required]


def _cut(series: Any, count: int) -> Any:
    """Return ``series`` with ``count`` values in each of its lists."""
    if isinstance(series, dict):
        return {key: _cut(value, count) for key, value in series.items()}
    if isinstance(series, list) and series and isinstance(series[0], dict):
        return [_cut(part, count) for part in series]
    return series[:count] if isinstance(series, list) else series
