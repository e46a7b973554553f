"""Linux as an ordinary process: built on this machine from the Debian source package of an image's kernel.

Linux calls it user mode Linux. Debian's own package of it has no virtual time, so it must be built. The program lies
in the cache under the version of its source and a hash of the recipe: ``process.config`` and `changes`. It is
under the GPL, and no package of goodqueue has it or any part of the source.
"""

import functools
import hashlib
import json
import lzma
import os
import platform
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from goodqueue.engines.kernel import apt, folders, image, packages, watching
from goodqueue.engines.kernel.process_changes import Change, changes
from goodqueue.errors import UserError

PROGRAM = "linux"

INSTALL = "apt-get install --no-install-recommends gcc libc6-dev make flex bison bc"
"""The command that installs on Debian and Ubuntu what builds Linux."""

FIXED = ("setarch", "x86_64", "--addr-no-randomize")
"""The command that gives a program addresses which the host does not draw.

Linux takes the gap between its program and the heap as a part of its memory, so its size would differ between runs."""

_PROGRAMS = ("gcc", "ld", "make", "flex", "bison", "bc", "tar")
_CONFIG = Path(__file__).with_name("process.config")

_UNUSED = (
    "*/Documentation/*.rst", "*/Documentation/*.yaml", "*/arch/[a-t]*.[chS]", "*/arch/[a-t]*.dts*",
    "*/drivers/gpu/*.[ch]", "*/drivers/media/*.[ch]", "*/drivers/net/ethernet/*.[ch]", "*/drivers/net/wireless/*.[ch]",
    "*/drivers/scsi/*.[ch]", "*/drivers/staging/*.[ch]", "*/sound/*.[ch]", "*/tools/testing/*",
)  # fmt: skip
"""Files of the source that this kernel is not built from, two thirds of it. Settings (Kconfig) are all read."""

_SAY_EVERY = 200
"""So many compiled files make a line of progress. There are 1100 to 1500."""

_COMPLAINTS = ("error:", "can't open", "No such file", "***")
"""Signs of a line of make that says why it failed."""

_VARIABLES = {
    # Linux mixes its version's text into its random numbers. Without these it would have the date and the host's name.
    "KBUILD_BUILD_TIMESTAMP": "Wed Jan  1 00:00:00 UTC 2020",
    "KBUILD_BUILD_USER": "goodqueue",
    "KBUILD_BUILD_HOST": "process",
    "KBUILD_BUILD_VERSION": "1",
}
_NOT_OURS = ("MAKEFLAGS", "MAKELEVEL", "ARCH", "CROSS_COMPILE")
"""What a make that started this program, or a user who builds kernels, has in the environment."""


@functools.cache
def recipe(release: str) -> str:
    """Return a hash of what makes the program besides Debian's source of ``release``: 12 hexadecimal digits."""
    settings = [line for line in _CONFIG.read_text(encoding="ascii").splitlines() if line.startswith("CONFIG_")]
    content = json.dumps([list(map(asdict, changes(release))), settings, _VARIABLES])
    return hashlib.sha256(content.encode()).hexdigest()[:12]


def recipe_of(release: str | None) -> str:
    """Return the hash for the image that runs of ``release`` use. Raises UserError if there is none."""
    system = image.get(key := image.wanted(release))
    if system is None:
        raise UserError("machine process", f"found no image {key}; accepted: {how_to_build(release)}")
    return recipe(system.release)


def program(system: image.Image) -> Path:
    """Return where the program of the kernel of ``system`` is, or will be."""
    return image.cache() / f"process-{system.version}-{recipe(system.release)}" / PROGRAM


def why_not(release: str | None = None) -> str | None:
    """Return why Linux of ``release`` cannot run as a process here and now. Returns None if it can."""
    system = image.find(release)
    if (why := _never(system.release if system else release)) is not None:
        return why
    if system is None or not program(system).exists():
        return f"not built; accepted: {how_to_build(release)}"
    return None


def is_taken(release: str | None, machine: str | None) -> bool:
    """Return whether runs of ``release`` are in Linux as a process: if it can, and no other ``machine`` is asked."""
    return machine in (None, "process") and why_not(release) is None


def why_no_build(release: str | None = None) -> str | None:
    """Return why Linux of ``release`` cannot be built as a process here, or not run then. Returns None if it can."""
    lacking = packages.missing_program() or next((name for name in _PROGRAMS if shutil.which(name) is None), None)
    return _never(release) or (
        lacking and f"found no {lacking} to build Linux; accepted: on Debian, as root: {INSTALL}"
    )


def how_to_build(release: str | None) -> str:
    """Return the command that builds the program of ``release``."""
    return f"goodqueue kernel image {f'--kernel {release} ' if release else ''}--machine process"


def has_seccomp(release: str) -> bool:
    """Return whether Linux of ``release`` can watch its programs by seccomp, for half of what ptrace takes."""
    return tuple(map(int, release.split("."))) >= (7, 0)


