"""`goodqueue link` ends, by itself or not, and leaves nothing behind: no process, no network, no file."""

import os
import pty
import random
import re
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from linked import PATIENCE_S, Link, children, gone, public_folder, until

pytestmark = [pytest.mark.needs("link"), pytest.mark.long]

KILLS = int(os.environ.get("GOODQUEUE_KILLS", "10"))
"""How often each process is killed at a random moment."""

LINK, LAB, PARENT, FIRST = range(4)
"""The command itself and its descendants, each the child of the one before."""


def line_of_descent(process: int) -> list[int]:
    """Return a process, its child, its child's child, and so on."""
    found = [process]
    while below := children(found[-1]):
        found.append(below[0])
    return found


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return the folder in which commands run, and where temporary files go."""
    with public_folder() as place:
        monkeypatch.chdir(place)
        monkeypatch.setenv("TMPDIR", str(place))
        yield place
        assert list(place.iterdir()) == [], "a file is left"


@pytest.mark.parametrize("who", [LINK, LAB, PARENT, FIRST], ids=["link", "lab", "parent", "first"])
def test_killed_at_any_moment_it_leaves_nothing(who: int, folder: Path) -> None:
    dice = random.Random(who)
    interfaces = set(Path("/sys/class/net").iterdir())
    for _ in range(KILLS):
        serve = "import socket, time; s = socket.create_server(('', 7)); time.sleep(60)"
        words = ("--quiet", "--", "python3", "-c", serve, "--", "sh", "-c", "sleep 60 & setsid sleep 61 & sleep 62")
        link = Link(words)
        running = link.start()
        time.sleep(dice.uniform(0.0, 2.5))
        seen = link.left()
        there = line_of_descent(running.pid)
        os.kill(there[min(who, len(there) - 1)], signal.SIGKILL)
        seen |= link.left()
        _, said = running.communicate(timeout=PATIENCE_S)
        gone(link, seen)
        assert running.returncode in {-signal.SIGKILL, 2}
        if running.returncode == 2:
            assert re.fullmatch(r"goodqueue: [^\n]+\n", said), said
    # Tests that run at the same time have interfaces for a while.
    assert until(lambda: set(Path("/sys/class/net").iterdir()) <= interfaces)


STUCK = """
class Stuck:
    def __init__(self, link):
        pass

    def enqueue(self, now, packet, queue):
        sum(iter(int, 1))  # code in C, during which no other thread runs

    def dequeue(self, now, queue):
        return None
"""


@pytest.mark.parametrize("number", [None, signal.SIGTERM])
def test_a_discipline_that_never_returns_from_c_does_not_outlive_the_command(
    folder: Path, number: signal.Signals | None
) -> None:
    """Without a signal, the command itself notices that its path is stuck."""
    Path("stuck.py").write_text(STUCK, encoding="utf-8")
    link = Link(("--quiet", "--qdisc", "./stuck.py:Stuck", "--", "sh", "-c", "ping -c 1 -w 1 server; : > pinged"))
    running = link.start()
    if number is not None:
        assert until(Path("pinged").exists)
        running.send_signal(number)
    seen = link.left()
    _, said = running.communicate(timeout=PATIENCE_S)
    assert running.returncode == 2
    assert re.fullmatch(r"goodqueue: [^\n]+\n", said), said
    assert number is not None or "./stuck.py:Stuck: has not returned for 15 s" in said
    gone(link, seen)
    Path("stuck.py").unlink()
    Path("pinged").unlink()


def test_what_a_command_leaves_behind_is_ended(folder: Path) -> None:
    """A daemon that CMD started would go on in a network that nobody can reach any more."""
    link = Link(("--quiet", "--", "sh", "-c", "sleep 60 & setsid sleep 61 & (sleep 62 &) ; nohup sleep 63 & exit 3"))
    done = link.run()
    assert done.returncode == 3
    gone(link, {})


def test_a_server_is_told_to_end_when_the_client_has(folder: Path) -> None:
    """If it were killed at once, it could not write its results."""
    serve = """
import signal, socket, sys, time
def end(*_):
    print("told", flush=True)
    sys.exit()
