"""What a program's file declares: how it is started and read, and what it claims."""

import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

SERVER = "server"
"""The name of the far end of the link."""

VERSION_S = 10.0
"""How long a program may take to say its version."""

Told = Mapping[str, float | None]
"""What a program said, by the key of a claim."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A number that a program prints, and the truth that it stands for."""

    key: str
    what: str
    """The number's name for a person, with its unit."""
    truth: str
    """The key of the same number of the link's record, one of `measures.numbers`."""
    truth_is: str
    """The truth in words."""
    misses: str
    """What a reader of the number must know, in a sentence."""
    is_share: bool = False
    """Whether it is a share in percent, so that errors are differences and not relative."""


@dataclass(frozen=True, slots=True)
class Port:
    """Where a server listens."""

    protocol: str
    """``tcp`` or ``udp``."""
    number: int


@dataclass(frozen=True, slots=True)
class Program:
    """A program that measures from the client's end of a link."""

    name: str
    needs: Sequence[str]
    """The executables. Without one of them the program is left out."""
    package: str
    """How to get it, in words."""
    version: Sequence[str]
    """The command whose first line of output has the version."""
    client: Callable[[float, Path], list[str]]
    """Returns the client's command, for a time in seconds and the run's folder."""
    read: Callable[[Path], Told]
    """Returns what the program said, from the run's folder. Raises UserError."""
    claims: Sequence[Claim]
    server: Callable[[Path], list[str]] | None = None
    """Returns the server's command."""
    prepare: Callable[[Path], None] | None = None
    """Makes the files that the server needs, in the run's folder."""
    port: Port | None = None
    is_once: bool = False
    """Whether the server ends by itself after one client."""
    beside: str = ""
    """The program whose load it measures. Empty: it brings its own."""

    def lacking(self) -> list[str]:
        """Return the executables that are not installed."""
        return [name for name in self.needs if shutil.which(name) is None]

    def version_in_words(self) -> str:
        """Return the first line of what the program says of its version, or ``unknown``."""
        try:
            done = subprocess.run(
                self.version, check=False, capture_output=True, text=True, timeout=VERSION_S, errors="replace"
            )
        except (OSError, subprocess.TimeoutExpired):
            return "unknown"
        lines = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        return lines[0] if lines else "unknown"

    def output(self, folder: Path) -> Path:
        """Return the file with the client's standard output."""
        return folder / f"{self.name}.out"

    def said(self, folder: Path) -> str:
        """Return the client's standard output."""
        return self.output(folder).read_text(encoding="utf-8", errors="replace")

    def server_output(self, folder: Path) -> Path:
        """Return the file with the server's standard output."""
        return folder / f"{self.name}.server"
