"""Ctrl-C ends every command with one line and status 130 at any moment, and leaves nothing half done."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from importlib.resources import files
from pathlib import Path

import pytest

from conftest import at_work, drafts_of
from goodqueue import running
from goodqueue._goodqueue import Simulation
from goodqueue.record import Scenario

LIMIT_S = 100
"""Generous, for a busy machine. Without an answer each of these would take longer, or for ever."""

HASTE_S = 2.0

ENDLESS = """
class Endless:
    def __init__(self, link):
        pass

    def enqueue(self, now, packet, queue):
        while True:
            try:
                open("began", "w").close()
                while True:
                    pass
            except {caught}:
                pass

    def dequeue(self, now, queue):
        return queue.pop()
"""


def command(*arguments: str) -> AbstractContextManager["subprocess.Popen[str]"]:
    return python("-m", "goodqueue", *arguments)


def hasty(*arguments: str) -> AbstractContextManager["subprocess.Popen[str]"]:
    """Run the command with a shorter `interrupts.GRACE_S`, since what does not end takes a whole CPU until then."""
    code = f"from goodqueue import cli, interrupts; interrupts.GRACE_S = {HASTE_S}; cli.main({list(arguments)!r})"
    return python("-c", code)


@contextmanager
def python(*words: str) -> Iterator["subprocess.Popen[str]"]:
    with subprocess.Popen(
        [sys.executable, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def until(process: "subprocess.Popen[str]", file: str) -> None:
    """Wait for a file, or for a file that matches a pattern."""
    while not list(Path().glob(file)):
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)


def ended(process: "subprocess.Popen[str]") -> tuple[int, str, str]:
    out, err = process.communicate(timeout=LIMIT_S)
    return process.returncode, out, err


SAID = (130, "", "goodqueue: interrupted\n")
CONTINUES = (130, "", "goodqueue: interrupted; the same command continues it from st\n")
"""What a command says whose runs are kept in the store ``st``."""

CONTINUES = (130, "", "goodqueue: interrupted; the same command continues it from st\n")
"""What a command says whose runs are kept in the store ``st``."""


def test_a_recording_is_interrupted(here: Path) -> None:
    with command("record", "codel", "--packets", "10000000", "--out", "x.csv.gz") as process:
        while not drafts_of(process, here):
            assert process.poll() is None, process.communicate()
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        assert ended(process) == SAID
    assert [file.name for file in here.iterdir()] == ["ok.toml"]


def test_a_replay_is_interrupted(here: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "goodqueue", "record", "pfifo", "--packets", "2000", "--out", "x.csv"], check=True
    )
    head = Path("x.csv").read_text(encoding="utf-8").rpartition("\n1")[0]
    # A state line, repeated as often as needed: since the file is a pipe, it may be of any length.
    os.mkfifo("pipe.csv")
    state = next(line for line in reversed(head.splitlines()) if ",st," in line)
    with command("replay", "pipe.csv") as process, Path("pipe.csv").open("w", encoding="utf-8") as pipe:
        pipe.write(head + "\n")
        for _ in range(10_000):
            pipe.write(state + "\n")
        process.send_signal(signal.SIGINT)
        with suppress(BrokenPipeError):
            for _ in range(10_000_000):
                pipe.write(state + "\n")
        assert ended(process) == SAID
        with suppress(BrokenPipeError):
            pipe.close()


@pytest.mark.parametrize("rate", ["10gbit", "1000gbit"])
def test_a_long_and_fast_run_is_interrupted(here: Path, rate: str) -> None:
    with command("run", "ok.toml", "--set", "duration=1000000s", "--set", f"bottleneck.rate={rate}") as process:
        at_work(process)
        process.send_signal(signal.SIGINT)
        assert ended(process) == SAID


@pytest.mark.parametrize(
    "changes",
    [
        {"bottleneck": {"rate": "1000gbit", "qdisc": "codel"}},
        # The packets that a full queue drops occupy no link, and so the link's rate says nothing about the work.
        {"traffic": [{"kind": "cbr", "rate": "1000gbit", "start": "1000s"}]},
    ],
    ids=["fast", "dropped"],
)
def test_a_slice_of_a_run_is_short_however_much_happens_in_it(scenario: Scenario, changes: Scenario) -> None:
    """A thousandth of a million seconds, which may be the first slice, took minutes without an answer to Ctrl-C."""
    simulation = Simulation(json.dumps(scenario | {"duration": "1000000s"} | changes))
    began = time.perf_counter()
    reached_s = simulation.advance(1e6, running.MOST_EVENTS)
    assert time.perf_counter() - began < 1.0
    assert reached_s < 2000


def test_a_run_of_many_slices_is_the_run_of_one(scenario: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = running.one_text(scenario)
    monkeypatch.setattr(running, "MOST_EVENTS", 7)
    assert running.one_text(scenario) == whole


@pytest.mark.parametrize("verb", ["run", "compare", "sweep"])
def test_an_endless_loop_in_a_discipline_is_interrupted(here: Path, verb: str) -> None:
    Path("endless.py").write_text(ENDLESS.format(caught="Exception"), encoding="utf-8")
    line = "./endless.py:Endless"
    arguments = {
        "run": ["run", "ok.toml", "--set", f"bottleneck.qdisc={line}"],
        "compare": ["compare", line, "--seeds", "2"],
        "sweep": ["sweep", "ok.toml", "--set", f"bottleneck.qdisc={line}", "--store", "st"],
    }[verb]
    with command(*arguments) as process:
        until(process, "began")
        process.send_signal(signal.SIGINT)
        assert ended(process) == (CONTINUES if verb == "sweep" else SAID)


STUCK = """
import time

