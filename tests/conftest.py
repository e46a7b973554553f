"""Fixtures and helpers for all tests: a small scenario, its record, and the command line within this process."""

import copy
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hypothesis
import pytest

import needs
from goodqueue import running
from goodqueue.cli import main
from goodqueue.comparison.comparing import Comparison, compare
from goodqueue.errors import UserError
from goodqueue.record import Record, Scenario

ROOT = Path(__file__).resolve().parents[1]

# pytest-xdist tells its workers that a line has 80 characters, and the output of commands depends on it.
os.environ.pop("COLUMNS", None)

# A shell starts background processes with SIGINT ignored. Children inherit that, and tests of Ctrl-C would hang.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Slow examples are fine: on a busy machine hypothesis would otherwise call a slow test flaky.
hypothesis.settings.register_profile("patient", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("patient")

SCENARIO: Scenario = {
    "duration": "4s",
    "warmup": "1s",
    "seed": 1,
    "bottleneck": {"rate": "10mbit", "qdisc": "codel"},
    "path": {"rtt": "20ms"},
    "traffic": [{"kind": "bulk", "count": 2, "start_spread": "500ms"}, {"kind": "ping"}],
}

TOML = """
duration = "4s"
warmup = "1s"
[bottleneck]
rate = "10mbit"
qdisc = "codel"
[path]
rtt = "20ms"
[[traffic]]
kind = "bulk"
count = 2
start_spread = "500ms"
[[traffic]]
kind = "ping"
"""


# --- tests that need what not every machine has ----------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    about = "names in tests/needs.py, or 'nothing': a test that is skipped for anything else fails"
    parser.addoption("--may-skip", metavar="NAME,NAME", type=lambda given: given.split(","), help=about)


def pytest_runtest_setup(item: pytest.Item) -> None:
    for mark in item.iter_markers("needs"):
        for name in mark.args:
            if not needs.works(name):
                pytest.skip(needs.reason(name))


def why_skipped(report: pytest.TestReport) -> str:
    """Return why a test was skipped, in the words of `needs.reason`."""
    assert isinstance(report.longrepr, tuple)
    return report.longrepr[2].removeprefix("Skipped: ")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report = yield
    accepted = item.config.getoption("--may-skip")
    if report.skipped and accepted is not None and not hasattr(report, "wasxfail"):
        why = why_skipped(report)
        if why.partition(" (")[0] not in accepted:
            report.outcome = "failed"
            report.longrepr = f"skipped: {why}; --may-skip accepts {', '.join(accepted)}"
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    counts = Counter(map(why_skipped, terminalreporter.stats.get("skipped", [])))
    if counts:
        each = "; ".join(f"{why}: {count}" for why, count in counts.most_common())
        terminalreporter.write_line(f"skipped: {counts.total()} tests: {each}")


# --- what the tests share --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Result:
    """The result of a command."""

    status: int
    out: str
    err: str


@pytest.fixture
def scenario() -> Scenario:
    return copy.deepcopy(SCENARIO)


@pytest.fixture(scope="session")
def record() -> Record:
    return running.one(SCENARIO | {"series": {"interval": "100ms"}})


@pytest.fixture(scope="session")
def comparison() -> Comparison:
    base = SCENARIO | {"series": {"interval": "100ms"}}
    return compare(base, ["pfifo", "codel target 10ms", "fq_codel"], [1, 2, 3])


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the working directory, an empty folder except for ok.toml."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ok.toml").write_text(TOML, encoding="utf-8")
    return tmp_path


@pytest.fixture
def goodqueue(capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """Return the command, which runs in this process."""

    def call(*arguments: str) -> Result:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        captured = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return Result(ended.value.code, captured.out, captured.err)

    return call


def spawn(*arguments: str, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command in its own process."""
    command = [sys.executable, "-m", "goodqueue", *arguments]
    env = os.environ | (environment or {})
    return subprocess.run(command, check=False, capture_output=True, text=True, encoding="utf-8", env=env)


def drafts_of(process: "subprocess.Popen[Any]", folder: Path) -> list[Path]:
    """Return the drafts in ``folder`` that a process is writing. Those without a name are found in /proc."""
    found = list(folder.glob(".*.partial-*"))
    for link in Path(f"/proc/{process.pid}/fd").glob("*"):
        with suppress(OSError):
            if str(link.readlink()).startswith(f"{folder}/#"):
                found.append(link)
    return found


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> list[Scenario]:
    """Replace the kernel engine by the simulator with other seeds, which needs no kernel.

    The replacement refuses scenarios with `rem`, as Linux would. Returns the list of the scenarios that it ran.
    """
    from goodqueue import engines
    from goodqueue.engines.kernel import image, making, vm

    ran: list[Scenario] = []

    def check(engine: str, scenario: Scenario) -> None:
        if engine == "kernel" and scenario["bottleneck"]["qdisc"].startswith("rem"):
            raise UserError("bottleneck.qdisc", 'found "rem"; accepted: what Linux has')

    def other(scenario: Scenario, progress: running.Progress, stop: threading.Event) -> str:
        ran.append(scenario)
        found = json.loads(running.simulate(scenario | {"seed": scenario["seed"] + 1000}, progress, stop))
        found["scenario"]["seed"] -= 1000
        found |= {"engine": "kernel", "seed": scenario["seed"]}
        found["kernel"] = {"release": "6.1.0-1-amd64", "where": "vm", "tc": "iproute2-6.1.0"}
        return json.dumps(found)

    own = engines.find
    monkeypatch.setattr(engines, "check", check)
    monkeypatch.setattr(making, "build", lambda scenario, release, machine: "stand-in")
    monkeypatch.setattr(image, "wanted", lambda release: "stand-in")
    monkeypatch.setattr(vm, "said", lambda: "version 7.2.22")
    monkeypatch.setattr(engines, "find", lambda name: other if name == "kernel" else own(name))
    return ran


@pytest.fixture
def sockets_are_closed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close the sockets of a test. In a run the hosts' sockets vanish with their processes, but this process stays."""
    made = []

    class Kept(socket.socket):
        def __init__(self, *words: Any, **more: Any) -> None:
            super().__init__(*words, **more)
            made.append(self)

    monkeypatch.setattr(socket, "socket", Kept)
    yield
    for one in made:
        one.close()


PAGE = {
    "index.html": b"<!doctype html><title>page</title>" + b" " * 500,
    "mine.json": b'{"scenarios": [], "results": []}',
    "assets/main.js": b"export const one = 1;",
    "assets/page.css": b"body { margin: 0 }",
    "assets/core.wasm": b"\0asm\1\0\0\0" + b"\0" * 5000,
    "assets/icon.png": bytes(range(256)),  # data that no compression makes smaller
}


@pytest.fixture
def page(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Replace the package's page by one like that of `make web`."""
    from goodqueue.serving import server

    folder = tmp_path_factory.mktemp("built") / "page"
    for name, data in PAGE.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    monkeypatch.setattr(server, "PAGE", folder)
    return folder


def at_work(process: "subprocess.Popen[str]") -> None:
    """Wait until ``process`` has taken 1.5 s of CPU. Starting takes a third of that, so it simulates by then."""
    ticks = 1.5 * os.sysconf("SC_CLK_TCK")
    while process.poll() is None:
        fields = Path(f"/proc/{process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        if int(fields[11]) + int(fields[12]) >= ticks:
            return
        time.sleep(0.02)
    raise AssertionError(process.communicate())
