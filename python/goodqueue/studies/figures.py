"""The figures of a study's own ``figures.py``: what its function returns. `drawing` draws them, and the usual ones."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from goodqueue import extras, foreign
from goodqueue.errors import UserError, quoted, warn
from goodqueue.studies.outcome import Outcome
from goodqueue.studies.own import module

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True)
class Drawn:
    """A figure, ready to be written."""

    name: str
    """File name without extension."""
    title: str
    caption: str
    figure: "Figure"

    def __post_init__(self) -> None:
        """Raise ValueError for a name with which the file would be elsewhere, or hidden."""
        if not re.fullmatch(r"[^./\\\x00-\x1f][^/\\\x00-\x1f]*", self.name):
            raise ValueError(f"Drawn: name: found {quoted(self.name)}; accepted: a file's name, without a folder")


Draw = Callable[[Outcome], Iterable[Drawn]]
"""The type of the function ``figures`` in a study's ``figures.py``."""

FILE = "figures.py"


def own(folder: Path) -> Draw | None:
    """Return the function ``figures`` of the ``figures.py`` in ``folder``, or None if there is no such file.

    It is None, too, where nothing is installed that draws figures. With ``--no-code`` another's file is left out, with
    a warning. Raises UserError if the file cannot be used.
    """
    path = folder / FILE
    if not path.is_file() or not extras.has("matplotlib"):
        return None
    if not foreign.allowed(str(path)):
        warn(f"{path}: left out, since --no-code refuses Python code; the study's own figures are missing")
        return None
    draw = getattr(module(path), "figures", None)
    if not callable(draw):
        raise UserError(str(path), "has no function figures; accepted: figures(outcome), which returns a list of Drawn")
    found: Draw = draw
    return found