class Stuck:
    def __init__(self, link):
        pass

    def enqueue(self, now, packet, queue):
        open("began", "w").close()
        time.sleep({pause_s})
        sum(iter(int, 1))  # code in C, in which no Python runs

    def dequeue(self, now, queue):
        return queue.pop()
"""


@pytest.mark.parametrize(
    ("number", "verb"),
    [
        (signal.SIGINT, "run"),
        (signal.SIGTERM, "compare"),  # its main thread handles the signal before a thread of a run is stuck
        pytest.param(signal.SIGINT, "compare", marks=pytest.mark.long),
        pytest.param(signal.SIGTERM, "run", marks=pytest.mark.long),
        pytest.param(signal.SIGINT, "study", marks=pytest.mark.long),
        pytest.param(signal.SIGTERM, "study", marks=pytest.mark.long),
    ],
)
def test_a_discipline_that_never_returns_from_c_is_ended(here: Path, verb: str, number: signal.Signals) -> None:
    pause_s = 1 if verb == "compare" and number == signal.SIGTERM else 0
    Path("stuck.py").write_text(STUCK.format(pause_s=pause_s), encoding="utf-8")
    line = "./stuck.py:Stuck"
    arguments = {
        "run": ["run", "ok.toml", "--set", f"bottleneck.qdisc={line}"],
        "compare": ["compare", "codel", line, "--duration", "3s", "--warmup", "1s"],
        "study": ["study", "mine", "--out", "report"],
    }[verb]
    if verb == "study":
        mine = Path("mine")
        shutil.copytree(files("goodqueue.studies") / "library" / "schwardmann2014", mine)  # type: ignore[arg-type]
        (mine / "figures.py").write_text("open('began', 'w').close()\nsum(iter(int, 1))\n", encoding="utf-8")
    with hasty(*arguments) as process:
        until(process, "began")
        process.send_signal(number)
        assert ended(process) == (SAID if number == signal.SIGINT else (143, "", ""))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_no_lock_stays_held(here: Path, number: signal.Signals) -> None:
    """A signal between taking a lock that a run's thread needs and the block that releases it.

    The exception left that lock held. The run's thread waited for it, and the process waited for the thread.
    """
    code = (
        "import os, sys, threading\n"
        "enter = threading.Condition.__enter__\n"
        "def slow(self):\n"
        "    held = enter(self)\n"
        "    if threading.active_count() > 1 and threading.get_ident() == threading.main_thread().ident:\n"
        f"        os.kill(os.getpid(), {int(number)})\n"
        "    return held\n"
        "threading.Condition.__enter__ = slow\n"
        "from goodqueue.cli import main\n"
        "main(['compare', 'codel', '--duration', '60s', '--warmup', '1s'])\n"
    )
    with python("-c", code) as process:
        assert ended(process) == (SAID if number == signal.SIGINT else (143, "", ""))


def test_a_discipline_that_swallows_it_is_ended_all_the_same(here: Path) -> None:
    Path("endless.py").write_text(ENDLESS.format(caught="BaseException"), encoding="utf-8")
    with hasty("run", "ok.toml", "--set", "bottleneck.qdisc=./endless.py:Endless") as process:
        until(process, "began")
        process.send_signal(signal.SIGINT)
        assert ended(process) == SAID


MANY = """
class Looping:
    def __init__(self, connection):
        pass

    def on_ack(self, ack, window):
        open("began", "w").close()
        while True:
            pass

    def ssthresh(self, congestion):
        return 2
