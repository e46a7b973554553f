"""Finding studies: by name among our own, or a folder of the user's."""

from pathlib import Path

from goodqueue.errors import UserError
from goodqueue.studies.reading import unknown

PACKAGE = Path(__file__).resolve().parent


def homes() -> list[Path]:
    """Return where our own studies may stand: in the installed package, and at the root of the source tree."""
    return [PACKAGE / "library", PACKAGE.parents[2] / "studies"]


def available() -> dict[str, Path]:
    """Return our own studies, name to folder, by name."""
    found: dict[str, Path] = {}
    for home in homes():
        for file in sorted(home.glob("*/study.toml")):
            found.setdefault(file.parent.name, file.parent)
    return dict(sorted(found.items()))


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
