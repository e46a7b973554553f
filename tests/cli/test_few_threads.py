"""Where the machine starts no further thread, the work is done by those that there are."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Result
from goodqueue import running, threads
from goodqueue.record import Scenario

NO_STACK = {"RUST_MIN_STACK": str(140 * 10**12)}
"""No machine has so much memory: the operating system then starts no thread of Rust's."""


@pytest.mark.parametrize("most", [0, 1])
def test_runs_need_no_threads(scenario: Scenario, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    scenarios = [{**scenario, "duration": "2s", "seed": seed} for seed in (1, 2, 3)]
    expected = running.many(scenarios, workers=3)
    start, started = threading.Thread.start, [0]

    def few(thread: threading.Thread) -> None:
        if started[0] == most:
            raise RuntimeError(threads.NO_THREAD)
        started[0] += 1
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", few)
    assert running.many(scenarios, workers=3) == expected


@pytest.mark.skipif(sys.platform != "linux", reason="the size of a thread's stack is Linux's")
def test_one_run_on_threads_that_cannot_start_has_the_same_bytes(here: Path) -> None:
    words = [sys.executable, "-m", "goodqueue", "run", "ok.toml", "--threads", "4", "--json"]
    found = [
        subprocess.run(words, check=True, capture_output=True, text=True, env=os.environ | more).stdout
        for more in ({}, NO_STACK)
    ]
    assert found[0] == found[1]


def test_a_thread_that_nothing_can_replace_is_one_line(
    here: Path, goodqueue: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: object, **__: object) -> None:
        raise RuntimeError(threads.NO_THREAD)

    monkeypatch.setattr("goodqueue.running.simulate", none)
    found = goodqueue("run", "ok.toml")
    assert (found.status, found.err.count("\n")) == (2, 1)
    assert "no thread" in found.err
