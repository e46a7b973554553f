"""One run with its packets, and the file in which a run of Linux is kept."""

import io
import json
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from goodqueue import engines, running
from goodqueue.capture import SUFFIX, Trace
from goodqueue.engines import identity
from goodqueue.files import output
from goodqueue.record import Record, Scenario
from goodqueue.running import Progress
from goodqueue.validation.packets import reading
from goodqueue.validation.packets.reading import Flows, Sack, Seen

_SNAP_BYTES = 100
"""Bytes of a packet in a capture: all headers. Linux's captures have as many."""
_ABOUT = "about"


@dataclass(frozen=True, slots=True)
class Captured:
    """A run."""

    record: Record
    seen: Mapping[str, Seen]
    """The packets by point."""
    flows: Flows
    """The numbers of the connections."""


def run(engine: str, scenario: Scenario, connections: Flows, progress: Progress, stop: threading.Event) -> Captured:
    """Run a resolved ``scenario``, with the same random numbers on either engine.

    Connections that ``connections`` has have their numbers. Raises UserError.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"run{SUFFIX}"
        trace = Trace(str(file), reading.POINTS, _SNAP_BYTES)
        text = _text(engine, scenario, progress, stop, trace)
        return Captured(json.loads(text), reading.read(file, connections), connections)


def kept(engine: str, scenario: Scenario, folder: Path | None, progress: Progress, stop: threading.Event) -> Captured:
    """Return the run of Linux that ``folder`` keeps, or make it and keep it there. Raises UserError and OSError."""
    if folder is None:
        return run(engine, scenario, Flows(), progress, stop)
    file = folder / f"{identity.of(engine, scenario).key}.npz"
    if file.exists():
        return _read(file)
    made = run(engine, scenario, Flows(), progress, stop)
    folder.mkdir(parents=True, exist_ok=True)
    output.write_file(file, True, _bytes(made))
    return made


def record(engine: str, scenario: Scenario, folder: Path | None, stop: threading.Event) -> Record:
    """Return the record of a run of Linux, which ``folder`` keeps if there is one. Raises UserError and OSError."""
    file = folder / f"{identity.of(engine, scenario).key}.json" if folder is not None else None
    if file is not None and file.exists():
        kept_record: Record = json.loads(file.read_bytes())
        return kept_record
    made = _text(engine, scenario, lambda _: None, stop, None)
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        output.write_file(file, True, made.encode())
    made_record: Record = json.loads(made)
    return made_record


def _text(engine: str, scenario: Scenario, progress: Progress, stop: threading.Event, trace: Trace | None) -> str:
    """Return the record of a run as JSON."""
    if engine == "sim":
        return running.simulate(scenario, progress, stop, trace)
    from goodqueue.engines import kernel

    place = engines.release(engine), engines.machine(engine)
    return kernel.run(scenario, progress, stop, trace, *place, draws=True)


def _bytes(made: Captured) -> bytes:
    about = {
        "record": made.record,
        "flows": [[list(pair), nth] for pair, nth in made.flows.numbers],
        "sacks": {point: list(seen.sacks.items()) for point, seen in made.seen.items()},
    }
    columns = {
        f"{point} {name}": getattr(seen, name).astype(np.int64)
        for point, seen in made.seen.items()
        for name in ("time_ns", "content", "window")
    }
    text = np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)
    file = io.BytesIO()
    np.savez_compressed(file, **{_ABOUT: text}, **columns)  # type: ignore[arg-type]
    return file.getvalue()


def _read(file: Path) -> Captured:
    with np.load(file) as arrays:
        about = json.loads(arrays[_ABOUT].tobytes())
        flows = Flows()
        for (low, high), nth in about["flows"]:
            flows.number((low, high), nth)
        seen = {
            point: Seen(
                arrays[f"{point} time_ns"], arrays[f"{point} content"], arrays[f"{point} window"], _sacks(sacks)
            )
            for point, sacks in about["sacks"].items()
        }
    return Captured(about["record"], seen, flows)


def _sacks(listed: list[tuple[int, list[list[int]]]]) -> dict[int, Sack]:
    return {place: tuple((start, end) for start, end in blocks) for place, blocks in listed}
