"""The job of Linux as a process: what the host's command hands over, and what it gets back, as files of its folder."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

JOB, ANSWER, CLOCK, NOTES, CAPTURE = "job.json", "answer.json", "clock", "notes", "capture.pcapng"
RESULTS, PROGRAMS = "results", "programs"
STDIN, STDOUT, STDERR = "stdin", "stdout", "stderr"
"""The files in the folder. ``clock`` has the virtual time, for whoever looks whether it moves. ``results`` is a folder:
what Linux's own path leaves. ``programs`` is one with its ``tc`` and ``tcpdump``."""


UPTIME_S = 60
"""How long Linux has been up when CMD starts. ping takes a clock within its first second for one that it never read."""


@dataclass(frozen=True, slots=True)
class Job:
    """What is to run, and as whom."""

    scenario: dict[str, Any]
    """The resolved scenario."""
    server: list[str] | None
    client: list[str]
    trace: dict[str, Any] | None
    """The capture (`Trace`), without the file."""
    seed: int
    cwd: str
    """The working directory, the only folder of the machine that CMD may change."""
    environment: dict[str, str]
    user: int
    group: int
    groups: list[int]
    host_name: str
    ignored: list[int]
    """The signals that CMD ignores from the start."""
    joins_output: bool
    """Whether standard output and standard error are one file."""
    hosts: list[list[str]]
    """Further hosts: a name, and the end of the path."""
    plan: str | None
    """The plan of Linux's own path, as JSON. None: the path is goodqueue's."""

    def write(self, folder: Path) -> None:
        """Write the job into ``folder``."""
        (folder / JOB).write_text(json.dumps(asdict(self)), encoding="utf-8", errors="surrogateescape")

    @classmethod
    def read(cls, folder: Path) -> "Job":
        """Return the job in ``folder``."""
        return cls(**json.loads((folder / JOB).read_text(encoding="utf-8")))
