"""What the tests share: a small scenario, its record, and the command line within this process."""

import copy
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from goodqueue import run
from goodqueue.cli import main
from goodqueue.compare import Comparison, compare
from goodqueue.record import Record, Scenario

ROOT = Path(__file__).resolve().parents[1]

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


@dataclass(frozen=True)
class Result:
    """What a command left behind."""

    status: int
    out: str
    err: str


@pytest.fixture
def scenario() -> Scenario:
    return copy.deepcopy(SCENARIO)


@pytest.fixture(scope="session")
def record() -> Record:
    return run.one(SCENARIO | {"series": {"interval": "100ms"}})


@pytest.fixture(scope="session")
def comparison() -> Comparison:
    base = SCENARIO | {"series": {"interval": "100ms"}}
    return compare(base, ["pfifo", "codel target 10ms", "fq_codel"], [1, 2, 3])


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is the working directory, but for ok.toml."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ok.toml").write_text(TOML, encoding="utf-8")
    return tmp_path


@pytest.fixture
def goodqueue(capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """The command, in this process."""

    def call(*arguments: str) -> Result:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        captured = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return Result(ended.value.code, captured.out, captured.err)

    return call


def spawn(*arguments: str, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """The command, in a process of its own."""
    command = [sys.executable, "-m", "goodqueue", *arguments]
    env = os.environ | (environment or {})
    return subprocess.run(command, check=False, capture_output=True, text=True, encoding="utf-8", env=env)
