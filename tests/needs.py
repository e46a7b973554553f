"""Requirements of some tests on the machine: how to detect each, and how to install it.

This is the only list. A test with ``@pytest.mark.needs("flent")`` is skipped if Flent does not work. `.ci/run`
installs the packages. ``python tests/needs.py packages`` prints the Debian packages of everything that does not work
here. ``check NAME,NAME`` fails if anything except these does not work.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

SHARED = Path(__file__).resolve().parents[2] / "shared"
"""Reference data beside the checkout. It exists only where the project is developed."""

PATH = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])
"""The PATH of Debian's users lacks the folder of `tc`."""

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@dataclass(frozen=True, slots=True)
class Need:
    """One requirement of tests."""

    works: Callable[[], bool]
    packages: str = ""
    remedy: str = ""
    """What to do besides installing packages."""

    def accepted(self) -> str:
        """Return how to make it work."""
        return "; ".join(filter(None, [self.packages and f"apt-get install {self.packages}", self.remedy]))


def programs(*names: str) -> Callable[[], bool]:
    """Return a function that returns whether all of these programs can be started."""
    return lambda: all(shutil.which(name, path=PATH) for name in names)


def module(name: str) -> Callable[[], bool]:
    """Return a function that returns whether this Python has the module."""
    return lambda: importlib.util.find_spec(name) is not None


def debians_environment() -> dict[str, str]:
    """Return the environment without the variables that would lead Debian's Python to this Python's packages."""
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}


def plots() -> bool:
    """Return whether Flent can draw, since its package only recommends matplotlib."""
    flent = shutil.which("flent")
    if flent is None:
        return False
    with open(flent, encoding="utf-8") as file:  # noqa: PTH123
        python = file.readline().removeprefix("#!").split()
    command = [*python, "-c", "import matplotlib"]
    return subprocess.run(command, check=False, capture_output=True, env=debians_environment()).returncode == 0


def image(release: str | None = None) -> bool:
    """Return whether the kernel engine's image of ``release`` was built."""
    from goodqueue.engines.kernel import image

    return image.find(release) is not None


def process() -> bool:
    """Return whether a release of Linux runs as a process here."""
    from goodqueue.engines import releases
    from goodqueue.engines.kernel import process_build

    return any(process_build.why_not(release) is None for release in (None, *releases.RELEASES))


def mounts() -> bool:
    """Return whether a file system can be mounted. Root may, except in some containers."""
    with tempfile.TemporaryDirectory() as place:
        mount = ["mount", "-t", "tmpfs", "tmpfs", place]
        if os.geteuid() or subprocess.run(mount, check=False, capture_output=True).returncode:
            return False
        subprocess.run(["umount", place], check=True)
    return True


def page() -> bool:
    """Return whether the page was built and Node is installed to run its code."""
    built = Path(__file__).resolve().parents[1] / "web" / "wasm" / "goodqueue_web.js"
    return built.is_file() and shutil.which("node") is not None


def unnamed() -> bool:
    """Return whether there are files without names where temporary files are."""
    try:
        os.close(os.open(tempfile.gettempdir(), os.O_TMPFILE | os.O_RDWR))
    except (AttributeError, OSError):
        return False
    return True


def link() -> bool:
    """Return whether an ordinary user may have a link here."""
    import linked

    return linked.works()


NEEDS = {
    "aioquic": Need(module("aioquic"), remedy="make .venv/.dev"),
    "checkout": Need((Path(__file__).resolve().parents[1] / ".git").exists, remedy="a git clone; an sdist is none"),
    "chromium": Need(lambda: CHROMIUM is not None, "chromium"),
    "dask": Need(module("distributed"), remedy="make .venv/.dev"),
    "dev-full": Need(Path("/dev/full").exists, remedy="a system that has /dev/full"),
    "dev-zero": Need(Path("/dev/zero").exists, remedy="a system that has /dev/zero"),
    "duckdb": Need(module("duckdb"), remedy="make .venv/.dev"),
    "flent": Need(plots, "flent python3-matplotlib"),
    "groff": Need(programs("groff"), "groff-base"),
    "host": Need(programs("ip", "tc", "tcpdump", "unshare"), "iproute2 tcpdump", "root, who may build networks"),
    "image": Need(image, remedy=".venv/bin/goodqueue kernel image, on a Debian system"),
    "image-7.3": Need(
        lambda: image("7.3"), remedy=".venv/bin/goodqueue kernel image --kernel 7.3, with a mirror that has sid"
    ),
    "iperf3": Need(programs("iperf3"), "iperf3"),
    "irtt": Need(programs("irtt"), "irtt"),
    "link": Need(link, remedy="user namespaces, and a checkout and a Python that every user may read"),
    "mount": Need(mounts, remedy="root, who may mount"),
    "ns2": Need(programs("ns"), "ns2"),
    "pasta": Need(programs("pasta"), "passt"),
    "ping": Need(programs("ping"), "iputils-ping"),
    "page": Need(page, remedy="make web, which needs Node 20.19 or newer"),
    "pkg-config": Need(programs("pkg-config"), "pkg-config"),
    "proc": Need(Path("/proc/self/status").exists, remedy="a system that has /proc"),
    "process": Need(
        process, remedy=".venv/bin/goodqueue kernel image --machine process, on a Debian system with ptrace"
    ),
    "qemu": Need(programs("qemu-system-x86_64"), "qemu-system-x86"),
    "shared": Need(SHARED.is_dir, remedy="the reference data in ../shared, which is not published"),
    "slirp4netns": Need(programs("slirp4netns"), "slirp4netns"),
    "tcptrace": Need(programs("tcptrace", "editcap"), "tcptrace wireshark-common"),
    "tshark": Need(programs("tshark"), "tshark"),
    "unnamed": Need(unnamed, remedy="a file system with O_TMPFILE where temporary files are"),
}


@cache
def works(name: str) -> bool:
    """Return whether something works here."""
    return NEEDS[name].works()


def reason(name: str, found: str = "") -> str:
    """Return what is missing, what was ``found`` of it, and how to make it work."""
    return f"{name} ({found + '; accepted: ' if found else ''}{NEEDS[name].accepted()})"


def main(what: str, accepted: str = "") -> int:
    """Print the packages to install, or the missing things. Returns the exit status."""
    if what == "packages":
        # Things with packages are detected without goodqueue itself, which may not be built yet.
        lacking = [need.packages for name, need in NEEDS.items() if need.packages and not works(name)]
        print(*sorted(set(" ".join(lacking).split())))
        return 0
    lacking = [reason(name) for name in NEEDS if name not in accepted.split(",") and not works(name)]
    for why in lacking:
        print(f"tests would be skipped: {why}", file=sys.stderr)
    return 1 if lacking else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
