"""Runs `goodqueue link` as an ordinary user, and finds the processes that remain of it."""

import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import goodqueue

USER = "12345"
"""A user ID that needs no account."""

SHOWN = {
    "python": Path(goodqueue.__file__).parents[1],
    "tests": Path(__file__).resolve().parent,
    "site": Path(sysconfig.get_paths()["purelib"]),
}
"""The folders that an ordinary user must read, by their names below `PLACE`. Root mounts them there, since only root
may be able to read the checkout."""

PLACE = Path("/mnt")

SHOW = """
set -e
mount --make-rprivate /
mount -t tmpfs -o mode=755 tmpfs /mnt
for name in python tests site; do
  mkdir /mnt/$name
  mount --bind "$1" /mnt/$name
  shift
done
exec "$@"
"""
"""Runs its further arguments with the first three arguments, folders, mounted below `PLACE`."""

MARK = "GOODQUEUE_TEST"
"""A variable in the environment of all processes that a test starts, which identifies them."""

MAIN = "from goodqueue.__main__ import main; main()"

OPEN_TUN = """
set -e
mknod /mnt/tun c 10 200
chmod 0666 /mnt/tun
mount --bind /mnt/tun /dev/net/tun
exec "$@"
"""
"""Runs its arguments with /dev/net/tun open to everybody, as on a desktop."""


PATIENCE_S = 30
"""Generous: without an end each wait would last for ever."""


def until(happened: Callable[[], bool], patience_s: float = PATIENCE_S) -> bool:
    """Wait until something has happened, and return whether it has."""
    end = time.monotonic() + patience_s
    while not happened():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


@cache
def shows() -> bool:
    """Return whether root may mount folders elsewhere, which some containers prohibit."""
    return not os.geteuid() and subprocess.run([*_shown(), "true"], check=False, capture_output=True).returncode == 0


def _shown() -> list[str]:
    return ["unshare", "--mount", "sh", "-c", SHOW, "sh", *map(str, SHOWN.values())]


def folder(name: str) -> Path:
    """Return where an ordinary user finds one of `SHOWN`."""
    return PLACE / name if shows() else SHOWN[name]


def ordinary(tun: bool = False) -> list[str]:
    """Return the words that run a command as an ordinary user. With ``tun`` that user may open /dev/net/tun."""
    if os.geteuid():
        return []
    opened = ["sh", "-c", OPEN_TUN, "sh"] if tun else []
    user = ["setpriv", "--reuid", USER, "--regid", USER, "--clear-groups"]
    return [*(_shown() if shows() else []), *opened, *user]


@cache
def python() -> str | None:
    """Return a Python with goodqueue that an ordinary user may start, and that can start itself again, or None."""
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
    """Return whether an ordinary user may build networks here."""
    if (shutil.which("setpriv") is None and not os.geteuid()) or (program := python()) is None:
        return False
    code = "import sys; from goodqueue.linking.doctor import attempt; sys.exit(attempt() is not None)"
    command = [*ordinary(), program, "-c", code]
    return subprocess.run(command, check=False, capture_output=True, env=environment(), cwd="/").returncode == 0


def environment(**more: str) -> dict[str, str]:
    """Return the environment of a command, with the packages that a user who is not root would not find."""
    packages = os.pathsep.join(str(folder(name)) for name in ("python", "site"))
    return os.environ | {"PYTHONPATH": packages, "PYTHONDONTWRITEBYTECODE": "1"} | more


@dataclass
class Link:
    """A `goodqueue link` with these words, run as an ordinary user."""

    words: tuple[str, ...]
    tun: bool = False
    """Whether that user may open /dev/net/tun."""
    main: str = MAIN
    mark: str = field(default_factory=lambda: uuid.uuid4().hex)

    def command(self) -> list[str]:
        """Return the command that starts the link."""
        return [*ordinary(self.tun), python() or sys.executable, "-c", self.main, "link", *self.words]

    def run(self, timeout: float = 60, before: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
        """Run the link to its end. ``before`` are words in front of the command."""
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

    def start(self, hangup: signal.Handlers = signal.SIG_DFL) -> "subprocess.Popen[str]":
        """Start the link. ``hangup`` is its action for SIGHUP: pytest may run under nohup, which ignores SIGHUP."""
        env = environment(**{MARK: self.mark})
        pipe = subprocess.PIPE
        started = subprocess.Popen(
            self.command(),
            stdin=subprocess.DEVNULL,
            stdout=pipe,
            stderr=pipe,
            text=True,
            env=env,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGHUP, hangup),  # noqa: PLW1509 - pytest has one thread here
        )
        # `SHOW` and setpriv come first. A test that kills `mount` would see how the shell ends, not how the link does.
        program = (python() or sys.executable).encode()
        while started.poll() is None and Path(f"/proc/{started.pid}/cmdline").read_bytes().split(b"\0")[0] != program:
            time.sleep(0.001)
        return started

    def left(self) -> dict[int, str]:
        """Return the PIDs of the link's processes that still exist, and their networks."""
        found = {}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if self.mark.encode() in (folder / "environ").read_bytes():
                    found[int(folder.name)] = str((folder / "ns" / "net").readlink())
            except OSError:
                continue
        return found


def program(folder: Path) -> Path:
    """Return a program in ``folder`` that is called goodqueue, as a link within a link must be."""
    goodqueue = folder / "goodqueue"
    goodqueue.write_text(f"#!/bin/sh\nexec {python()} -c '{MAIN}' \"$@\"\n")
    goodqueue.chmod(0o755)
    return goodqueue


@contextmanager
def public_folder() -> Iterator[Path]:
    """Yield a folder in which an ordinary user may do anything, since pytest's own folders are root's."""
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


def gone(link: Link, seen: dict[int, str]) -> None:
    """Check that nothing is left of ``link``, whose processes and their networks are in ``seen``."""
    assert until(lambda: not link.left()), link.left()
    ours = set(seen.values()) - {str(Path("/proc/self/ns/net").readlink())}
    assert until(lambda: not ours & networks()), "a network without a process is one that something holds"


def children(process: int) -> list[int]:
    """Return the children of a process."""
    try:
        return [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except OSError:
        return []


def times_ms(said: str) -> list[float]:
    """Return the round-trip times that `ping` printed."""
    return [float(text) for text in re.findall(r"time=([0-9.]+) ms", said)]
