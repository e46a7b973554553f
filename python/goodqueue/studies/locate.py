"""Finding studies: by name among our own, or a folder of the user's."""

from pathlib import Path

from goodqueue.errors import UserError
from goodqueue.studies.reading import unknown

LIBRARY = Path(__file__).resolve().parent / "library"
"""Our own studies; in the source tree a link to ``studies/`` at its root."""


def available() -> dict[str, Path]:
    """Return our own studies, name to folder, by name."""
    return {file.parent.name: file.parent for file in sorted(LIBRARY.glob("*/study.toml"))}


def find(name: str) -> Path:
    """Return the folder of the study called ``name``, which is one of `available` or the path of a folder.

    A name with a slash in it, or a dot, is a path; a bare word is one of ours if there is one, else a folder.
    Raises UserError where there is no such study.
    """
    ours = available()
    if name in ours:
        return ours[name]
    folder = Path(name)
    try:
        if (folder / "study.toml").is_file():
            return folder
        if folder.is_dir():
            raise UserError(name, "holds no study.toml; accepted: a study's folder, or one of " + ", ".join(ours))
    except (OSError, ValueError):
        pass
    raise UserError("STUDY", f"{unknown(name, ours)}, or the path of a folder with a study.toml")
