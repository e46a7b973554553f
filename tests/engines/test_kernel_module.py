"""Modules that Debian leaves out: what is fetched, what is said if one cannot be built, and DualPI2 on Linux itself."""

import io
import json
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import Result
from goodqueue import scenario
from goodqueue.engines.kernel import apt, doctor, image, module, packages, planning, vm
from goodqueue.errors import UserError
from test_kernel_machine import write_image

KERNEL = "7.3.4+deb13-amd64"
VERSION = "7.3.4-1~bpo13+1"


@pytest.fixture
def system(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> image.Image:
    """Return an image of Linux 7.3 without a module, on a machine with every program."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    write_image(image.cache(), "newest", kernel=KERNEL, asked="7.3")
    about = image.cache() / "newest" / image.ABOUT
    linux = {"name": "linux-image-amd64", "version": VERSION, "file": "linux.deb", "digest": "SHA256:00"}
    about.write_text(json.dumps(json.loads(about.read_text()) | {"packages": [linux]}))
    monkeypatch.setattr(module.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(packages, "missing_program", lambda: None)
    monkeypatch.setattr(apt, "configured", lambda release, folder: folder / f"apt-{release}")
    found = image.find("7.3")
    assert found is not None
    return found


def offers(version: str) -> Callable[..., list[packages.Package]]:
    names = ("linux-source-7.3", f"linux-headers-{KERNEL}", "libc6")
    made = [packages.Package(name, version, f"{name}.deb", "SHA256:00") for name in names]
    return lambda apt, wanted: made


def resolved(qdisc: str = "dualpi2", **changes: Any) -> dict[str, Any]:
    asked = {
        "duration": "12s",
        "warmup": "4s",
        "bottleneck": {"rate": "10mbit", "qdisc": qdisc, "up": {"rate": "10mbit", "qdisc": "pfifo"}},
        "path": {"rtt": "20ms"},
        "linux": {"release": "7.3"},
        "traffic": [{"kind": "bulk"}],
    }
    return scenario.resolve(asked | changes)


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ({}, ["dualpi2"]),
        ({"qdisc": "tbf rate 5mbit child dualpi2"}, ["dualpi2"]),
        ({"qdisc": "codel"}, []),
        ({"qdisc": "codel", "hop": [{"kind": "link", "name": "a", "rate": "9mbit", "qdisc": "dualpi2"}]}, ["dualpi2"]),
        ({"qdisc": "codel", "host": [{"name": "a", "rate": "9mbit", "qdisc": "dualpi2", "tso": False}]}, ["dualpi2"]),
    ],
)
def test_a_module_is_wanted_wherever_a_line_of_the_plan_names_it(changes: dict[str, Any], names: list[str]) -> None:
    """Without it the run would fail: Specified qdisc kind is unknown."""
    if "hop" in changes:
        changes["hop"][0] |= {"direction": "down", "after": "bottleneck"}
    if "host" in changes:
        changes["traffic"] = [{"kind": "bulk", "direction": "up", "host": "a"}]
    assert module.wanted(planning.plan(resolved(**changes), "7.3")) == names


def test_what_is_missing_is_said_before_a_run(system: image.Image, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = planning.plan(resolved(), "7.3")
    monkeypatch.setattr(vm, "QEMU", "sh")
    assert vm.why_not(plan, "7.3") is None
    monkeypatch.setattr(module.shutil, "which", lambda name: None if name == "gcc" else f"/usr/bin/{name}")
    said = "found no gcc to build the module dualpi2; accepted: on Debian, as root: apt-get install"
    assert (vm.why_not(plan, "7.3") or "").startswith(said)
    assert vm.why_not(planning.plan(resolved("codel"), "7.3"), "7.3") is None, "others run without a compiler"
    with pytest.raises(UserError, match=f"module dualpi2: {said}"):
        module.build(system, "dualpi2")
    assert doctor._module("dualpi2").found.startswith(said)
    built = module.file(system, "dualpi2")
    assert built.parent.name == f"modules-{KERNEL}-{VERSION}", "the module of one kernel would be loaded into another"
    built.parent.mkdir()
    built.touch()
    assert vm.why_not(plan, "7.3") is None
    assert doctor._module("dualpi2").good
    assert module.build(system, "dualpi2") == built


def test_the_source_of_another_version_is_refused(system: image.Image, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "resolve", offers("7.3.9-1"))
    said = f"module dualpi2: found linux-source-7.3 7.3.9-1 and an image with {VERSION}; accepted: a newer image: "
    with pytest.raises(UserError) as refused:
        module.build(system, "dualpi2")
    assert str(refused.value) == f"{said}goodqueue kernel image --kernel 7.3"


def test_without_network_one_line_says_so(system: image.Image, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object) -> None:
        raise UserError("kernel 7.3", "apt-get update: Failed to fetch it; accepted: a mirror of Debian with sid")

    monkeypatch.setattr(apt, "configured", failing)
    with pytest.raises(UserError, match=r"module dualpi2: kernel 7.3: apt-get update: Failed to fetch it; accepted: a"):
        module.build(system, "dualpi2")


def nested(name: str, content: bytes) -> Iterator[tuple[str, tarfile.TarInfo, tarfile.TarFile]]:
    """Yield the members of a package with the whole source, of which ``name`` is one file."""
    inner, outer = io.BytesIO(), io.BytesIO()
    for target, mode, entry, data in ((inner, "w:xz", name, content), (outer, "w", "usr/src/linux.tar.xz", None)):
        with tarfile.open(fileobj=target, mode=mode) as tree:  # type: ignore[call-overload]
            written = inner.getvalue() if data is None else data
            about = tarfile.TarInfo(entry)
            about.size = len(written)
            tree.addfile(about, io.BytesIO(written))
    outer.seek(0)
    with tarfile.open(fileobj=outer, mode="r|") as tree:
        for member in tree:
            yield member.name, member, tree


@pytest.mark.parametrize("compiler", ["exit 1", 'echo "x.c:1: error: no such type" >&2; exit 2'])
def test_a_compiler_that_fails_leaves_no_module(
    system: image.Image, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, compiler: str
) -> None:
    (tmp_path / "make").write_text(f"#!/bin/sh\n{compiler}\n")
    (tmp_path / "make").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    monkeypatch.setattr(packages, "resolve", offers(VERSION))

    def download(chosen: list[packages.Package], folder: Path, apt: Path | None = None) -> None:
        for one in chosen:
            (folder / one.file).touch()
        (folder / "root/usr/src/linux-headers-7.3.4-common").mkdir(parents=True)

    monkeypatch.setattr(packages, "download", download)
    monkeypatch.setattr(packages, "output", lambda command: "")
    monkeypatch.setattr(packages, "members", lambda package: nested("linux/net/sched/sch_dualpi2.c", b"int x;"))
    with pytest.raises(UserError, match=r"module dualpi2: make: (x.c:1: error: no such type|exit status 1); accepted"):
        module.build(system, "dualpi2")
    assert not module.file(system, "dualpi2").exists()


def test_one_file_is_taken_out_of_the_whole_source(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    members = {"linux/net/sched/sch_dualpi2.c": b"int x;"}
    monkeypatch.setattr(packages, "members", lambda package: nested(*next(iter(members.items()))))
    module._source(Path("source.deb"), tmp_path / "sch_dualpi2.c")
    assert (tmp_path / "sch_dualpi2.c").read_bytes() == b"int x;"
    with pytest.raises(UserError, match=r"found no sch_other\.c in source"):
        module._source(Path("source.deb"), tmp_path / "sch_other.c")


def test_build_programs_run_with_their_own_libraries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Debian's programs of a newer release would not start: GLIBC_2.38 not found. They start one another by name."""
    tools = tmp_path / "usr/lib/linux-kbuild-7.3/scripts"
    tools.mkdir(parents=True)
    (tools / "fixdep").write_bytes(b"\x7fELF, a program")
    (tools / "fixdep.sh").write_bytes(b"#!/bin/sh\n")
    monkeypatch.setattr(image, "loader", lambda root: ["echo", "with own libraries"])
    module._use_own_libraries(tmp_path)
    said = subprocess.run([tools / "fixdep", "a b"], check=True, capture_output=True, text=True).stdout
    assert said.split("\n") == [f"with own libraries --argv0 {tools}/fixdep {tools}/fixdep.elf a b", ""]
    assert (tools / "fixdep.sh").read_bytes() == b"#!/bin/sh\n"


@pytest.mark.parametrize(
    ("options", "found"),
    [(["--kernel", "7.3", "--with", "cake"], '"cake" with --kernel 7.3'), (["--with", "dualpi2"], '"dualpi2" with no')],
)
def test_a_module_that_cannot_be_is_refused(goodqueue: Callable[..., Result], options: list[str], found: str) -> None:
    result = goodqueue("kernel", "image", *options)
    assert result.status == 2
    assert result.err.startswith(f"goodqueue: --with: found {found}")
    assert result.err.rstrip().endswith("; accepted: dualpi2, with --kernel 7.3")
