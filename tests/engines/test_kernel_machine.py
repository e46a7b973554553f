"""The kernel engine's places: programs that die with us, private folders, the image, the virtual machine, this host.

Tests that need qemu and an image are marked ``kernel``. The others run anywhere.
"""

import gzip
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from shutil import which

import pytest

import needs
from conftest import Result
from goodqueue import engines
from goodqueue.engines import kernel
from goodqueue.engines.kernel import cpio, folders, host, image, linux, machine, process_build, vm, watching
from goodqueue.engines.kernel.lab.plan import Flow, Plan, Route, Shaper
from goodqueue.errors import UserError
from goodqueue.record.reading import times_of
from goodqueue.running import StoppedError
from goodqueue.scenario import resolve, to_json

SCENARIO = {
    "duration": "2s",
    "warmup": "500ms",
    "seed": 1,
    "bottleneck": {"rate": "5mbit", "qdisc": "codel"},
    "path": {"rtt": "20ms"},
    "traffic": [{"kind": "bulk"}],
}


def plan(rate_bps: int = 5_000_000, duration_s: float = 2.0) -> Plan:
    """Return a plan for any host that can build networks: no delay, a plain queue."""
    shaper = Shaper(rate_bps, "htb", [["parent", "1:1", "handle", "10:", "pfifo", "limit", "50"]])
    flow = Flow("bulk/0", "bulk", True, "down", 0.0, duration_s, 0.0, False, "cubic", 0, False, None, user=1, server=1)
    return Plan(duration_s, 0.5, 1, shaper, shaper, [Route(0.0)], [flow], to_json(resolve(SCENARIO)), None)


def never() -> threading.Event:
    return threading.Event()


