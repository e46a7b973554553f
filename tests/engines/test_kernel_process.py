"""Linux as an ordinary process: its name, its build, its core, and the same bytes twice. Only the last needs Linux."""

import json
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NoReturn

import pytest

from goodqueue import engines, scenario
from goodqueue.capture import Trace
from goodqueue.engines import identity, kernel, releases
from goodqueue.engines.kernel import (
    cpio,
    doctor,
    folders,
    image,
    machine,
    making,
    packages,
    process,
    process_build,
    process_changes,
    process_files,
    vm,
)
from goodqueue.engines.kernel.lab import run
from goodqueue.engines.kernel.lab.clock import Clock
from goodqueue.engines.kernel.lab.errors import LabError
from goodqueue.engines.kernel.lab.plan import Plan
from goodqueue.errors import UserError
from goodqueue.scenario import resolve
from test_kernel_machine import SCENARIO, never, plan, write_image


def program(folder: Path, name: str, script: str) -> Path:
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)
    return folder / name


@pytest.fixture
def system(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> image.Image:
    """Return an image of Linux 6.1 on a machine that could build it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    image._first_wanted.cache_clear()
    write_image(image.cache(), "own", kernel="6.1.0-56-amd64", sizes={image.KERNEL: 6, image.FILES: 0})
    monkeypatch.setattr(process_build.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(process_build, "_traceable", lambda: True)
    monkeypatch.setattr(process_build, "_fixed", lambda: True)
    monkeypatch.setattr(process_build.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(process_files.image, "compile_python", compile_python)
    (image.cache() / "own" / image.FILES).write_bytes(b"")
    found = image.find()
    assert found is not None
    return found


def compile_python(root: Path, folder: Path) -> None:
    for path in folder.rglob("*.py"):
        path.rename(path.with_suffix(".pyc"))


# --- names -----------------------------------------------------------------------------------------------------------


def test_the_machine_is_a_part_of_the_engines_name() -> None:
    assert engines.parse("sim,kernel", linux="6.1", machine_name="process") == ("sim", "kernel-6.1-process")
    assert engines.parse("kernel-qemu,kernel-process") == ("kernel-qemu", "kernel-process")
    assert (engines.kind("kernel-process"), engines.release("kernel-process")) == ("kernel", None)
    assert (engines.release("kernel-6.1-process"), engines.machine("kernel-6.1-process")) == ("6.1", "process")
    assert (engines.machine("kernel-6.1"), engines.machine("kernel"), engines.machine("sim")) == (None, None, None)


@pytest.mark.parametrize(
    ("engine", "machine_name", "said"),
    [
        ("kernel", "kvm", '--machine: found "kvm"; accepted: process, qemu'),
        ("sim", "qemu", "--machine: found with --engine sim; accepted: with --engine kernel"),
        ("live-process", None, '--engine: found "live-process"; accepted: sim, kernel, live, or several, as '),
        ("kernel-process-6.1", None, '--engine: found "kernel-process-6.1"; accepted: such as kernel-6.1-process'),
        ("kernel-6.1-kvm-qemu", None, '--engine: found "kernel-6.1-kvm-qemu"; accepted: such as kernel-6.1-process'),
    ],
)
def test_a_machine_that_is_none_is_refused_by_name(engine: str, machine_name: str | None, said: str) -> None:
    with pytest.raises(UserError) as refused:
        engines.parse(engine, machine_name=machine_name)
    assert str(refused.value).startswith(said)


def test_the_machine_is_in_the_runs_key(system: image.Image, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vm, "version", lambda: "7.2.22")
    made = {identity.maker(engine, resolve(SCENARIO)).build for engine in ("kernel-process", "kernel-qemu")}
    assert len(made) == 2, "a stored run of qemu would answer for one of the process"
    monkeypatch.setattr(process_build, "recipe", lambda release: "another")
    assert identity.maker("kernel-process", resolve(SCENARIO)).build not in made, "another Linux"


# --- the build -------------------------------------------------------------------------------------------------------


def test_what_is_missing_is_said_before_a_run(system: image.Image, monkeypatch: pytest.MonkeyPatch) -> None:
    said = "machine process: not built; accepted: goodqueue kernel image --kernel 6.1 --machine process"
    with pytest.raises(UserError, match=said):
        kernel.place(plan(), never(), "6.1", "process")
    assert doctor._process("6.1").found.startswith("not built; goodqueue kernel image --kernel 6.1 --machine process")
    monkeypatch.setattr(process_build.shutil, "which", lambda name: None if name == "flex" else f"/usr/bin/{name}")
    said = "found no flex to build Linux; accepted: on Debian, as root: apt-get install"
    assert doctor._process("6.1").found.startswith(said)
    with pytest.raises(UserError, match=f"Linux 6.1 as a process: {said}"):
        process_build.build(system)
    built = process_build.program(system)
    built.parent.mkdir()
    built.touch()
    for machine_name in (None, "process"):
        placed = kernel.place(plan(rate_bps=1_000_000_000), never(), None, machine_name)
        assert placed == "process", "no rate is too high, and where it is built it is the default"
    assert making.build(resolve(SCENARIO)) == making.build(resolve(SCENARIO), machine="process")
    assert doctor._process("6.1").good
    monkeypatch.setattr(process_build, "_traceable", lambda: False)
    assert "forbids ptrace" in doctor._process("6.1").found
    monkeypatch.setattr(process_build, "_traceable", lambda: True)
    monkeypatch.setattr(process_build, "_fixed", lambda: False)
    assert "forbids setarch x86_64 --addr-no-randomize; accepted: one" in doctor._process("6.1").found
    assert kernel.place(plan(), never()) in ("vm", "host"), "qemu serves"


@pytest.mark.parametrize(("release", "is_concerned"), [("6.1", True), ("6.12", True), ("7.3", False)])
def test_only_releases_that_abort_on_a_processor_with_amx_are_changed_for_it(release: str, is_concerned: bool) -> None:
    files = {change.file for change in process_changes.CHANGES if change.concerns(release)}
    assert ("arch/x86/um/os-Linux/registers.c" in files, "arch/x86/um/vdso/um_vdso.c" in files) == (
        is_concerned,
        not is_concerned,
    )


def test_a_source_that_has_not_the_text_to_change_is_refused(system: image.Image, tmp_path: Path) -> None:
    change = process_changes.Change("Kconfig", "default 100\n", "default 250\n")
    (tmp_path / "Kconfig").write_text("config HZ\n\tdefault 100\n")
    process_build._apply(change, tmp_path, system)
    assert (tmp_path / "Kconfig").read_text() == "config HZ\n\tdefault 250\n"
    with pytest.raises(UserError, match="as a process: Kconfig: found 0 times 'default 100'; accepted: once"):
        process_build._apply(change, tmp_path, system)


def test_a_package_that_lies_in_the_users_folder_is_not_left_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """apt 2.6.1 prints nothing about such a package (`apt-get download --print-uris`)."""
    (tmp_path / "programs").mkdir()
    line = "'http://mirror.test/linux_1_all.deb' linux_1_all.deb 7 SHA256:00"
    program(tmp_path / "programs", "apt-get", f'[ -e linux_1_all.deb ] || echo "{line}"')
    monkeypatch.setenv("PATH", str(tmp_path / "programs"), prepend=os.pathsep)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "linux_1_all.deb").touch()
    assert packages.exactly("linux", "1").digest == "SHA256:00"


MAKE = """
for word; do case $word in O=*) mkdir -p "${word#O=}"; exit;; -C) next=1;; *) [ "$next" ] && folder=$word; next=;; esac
done
echo "  CC      init/main.o"; echo once >>"$LOG"; WHEN_BUILDING; echo program >"$folder/linux"
"""


@pytest.fixture
def makes(system: image.Image, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], Callable[[], Path]]:
    """Return a function that returns a build whose make runs a line of shell."""

    def fetched(_: image.Image, work: Path, tell: Callable[[str], None]) -> Path:
        for change in process_changes.CHANGES:
            path = work / "source" / change.file
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a", encoding="utf-8") as file:
                file.write(change.old if change.concerns("6.1") else "")
        return work / "source"

    def prepare(line: str) -> Callable[[], Path]:
        folder = tmp_path / "programs"
        folder.mkdir()
        program(folder, "make", MAKE.replace("WHEN_BUILDING", line))
        monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
        monkeypatch.setenv("LOG", str(tmp_path / "log"))
        monkeypatch.setattr(process_build, "_fetched", fetched)
        monkeypatch.setattr(packages, "missing_program", lambda: None)
        return lambda: process_build.build(system)

    return prepare


def test_of_two_builds_at_once_one_waits_for_the_other(
    makes: Callable[[str], Callable[[], Path]], tmp_path: Path
) -> None:
    build = makes("sleep 0.3")
    with ThreadPoolExecutor(2) as pool:
        first, second = (pool.submit(build) for _ in range(2))
        assert first.result() == second.result()
    assert first.result().read_text() == "program\n"
    assert (tmp_path / "log").read_text() == "once\n", "Linux was compiled twice"


def test_a_build_that_fails_says_why_and_leaves_nothing(makes: Callable[[str], Callable[[], Path]]) -> None:
    build = makes("echo 'init/main.c:1:2: error: no such thing'; echo 'make: *** [x] Error 1'; exit 2")
    with pytest.raises(UserError) as refused:
        build()
    assert str(refused.value).startswith(
        "Linux 6.1 as a process: make: init/main.c:1:2: error: no such thing; accepted"
    )
    left = [path for path in image.cache().rglob("*") if path.is_file() and path.parent.name != "own"]
    assert not left
    assert not list(image.cache().glob(f"{folders.MARK}*"))


def test_a_stopped_build_ends_its_compilers(system: image.Image, makes: Any, tmp_path: Path) -> None:
    makes(f"sleep 1000 & echo $! >{tmp_path}/compiler; wait")
    stop = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        building = pool.submit(process_build.build, system, lambda _: None, stop)
        end = time.monotonic() + 20
        compiler = tmp_path / "compiler"
        while not (compiler.exists() and compiler.read_text().endswith("\n")) and time.monotonic() < end:
            time.sleep(0.02)
        stop.set()
        assert type(building.exception()).__name__ == "StoppedError"
    state = ["ps", "-o", "stat=", compiler.read_text().strip()]
    # It was killed, and dies as soon as it has a processor.
    while subprocess.run(state, check=False, capture_output=True, text=True).stdout.strip()[:1] not in ("", "Z"):
        assert time.monotonic() < end, "a compiler outlives its build"
        time.sleep(0.02)


# --- its files -------------------------------------------------------------------------------------------------------


def test_the_root_has_bytecode_and_nothing_needless(system: image.Image, tmp_path: Path) -> None:
    image_root = tmp_path / "image"
    for name in ("usr/lib/modules/6.1/veth.ko", "usr/lib/python3.13/pyroute2/iproute.pyc", "usr/lib/python3.13/os.pyc"):
        (image_root / name).parent.mkdir(parents=True, exist_ok=True)
        (image_root / name).write_text(name)
    (image_root / "bin").symlink_to("usr/bin")
    system.initramfs.write_bytes(b"".join(cpio.tree(image_root)) + cpio.trailer())
    with process_files.root(system, never()) as root:
        names = {path.relative_to(root).as_posix() for path in root.rglob("*.*")}
        assert {"lab/first.pyc", "usr/lib/python3.13/os.pyc", "lab/goodqueue/engines/kernel/lab/run.pyc"} <= names
        assert not [name for name in names if "veth" in name or "pyroute2" in name or name.endswith(".py")]
        assert (root / process_files.FIRST[1:]).exists()
        assert all((root / name).is_dir() for name in ("proc", "sys", "dev", "host", "out"))
        assert (root / "bin").readlink() == Path("usr/bin")


def test_another_version_keeps_the_root_of_a_run_and_removes_one_that_nobody_uses(
    system: image.Image, monkeypatch: pytest.MonkeyPatch
) -> None:
    roots = []
    with process_files.root(system, never()) as mine:
        for version in ("another", "a third"):
            monkeypatch.setattr(process_files.making, "laboratory", lambda version=version: version)
            with process_files.root(system, never()) as root:
                roots.append(root)
        assert (mine / process_files.FIRST[1:]).exists()
    assert not roots[0].exists()
    assert roots[1].exists()


# --- the run ---------------------------------------------------------------------------------------------------------


WORDS = """printf '%s\\n' "$@" >{folder}/words
ls >{folder}/files
cat /proc/self/personality >{folder}/personality
echo done"""


def test_no_word_of_the_command_line_tells_where_or_when_it_runs(system: image.Image, tmp_path: Path) -> None:
    """Linux's random numbers depend on each word. A folder's name once changed ports and sequence numbers."""
    lines = []
    for name in ("one", "other"):
        linux = program(tmp_path, name, WORDS.format(folder=tmp_path))
        with folders.private(tmp_path) as folder:
            process.run(system, linux, plan(), folder, lambda _: None, never())
        lines.append((tmp_path / "words").read_text())
        assert {"plan.json", "results", "root"} <= set((tmp_path / "files").read_text().split())
    assert lines[0] == lines[1]
    assert str(tmp_path) not in lines[0]
    assert f"SEED={machine.seed(plan())}\n" in lines[0]
    assert "rootflags=/root\n" in lines[0]
    fixed = int((tmp_path / "personality").read_text(), 16) & 0x0040000
    assert fixed, "the host draws addresses, and with them the size of Linux's memory"


def test_a_machine_that_fails_says_why_in_one_line(system: image.Image, tmp_path: Path) -> None:
    linux = program(tmp_path, "linux", "echo 'Kernel panic - not syncing: ptrace set fp regs failed, errno = 14'")
    with folders.private(tmp_path) as folder, pytest.raises(UserError) as refused:
        process.run(system, linux, plan(), folder, lambda _: None, never())
    assert str(refused.value).startswith("kernel engine: the machine ended: Kernel panic - not syncing: ptrace set fp")
    assert str(image.cache() / machine.CONSOLE) in str(refused.value)


def test_runs_at_once_have_different_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {1001, 1002})
    with process.core() as first, process.core() as second, process.core() as third:
        assert (first, second) == (1001, 1002)
        assert third in (1001, 1002), "more runs than cores share them"
    with process.core() as again:
        assert again == 1001, "a core that a run has left"


def test_tc_runs_only_once_the_timers_are_precise(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine that has just booted ticks in 4 ms, and the default burst of each htb class would be 4 ms longer."""
    calls: list[str] = []

    def build(plan: Plan, heard: list[str], clock: Clock) -> NoReturn:
        raise LabError(f"{calls} before tc")

    monkeypatch.setattr(run, "_await_precise_timers", lambda: calls.append("timers"))
    monkeypatch.setattr(run, "build", build)
    with pytest.raises(LabError, match=r"\['timers'\] before tc"):
        run.run(plan(), tmp_path, lambda _: None)


