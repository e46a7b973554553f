"""`goodqueue link` as an ordinary user has it, and what is left of it."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

USER = "12345"
"""Of whom nobody knows, and who needs no account."""

PACKAGES = os.pathsep.join([str(Path(__file__).parents[1] / "python"), sysconfig.get_paths()["purelib"]])
MARK = "GOODQUEUE_TEST"
"""In the environment of all that a test starts, by which what is left of it is found."""

MAIN = "from goodqueue.__main__ import main; main()"

OPEN_TUN = """
set -e
mount --make-rprivate /
mount -t tmpfs tmpfs /mnt
mknod /mnt/tun c 10 200
chmod 0666 /mnt/tun
mount --bind /mnt/tun /dev/net/tun
exec "$@"
"""
"""Runs its arguments where /dev/net/tun is everybody's, as a desktop's is."""


def ordinary() -> list[str]:
    """Return what makes a command an ordinary user's."""
    if os.geteuid():
        return []
    return ["setpriv", "--reuid", USER, "--regid", USER, "--clear-groups"]


@cache
def python() -> str | None:
    """Return a Python that an ordinary user may start, and that may start itself again, with goodqueue; or None."""
    again = "import subprocess, sys; sys.exit(subprocess.call([sys.executable, '-c', 'import goodqueue._goodqueue']))"
    for program in (sys.executable, f"/usr/bin/python3.{sys.version_info.minor}"):
        command = [*ordinary(), program, "-c", again]
        try:
            done = subprocess.run(command, check=False, capture_output=True, env=environment(), cwd="/")
        except OSError:
            continue
        if done.returncode == 0:
            return program
    return None


def works() -> bool:
    """Say that an ordinary user may build networks here."""
    if (shutil.which("setpriv") is None and not os.geteuid()) or (program := python()) is None:
        return False
    code = "import sys; from goodqueue.engines.live.doctor import attempt; sys.exit(attempt() is not None)"
    command = [*ordinary(), program, "-c", code]
    return subprocess.run(command, check=False, capture_output=True, env=environment(), cwd="/").returncode == 0


def environment(**more: str) -> dict[str, str]:
    """Return the environment of a command, with what a user who is not root would not find."""
    return os.environ | {"PYTHONPATH": PACKAGES, "PYTHONDONTWRITEBYTECODE": "1"} | more


@dataclass
class Link:
    """A `goodqueue link` with these words, as an ordinary user."""

    words: tuple[str, ...]
    tun: bool = False
    """Whether /dev/net/tun opens to that user."""
    main: str = MAIN
    mark: str = field(default_factory=lambda: uuid.uuid4().hex)

    def command(self) -> list[str]:
        """Return what starts it."""
        way = ["unshare", "--mount", "sh", "-c", OPEN_TUN, "sh"] if self.tun else []
        return [*way, *ordinary(), python() or sys.executable, "-c", self.main, "link", *self.words]

    def run(self, timeout: float = 60, before: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
        """Run it to its end; ``before`` are words that go before the command."""
        env = environment(**{MARK: self.mark})
        return subprocess.run(
            [*before, *self.command()],
            check=False,
            capture_output=True,
            text=True,
            env=env,
            timeout=timeout,
            stdin=subprocess.DEVNULL,
        )

    def start(self) -> "subprocess.Popen[str]":
        """Start it."""
        env = environment(**{MARK: self.mark})
        pipe = subprocess.PIPE
        return subprocess.Popen(
            self.command(),
            stdin=subprocess.DEVNULL,
            stdout=pipe,
            stderr=pipe,
            text=True,
            env=env,
            start_new_session=True,
        )

    def left(self) -> dict[int, str]:
        """Return the processes that are there of it: numbers, and their networks."""
        found = {}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if self.mark.encode() in (folder / "environ").read_bytes():
                    found[int(folder.name)] = str((folder / "ns" / "net").readlink())
            except OSError:
                continue
        return found


@contextmanager
def public_folder() -> Iterator[Path]:
    """Give a folder in which an ordinary user may do anything: pytest's own are root's."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        yield Path(name)


def networks() -> set[str]:
    """Return the network namespaces that any process is in or holds."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        for link in [folder / "ns" / "net", *folder.glob("fd/*")]:
            try:
                where = str(link.readlink())
            except OSError:
                continue
            if where.startswith("net:"):
                found.add(where)
    return found


def children(process: int) -> list[int]:
    """Return the children of a process."""
    try:
        return [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except OSError:
        return []


def times_ms(said: str) -> list[float]:
    """Return the round-trip times that `ping` printed."""
    return [float(text) for text in re.findall(r"time=([0-9.]+) ms", said)]
