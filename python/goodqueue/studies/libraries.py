"""Folders of data that come with the package, such as studies and suites: by name, or a folder of the user's."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from goodqueue.errors import UserError
from goodqueue.studies.reading import unknown


@dataclass(frozen=True, slots=True)
class Library:
    """A folder of such folders; each holds a main file."""

    what: str
    """What one of them is called: ``study``."""
    folder: Path
    """Where ours are; in the source tree a link to a folder at its root."""

    @property
    def file(self) -> str:
        """The name of the main file."""
        return f"{self.what}.toml"

    def available(self) -> dict[str, Path]:
        """Return our own, name to folder, by name."""
        return {file.parent.name: file.parent for file in sorted(self.folder.glob(f"*/{self.file}"))}

    def listed(self) -> list[dict[str, str]]:
        """Return our own as a list shows them: name, summary (the title) and source of each."""
        found = []
        for name, folder in self.available().items():
            about = tomllib.loads((folder / self.file).read_text(encoding="utf-8"))[self.what]
            found.append({"name": name, "summary": about["title"], "source": about.get("citation", "")})
        return found

    def find(self, name: str) -> Path:
        """Return the folder of the one called ``name``, which is one of `available` or the path of a folder.

        A name with a slash in it, or a dot, is a path; a bare word is one of ours if there is one, else a folder.
        Raises UserError where there is no such folder.
        """
        ours = self.available()
        if name in ours:
            return ours[name]
        folder = Path(name)
        try:
            if (folder / self.file).is_file():
                return folder
            if folder.is_dir():
                accepted = f"a {self.what}'s folder, or one of {', '.join(ours)}"
                raise UserError(name, f"holds no {self.file}; accepted: {accepted}")
        except (OSError, ValueError):
            pass
        raise UserError(self.what.upper(), f"{unknown(name, ours)}, or the path of a folder with a {self.file}")


_PACKAGE = Path(__file__).resolve().parents[1]
STUDIES = Library("study", _PACKAGE / "studies" / "library")
SUITES = Library("suite", _PACKAGE / "suites" / "library")