BUILT = next((release for release in (None, *releases.RELEASES) if process_build.why_not(release) is None), None)
"""A release that is built here."""

EXAMPLES = (
    "ack-filter", "asymmetric", "cbr-step", "first", "hidden-buffer", "household", "lossy-wire", "media",
    "one-flow-codel", "packmime", "rate-step", "rpm", "rrul", "rrul-be", "rtt-fairness", "short-flows", "street",
    "subscribers", "two-bottlenecks", "voip-and-web", "web-users",
)  # fmt: skip
_SHORT = {"duration": "8s", "warmup": "2s"}
_WHOLE = ("cbr-step", "media", "rate-step")
"""What happens in these is later than that, so they keep their own times."""


def twice(asked: Any, folder: Path) -> str:
    """Return the record of two runs at once, whose captures and records are the same bytes."""

    def once(name: str) -> tuple[str, bytes]:
        trace = Trace(str(folder / name), ("down-in", "up-out"))
        record = kernel.run(asked, lambda _: None, never(), trace, BUILT, "process")
        return record, (folder / name).read_bytes()

    with ThreadPoolExecutor(2) as pool:
        first, again = pool.map(once, ("first", "again"))
    assert first == again
    return first[0]


@pytest.mark.kernel
@pytest.mark.needs("process")
def test_two_runs_at_once_have_the_same_bytes(tmp_path: Path) -> None:
    """Record and captures, to the nanosecond. Another seed has others: the seed reaches Linux's random numbers."""
    record = twice(resolve(SCENARIO), tmp_path)
    assert json.loads(record)["kernel"]["where"] == "process"
    (tmp_path / "other").mkdir()
    twice(resolve(SCENARIO | {"seed": 2}), tmp_path / "other")
    assert (tmp_path / "first").read_bytes() != (tmp_path / "other/first").read_bytes()


@pytest.fixture
def load() -> Iterator[None]:
    """Keep each core busy with three other programs."""
    busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(3 * len(os.sched_getaffinity(0)))]
    yield
    for program in busy:
        program.kill()
        program.wait()


@pytest.mark.long
@pytest.mark.kernel
@pytest.mark.needs("process")
@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_has_the_same_bytes_twice_under_load(name: str, tmp_path: Path, load: None) -> None:
    asked = scenario.load(Path(__file__).parents[2] / "examples" / f"{name}.toml")
    if name not in _WHOLE:
        asked |= _SHORT
    twice(resolve(asked), tmp_path)
