"""Debian packages as files: which ones the image needs, and what is in them. Nothing is installed; root is not needed.

``apt-get download`` fetches from the sources of this machine's apt, or from those of a private apt, and verifies the
files.
"""

import os
import re
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from goodqueue.errors import UserError

WANTED = ("linux-image-amd64", "busybox-static", "iproute2", "tcpdump", "python3-minimal", "libpython3-stdlib")
"""The packages for the laboratory: a kernel, a shell for the first process, ``tc``, ``tcpdump``, Python."""

_FOLLOWED = re.compile(r"(lib|zlib|linux-(?:image|binary|modules|headers|kbuild)-|python3\.\d+-minimal)[\w.+-]*$")
"""Dependencies that hold files for the image or for a module: libraries, and the current packages behind other names.
Since 7.x ``linux-image-…`` is empty, and depends on the others. Other dependencies concern installation (debconf,
adduser, initramfs-tools)."""

_URI = re.compile(r"'(?P<uri>[^']*)' (?P<file>\S+) \d+ (?P<digest>\S+)$")


@dataclass(frozen=True, slots=True, order=True)
class Package:
    """One package as apt would fetch it."""

    name: str
    version: str
    file: str
    digest: str


def missing_program() -> str | None:
    """Return the first of Debian's programs that this machine lacks, or None if an image can be made."""
    return next((name for name in ("apt-get", "apt-cache", "dpkg-deb", "dpkg") if shutil.which(name) is None), None)


def resolve(apt: Path | None = None, names_wanted: Iterable[str] = WANTED) -> list[Package]:
    """Return the packages that apt would fetch now for ``names_wanted``, ordered by name.

    ``apt`` is the configuration of a private apt (`apt.configured`). Raises UserError if apt fails.
    """
    if (lacking := missing_program()) is not None:
        raise UserError("kernel image", f"found no {lacking}; accepted: a Debian system, whose packages make the image")
    if (architecture := output(["dpkg", "--print-architecture"]).strip()) != "amd64":
        raise UserError("kernel image", f"found a Debian system of architecture {architecture}; accepted: amd64")
    names: set[str] = set()
    new = set(names_wanted)
    while new:
        names |= new
        new = _dependencies(sorted(new), apt) - names
    return sorted(_printed(sorted(names), apt))


def exactly(name: str, version: str, apt: Path | None = None) -> Package:
    """Return the package ``name`` of exactly this ``version``, which may be older than the one that apt would install.

    Raises UserError if apt does not know it.
    """
    (package,) = _printed([f"{name}={version}"], apt)
    return package


def _printed(names: list[str], apt: Path | None) -> list[Package]:
    """Return the packages that apt would fetch for ``names``.

    apt leaves out a package whose file lies in the folder where apt runs, so that folder is empty.
    """
    with tempfile.TemporaryDirectory() as empty:
        lines = _apt_get(apt, "--print-uris", *names, folder=Path(empty)).splitlines()
    return [_package(match) for line in lines if (match := _URI.match(line))]


def _package(match: re.Match[str]) -> Package:
    name, version, _ = unquote(match["file"]).rsplit("_", 2)
    return Package(name, version, match["file"], match["digest"])


def _dependencies(names: list[str], apt: Path | None) -> set[str]:
    """Return the followed packages that ``names`` depend on directly, and the first of alternatives."""
    chosen: set[str] = set()
    alternative = False
    for line in output(["apt-cache", "depends", "--important", *names], apt).splitlines():
        kind, colon, name = line.strip().partition(": ")
        if not colon:
            continue
        if not alternative and _FOLLOWED.match(name):
            chosen.add(name)
        alternative = kind.startswith("|")
    return chosen


def download(packages: list[Package], folder: Path, apt: Path | None = None) -> None:
    """Fetch ``packages`` into ``folder``."""
    _apt_get(apt, *(f"{package.name}={package.version}" for package in packages), folder=folder)
    for package in packages:
        if not (folder / package.file).is_file():
            raise UserError("kernel image", f"apt-get download left no {package.file}")


def members(package: Path) -> Iterator[tuple[str, tarfile.TarInfo, tarfile.TarFile]]:
    """Yield the files of ``package`` with their paths in a system where /bin, /sbin and /lib lie in /usr."""
    command = ["dpkg-deb", "--fsys-tarfile", str(package)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        with tarfile.open(fileobj=process.stdout, mode="r|") as archive:
            for member in archive:
                path = member.name.removeprefix("./")
                yield (f"usr/{path}" if path.startswith(("bin/", "sbin/", "lib/", "lib64/")) else path), member, archive


def _apt_get(apt: Path | None, *arguments: str, folder: Path | None = None) -> str:
    return output(["apt-get", "download", "--quiet", *arguments], apt, folder)


def output(command: list[str], apt: Path | None = None, folder: Path | None = None) -> str:
    """Return the output of ``command``. Raises UserError with the command's own error message if it fails."""
    done = ran(command, apt, folder)
    if done.returncode:
        verb = " ".join(command[:2])
        accepted = "packages that apt can fetch (as root: apt-get update)"
        raise UserError("kernel image", f"{verb}: {complaint(done)}; accepted: {accepted}")
    return done.stdout


def ran(command: list[str], apt: Path | None = None, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Return what ``command`` printed, in English, in ``folder`` and with the private apt that ``apt`` configures."""
    environment = os.environ | {"LC_ALL": "C"} | ({"APT_CONFIG": str(apt)} if apt else {})
    return subprocess.run(command, cwd=folder, env=environment, check=False, capture_output=True, text=True)


def complaint(done: subprocess.CompletedProcess[str]) -> str:
    """Return apt's first error, or the first line that a command which failed wrote."""
    lines = [line for line in done.stderr.splitlines() if line.startswith("E: ")] or done.stderr.splitlines()
    return lines[0].removeprefix("E: ") if lines else f"exit status {done.returncode}"
