"""The small Linux system that the virtual machine boots: a kernel and its first file system, from Debian packages.

An image is a folder ``KEY`` in the cache, named after the packages' contents. It is built in a private folder and
then renamed, so it is either complete or absent. Building an image asks apt, using one does not, so that results do
not change with apt's updates. ``goodqueue kernel image`` renews the image. Images of several releases of Linux lie
side by side.
"""

import functools
import hashlib
import json
import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

from goodqueue.engines import releases
from goodqueue.engines.kernel import apt, cpio, folders, linux, packages
from goodqueue.errors import UserError
from goodqueue.files import inputs

RECIPE = "5"
"""Must be raised whenever this file makes a different image from the same packages."""

KERNEL, FILES, ABOUT = "vmlinux", "initramfs.cpio", "image.json"

_MOST_BYTES = 16 * inputs.MIB
"""The largest size of an image's description."""

LIBRARIES = "usr/lib/x86_64-linux-gnu"

_PROGRAMS = re.compile(r"usr/(bin/(busybox|tcpdump|python3\.\d+)|sbin/tc)$")
_PYTHON = re.compile(r"usr/lib/python3\.\d+/")
_LIBRARY = re.compile(rf"{LIBRARIES}/[^/]+\.so[.\w]*$|usr/lib64/")
_UNUSED_PYTHON = (
    "__pycache__ config-3 distutils doctest.py ensurepip idlelib lib2to3 pydoc_data pydoc.py test tkinter turtle.py "
    "turtledemo venv wsgiref xmlrpc sitecustomize.py"
)
_UNUSED_EXTENSIONS = re.compile(
    r"(_curses|_curses_panel|readline|_dbm|_gdbm|nis|_crypt|_tkinter|audioop|ossaudiodev)\."
)

_APPLETS = "cat cp grep mkdir modprobe mount poweroff sh sleep umount"


@dataclass(frozen=True, slots=True)
class Image:
    """One built image."""

    key: str
    folder: Path
    kernel: str
    """The release, as ``uname -r`` prints it."""
    asked: str | None
    """The release for which a private apt was asked. None if the packages are of this machine's own apt."""
    pyroute2: str
    packages: list[packages.Package]

    @property
    def release(self) -> str:
        """The release as ``--kernel`` names it: ``6.1``."""
        return releases.of(self.kernel)

    @property
    def version(self) -> str:
        """Debian's version of the kernel and of its source: ``6.1.192-2``."""
        return next(package.version for package in self.packages if package.name.startswith("linux-image-"))

    @property
    def vmlinux(self) -> Path:
        """The path of the kernel."""
        return self.folder / KERNEL

    @property
    def initramfs(self) -> Path:
        """The path of the first file system. The laboratory and the plan are appended to a copy of it."""
        return self.folder / FILES

    def as_json(self) -> dict[str, Any]:
        """Return the image as a dictionary for programs."""
        return asdict(self) | {"folder": str(self.folder)}


def cache() -> Path:
    """Return the folder of images."""
    home = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(home) if home.startswith("/") else Path.home() / ".cache") / "goodqueue" / "kernel"


def find(release: str | None = None) -> Image | None:
    """Return the newest image of ``release`` that was made by this recipe with the installed pyroute2, or None.

    Without a release it is the newest image of this machine's own packages.
    """
    images: list[tuple[int, Image]] = []
    for about in cache().glob(f"*/{ABOUT}"):
        image = _read(about)
        if image is not None and (image.release == release if release else image.asked is None):
            images.append((about.stat().st_mtime_ns, image))
    return max(images, key=lambda pair: pair[0])[1] if images else None


def get(key: str) -> Image | None:
    """Return the image called ``key``, or None if it was not built."""
    return _read(cache() / key / ABOUT)


def wanted(release: str | None = None) -> str:
    """Return the key of the image for this process's runs: the newest image, or the one that `build` would make now.

    The key is determined once per release, before any run. If the image is renewed meanwhile, only the next command
    uses the new one. Raises UserError if there is no image and apt does not report the packages for one.
    """
    return _first_wanted(cache(), release)


@functools.cache
def _first_wanted(_folder: Path, release: str | None) -> str:
    image = find(release)
    return image.key if image else _key(_chosen(release)[0])


def _chosen(release: str | None) -> tuple[list[packages.Package], Path | None]:
    """Return the packages of an image, and the configuration of the private apt that has them.

    If this machine's own apt has ``release``, its packages are taken. Raises UserError if apt fails.
    """
    if release is None:
        return packages.resolve(), None
    try:
        packages_chosen = packages.resolve()
    except UserError:
        packages_chosen = []  # sources that lack the kernel are no obstacle to another release
    if any(
        package.name == "linux-image-amd64" and package.version.startswith(f"{release}.") for package in packages_chosen
    ):
        return packages_chosen, None
    private = apt.configured(release, cache())
    return packages.resolve(private), private


