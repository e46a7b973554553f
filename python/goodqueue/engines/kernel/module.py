"""Modules that Debian's configuration leaves out. This machine's compiler builds them from Debian's own packages.

A module is under the GPL, so no package of goodqueue contains one. The source, the headers and the build programs are
those of the image's kernel. The module lies in the cache beside the images, under the version of its kernel, and serves
every image of that kernel.
"""

import shlex
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path

from goodqueue.engines.kernel import apt, folders, image, packages
from goodqueue.engines.kernel.lab.plan import Plan
from goodqueue.errors import UserError

NAMES = ("dualpi2",)
"""The disciplines whose modules can be built."""

INSTALL = "apt-get install --no-install-recommends gcc make"
"""The command that installs the compiler on Debian and Ubuntu."""

_PROGRAMS = ("gcc", "make", "x86_64-linux-gnu-ld")

_UNUSED = ("CONFIG_DEBUG_INFO=", "CONFIG_DEBUG_INFO_BTF_MODULES=", "CONFIG_CC_HAS_MIN_FUNCTION_ALIGNMENT=")
"""Settings of Debian's configuration that are off here. Types for debuggers need the program pahole. The last one is an
option that gcc has had since 14: an older gcc aligns functions by an older option."""


def file(system: image.Image, name: str) -> Path:
    """Return where the module of the discipline ``name`` is, or will be, for the kernel of ``system``."""
    return image.cache() / f"modules-{system.kernel}-{system.version}" / f"sch_{name}.ko"


def wanted(plan: Plan) -> list[str]:
    """Return those of `NAMES` that ``plan`` uses."""
    lines = [
        line
        for link in plan.links()
        for line in (*link.tc, *(command for change in link.changes for command in change.tc))
    ]
    return [name for name in NAMES if any(name in line for line in lines)]


def why_not(system: image.Image | None, name: str) -> str | None:
    """Return why there is no module ``name`` for ``system``, and none can be built here. Returns None if one can."""
    if system is not None and file(system, name).exists():
        return None
    lacking = packages.missing_program() or next(
        (program for program in _PROGRAMS if shutil.which(program) is None), None
    )
    return lacking and f"found no {lacking} to build the module {name}; accepted: on Debian, as root: {INSTALL}"


def build(system: image.Image, name: str, tell: Callable[[str], None] = lambda _: None) -> Path:
    """Return the file of the module ``name`` for the kernel of ``system``, from the cache or newly built.

    ``tell`` gets each step. Raises UserError if a program, a package or the network is missing, or if make fails.
    """
    target = file(system, name)
    if target.exists():
        return target
    if (lacking := why_not(system, name)) is not None:
        raise UserError(f"module {name}", lacking)
    tell(f"asking apt for the source of Linux {system.kernel}")
    source, headers = f"linux-source-{system.release}", f"linux-headers-{system.kernel}"
    newer = f"goodqueue kernel image --kernel {system.release}"
    try:
        private = apt.configured(system.asked, image.cache()) if system.asked else None
        chosen = packages.resolve(private, (source, headers))
    except UserError as error:
        raise UserError(f"module {name}", f"{error}, or a newer image: {newer}") from None
    for package in chosen:
        if package.name in (source, headers) and package.version != system.version:
            problem = f"found {package.name} {package.version} and an image with {system.version}"
            raise UserError(f"module {name}", f"{problem}; accepted: a newer image: {newer}")
    with folders.private(image.cache()) as work:
        tell(f"fetching {len(chosen)} packages")
        packages.download(chosen, work, private)
        root, folder = work / "root", work / "module"
        folder.mkdir()
        tell("unpacking")
        for package in chosen:
            if package.name == source:
                _source(work / package.file, folder / f"sch_{name}.c")
            else:
                packages.output(["dpkg-deb", "--extract", str(work / package.file), str(root)])
            (work / package.file).unlink()
        tell("compiling")
        _compile(root, folder, name, system.kernel)
        target.parent.mkdir(exist_ok=True)
        (folder / target.name).rename(target)
    return target


def _source(package: Path, target: Path) -> None:
    """Write one file of net/sched out of the package of the whole source, which is an archive inside an archive."""
    for path, member, archive in packages.members(package):
        if path.endswith(".tar.xz"):
            with tarfile.open(fileobj=archive.extractfile(member), mode="r|xz") as tree:
                for inner in tree:
                    if inner.name.endswith(f"/net/sched/{target.name}"):
                        content = tree.extractfile(inner)
                        assert content is not None
                        target.write_bytes(content.read())
                        return
    raise UserError("kernel module", f"found no {target.name} in {package.name}; accepted: the source of Linux 6.17 on")


def _compile(root: Path, folder: Path, name: str, kernel: str) -> None:
    _use_own_libraries(root)
    (folder / "Kbuild").write_text(f"obj-m := sch_{name}.o\n", encoding="ascii")
    headers = root / "usr/src" / f"linux-headers-{kernel}"
    (common,) = (root / "usr/src").glob("linux-headers-*-common")
    # Without `env`, a make that started this program would pass its own options on.
    make = ["env", "-u", "MAKEFLAGS", "-u", "MAKELEVEL", "make", "-f", str(common / "Makefile")]
    make += [f"KBUILD_OUTPUT={headers}", f"M={folder}", "CC=gcc", *_UNUSED, "modules"]
    done = packages.ran(make, folder=folder)
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if "error" in line.lower()] or [packages.complaint(done)]
        raise UserError(f"module {name}", f"make: {errors[0]}; accepted: a compiler that builds Linux {kernel}")


def _use_own_libraries(root: Path) -> None:
    """Let Debian's build programs run with the libraries of their own release, which may be newer than this machine's.

    Some of them start others by their own name and a suffix.
    """
    loader = shlex.join([*image.loader(root), "--argv0"])
    for path in (root / "usr/lib").glob("linux-kbuild-*/**/*"):
        if path.is_file() and not path.is_symlink() and path.read_bytes().startswith(b"\x7fELF"):
            path.rename(f"{path}.elf")
            path.write_text(f'#!/bin/sh\nexec {loader} "$0" "$0.elf" "$@"\n', encoding="utf-8")
            path.chmod(0o755)
