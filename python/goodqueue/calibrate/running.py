"""Runs the programs over links, several links at once. Each run is kept as soon as it has ended."""

import hashlib
import json
import os
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from goodqueue._goodqueue import VERSION, rounded
from goodqueue.calibrate import keeping, within
from goodqueue.calibrate.cells import Cell, Plan
from goodqueue.calibrate.keeping import Kept, Result
from goodqueue.calibrate.programs.program import Program
from goodqueue.calibrate.within import Order
from goodqueue.errors import UserError, bounded
from goodqueue.files import inputs, temporary
from goodqueue.record import Record
from goodqueue.running import Progress

PATIENCE_S = 180.0
"""How long a link may run until it is killed, and its run failed."""

RECORD = "record.json"

_LOOK_S = 0.05
_PACKAGES = str(Path(__file__).resolve().parents[2])


@dataclass(frozen=True, slots=True)
class Run:
    """One session over one cell: a program that loads the link, and those that measure beside it."""

    cell: Cell
    programs: Sequence[Program]
    """The first one is the session's name."""
    repeat: int
    identity: str

    @property
    def name(self) -> str:
        """The name under which it is kept."""
        return f"{self.cell.path}_{self.cell.line}_{self.programs[0].name}_{self.repeat}"


def runs(
    plan: Plan, cells: Sequence[Cell], programs: Sequence[Program], versions: Mapping[str, str], repeats: int
) -> list[Run]:
    """Return the runs, each repeat after the one before. A program ``beside`` another one runs in that one's session.

    The other one must be among the ``programs``.
    """
    planned_runs = []
    for repeat in range(1, repeats + 1):
        for cell in cells:
            for main in programs:
                if main.beside or (main.name in plan.few and cell.path not in plan.few_paths):
                    continue
                session = [main, *(program for program in programs if program.beside == main.name)]
                planned_runs.append(Run(cell, session, repeat, _identity(plan, cell, session, versions)))
    return planned_runs


def _identity(plan: Plan, cell: Cell, session: Sequence[Program], versions: Mapping[str, str]) -> str:
    nowhere = Path("run")
    of_programs = [
        [program.client(plan.seconds, nowhere), program.server and program.server(nowhere), versions[program.name]]
        for program in session
    ]
    made_of = [VERSION, cell.options, plan.congestion_control, of_programs]
    return hashlib.sha256(json.dumps(made_of).encode()).hexdigest()[:16]


def carry_out(plan: Plan, runs: Sequence[Run], store: Kept, workers: int, progress: Progress) -> list[Result]:
    """Do the runs that ``store`` lacks, ``workers`` at once, and return the results of all. Raises UserError.

    A run whose packets left late is repeated, up to ``plan.tries`` times. A program that failed is not: it would fail
    again, and the next command tries it.
    """
    results = {run.name: store.get(run.name, run.identity) for run in runs}
    waiting = deque(run for run in runs if (stored_result := results[run.name]) is None or not stored_result.is_whole)
    active: list[_Link] = []
    done = len(runs) - len(waiting)
    tried: dict[str, list[Result]] = {}
    try:
        while waiting or active:
            while waiting and len(active) < workers:
                active.append(_Link(plan, waiting.popleft()))
            time.sleep(_LOOK_S)
            for link in [link for link in active if link.has_ended()]:
                active.remove(link)
                name = link.run.name
                tries = tried.setdefault(name, [])
                tries.append(link.result(len(tries) + 1))
                best = min(tries, key=_quality)
                store.put(name, best)
                results[name] = best
                if best.is_measured or len(tries) >= plan.tries:
                    done += 1
                    progress(done / len(runs))
                else:
                    waiting.append(link.run)
    finally:
        for link in active:
            link.kill()
    return [result for run in runs if (result := results[run.name]) is not None]


def _quality(result: Result) -> tuple[int, float]:
    """Return what the better of two tries has less of: failed programs, then lateness."""
    return len(result.failed), float("inf") if result.late_ms is None else result.late_ms


