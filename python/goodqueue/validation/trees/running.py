"""Carries out a number of trees on Linux and here. What Linux made of them can be kept."""

import gzip
import hashlib
import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from goodqueue.files import output
from goodqueue.running import Progress
from goodqueue.validation.trees import comparing, drawing, machine
from goodqueue.validation.trees.comparing import Verdict
from goodqueue.validation.trees.job import Job, for_linux

_A_BOOT = 50
"""Trees for each boot of Linux."""


@dataclass(frozen=True, slots=True)
class Compared:
    """All trees with their verdicts."""

    release: str
    version: str
    """The version of Linux and the recipe of its program."""
    seed: int
    trees: Sequence[tuple[Job, Verdict]]

    def of(self, *kinds: str) -> list[tuple[Job, Verdict]]:
        """Return the trees that ended in one of these ways."""
        return [(job, verdict) for job, verdict in self.trees if verdict.kind in kinds]


def carry_out(
    count: int, seed: int, release: str | None, store: Path | None, progress: Progress, stop: threading.Event
) -> Compared:
    """Return what ``count`` trees of ``seed`` become. Raises UserError, StoppedError."""
    named, version = machine.release_of(release), machine.version(release)
    trees: list[tuple[Job, Verdict]] = []
    for first in range(0, count, _A_BOOT):
        numbers = range(first, min(count, first + _A_BOOT))
        jobs = [drawing.draw(seed, number, named) for number in numbers]

        def tell(share: float, done: int = numbers[0], size: int = len(numbers)) -> None:
            progress((done + share * size) / count)

        answers = _answers(jobs, release, version, store, tell, stop)
        trees += ((job, comparing.compare(job, answer, named)) for job, answer in zip(jobs, answers, strict=True))
        progress((numbers[-1] + 1) / count)
    return Compared(named, version, seed, trees)


def _answers(
    jobs: Sequence[Job], release: str | None, version: str, store: Path | None, tell: Progress, stop: threading.Event
) -> Sequence[machine.Answer]:
    """Return what Linux makes of the jobs, from the store if it is there."""
    if store is None:
        return machine.carry_out(jobs, release, tell, stop)
    path = store / f"{version}-{hashlib.sha256(for_linux(jobs)).hexdigest()[:16]}.json.gz"
    if not path.exists():
        answers = machine.carry_out(jobs, release, tell, stop)
        store.mkdir(parents=True, exist_ok=True)
        output.write_file(path, True, written(answers))
    return list(read(path.read_bytes()))


def written(answers: Sequence[machine.Answer]) -> bytes:
    """Return answers as a file has them: times, numbers and the rest in columns, times as differences."""
    rows = []
    for answer in answers:
        columns = [list(column) for column in zip(*answer.sent, strict=True)] or [[]] * 5
        times = [now - before for before, now in zip([0, *columns[0]], columns[0], strict=False)]
        rows.append({"said": answer.said, "left": answer.left, "moved": answer.moved, "sent": [times, *columns[1:]]})
    return gzip.compress(json.dumps(rows, separators=(",", ":")).encode(), mtime=0)


def read(content: bytes) -> Iterator[machine.Answer]:
    """Yield the answers that `written` wrote."""
    for row in json.loads(gzip.decompress(content)):
        times, *columns = row["sent"]
        now, at = 0, []
        for step in times:
            now += step
            at.append(now)
        moved = tuple((number, late) for number, late in row["moved"])
        yield machine.Answer(row["said"], tuple(zip(at, *columns, strict=True)), row["left"], moved)
