"""Reads files that a scenario's traffic names: pages, distributions, connection vectors."""

from pathlib import Path
from typing import Any

from goodqueue.files import curves, har, tmix


def expand(traffic: Any, folder: Path, pipes: bool = True) -> None:
    """Replace the file names in tables of ``traffic`` (relative to ``folder``) by the content of the files.

    A malformed ``traffic`` is left for the core to refuse. Raises UserError for a malformed file, and without ``pipes``
    also for a pipe.
    """
    for kind in (har, curves, tmix):
        kind.expand(traffic, folder, pipes)
