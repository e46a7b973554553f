"""Folders for files that nobody keeps. Those of a process that was killed are removed by the next that needs one."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from goodqueue.files import drafts

NAME = "goodqueue"
"""What such folders are drafts of (see `drafts`)."""


@contextmanager
def folder() -> Iterator[Path]:
    """Yield a new folder where the system has temporary files. It is removed at the end of the block."""
    place = Path(tempfile.gettempdir())
    drafts.sweep(place, NAME)
    made = drafts.create(place / NAME, folder=True)
    try:
        made.chmod(0o700)
        yield made
    finally:
        drafts.discard(made)
