"""Runs scenarios in groups, for a search. Stored runs are not repeated, and equal runs are made once."""

import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from goodqueue import executors
from goodqueue.engines import identity, loads
from goodqueue.engines.identity import Run
from goodqueue.errors import UserError
from goodqueue.record import Record, Scenario
from goodqueue.running import Progress
from goodqueue.show import terminal
from goodqueue.store import Store, completing


@dataclass(slots=True)
class Runner:
    """Runs scenarios, and counts the runs."""

    execute: executors.Executor
    store: Store | None = None
    engine: str = "sim"
    runs: int = 0
    """The runs so far, those that were stored before included."""

    def __call__(self, scenarios: Sequence[Mapping[str, Scenario] | None]) -> list[dict[str, Record] | None]:
        """Return the records of each group of scenarios by name. A group of which one is refused or fails has None."""
        groups: list[dict[str, Run] | None] = []
        for group in scenarios:
            try:
                groups.append(
                    None if group is None else {name: self._run(scenario) for name, scenario in group.items()}
                )
            except UserError:
                groups.append(None)
        runs = {run.key: run for group in groups if group for run in group.values()}
        records: dict[str, Record] = {}

        def seen(run: Run, text: str) -> None:
            records[run.key] = json.loads(text)

        completing.complete(self.store, list(runs.values()), self.execute, seen, _silent, lambda _run, _error: None)
        self.runs += len(runs)
        return [
            {name: records[run.key] for name, run in group.items()}
            if group is not None and all(run.key in records for run in group.values())
            else None
            for group in groups
        ]

    def _run(self, scenario: Scenario) -> Run:
        return identity.of(self.engine, loads.resolve(scenario))


def _silent(_count: int) -> AbstractContextManager[Progress]:
    """Show nothing, since a search shows its own progress."""
    return terminal.silent("")
