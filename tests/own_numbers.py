"""The computations that a study or a suite has in its folder."""

from typing import Any

from conftest import ROOT
from goodqueue.studies import own


def of(folder: str) -> Any:
    """Return the module ``numbers.py`` of ``folder``, such as ``studies/le2003``."""
    return own.module(ROOT / folder / own.NUMBERS)
