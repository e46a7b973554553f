"""The commands of `tc` that make a tree of classes, in a file that a link's ``tc`` names.

The core reads commands, and no files. So a file becomes the list of its lines, which the core takes, too. The file may
be a shell script, whose arguments stand behind its name.
"""

from pathlib import Path
from typing import Any

from goodqueue.errors import UserError, quoted
from goodqueue.files import inputs
from goodqueue.record import Scenario
from goodqueue.scenario import paths

KEY = "tc"

MOST_BYTES = 64 * inputs.MIB
"""The largest size of a file of commands, the same as in the core."""

ACCEPTED = "a list of tc commands, or a file of them"


def expand(scenario: Scenario, folder: Path, pipes: bool = True) -> None:
    """Replace the files of commands that links of ``scenario`` name by their lines, in place.

    Names are relative to ``folder``. Raises UserError.
    """
    for _, table in paths.links(scenario):
        if isinstance(table.get(KEY), str):
            table[KEY] = lines(table[KEY], folder, pipes)


def lines(name: Any, folder: Path = Path(), pipes: bool = True) -> list[str]:
    """Return the lines of the file ``name``, behind which may stand the arguments of a script.

    Raises UserError, also if ``name`` is a command instead of a file's name.
    """
    if "\n" in name or name.split()[:1] == ["tc"]:
        raise UserError(KEY, f"found {quoted(name)}; accepted: {ACCEPTED}")
    file, arguments = name, ""
    if " " in name.strip() and not (folder / name).exists():
        file, arguments = name.split(maxsplit=1)
    first, *rest = inputs.read_text(folder / file, MOST_BYTES, ACCEPTED, pipes).splitlines() or [""]
    # The first line keeps its number.
    return [f"set -- {arguments}; {first}" if arguments else first, *rest]
