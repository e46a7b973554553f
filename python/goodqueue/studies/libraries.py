"""Data folders that come with the package, such as studies and suites. They are found by name. Users may add some."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from goodqueue.errors import UserError
from goodqueue.studies.keys import unknown


@dataclass(frozen=True, slots=True)
class Library:
    """A folder of such data folders. Each of them holds a main file."""

    what: str
    """The word for one data folder: ``study``."""
    folder: Path
    """The folder in the package. In the source tree it is a link to a folder at the root."""

    @property
    def file(self) -> str:
        """The name of the main file."""
        return f"{self.what}.toml"

    def available(self) -> dict[str, Path]:
        """Return the data folders of the package by name, sorted."""
        return {file.parent.name: file.parent for file in sorted(self.folder.glob(f"*/{self.file}"))}

    def listed(self) -> list[dict[str, str]]:
        """Return the package's data folders for a list: name, summary (the title) and source of each."""
        entries = []
        for name, folder in self.available().items():
            about = tomllib.loads((folder / self.file).read_text(encoding="utf-8"))[self.what]
            entries.append({"name": name, "summary": about["title"], "source": about.get("citation", "")})
        return entries

    def find(self, name: str) -> Path:
        """Return the data folder ``name``, which is one of `available` or the path of a folder.

        A name with a slash or a dot is a path. A bare word is a data folder of the package if it has one of that name,
        and otherwise a path. Raises UserError if there is no such folder.
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
