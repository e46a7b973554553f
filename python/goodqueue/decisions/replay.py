"""Replays decision traces: checks whether our discipline decides like the recorded one, packet by packet."""

import json
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NotRequired, TypedDict

from goodqueue import running, threads
from goodqueue.errors import UserError, quoted
from goodqueue.files import inputs

SUFFIXES = (".csv", ".csv.gz")

ACCEPTED = "a trace (.csv or .csv.gz) or a folder of traces"

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
"""The traces that come with goodqueue. In the source tree it is a link to a folder at the root."""


class States(TypedDict):
    """The inner states at a mismatch, as ``key=value`` separated by commas."""

    ours: str
    """Our state after the call that differs."""
    theirs: str | None
    """The last state in the trace, in the line ``theirs_line``."""
    theirs_line: int | None


class Mismatch(TypedDict):
    """The first line of a trace at which the decisions differ."""

    line: int
    text: str
    """The text of that line."""
    expected: str
    got: str
    state: States


class Outcome(TypedDict):
    """The result of the replay of one trace."""

    file: str
    algorithm: str
    events: int
    packets: int
    mismatches: int
    first: Mismatch | None
    unsupported: str | None
    """Why this trace could not be replayed, or None. If there is a reason, nothing was checked."""
    error: NotRequired[str]


def find(paths: Iterable[str | Path]) -> list[Path]:
    """Return the traces among and below ``paths``, each once, sorted within a folder.

    Raises UserError for a path that does not exist or is not a trace, and for a folder without a trace.
    """
    files: dict[Path, None] = {}
    for path in map(Path, paths):
        if path.is_dir():
            below = sorted(file for file in path.rglob("*") if file.name.endswith(SUFFIXES) and not file.is_dir())
            traces = list(inputs.found((file for file in below if file.name != "INDEX.csv"), ACCEPTED))
            if not traces:
                raise UserError(str(path), "no trace below; accepted: a folder that holds .csv or .csv.gz files")
            files.update(dict.fromkeys(traces))
        elif not path.exists():
            raise UserError(str(path), f"not found; accepted: {ACCEPTED}")
        else:
            files[path] = None
    return list(files)


def replay(
    traces: Sequence[Path],
    release: str | None = None,
    workers: int | None = None,
    progress: running.Progress | None = None,
) -> list[Outcome]:
    """Replay each of ``traces``, in parallel, and return the outcomes in the same order.

    The law is that of the Linux ``release``. Without one it is that of the kernel in each trace's header, or of the
    default release. On Ctrl-C the current replays stop too. Raises UserError for the first malformed trace.
    """
    from goodqueue import _goodqueue

    releases: list[str] = json.loads(_goodqueue.linux())["releases"]
    if release not in (None, *releases):
        raise UserError("--release", f"found {quoted(release)}; accepted: {', '.join(releases)}")
    stop = threading.Event()
    outcomes: dict[int, Outcome] = {}
    refused: dict[int, BaseException] = {}

    def look() -> None:
        if progress:
            progress(len(outcomes) / len(traces))
        # Of two malformed traces the first one is named, whichever thread is faster.
        if refused and all(index in outcomes for index in range(min(refused))):
            raise refused[min(refused)]

    threads.share(
        len(traces),
        lambda index: _replay_trace(traces[index], release, stop),
        outcomes.__setitem__,
        refused.__setitem__,
        number=workers or running.cores(),
        stop=stop,
        look=look,
    )
    return [outcomes[index] for index in range(len(traces))]


def _replay_trace(trace: Path, release: str | None, stop: threading.Event) -> Outcome:
    from goodqueue import _goodqueue

    try:
        with inputs.opened(trace, ACCEPTED, stopped=stop.is_set) as file:
            outcome: Outcome = json.loads(_goodqueue.replay(str(trace), file, release, stop.is_set))
    except (ValueError, OSError) as error:
        message = str(error).removeprefix(f"{trace}:").lstrip()
        number, colon, rest = message.partition(": ")
        raise UserError(str(trace), f"line {number}: {rest}" if colon and number.isdecimal() else message) from None
    return outcome
