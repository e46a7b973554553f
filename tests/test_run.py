"""Runs: the same bytes whatever the threads and the slices, and a stop when asked."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import SCENARIO, Result, spawn
from goodqueue import run
from goodqueue._goodqueue import ScenarioError, Simulation
from goodqueue.record import Record, Scenario


def seeded(seed: int) -> Scenario:
    return SCENARIO | {"seed": seed}


def test_one_thread_and_two_give_the_same_bytes_in_the_same_order() -> None:
    scenarios = [seeded(seed) for seed in range(1, 9)]
    alone = [run.one_text(scenario) for scenario in scenarios]
    assert run.many(scenarios, workers=1) == alone
    assert run.many(scenarios, workers=2) == alone
    assert len(set(alone)) == len(alone), "each seed must be another experiment"


def test_slices_do_not_change_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Simulation(json.dumps(SCENARIO))
    whole.advance(whole.duration_s)
    monkeypatch.setattr(run, "SLICE_S", 1e-5)
    assert run.one_text(SCENARIO) == whole.record()


def test_every_packet_is_accounted_for(record: Record) -> None:
    for name, queue in record["queues"].items():
        packets = queue["packets"]
        come = packets["offered"] + packets["queued_at_start"]
        assert come == packets["forwarded"] + packets["dropped"] + packets["queued_at_end"], name
        assert sum(queue["drops_by_reason"].values()) == packets["dropped"], f"{name}: a drop without a reason"


def test_progress_ends_at_one() -> None:
    shares: list[float] = []
    run.one_text(SCENARIO, shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_a_refused_scenario_ends_all_runs() -> None:
    with pytest.raises(ScenarioError) as refused:
        run.many([seeded(1), seeded(2) | {"duration": "soon"}], workers=2)
    assert refused.value.key == "duration"
    assert str(refused.value) == f"duration: {refused.value.message}"


def test_json_is_the_record_and_a_line_break(here: Path, goodqueue: Callable[..., Result]) -> None:
    first = goodqueue("run", "ok.toml", "--json", "--seed", "3")
    assert first == goodqueue("run", "ok.toml", "--json", "--set", "seed=3"), "--seed and --set seed say the same"
    record = json.loads(first.out)
    assert first.out.count("\n") == 1
    assert (record["schema"], record["engine"], record["seed"]) == (1, "sim", 3)
    assert record["scenario"]["traffic"][0]["cc"] == "cubic", "the scenario must have its defaults filled in"
    assert spawn("run", "ok.toml", "--json", "--seed", "3").stdout == first.out, "another process, the same bytes"


@pytest.mark.parametrize("verb", [["run", "ok.toml", "--set"], ["compare", "codel", "pie", "--set"]])
def test_ctrl_c_ends_with_one_line(here: Path, verb: list[str]) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "goodqueue", *verb, "duration=900000s"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(2.0)  # by then it simulates
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "goodqueue: interrupted\n")


def test_a_reader_that_goes_away_is_no_error(here: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "goodqueue", "run", "ok.toml"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == "", "`goodqueue … | head` must not complain"
    process.stderr.close()
    assert process.wait(timeout=60) == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_one_line(here: Path) -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:  # noqa: PTH123
        process = subprocess.run(
            [sys.executable, "-m", "goodqueue", "run", "ok.toml", "--json"],
            check=False,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert (process.returncode, process.stderr) == (2, "goodqueue: standard output: No space left on device\n")