def alive(mark: str) -> list[str]:
    """Return the command lines of live processes that have ``mark`` in their command line or environment."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            line = (entry / "cmdline").read_bytes()
            known = line + (entry / "environ").read_bytes()
            if mark.encode() in known and "State:\tZ" not in (entry / "status").read_text():
                found.append(line.replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue
    return found


def wait_for(condition: Callable[[], object], seconds: float = 20.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return bool(condition())


# --- programs that work for us ---------------------------------------------------------------------------------------


def test_a_programs_lines_tell_progress_and_error() -> None:
    shares: list[float] = []
    script = "echo progress 0.25; echo noise; echo error: no such qdisc; exit 3"
    ended = watching.watch(["sh", "-c", script], shares.append, never(), "engine")
    assert (shares, ended.error, ended.status) == ([0.25], "no such qdisc", 3)


def test_a_program_that_is_told_to_stop_is_dead_within_a_second(tmp_path: Path) -> None:
    mark = str(tmp_path)
    stop = threading.Event()
    threading.Timer(0.3, stop.set).start()
    began = time.monotonic()
    with pytest.raises(StoppedError):
        watching.watch(["sh", "-c", f"sleep 1000; : {mark}"], lambda _: None, stop, "engine")
    assert time.monotonic() - began < 20
    assert not alive(f": {mark}")


def test_a_program_that_says_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "STALL_S", 0.2)
    with pytest.raises(UserError, match="nothing heard"):
        watching.watch(["sleep", "1000"], lambda _: None, never(), "engine")


def test_a_program_dies_with_whoever_started_it(tmp_path: Path) -> None:
    mark = str(tmp_path)
    script = (
        "import threading; from goodqueue.engines.kernel import watching;"
        f"watching.watch(['sh', '-c', 'sleep 1000; : {mark}'], print, threading.Event(), 'engine')"
    )
    parent = subprocess.Popen([sys.executable, "-c", script])
    assert wait_for(lambda: any("sleep 1000" in line and "watching" not in line for line in alive(mark)))
    parent.kill()
    parent.wait()
    assert wait_for(lambda: not alive(mark)), alive(mark)


# --- private folders -------------------------------------------------------------------------------------------------


def test_a_folder_that_another_sweeps_away_at_that_moment_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / f"{folders.MARK}gone"
    monkeypatch.setattr(Path, "glob", lambda *_: iter([gone]))
    with folders.private(tmp_path) as folder:
        assert folder.is_dir()


def test_a_private_folder_is_gone_afterwards(tmp_path: Path) -> None:
    with folders.private(tmp_path) as folder:
        (folder / "file").write_text("x")
    assert not list(tmp_path.iterdir())


def test_the_folder_of_a_killed_process_is_removed_by_the_next_and_no_others(tmp_path: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path; from goodqueue.engines.kernel import folders\n"
        f"with folders.private(Path({str(tmp_path)!r})): print('here', flush=True); time.sleep(1000)"
    )
    killed = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    assert killed.stdout is not None
    killed.stdout.readline()
    (left,) = tmp_path.iterdir()
    stranger = tmp_path / "goodqueue-other"
    stranger.mkdir()
    with folders.private(tmp_path):
        assert left.exists(), "its process lives"
    killed.kill()
    killed.wait()
    killed.stdout.close()
    with folders.private(tmp_path):
        assert not left.exists()
    assert list(tmp_path.iterdir()) == [stranger]


def test_a_folder_that_cannot_be_made_is_refused_in_one_line() -> None:
    with pytest.raises(UserError, match="/dev/null"), folders.private(Path("/dev/null/x")):
        pass


@pytest.mark.needs("dev-full")
def test_a_full_disk_is_one_line_that_names_the_folder(tmp_path: Path) -> None:
    def fill() -> None:
        with open("/dev/full", "wb", buffering=0) as file:  # noqa: PTH123
            file.write(b"x")

    with pytest.raises(UserError, match=f"{tmp_path}: No space left"), folders.private(tmp_path):
        fill()


# --- the image -------------------------------------------------------------------------------------------------------


def test_the_same_files_give_the_same_archive_whenever_they_were_made(tmp_path: Path) -> None:
    archives = []
    for name in ("a", "b"):
        root = tmp_path / name
        (root / "bin").mkdir(parents=True)
        (root / "bin" / "tool").write_bytes(b"x" * 5)
        (root / "bin" / "tool").chmod(0o755 if name == "a" else 0o700)
        os.utime(root / "bin" / "tool", (0, 0 if name == "a" else 10**9))
        (root / "sh").symlink_to("bin/tool")
        archives.append(b"".join(cpio.tree(root)) + cpio.trailer())
    assert archives[0] == archives[1]


def test_an_archives_entries_are_aligned_and_folders_stand_before_their_files() -> None:
    archive, at, names = cpio.files({"lab/a/x.py": b"12345", "init": b""}), 0, []
    while at < len(archive):
        assert archive[at : at + 6] == b"070701", f"no entry begins at {at}"
        size, path = int(archive[at + 54 : at + 62], 16), int(archive[at + 94 : at + 102], 16)
        names.append(archive[at + 110 : at + 110 + path - 1].decode())
        at += (110 + path + 3) // 4 * 4
        at += (size + 3) // 4 * 4
    assert names == ["lab", "lab/a", "init", "lab/a/x.py", "TRAILER!!!"]


def bzimage(payload: bytes) -> bytes:
    """Return a kernel with one sector of set-up code, whose payload begins 16 bytes after that code."""
    head = bytearray(1024 + 16)
    head[0x1F1] = 1
    head[0x202:0x206] = b"HdrS"
    head[0x248:0x250] = (16).to_bytes(4, "little") + len(payload).to_bytes(4, "little")
    return bytes(head) + payload + b"more"


def test_the_kernel_is_taken_out_of_its_wrapping() -> None:
    assert linux.unpacked(bzimage(gzip.compress(b"\x7fELF kernel"))) == b"\x7fELF kernel"


def test_what_is_no_kernel_is_refused() -> None:
    with pytest.raises(UserError, match="bzImage"):
        linux.unpacked(bytes(4096))


def write_image(cache: Path, key: str, **changed: object) -> Path:
    folder = cache / key
    folder.mkdir(parents=True)
    (folder / image.KERNEL).write_bytes(b"kernel")
    (folder / image.FILES).write_bytes(b"files")
    about = {
        "recipe": image.RECIPE,
        "pyroute2": image._pyroute2_version(),
        "kernel": "6.1.0",
        "asked": None,
        "sizes": {image.KERNEL: 6, image.FILES: 5},
        "packages": [{"name": "linux-image-amd64", "version": "6.1.1-1", "file": "linux.deb", "digest": "SHA256:00"}],
    }
    (folder / image.ABOUT).write_text(json.dumps(about | changed))
    return folder


def test_only_whole_images_of_this_recipe_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    cache = image.cache()
    assert image.find() is None
    write_image(cache, "old", recipe="0")
    write_image(cache, "other", pyroute2="0.1")
    (write_image(cache, "half") / image.FILES).write_bytes(b"fi")
    (write_image(cache, "torn") / image.ABOUT).write_text('{"recipe":')
    assert image.find() is None
    os.utime(write_image(cache, "whole") / image.ABOUT, (1, 1))
    newest = write_image(cache, "newest")
    found = image.find()
    assert found is not None
    assert found.folder == newest


def test_an_image_without_apt_is_refused_by_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, goodqueue: Callable[..., Result]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    result = goodqueue("kernel", "image")
    assert result.status == 2
    accepted = "accepted: a Debian system, whose packages make the image"
    assert result.err == f"asking apt for packages …\ngoodqueue: kernel image: found no apt-get; {accepted}\n"


# --- where it runs ---------------------------------------------------------------------------------------------------


def test_a_link_too_fast_for_the_guest_is_not_run_there() -> None:
    reason = vm.why_not(plan(rate_bps=1_000_000_000))
    assert reason is not None
    assert "accepted" in reason


def test_nowhere_to_run_names_both_reasons(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(vm, "QEMU", "qemu-that-is-not-there")
    monkeypatch.setattr(process_build, "why_not", lambda release: "not built")
    monkeypatch.setattr(host, "why_not", lambda plan, stop: "no root")
    with pytest.raises(UserError) as refused:
        kernel.place(plan(), never())
    assert "qemu-that-is-not-there" in str(refused.value)
    assert vm.INSTALL in str(refused.value)
    assert "no root" in str(refused.value)


def fake_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str) -> image.Image:
    """Replace qemu by a program that runs ``script`` instead of booting."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    program = tmp_path / "qemu"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setattr(vm, "QEMU", str(program))
    write_image(image.cache(), "key")
    found = image.find()
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo '[    1.0] Kernel panic - not syncing: VFS'; exit 0", "Kernel panic"),
        ("echo 'progress 0.5'; echo 'error: tcpdump could not keep up'; exit 0", "tcpdump could not keep up"),
        ('echo "$0: could not allocate memory" >&2; exit 1', "could not allocate memory"),
        ("echo 'ModuleNotFoundError: x'; echo 'the laboratory ended with status 1'", "ModuleNotFoundError: x"),
        ("kill -9 $$", "ended"),
    ],
)
@pytest.mark.parametrize("has_booted", [False, True])
def test_a_machine_that_fails_says_why_in_one_line_and_keeps_its_console(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, has_booted: bool, script: str, reason: str
) -> None:
    found = fake_machine(monkeypatch, tmp_path, script)
    if has_booted:
        (tmp_path / "state").touch()
        monkeypatch.setattr(vm, "_booted", lambda *_: tmp_path / "state")
    with folders.private(tmp_path) as folder, pytest.raises(UserError) as refused:
        vm.run(found, plan(), folder, lambda _: None, never())
    assert reason in str(refused.value)
    assert "\n" not in str(refused.value)
    console = image.cache() / machine.CONSOLE
    assert str(console) in str(refused.value)
    assert console.exists()
    assert not list(found.folder.glob("booted-*")), "a state of a machine that has not booted"