signal.signal(signal.SIGTERM, end)
server = socket.create_server(("", 7))
time.sleep(60)
"""
    link = Link(("--quiet", "--", "python3", "-c", serve, "--", "true"))
    done = link.run()
    assert (done.returncode, done.stdout) == (0, "told\n"), done.stderr
    gone(link, {})


def started(*command: str) -> tuple[Link, "subprocess.Popen[str]"]:
    """Start a link whose command reports that it runs."""
    link = Link(("--", "sh", "-c", *command))
    running = link.start()
    assert running.stdout is not None
    assert running.stdout.readline() == "runs\n"
    return link, running


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)])
def test_a_signal_ends_the_command_and_the_record_is_shown(number: int, status: int, folder: Path) -> None:
    link, running = started("echo runs; exec sleep 60")
    seen = link.left()
    running.send_signal(number)
    out, err = running.communicate(timeout=PATIENCE_S)
    assert running.returncode == status, err
    assert "Queues\n" in out
    assert "Packets left late" in out or "no packet crossed" in out
    gone(link, seen)


@pytest.mark.parametrize("apart_s", [0.02, 0.1, 0.5])
def test_a_second_signal_kills_a_command_that_does_not_listen(apart_s: float, folder: Path) -> None:
    link, running = started("trap '' TERM; echo runs; while :; do sleep 1; done")
    seen = link.left()
    running.send_signal(signal.SIGTERM)
    time.sleep(apart_s)
    assert running.poll() is None, "it has some time to end"
    running.send_signal(signal.SIGTERM)
    out, err = running.communicate(timeout=PATIENCE_S)
    assert running.returncode == 137, err
    assert "Queues\n" in out
    gone(link, seen)


def test_a_command_that_does_not_listen_is_killed_after_some_time(folder: Path) -> None:
    link, running = started("trap '' TERM; echo runs; while :; do sleep 1; done")
    began = time.monotonic()
    running.send_signal(signal.SIGTERM)
    running.communicate(timeout=PATIENCE_S)
    assert running.returncode == 137
    assert time.monotonic() - began >= 5
    gone(link, {})


def test_ctrl_c_on_a_terminal_is_the_commands(folder: Path) -> None:
    """The command gets the signal once, from the terminal, and ends in its own way. Then the record is shown."""
    script = "trap 'echo got; exit 9' INT; echo runs; while :; do sleep 0.1; done"
    link = Link(("--", "sh", "-c", script))
    ours, theirs = pty.openpty()
    running = subprocess.Popen(
        ["setsid", "--ctty", "--wait", *link.command()],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment(link),
    )
    os.close(theirs)
    said = b""
    end = time.monotonic() + PATIENCE_S
    sent = False
    while time.monotonic() < end:
        if not select.select([ours], [], [], 0.1)[0]:
            if running.poll() is not None:
                break
            continue
        try:
            said += os.read(ours, 65536)
        except OSError:
            break
        if b"runs" in said and not sent:
            os.write(ours, b"\x03")
            sent = True
    assert running.wait(timeout=PATIENCE_S) == 9, said.decode()
    os.close(ours)
    assert said.count(b"got") == 1
    assert b"Queues" in said
    assert b"Traceback" not in said
    gone(link, {})


def test_ctrl_c_is_ignored_where_whoever_started_us_has_it_so(folder: Path) -> None:
    """A shell does this for background processes. The command inherits it, too."""
    link = Link(("--quiet", "--", "sh", "-c", "kill -INT $$; echo alive"))
    old = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        done = link.run()
    finally:
        signal.signal(signal.SIGINT, old)
    assert (done.returncode, done.stdout) == (0, "alive\n")


def test_a_hangup_that_nohup_ignores_ends_nothing(folder: Path) -> None:
    """`nohup goodqueue link` outlives its terminal. If an ignored signal were held back, it would be found later.

    A process that does not end within 5 s of a signal is killed: hence 7 s.
    """
    link = Link(("--", "sh", "-c", "echo runs; sleep 7; echo alive"))
    running = link.start(hangup=signal.SIG_IGN)
    assert running.stdout is not None
    assert running.stdout.readline() == "runs\n"
    running.send_signal(signal.SIGHUP)
    out, err = running.communicate(timeout=PATIENCE_S)
    assert (running.returncode, "alive" in out) == (0, True), err
    gone(link, {})


def environment(link: Link) -> dict[str, str]:
    from linked import MARK
    from linked import environment as common

    return common(**{MARK: link.mark, "TERM": "dumb"})
