"""Linux's answers in files of a folder, each under the name of what was asked, with a checksum of both.

A file that was damaged, cut, or copied to another name is no answer: Linux is asked again.
"""

import hashlib
from pathlib import Path

from goodqueue.errors import Option
from goodqueue.files import inputs, output


def folder(store: str | None) -> Path | None:
    """Return the folder that ``--store`` names, if it can be one. Raises UserError before Linux has worked."""
    return None if store is None else output.check_place(store, Option("store"))


def read(file: Path) -> bytes | None:
    """Return the answer in ``file``, or None if there is none. Raises UserError if it is no regular file."""
    if not file.exists():
        return None
    sealed = inputs.read(file, output.MOST_BYTES, "a file that an earlier validation kept", pipes=False)
    size = len(_seal(file, b""))
    answer = sealed[size:]
    return answer if sealed[:size] == _seal(file, answer) else None


def write(file: Path, answer: bytes) -> None:
    """Keep ``answer`` in ``file``. Raises UserError and OSError."""
    file.parent.mkdir(parents=True, exist_ok=True)
    output.write_file(file, True, _seal(file, answer) + answer, Option("store"))


def _seal(file: Path, answer: bytes) -> bytes:
    return hashlib.sha256(file.name.encode() + b"\n" + answer).digest()