def test_a_machine_has_memory_for_every_packet_that_the_links_can_carry() -> None:
    # 2 x 10 Mbit/s for 101 s: 2 x 83 000 full packets, as many acknowledgements, each captured twice in 116 bytes.
    assert machine.captures_mb(plan(10_000_000, 100.0)) - machine.captures_mb(plan(10_000_000, 0.0)) == pytest.approx(
        77, abs=2
    )
    assert [machine.memory_mb(plan(10_000_000, seconds)) for seconds in (0.0, 100.0, 1000.0)] == [1024, 1024, 2048]


QMP = """
import json, os, socket, sys
chardev = next(word for word in sys.argv if word.startswith("socket,id=qmp"))
peer = socket.socket(fileno=int(chardev.rpartition("=")[2]))
lines = peer.makefile("r")
peer.sendall(b'{"QMP": {}}\\n')
polls = iter(["prelaunch", "running", "guest-panicked"])
while True:
    message, descriptors, _, _ = socket.recv_fds(peer, 65536, 1)
    asked = json.loads(message)["execute"]
    if descriptors:
        os.write(descriptors[0], b"state")
    said = {"query-status": lambda: {"status": next(polls)}, "query-migrate": lambda: ANSWER}
    peer.sendall(json.dumps({"event": "RESUME"}).encode() + b"\\n")
    peer.sendall(json.dumps({"return": said.get(asked, dict)()}).encode() + b"\\n")
    if asked == "quit":
        break
"""
"""A qemu that answers as its documentation says. ANSWER is what it says of the saving."""


