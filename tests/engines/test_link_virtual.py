"""`goodqueue link --virtual`: what is refused, what the host hands over and on. Only the last tests need Linux."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import goodqueue as gq
from conftest import Result
from goodqueue.capture import Trace
from goodqueue.engines.kernel import process, process_build
from goodqueue.engines.live import ordering
from goodqueue.engines.live.ordering import Task
from goodqueue.engines.live.virtual import job, machine
from goodqueue.engines.live.virtual.job import Job
from goodqueue.errors import UserError
from linked import until

PING = ("--virtual", "--rate", "10mbit", "--rtt", "50ms", "--", "ping", "-n", "-c", "3", "server")


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_build, "why_not", lambda _: None)


# --- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--live", *PING), "--live: found with --virtual; accepted: without, as whoever looks has another time"),
        (("--metrics", "127.0.0.1:0", *PING), "--metrics: found with --virtual; accepted: without, as whoever looks"),
        (("--kernel", "7.3", *PING[1:]), "--kernel: found without --virtual; accepted: with it"),
    ],
)
def test_what_needs_the_other_time_is_refused(
    goodqueue: Callable[..., Result], words: tuple[str, ...], said: str
) -> None:
    done = goodqueue("link", *words)
    assert (done.status, done.err.startswith(f"goodqueue: {said}"), done.err.count("\n")) == (2, True, 1), done.err


@pytest.mark.usefixtures("built")
def test_a_link_in_virtual_time_is_not_within_another_one(
    goodqueue: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ordering.DEPTH, "1")
    assert goodqueue("link", *PING) == Result(
        2, "", "goodqueue: --virtual: found within another link; accepted: outside of one\n"
    )


def test_without_a_linux_the_line_says_how_to_build_it(
    goodqueue: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(process_build, "_never", lambda _: None)
    done = goodqueue("link", "--kernel", "7.3", *PING)
    said = "not built; accepted: goodqueue kernel image --kernel 7.3 --machine process"
    assert (done.status, done.err) == (2, f"goodqueue: --virtual: {said}\n")


def test_a_program_in_python_has_links_in_virtual_time_only() -> None:
    with pytest.raises(UserError, match="link: found a link in real time; accepted: virtual=True, as a link in real"):
        gq.link("ping", "server", rate="10mbit", rtt="50ms")


@pytest.mark.usefixtures("built")
def test_the_calendars_start_is_a_number(goodqueue: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(machine.START, "tomorrow")
    done = goodqueue("link", *PING)
    assert (done.status, 'SOURCE_DATE_EPOCH: found "tomorrow"; accepted: seconds since 1970' in done.err) == (2, True)


# --- what the host hands over and on ---------------------------------------------------------------------------------


def task(**others: Any) -> Task:
    return Task({"seed": 7}, ["ping", "server"], **others)


def test_the_job_comes_back_as_it_was_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOT_UTF8", os.fsdecode(b"caf\xe9"))
    monkeypatch.chdir(tmp_path)
    machine._prepare(
        tmp_path, task(trace=Trace("/proc/self/fd/9", ("down-in",), 100, "a.pcapng")), [int(signal.SIGHUP)]
    )
    found = Job.read(tmp_path)
    assert os.fsencode(found.environment["NOT_UTF8"]) == b"caf\xe9"
    assert (found.seed, found.client, found.cwd, found.ignored) == (7, ["ping", "server"], str(tmp_path), [1])
    assert found.trace is not None
    assert found.trace["points"] == ["down-in"]


def test_linuxs_command_line_has_nothing_that_changes_between_runs() -> None:
    """Its random numbers depend on it."""
    *_, core = process.command(Path("/cache/linux"), ["mem=1M"], "7.3", 1)[:3]
    words = process.command(Path("/cache/linux"), ["mem=1M"], "7.3", 0)
    assert core == "1"
    assert words[words.index("/cache/linux") + 1 :] == [
        *("time-travel=inf-cpu", "time-travel-start=1577836800000000000", "con=null", "ssl=null", "con0=null,fd:1"),
        *("quiet", "panic=-1", "noreboot", "uml_dir=./", "umid=machine", "seccomp=auto", "mem=1M"),
    ]


def attendance(folder: Path, program: str, notes: list[str], **others: Any) -> machine._Attendance:
    linux = subprocess.Popen([sys.executable, "-S", "-c", program], cwd=folder, start_new_session=True)
    reading, writing = os.pipe()
    return machine._Attendance(folder, linux, machine._Line(reading, writing), task(**others), notes.append)


def test_output_and_notes_are_handed_on(tmp_path: Path) -> None:
    (tmp_path / job.NOTES).write_bytes(b"SERVER listens at nothing\nhalf a li")
    (tmp_path / job.STDOUT).write_bytes(b"\x00out")
    (tmp_path / job.STDERR).write_bytes(b"err\xff")
    notes: list[str] = []
    with (tmp_path / "1").open("wb") as out, (tmp_path / "2").open("wb") as err:
        attendance(tmp_path, "", notes, stdout=out.fileno(), stderr=err.fileno()).run()
    assert ((tmp_path / "1").read_bytes(), (tmp_path / "2").read_bytes()) == (b"\x00out", b"err\xff")
    assert notes == ["SERVER listens at nothing"]


def test_a_line_says_that_no_virtual_time_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "STILL_S", 0.1)
    (tmp_path / job.CLOCK).write_bytes(b"65500000000")
    notes: list[str] = []
    monkeypatch.setattr(machine, "_GLANCE_S", 0.0)
    attendance(tmp_path, "import time\nwhile time.process_time() < 0.4: pass", notes).run()
    (said,) = notes
    assert said.startswith("no virtual time has passed for 0.1 s of the processor, at 65.5 s: CMD computes")


def test_a_linux_that_ended_early_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "console.txt").write_text("Kernel panic - not syncing: out of memory\n")
    with pytest.raises(UserError, match=r"^link: Linux ended before CMD did: Kernel panic - not syncing: out of"):
        machine._ended(tmp_path, task())


# --- with Linux ------------------------------------------------------------------------------------------------------

LOOKS = """
import os, pathlib, socket, sys, time
pathlib.Path("/tmp/gone").write_text("in memory")
pathlib.Path("stays").write_text(str(os.getuid()))
here = socket.create_server(("localhost", 0))
socket.create_connection(here.getsockname())
before = time.monotonic()
socket.create_connection(("server", 5000))
time.sleep(600)
print(round((time.monotonic() - before) * 1e3), socket.gethostbyname("client"), os.urandom(8).hex())
print("to standard error", file=sys.stderr)
sys.exit(7)
"""
LISTENS = "import socket, time; here = socket.create_server(('', 5000)); time.sleep(1e6)"


@pytest.mark.long
@pytest.mark.needs("process")
def test_ten_minutes_are_the_same_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = (sys.executable, "-c", LISTENS, "--", sys.executable, "-c", LOOKS)
    one, other = (
        gq.link(*words, virtual=True, trace=f"{name}.pcapng", rate="10mbit", rtt="50ms", progress=False)
        for name in ("one", "other")
    )
    assert one.status == 7
    milliseconds, client, _ = one.stdout.split()
    assert (milliseconds, client, one.stderr) == ("600050", "100.64.1.2", "to standard error\n")
    assert (one.stdout, one.record) == (other.stdout, other.record)
    assert (tmp_path / "one.pcapng").read_bytes() == (tmp_path / "other.pcapng").read_bytes()
    assert (tmp_path / "stays").read_text() == str(os.getuid())
    assert not Path("/tmp/gone").exists()  # noqa: S108


def started(folder: Path, *words: str) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "goodqueue", "link", "--virtual", "--rate", "1mbit", "--rtt", "1ms", "--", *words]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE)


def linuxes() -> list[str]:
    """Return the processes of Linuxes in virtual time whose root is this machine's."""
    command = ["pgrep", "--full", "init=/proc/self/cwd/init"]
    return subprocess.run(command, check=False, capture_output=True, text=True).stdout.split()


@pytest.mark.long
@pytest.mark.needs("process")
@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGKILL, -9)])
def test_a_signal_ends_all(tmp_path: Path, number: signal.Signals, status: int) -> None:
    before = set(linuxes())
    spins = "import os; os.write(1, b'spins'); \nwhile True: pass"
    with started(tmp_path, sys.executable, "-c", spins) as link:
        assert link.stdout is not None
        assert link.stdout.read(5) == b"spins"
        link.send_signal(number)
        assert link.wait() in (status, 2)  # 2: CMD, which spins, did not hear the signal
    assert until(lambda: set(linuxes()) <= before)