class _Link:
    """A running link."""

    def __init__(self, plan: Plan, run: Run) -> None:
        self.run, self._plan = run, plan
        self._open = ExitStack()
        self._folder = self._open.enter_context(temporary.folder())
        servers = [
            Order(program.name, program.server(self._folder), str(program.server_output(self._folder)),
                  program.port.protocol, program.port.number, program.is_once)
            for program in run.programs
            if program.server is not None and program.port is not None
        ]  # fmt: skip
        for program in run.programs:
            if program.prepare is not None:
                program.prepare(self._folder)
        clients = [
            Order(program.name, program.client(plan.seconds, self._folder), str(program.output(self._folder)))
            for program in run.programs
        ]
        within.give(self._folder, plan.congestion_control, servers, clients)
        ends = [within.command(end, self._folder) for end in ("server", "client")]
        words = [*run.cell.options, "--quiet", "--record", str(self._folder / RECORD), "--", *ends[0], "--", *ends[1]]
        starter = [sys.executable, "-P", "-m", "goodqueue.calibrate.starting", str(os.getpid())]
        errors = self._open.enter_context((self._folder / "link.err").open("wb"))
        modules = os.pathsep.join(filter(None, [_PACKAGES, os.environ.get("PYTHONPATH")]))
        self._began = time.monotonic()
        self._process = subprocess.Popen(
            [*starter, *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            cwd=self._folder,
            env=os.environ | {"PYTHONPATH": modules},
        )

    def has_ended(self) -> bool:
        """Return whether the link has ended. It is killed if it takes too long."""
        if time.monotonic() - self._began > PATIENCE_S:
            self._process.kill()
            self._process.wait()
        return self._process.poll() is not None

    def kill(self) -> None:
        """End the link, and all its programs with it."""
        self._process.kill()
        self._process.wait()
        self._open.close()

    def result(self, tries: int) -> Result:
        """Return what the run measured. The link must have ended."""
        with self._open:
            return self._result(tries)

    def _result(self, tries: int) -> Result:
        run, file = self.run, self._folder / RECORD
        record: Record | None = json.loads(file.read_text(encoding="utf-8")) if file.exists() else None
        reported: dict[str, Any] = {}
        failed: dict[str, str] = {}
        for program in run.programs:
            if record is None:
                failed[program.name] = f"the link did not run: {self._last_words('link.err')}"
                continue
            try:
                reported[program.name] = _rounded(self._read(program))
            except UserError as error:
                failed[program.name] = bounded(str(error), 200)
        late = record["live"]["late_us"] if record is not None else None
        late_ms = rounded(late["p99"] / 1e3) if late else None
        return Result(
            path=run.cell.path,
            line=run.cell.line,
            session=run.programs[0].name,
            repeat=run.repeat,
            identity=run.identity,
            late_ms=late_ms,
            is_busy=late_ms is not None and late_ms > self._plan.late_ms,
            tries=tries,
            seconds=rounded(record["live"]["elapsed_s"]) if record is not None else 0.0,
            told=reported,
            record=keeping.parts(record) if record is not None else {},
            failed=failed,
        )

    def _read(self, program: Program) -> Mapping[str, float | None]:
        statuses = self._folder / within.STATUSES
        status = json.loads(statuses.read_text(encoding="utf-8")).get(program.name) if statuses.exists() else None
        if status != 0:
            words = self._last_words(f"{program.name}.out.err") or self._last_words(f"{program.name}.out")
            raise UserError(program.name, f"ended with status {status}: {words or 'without a word'}")
        return program.read(self._folder)

    def _last_words(self, name: str) -> str:
        file = self._folder / name
        if not file.exists():
            return ""
        lines = inputs.read(file, 16 * inputs.MIB, "output").decode(errors="replace").split("\n")
        return next((bounded(line.strip(), 160) for line in reversed(lines) if line.strip()), "")


def _rounded(numbers: Mapping[str, float | None]) -> dict[str, float | None]:
    return {key: None if value is None else rounded(value) for key, value in numbers.items()}


Note = Callable[[str], None]
"""Called with a line that a person should know."""


def installed(programs: Sequence[Program], note: Note) -> list[Program]:
    """Return the programs that are installed, and note those that are not: each in a line, with how to get it."""
    present: list[Program] = []
    for program in programs:
        if lacking := program.lacking():
            note(f"{program.name}: left out, as {' and '.join(lacking)} cannot be found; accepted: {program.package}")
        elif program.beside and program.beside not in {other.name for other in present}:
            note(f"{program.name}: left out, as it measures beside {program.beside}, which is left out")
        else:
            present.append(program)
    return present