def talking_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, answer: dict[str, str]) -> image.Image:
    script = tmp_path / "qmp.py"
    script.write_text(QMP.replace("ANSWER", repr(answer)), encoding="utf-8")
    return fake_machine(monkeypatch, tmp_path, f'exec {sys.executable} {script} "$@"')


def test_a_machine_boots_once_for_all_runs_of_a_size(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The states of an older laboratory go: each has the size of the machine's memory in use."""
    found = talking_machine(monkeypatch, tmp_path, {"status": "completed"})
    old = found.folder / "booted-0123456789abcdef-1024"
    old.touch()
    state = vm._booted(found, 1024, never())
    assert state.read_bytes() == b"state"
    assert not old.exists()
    made = state.stat().st_mtime_ns
    other = vm._booted(found, 2048, never())
    assert vm._booted(found, 1024, never()) == state
    assert state.stat().st_mtime_ns == made
    assert sorted(found.folder.glob("booted-*")) == sorted([state, other])


def test_a_state_that_cannot_be_saved_is_one_line_and_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    failed = {"status": "failed", "error-desc": "Unable to write to file: No space left on device"}
    found = talking_machine(monkeypatch, tmp_path, failed)
    with pytest.raises(UserError, match="did not save the machine's state: Unable to write to file: No space left"):
        vm._booted(found, 1024, never())
    assert {path.name for path in found.folder.iterdir()} == {image.KERNEL, image.FILES, image.ABOUT}


# --- Linux itself ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def this_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Skip the test unless this host can run a plain queue. If it only lacks netem, its wires take no time."""
    with pytest.MonkeyPatch.context() as patch:
        why = host.why_not(plan(), never())
        if why is not None and "netem" in why:
            shim = tmp_path_factory.mktemp("without-netem") / "tc"
            shim.write_text(
                f'#!/bin/sh\n[ "$1" = -batch ] || exec {which("tc")} "$@"\ngrep -v netem | {which("tc")} -batch -\n'
            )
            shim.chmod(0o755)
            patch.setenv("PATH", str(shim.parent), prepend=os.pathsep)
            why = host.why_not(plan(), never())
        if why is None:
            yield
            return
        pytest.skip(needs.reason("host", why))


@pytest.mark.long
@pytest.mark.kernel
@pytest.mark.needs("qemu", "image")
def test_two_runs_in_virtual_time_agree_and_another_seed_differs() -> None:
    scenarios = [resolve(SCENARIO | {"seed": seed}) for seed in (1, 1, 2)]
    first, again, other = map(json.loads, engines.run_many("kernel-qemu", scenarios))
    assert (first["engine"], first["kernel"]["where"], first["kernel"]["clock"]) == ("kernel-qemu", "vm", "virtual")
    assert first["queues"]["down"]["utilisation_percent"] > 80
    mean = first["queues"]["down"]["delay_ms"]["mean"]
    assert again["queues"]["down"]["delay_ms"]["mean"] == pytest.approx(mean, rel=0.02)
    assert other["queues"]["down"]["delay_ms"]["mean"] != mean, "the seed does not reach the guest"


@pytest.mark.kernel
@pytest.mark.needs("qemu", "image")
def test_applications_take_as_long_on_linux_as_in_the_simulator(capsys: pytest.CaptureFixture[str]) -> None:
    """One after the other, on a path without losses. The kernel's processes take some microseconds themselves."""
    traffic = [
        {"kind": "transfer", "size": "100kB"},
        {"kind": "transfer", "name": "up", "size": "100kB", "direction": "up", "start": "1s"},
        {"kind": "transfer", "name": "small", "size": "1kB", "repeat": 5, "interval": "50ms", "start": "2s"},
        {"kind": "rr", "request": "1kB", "response": "1kB", "think": "20ms", "repeat": 10, "start": "3s"},
        {"kind": "stream", "rate": "500kbit", "start": "4s"},
        {"kind": "page", "request": "1B", "start": "5s", "repeat": 2, "interval": "100ms"},
        {"kind": "voip", "direction": "up", "start": "6s"},
        {"kind": "ping", "start": "6510ms"},
        {"kind": "tmix", "vectors": [{"start_us": 0, "sends": [[">", 300, 0], ["<", 90000, 0]]}], "start": "7s"},
        {"kind": "media", "max_rate": "1mbit", "start": "8s"},
    ]
    path = {"bottleneck": {"rate": "5mbit", "qdisc": "pfifo limit 1000"}, "duration": "12s", "warmup": "0s"}
    asked = resolve(SCENARIO | path | {"traffic": traffic, "series": {"interval": "50ms", "tcp": True}})
    records = {name: json.loads(engines.run_many(name, [asked])[0]) for name in ("sim", "kernel")}
    apps = zip(records["sim"]["apps"], records["kernel"]["apps"], strict=True)
    for simulated, measured in apps:
        ours, linux = times_of(simulated), times_of(measured)
        with capsys.disabled():
            print(f"\n{simulated['name']}: sim {ours['mean']} ms, kernel {linux['mean']} ms", end="")
        assert linux["mean"] == pytest.approx(ours["mean"], rel=0.03), simulated["name"]
        assert simulated.keys() == measured.keys()
        for count in {"count", "completed", "sent", "received"} & simulated.keys():
            assert measured[count] == pytest.approx(simulated[count], abs=1)  # type: ignore[literal-required]
    for simulated, measured in zip(records["sim"]["flows"], records["kernel"]["flows"], strict=True):
        if simulated["kind"] in ("voip", "media"):
            assert measured["bytes_sent"] is simulated["bytes_sent"] is None
            continue
        assert measured["bytes_sent"] == pytest.approx(simulated["bytes_sent"], rel=0.05), simulated["name"]
        assert measured["bytes_retrans"] == simulated["bytes_retrans"] == 0
        assert (measured["completion_ms"] is None) == (simulated["completion_ms"] is None)
    rtts = {name: records[name]["series"]["flows"][0]["tcp"]["rtt_ms"] for name in ("sim", "kernel")}
    # Its window fills the queue: 20, 31, 48 and 76 ms, as long as its connection lasts.
    assert rtts["kernel"][:4] == pytest.approx(rtts["sim"][:4], rel=0.03)
    assert rtts["kernel"][4:] == rtts["sim"][4:] == [None] * (len(rtts["sim"]) - 4), "its connection is over"
    ours, linux = (records[name]["series"] for name in ("sim", "kernel"))
    for kind, times in (("pings", "rtt_ms"), ("calls", "delay_ms"), ("pages", "load_ms")):
        (simulated,), (measured,) = ours[kind], linux[kind]
        assert measured.keys() == simulated.keys()
        assert len(measured[times]) == pytest.approx(len(simulated[times]), abs=1)
        assert measured[times] == pytest.approx(simulated[times][: len(measured[times])], rel=0.03)
    simulated, call = (
        next(app for app in records[name]["apps"] if app["kind"] == "voip") for name in ("sim", "kernel")
    )
    assert call["loss_percent"] == 0
    assert call["mos"] == pytest.approx(simulated["mos"], abs=0.01)
    assert call["jitter_ms"] < 0.1, "nothing else is on the way but a ping"


@pytest.mark.kernel
@pytest.mark.needs("qemu", "image")
def test_an_empty_path_takes_its_rtt_and_each_packets_own_time_on_both_wires() -> None:
    """At 5 Mbit/s 66 bytes take 0.1056 ms and 1514 take 2.4224 ms, each way. A shaper alone would add no time."""
    sizes = {"small": 66, "large": 1514}
    traffic = [
        {"kind": "ping", "name": name, "packet_size": size, "interval": "50ms", "start": f"{start}ms"}
        for start, (name, size) in zip((1, 26), sizes.items(), strict=True)
    ]
    (record,) = map(json.loads, engines.run_many("kernel", [resolve(SCENARIO | {"traffic": traffic})]))
    for app, wires_ms in zip(record["apps"], (2 * 0.1056, 2 * 2.4224), strict=True):
        assert 20 + wires_ms <= app["rtt_ms"]["min"], app["name"]
        assert app["rtt_ms"]["max"] <= 20 + wires_ms + 0.2, f"{app['name']}: the nodes between take 0.05 ms"


@pytest.mark.kernel
@pytest.mark.needs("host")
@pytest.mark.usefixtures("this_host")
def test_this_host_runs_a_plan_and_leaves_its_results(tmp_path: Path) -> None:
    with folders.private(tmp_path) as folder:
        host.run(plan(), folder, lambda _: None, never())
        assert {path.name for path in (folder / "results").iterdir()} == {"lab.json", "r-cli.pcap", "r-wan.pcap"}


@pytest.mark.needs("host")
@pytest.mark.usefixtures("this_host")
def test_a_qdisc_that_this_host_has_not_is_named() -> None:
    shaper = Shaper(5_000_000, "htb", [["parent", "1:1", "handle", "10:", "nonesuch"]])
    reason = host.why_not(replace(plan(), down=shaper), never())
    assert reason is not None
    assert "nonesuch" in reason


def interfaces() -> list[str]:
    return sorted(path.name for path in [*Path("/sys/class/net").iterdir(), *Path("/run").glob("netns/*")])


def killed_at_random(tmp_path: Path, code: str, span_s: float) -> None:
    """Start ``code`` ten times, each time kill -9 it within ``span_s``, and check that nothing is left behind."""
    moments = random.Random(1)
    before = interfaces()
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    for _ in range(10):
        process = subprocess.Popen([sys.executable, "-c", code], env=environment, start_new_session=True)
        time.sleep(moments.uniform(0.1, span_s))
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert wait_for(lambda: not alive(str(tmp_path))), alive(str(tmp_path))
    # A namespace without a name vanishes with its last process, and so do its interfaces and their qdiscs.
    assert interfaces() == before
    with folders.private(tmp_path):
        pass
    assert not list(tmp_path.iterdir()), "the next run removes the folders of killed ones"


CODE = """
import sys, threading
sys.path[:0] = [{tests!r}, {tests!r} + '/engines']
from test_kernel_machine import plan
from goodqueue.engines.kernel import folders, host, image, vm
with folders.private() as folder:
    {call}
"""


@pytest.mark.long
@pytest.mark.kernel
@pytest.mark.needs("host")
@pytest.mark.usefixtures("this_host")
def test_killed_at_ten_random_moments_a_run_on_this_host_leaves_nothing(tmp_path: Path) -> None:
    call = "host.run(plan(duration_s=100.0), folder, lambda _: None, threading.Event())"
    killed_at_random(tmp_path, CODE.format(tests=str(Path(__file__).parents[1]), call=call), 3.0)


@pytest.mark.long
@pytest.mark.kernel
@pytest.mark.needs("qemu", "image")
def test_killed_at_ten_random_moments_a_virtual_machine_leaves_nothing(tmp_path: Path) -> None:
    call = "vm.run(image.find(), plan(duration_s=1000.0), folder, lambda _: None, threading.Event())"
    killed_at_random(tmp_path, CODE.format(tests=str(Path(__file__).parents[1]), call=call), 3.0)
