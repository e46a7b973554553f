"""Files that a scenario's traffic names in place of what is in them: pages, distributions, connection vectors."""

from pathlib import Path
from typing import Any

from goodqueue.files import curves, har, tmix


def expand(traffic: Any, folder: Path) -> None:
    """Put what is in the files that tables of ``traffic`` name (relative to ``folder``) in their place.

    What is no list of tables is left to the core to refuse. Raises UserError for a file that is not what it should be.
    """
    for kind in (har, curves, tmix):
        kind.expand(traffic, folder)