def _key(chosen: list[packages.Package]) -> str:
    """Return the name of the image made of these packages."""
    content = json.dumps([RECIPE, _pyroute2_version(), [asdict(package) for package in chosen]])
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def _read(about: Path) -> Image | None:
    """Return the image that ``about`` describes, or None if it has another recipe or is incomplete."""
    try:
        data = inputs.from_json(inputs.read_text(about, _MOST_BYTES, "an image's description", pipes=False))
        sizes = {name: (about.parent / name).stat().st_size for name in (KERNEL, FILES)}
        if (data["recipe"], data["pyroute2"], data["sizes"]) != (RECIPE, _pyroute2_version(), sizes):
            return None
        listed = [packages.Package(**package) for package in data["packages"]]
        return Image(about.parent.name, about.parent, data["kernel"], data["asked"], data["pyroute2"], listed)
    except (UserError, OSError, ValueError, KeyError, TypeError):
        return None


def build(tell: Callable[[str], None] = lambda _: None, release: str | None = None) -> Image:
    """Return the image of the packages that apt offers now, from the cache or newly built. ``tell`` gets each step.

    Raises UserError if apt, the disk or a package is not as needed.
    """
    tell(f"asking apt for packages{f' of Linux {release}' if release else ''}")
    chosen, private = _chosen(release)
    target = cache() / _key(chosen)
    if (image := _read(target / ABOUT)) is not None:
        os.utime(target / ABOUT)  # `find` returns the image that was requested last
        return image
    with folders.private(cache()) as work:
        tell(f"fetching {len(chosen)} packages")
        packages.download(chosen, work, private)
        image_folder = work / "image"
        root = image_folder / "root"
        root.mkdir(parents=True)
        tell("unpacking")
        for package in chosen:
            _unpack(work / package.file, root)
            (work / package.file).unlink()
        tell("assembling")
        kernel = linux.kernel(root, image_folder / KERNEL)
        if release is not None and releases.of(kernel) != release:
            raise UserError(f"kernel {release}", f"found Linux {kernel} in Debian's suite; accepted: {release}")
        linux.modules(root, kernel)
        _python(root)
        _only_needed_libraries(root)
        _run_python(root, (root / "usr/bin/python3").resolve(), "-c", "import pyroute2")
        _system(root)
        with (image_folder / FILES).open("wb") as file:
            file.writelines(cpio.tree(root))
            file.write(cpio.trailer())
        shutil.rmtree(root)
        about = {
            "recipe": RECIPE,
            "pyroute2": _pyroute2_version(),
            "kernel": kernel,
            "asked": release if private else None,
            "sizes": {name: (image_folder / name).stat().st_size for name in (KERNEL, FILES)},
            "packages": [asdict(package) for package in chosen],
        }
        (image_folder / ABOUT).write_text(json.dumps(about, indent=1), encoding="utf-8")
        _publish(image_folder, target)
    image = _read(target / ABOUT)
    assert image is not None, target
    return image


def _publish(folder: Path, target: Path) -> None:
    """Move ``folder`` to ``target``. If a concurrent builder was quicker, its image is used."""
    if target.exists() and _read(target / ABOUT) is None:
        shutil.rmtree(target)
    try:
        folder.rename(target)
    except OSError:
        if _read(target / ABOUT) is None:
            raise


def _pyroute2_version() -> str:
    try:
        return version("pyroute2")
    except PackageNotFoundError:
        raise UserError("kernel image", "found no pyroute2; accepted: pip install pyroute2") from None


# --- selection of the packages' files -------------------------------------------------------------------------------


def _unpack(package: Path, root: Path) -> None:
    for path, member, archive in packages.members(package):
        if not _is_in_image(path):
            continue
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if member.issym():
            target.unlink(missing_ok=True)
            target.symlink_to(_usr(member.linkname))
        elif member.isfile():
            with target.open("wb") as file:
                shutil.copyfileobj(_opened(archive, member), file)
            target.chmod(0o755 if member.mode & 0o100 else 0o644)