def _never(release: str | None) -> str | None:
    """Return why Linux of ``release`` as a process never runs on this machine, or None."""
    if platform.machine() != "x86_64":
        return f"found a processor of {platform.machine()}; accepted: x86-64"
    if not (release and has_seccomp(release)) and not _traceable():
        return "found a system that forbids ptrace; accepted: one that permits it, or --kernel 7.3, which needs none"
    if not _fixed():
        # Docker's own filter of system calls lets ptrace pass, and this not.
        accepted = "one that lets a program have fixed addresses (Docker: --security-opt seccomp=unconfined)"
        return f"found a system that forbids {shlex.join(FIXED)}; accepted: {accepted}"
    return None


@functools.cache
def _traceable() -> bool:
    """Return whether a process may be traced. Some containers forbid it."""
    traced = "import ctypes, sys; sys.exit(ctypes.CDLL(None).ptrace(0, 0, 0, 0) != 0)"
    return subprocess.run([sys.executable, "-S", "-c", traced], check=False).returncode == 0


@functools.cache
def _fixed() -> bool:
    """Return whether a program may have addresses that the host does not draw."""
    try:
        return subprocess.run([*FIXED, "true"], check=False, capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


def build(
    system: image.Image, tell: Callable[[str], None] = lambda _: None, stop: threading.Event | None = None
) -> Path:
    """Return the program of the kernel of ``system``, from the cache or newly built. ``tell`` gets each step.

    Of several that ask at once, one builds and the others wait. Raises UserError if a program, a package or the
    network is missing, or if make fails, and StoppedError once ``stop`` is set.
    """
    target = program(system)
    if target.exists():
        return target
    if (why := why_no_build(system.release)) is not None:
        raise UserError(_name(system), why)
    stop = stop or threading.Event()
    target.parent.mkdir(parents=True, exist_ok=True)
    with folders.alone(target.parent, stop):
        if target.exists():
            return target
        with folders.private(image.cache()) as work:
            source = _fetched(system, work, tell)
            for change in changes(system.release):
                _apply(change, source, system)
            tell("configuring")
            build_folder = work / "build"
            made = [f"O={build_folder}", f"KCONFIG_ALLCONFIG={_CONFIG}", "allnoconfig"]
            _make(["-C", str(source), *made], lambda _: None, system, stop)
            _make(["-C", str(build_folder), f"-j{len(os.sched_getaffinity(0))}", PROGRAM], tell, system, stop)
            (build_folder / PROGRAM).rename(target)
    return target


def _name(system: image.Image) -> str:
    return f"Linux {system.release} as a process"


def _fetched(system: image.Image, work: Path, tell: Callable[[str], None]) -> Path:
    """Return the folder of the unpacked source of the kernel of ``system``."""
    name = f"linux-source-{system.release}"
    tell(f"asking apt for {name} {system.version}")
    try:
        private = apt.configured(system.asked, image.cache()) if system.asked else None
        package = packages.exactly(name, system.version, private)
    except UserError as error:
        raise UserError(_name(system), f"{error}, or a newer image: {how_to_build(system.asked)}") from None
    tell("fetching the source (140 to 170 MB)")
    packages.download([package], work, private)
    tell("unpacking")
    for path, member, archive in packages.members(work / package.file):
        if path.endswith(".tar.xz"):
            kept = [f"--exclude={pattern}" for pattern in _UNUSED]
            command = ["tar", "--extract", "--directory", str(work), *kept]
            in_c = os.environ | {"LC_ALL": "C"}  # [a-t] is without capitals
            with subprocess.Popen(command, env=in_c, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as unpacking:
                assert unpacking.stdin is not None
                with lzma.open(archive.extractfile(member)) as tree:  # type: ignore[arg-type]
                    shutil.copyfileobj(tree, unpacking.stdin, 1 << 20)
                unpacking.stdin.close()
                if unpacking.wait() == 0:
                    (work / package.file).unlink()
                    return work / name
    raise UserError(_name(system), f"found no source in {package.file}; accepted: Debian's {name}")


def _apply(change: Change, source: Path, system: image.Image) -> None:
    path = source / change.file
    text = path.read_text(encoding="utf-8")
    if text.count(change.old) != 1:
        words = change.old.strip().splitlines()[0].strip()
        raise UserError(_name(system), f"{change.file}: found {text.count(change.old)} times {words!r}; accepted: once")
    path.write_text(text.replace(change.old, change.new), encoding="utf-8")


def _make(words: list[str], tell: Callable[[str], None], system: image.Image, stop: threading.Event) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in _NOT_OURS}
    command = ["make", "ARCH=um", "CC=gcc", *words]
    environment |= _VARIABLES | {"LC_ALL": "C"}
    compiled, complaints = 0, list[str]()
    with subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as making:
        try:
            for line in watching.lines(making, stop, _name(system)):
                compiled += line.startswith("  CC ")
                if line.startswith("  CC ") and compiled % _SAY_EVERY == 1:
                    tell(f"compiling, {compiled - 1} files so far")
                if any(sign in line for sign in _COMPLAINTS):
                    complaints.append(line.strip())
        except BaseException:
            os.killpg(making.pid, signal.SIGKILL)  # make alone would leave its compilers
            raise
    if making.returncode:
        problem = complaints[0] if complaints else f"status {making.returncode}"
        raise UserError(_name(system), f"make: {problem}; accepted: a compiler that builds Linux {system.release}")
