"""``make install-c``: a C program is compiled and run with ``pkg-config``'s flags for the installation."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from conftest import ROOT
from test_packaging import folders_in

PREFIX = "opt/goodqueue"


pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a staged installation, as a packager does it: the folder is to become a system's root."""
    stage = tmp_path_factory.mktemp("stage")
    command = ["make", "install-c", f"PREFIX=/{PREFIX}", f"DESTDIR={stage}"]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return stage


def pkg_config(stage: Path, *words: str) -> list[str]:
    pc = str(stage / PREFIX / "lib" / "pkgconfig")
    env = {"PATH": os.environ["PATH"], "PKG_CONFIG_LIBDIR": pc, "PKG_CONFIG_SYSROOT_DIR": str(stage)}
    command = ["pkg-config", *words, "goodqueue-qdisc"]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=env).stdout.split()


def version() -> str:
    (found,) = re.findall(r'^version = "(.*)"$', (ROOT / "Cargo.toml").read_text(encoding="utf-8"), re.MULTILINE)
    return str(found)


@pytest.mark.needs("pkg-config")
@pytest.mark.parametrize("static", [False, True])
def test_a_program_is_compiled_and_run_by_what_pkg_config_says(stage: Path, tmp_path: Path, static: bool) -> None:
    flags = pkg_config(stage, "--cflags", "--libs", *["--static"] * static) + ["-static"] * static
    program = tmp_path / "ack_filter"
    strict = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    source = str(ROOT / "crates" / "capi" / "tests" / "ack_filter.c")
    done = subprocess.run(["cc", *strict, source, *flags, "-o", program], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    env = {} if static else {"LD_LIBRARY_PATH": str(stage / PREFIX / "lib")}
    # The filter leaves the newest two of ten ACKs. If a byte of the header is missing, it finds no ACK superfluous.
    for size, said in [("40", "8 filtered, 2 left"), ("39", "0 filtered, 10 left"), ("0", "0 filtered, 10 left")]:
        out = subprocess.run([program, size], check=True, capture_output=True, text=True, env=env).stdout
        assert out == f"goodqueue {version()}: {said}\n"


def test_the_library_is_named_for_its_abi(stage: Path) -> None:
    """Otherwise a program that was linked with one ABI would start with another."""
    library = stage / PREFIX / "lib" / "libgoodqueue_qdisc.so"
    dynamic = subprocess.run(["readelf", "-d", library], check=True, capture_output=True, text=True).stdout
    (soname,) = re.findall(r"SONAME.*\[(.*)\]", dynamic)
    assert soname == f"libgoodqueue_qdisc.so.{version().rpartition('.')[0]}"
    assert (library.parent / soname).resolve().name == f"libgoodqueue_qdisc.so.{version()}"
    assert library.resolve() == (library.parent / soname).resolve()


@pytest.mark.needs("pkg-config")
def test_what_is_installed_is_named_by_its_final_place(stage: Path) -> None:
    """Otherwise a package would lead its users to the folder in which it was built."""
    assert pkg_config(stage, "--modversion") == [version()]
    text = (stage / PREFIX / "lib" / "pkgconfig" / "goodqueue-qdisc.pc").read_text(encoding="utf-8")
    assert f"prefix=/{PREFIX}\n" in text
    assert str(stage) not in text
    for library in ("libgoodqueue_qdisc.a", "libgoodqueue_qdisc.so"):
        assert folders_in(stage / PREFIX / "lib" / library) == set()


def test_the_headers_declare_what_the_library_has(stage: Path) -> None:
    headers = sorted((stage / PREFIX / "include").glob("*.h"))
    assert [path.name for path in headers] == ["goodqueue_bottleneck.h", "goodqueue_qdisc.h"]
    header = "".join(path.read_text(encoding="utf-8") for path in headers)
    code = re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)
    library = stage / PREFIX / "lib" / "libgoodqueue_qdisc.so"
    symbols = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    assert set(re.findall(r"\b(goodqueue_\w+)\(", code)) == {line.split()[-1] for line in symbols.splitlines()}