def _opened(archive: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    opened = archive.extractfile(member)
    assert opened is not None
    return opened


def _usr(link: str) -> str:
    return f"/usr{link}" if link.startswith(("/bin/", "/sbin/", "/lib/", "/lib64/")) else link


def _is_in_image(path: str) -> bool:
    if _PYTHON.match(path):
        parts = path.split("/")[3:]
        return not any(part in _UNUSED_PYTHON.split() or part.startswith("config-3") for part in parts) and not (
            _UNUSED_EXTENSIONS.match(parts[-1])
        )
    patterns = (_PROGRAMS, _LIBRARY, linux.MODULE, linux.KERNEL)
    return any(pattern.match(path) for pattern in patterns)


def _python(root: Path) -> None:
    """Add pyroute2, and keep only compiled modules, since compiling would take the guest's processor seconds."""
    programs = sorted(root.glob("usr/bin/python3.*"))
    if len(programs) != 1:
        raise UserError("kernel image", f"found {len(programs)} Pythons in the packages; accepted: one")
    python = programs[0]
    library = root / "usr/lib" / python.name
    spec = find_spec("pyroute2")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    source = Path(spec.submodule_search_locations[0])
    shutil.copytree(source, library / "pyroute2", ignore=shutil.ignore_patterns("__pycache__"))
    compile_python(root, library)
    (root / "usr/bin/python3").symlink_to(python.name)


def compile_python(root: Path, folder: Path) -> None:
    """Let the Python of the system in ``root`` replace the modules in ``folder`` by their bytecode."""
    (python,) = root.glob("usr/bin/python3.*")
    compiling = ["-m", "compileall", "-q", "-b", "--invalidation-mode", "unchecked-hash", "-s", str(root), "-p", "/"]
    _run_python(root, python, *compiling, str(folder))
    for path in folder.rglob("*.py"):
        path.unlink()


def _run_python(root: Path, python: Path, *arguments: str) -> None:
    """Run the image's Python on this machine."""
    command = [*loader(root), str(python), "-S", "-s", "-B", *arguments]
    environment = {"PYTHONHOME": str(root / "usr"), "LC_ALL": "C.UTF-8"}
    done = subprocess.run(command, env=environment, check=False, capture_output=True, text=True)
    if done.returncode:
        words = (done.stdout + done.stderr).strip().splitlines()
        raise UserError("kernel image", f"the image's Python: {words[-1] if words else f'status {done.returncode}'}")


def _only_needed_libraries(root: Path) -> None:
    """Remove the libraries that neither a program nor a Python module needs."""
    folder = root / LIBRARIES
    # Threads that end ask for libgcc_s by name at run time.
    users = [*root.glob("usr/bin/*"), *root.glob("usr/sbin/*"), *root.glob("usr/lib/python3.*/lib-dynload/*.so")]
    needed = {"libgcc_s.so.1", "ld-linux-x86-64.so.2"}
    for user in users:
        if not user.is_symlink() and user.name != "busybox":
            needed |= _needs(user, root)
    keep = {path for name in needed for path in _links(folder / name)}
    for path in folder.iterdir():
        if path not in keep:
            path.unlink()


def _needs(program: Path, root: Path) -> set[str]:
    """Return the names of the libraries that the loader would load for ``program``."""
    listed = subprocess.run([*loader(root), "--list", str(program)], check=False, capture_output=True, text=True).stdout
    needed = dict(re.findall(r"^\t(\S+) => (\S+)", listed, re.MULTILINE))
    for name, where in needed.items():
        if not where.startswith(str(root)):
            raise UserError("kernel image", f"{program.name} needs {name}, which no package has")
    return {Path(name).name for name in needed}  # the loader itself is listed by its path


def _links(path: Path) -> Iterable[Path]:
    """Yield ``path`` and, if it is a link, each path that it leads to."""
    yield path
    while path.is_symlink():
        path = path.parent / path.readlink().name
        yield path


def loader(root: Path) -> list[str]:
    """Return the command that runs one of the image's programs on this machine, with the image's libraries."""
    return [str(root / LIBRARIES / "ld-linux-x86-64.so.2"), "--inhibit-cache", "--library-path", str(root / LIBRARIES)]


def _system(root: Path) -> None:
    """Add the remaining folders and links of a system."""
    for folder in ("dev", "etc", "out", "proc", "results", "root", "run", "sys", "tmp", "usr/sbin"):
        (root / folder).mkdir(exist_ok=True)
    for link in ("bin", "lib", "lib64", "sbin"):
        (root / link).symlink_to(f"usr/{link}")
    for applet in _APPLETS.split():
        (root / "usr/sbin" / applet).symlink_to("/usr/bin/busybox")
    (root / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/sh\n", encoding="ascii")
    (root / "etc/group").write_text("root:x:0:\n", encoding="ascii")