"""


def test_one_signal_ends_all_flows_that_never_return(here: Path) -> None:
    """Only the first was interrupted. The next flow's method was called, and ran until the next signal."""
    Path("many.py").write_text(MANY, encoding="utf-8")
    sets = ["--set", "traffic.0.cc=./many.py:Looping", "--set", "traffic.0.count=3"]
    with command("run", "ok.toml", *sets) as process:
        until(process, "began")
        process.send_signal(signal.SIGINT)
        assert ended(process) == SAID


SLEEPY = """
import time

class Sleepy:
    def __init__(self, link):
        pass

    def enqueue(self, now, packet, queue):
        open("began", "w").close()
        time.sleep(9999)

    def dequeue(self, now, queue):
        return queue.pop()
"""


def test_threads_that_sleep_are_given_up(here: Path) -> None:
    """An exception reaches a thread only at its next instruction, and nothing wakes one that sleeps."""
    Path("sleepy.py").write_text(SLEEPY, encoding="utf-8")
    with hasty("compare", "./sleepy.py:Sleepy", "--seeds", "2") as process:
        until(process, "began")
        process.send_signal(signal.SIGTERM)
        assert ended(process) == (143, "", "")


@pytest.mark.parametrize("verb", ["compare", "sweep", "run"])
def test_five_in_a_row_are_as_good_as_one(here: Path, verb: str) -> None:
    arguments = {
        "compare": ["compare", "codel", "pie", "--duration", "9999s", "--out", "report"],
        "sweep": ["sweep", "ok.toml", "--set", "duration=1s,9999s", "--store", "st"],
        "run": ["run", "ok.toml", "--set", "duration=9999s", "--trace", "x.pcapng"],
    }[verb]
    with command(*arguments) as process:
        at_work(process)
        for _ in range(5):
            process.send_signal(signal.SIGINT)
            time.sleep(0.02)
        assert ended(process) == (CONTINUES if verb == "sweep" else SAID)
    assert not list(here.rglob("*partial*"))


def test_five_while_it_is_imported_are_as_good_as_one(here: Path) -> None:
    code = (
        "import os, signal, sys, threading\n"
        "import goodqueue.__main__ as main\n"
        "class Slow:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'goodqueue.cli':\n"
        "            for _ in range(5): os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Slow())\n"
        "main.main()\n"
    )
    found = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert (found.returncode, found.stdout, found.stderr) == SAID


def test_one_that_a_library_swallowed_is_raised_again(here: Path) -> None:
    # For example in a weak reference's callback, of which matplotlib has many: Python printed it and went on.
    code = (
        "import os, signal, weakref\n"
        "from goodqueue import interrupts\n"
        "from goodqueue.show import terminal\n"
        "interrupts.answer()\n"
        "class Figure: pass\n"
        "try:\n"
        "    with terminal.progress('figures') as progress:\n"
        "        figure = Figure()\n"
        "        gone = weakref.ref(figure, lambda _: os.kill(os.getpid(), signal.SIGINT))\n"
        "        del figure\n"
        "        print('swallowed', flush=True)\n"
        "        progress(0.5)\n"
        "except KeyboardInterrupt:\n"
        "    print('raised again')\n"
    )
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert (found.stdout, found.stderr) == ("swallowed\nraised again\n", "")


def test_whoever_has_it_ignored_is_not_interrupted(here: Path) -> None:
    code = (
        "import os, signal\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "from goodqueue import interrupts\n"
        "interrupts.answer()\n"
        "os.kill(os.getpid(), signal.SIGINT)\n"
        "interrupts.check()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_exception_that_python_can_only_report_is_one_line(here: Path) -> None:
    """For example that of a ``__del__``: it was a traceback for each object."""
    code = (
        "from goodqueue import interrupts\n"
        "interrupts.answer()\n"
        "class Gone:\n"
        "    def __del__(self): raise OSError('no\\nmore')\n"
        "for _ in range(3): Gone()\n"
    )
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stderr == "goodqueue: <string>:4: ignored, since Python calls this when it likes: OSError: no more\n"
