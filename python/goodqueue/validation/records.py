"""Finished runs in a folder, each in a file of its own that is named after what was run: nothing runs twice."""

import hashlib
import json
import os
from pathlib import Path

from goodqueue.record import Record, Scenario

FOLDER = "records"


class Records:
    """The records in ``folder``; in memory only where there is none."""

    def __init__(self, folder: Path | None) -> None:
        """Open the folder, which may be missing, and remove what a killed writer left half done."""
        self._folder = folder
        self._kept: dict[str, str] = {}
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            for half in folder.glob("*.partial"):
                half.unlink(missing_ok=True)

    def get(self, engine: str, scenario: Scenario) -> Record | None:
        """Return the record of ``scenario`` on ``engine``, if it has run."""
        name = name_of(engine, scenario)
        if self._folder is not None and (path := self._folder / name).exists():
            found: Record = json.loads(path.read_text(encoding="utf-8"))
            return found
        return json.loads(self._kept[name]) if name in self._kept else None

    def put(self, engine: str, scenario: Scenario, text: str) -> None:
        """Keep a record, whole or not at all. Raises OSError."""
        name = name_of(engine, scenario)
        if self._folder is None:
            self._kept[name] = text
            return
        draft = self._folder / f"{name}.{os.getpid()}.partial"
        draft.write_text(f"{text}\n", encoding="utf-8")
        draft.replace(self._folder / name)


def name_of(engine: str, scenario: Scenario) -> str:
    """Return the file's name: the engine, and a hash of the resolved scenario with its seed and of what computes it.

    For the simulator that is this very build, so that a change of its code runs it again, which is cheap. For the
    kernel it is our version: its runs are dear, and what they measure is Linux's.
    """
    from goodqueue._goodqueue import VERSION

    content = {"scenario": scenario, "engine": engine, "version": VERSION, "build": build() if engine == "sim" else ""}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return f"{engine}-{hashlib.sha256(text.encode()).hexdigest()[:16]}.json"


def build() -> str:
    """Return a hash of the simulator's compiled code: 12 hexadecimal digits."""
    from goodqueue import _goodqueue

    global _build  # noqa: PLW0603  # it cannot change while we run
    if not _build:
        _build = hashlib.sha256(Path(str(_goodqueue.__file__)).read_bytes()).hexdigest()[:12]
    return _build


_build = ""
