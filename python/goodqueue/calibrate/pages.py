"""Writes a calibration into its folder: all numbers as JSON, and the tables as Markdown."""

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from goodqueue._goodqueue import VERSION
from goodqueue.calibrate import judging, show
from goodqueue.calibrate.cells import Plan
from goodqueue.calibrate.keeping import Result
from goodqueue.calibrate.programs.program import Program
from goodqueue.files import output
from goodqueue.show import markdown

TABLE = "table.md"


@dataclass(frozen=True)
class Calibration:
    """All that was measured, and where."""

    results: Sequence[Result]
    programs: Sequence[Program]
    versions: Mapping[str, str]
    """By program."""
    machine: Mapping[str, str]

    @cached_property
    def figures(self) -> list[judging.Figure]:
        """What the programs' numbers are worth."""
        return judging.figures(self.results, self.programs)

    @cached_property
    def agreements(self) -> list[judging.Agreement]:
        """How far repeats are apart."""
        return judging.agreements(self.results, self.programs)


def machine(plan: Plan) -> dict[str, str]:
    """Return what the numbers depend on beside the programs: the kernel, its processors, the congestion control."""
    return {
        "kernel": f"{platform.system()} {platform.release()}",
        "processors": str(os.cpu_count()),
        "congestion_control": plan.congestion_control,
    }


def as_json(calibration: Calibration) -> dict[str, Any]:
    """Return the calibration as plain values."""
    return {
        "made_by": "goodqueue calibrate",
        "version": VERSION,
        "date": datetime.now(UTC).date().isoformat(),
        "machine": dict(calibration.machine),
        "programs": dict(calibration.versions),
        "figures": [asdict(figure) for figure in calibration.figures],
        "agreements": [asdict(agreement) | {"apart": agreement.apart} for agreement in calibration.agreements],
        "runs": [_run(result, calibration.programs) for result in calibration.results],
    }


def _run(result: Result, programs: Sequence[Program]) -> dict[str, Any]:
    """Return a run with the truth of each number, and without the link's record, which the folder keeps."""
    truth = {
        program.name: {claim.key: judging.truth(result, claim) for claim in program.claims}
        for program in programs
        if program.name in result.told
    }
    plain = {key: value for key, value in asdict(result).items() if key not in ("record", "identity")}
    return plain | {"truth": truth}


def as_markdown(calibration: Calibration) -> str:
    """Return the tables and the sentences, for a page."""
    parts = [
        f"## {table.title}\n\n{markdown.table(table)}"
        for table in show.tables(calibration.figures, calibration.programs)
    ]
    parts += list(show.sentences(calibration.results, calibration.agreements))
    versions = "; ".join(f"{name}: {version}" for name, version in calibration.versions.items())
    machine = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in calibration.machine.items())
    parts.append(f"The machine: {machine}. The programs: {versions}.")
    return "\n\n".join(parts) + "\n"


def fill(folder: Path, calibration: Calibration, command: str) -> None:
    """Write the results into ``folder``. Raises OSError."""
    (folder / TABLE).write_text(as_markdown(calibration), encoding="utf-8")
    output.write_results(folder, as_json(calibration), command)
