"""The store of runs: a folder with one JSON file per run. The same command goes on where an earlier one was ended."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from goodqueue.errors import UserError
from goodqueue.files import inputs, output
from goodqueue.record import Record

RUNS = "runs"
"""The folder of the runs, within that of ``--store``."""

MOST_BYTES = inputs.MIB

Numbers = Mapping[str, Mapping[str, float | None]]
"""What the programs said, by program and by key of a claim."""

PARTS = ("queues", "flows", "live")
"""The parts of a link's record that are kept. The scenario is kept as far as it has the base RTT."""


@dataclass(frozen=True, slots=True)
class Result:
    """What one run measured."""

    path: str
    line: str
    session: str
    repeat: int
    identity: str
    """A hash of what was run: the path, the programs with their versions, goodqueue."""
    late_ms: float | None
    """How late packets left the link, p99. None: the link did not run."""
    is_busy: bool
    """Whether the machine was too busy at each try: packets left later than the plan accepts."""
    tries: int
    seconds: float
    """How long the link ran."""
    told: Numbers = field(default_factory=dict)
    record: Mapping[str, Any] = field(default_factory=dict)
    """The parts of the link's record that say the truth."""
    failed: Mapping[str, str] = field(default_factory=dict)
    """By program, why there are no numbers."""

    @property
    def is_measured(self) -> bool:
        """Whether the link ran as planned, whatever became of the programs."""
        return self.late_ms is not None and not self.is_busy

    @property
    def is_whole(self) -> bool:
        """Whether nothing is gained by running it again."""
        return self.is_measured and not self.failed


def parts(record: Record) -> dict[str, Any]:
    """Return the parts of ``record`` that are kept."""
    path = {"rtt": record["scenario"]["path"]["rtt"]}
    return {"scenario": {"path": path}, **{key: value for key, value in record.items() if key in PARTS}}


class Kept:
    """The folder."""

    def __init__(self, store: str) -> None:
        """Take the folder ``store``. Raises UserError if it is of somebody else.

        One that a calibration of an earlier version made has its tables and numbers beside the runs. It is taken, too.
        """
        self._folder = output.check_place(store, f"--store {store}")
        held = sorted(entry.name for entry in self._folder.iterdir()) if self._folder.is_dir() else []
        ours = {RUNS, *output.listed(self._folder)}
        if held and (RUNS not in held or (others := [name for name in held if name not in ours])):
            names = held if RUNS not in held else others
            raise UserError(f"--store {store}", f"holds {names[0]}; accepted: a new folder, or one of a calibration")
        try:
            (self._folder / RUNS).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"--store {store}", f"cannot be written: {error.strerror or error}") from None

    def get(self, name: str, identity: str) -> Result | None:
        """Return the result called ``name`` if it was kept, can be read, and has that ``identity``."""
        file = self._file(name)
        if not file.exists():
            return None
        try:
            data: Any = inputs.from_json(inputs.read_text(file, MOST_BYTES, "a run of a calibration"))
            result = Result(**data)
        except (UserError, ValueError, TypeError):
            return None
        return result if result.identity == identity else None

    def put(self, name: str, result: Result) -> None:
        """Keep ``result`` under ``name``. Raises UserError."""
        text = json.dumps(asdict(result), ensure_ascii=False, indent=1) + "\n"
        output.write_file(self._file(name), True, text.encode())

    def _file(self, name: str) -> Path:
        return self._folder / RUNS / f"{name}.json"
