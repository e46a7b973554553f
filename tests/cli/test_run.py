"""Runs: the same bytes regardless of threads and slices, and a stop on request."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import SCENARIO, TOML, Result, at_work, spawn
from goodqueue import running
from goodqueue._goodqueue import ScenarioError, Simulation
from goodqueue.record import Record, Scenario


def seeded(seed: int) -> Scenario:
    return SCENARIO | {"seed": seed}


def test_one_thread_and_two_give_the_same_bytes_in_the_same_order() -> None:
    scenarios = [seeded(seed) for seed in range(1, 9)]
    alone = [running.one_text(scenario) for scenario in scenarios]
    assert running.many(scenarios, workers=1) == alone
    assert running.many(scenarios, workers=2) == alone
    assert len(set(alone)) == len(alone), "each seed must be another experiment"


@pytest.mark.parametrize("slice_s", [1e-4, 0.0])
def test_slices_do_not_change_the_result(monkeypatch: pytest.MonkeyPatch, slice_s: float) -> None:
    """A slice cannot be as short as the second one says. Such a run has ended late, or never."""
    whole = Simulation(json.dumps(SCENARIO))
    whole.advance(whole.duration_s)
    monkeypatch.setattr(running, "SLICE_S", slice_s)
    assert running.one_text(SCENARIO) == whole.record()


def test_every_packet_is_accounted_for(record: Record) -> None:
    for name, queue in record["queues"].items():
        packets = queue["packets"]
        come = packets["offered"] + packets["queued_at_start"]
        assert come == packets["forwarded"] + packets["dropped"] + packets["queued_at_end"], name
        assert sum(queue["drops_by_reason"].values()) == packets["dropped"], f"{name}: a drop without a reason"


def test_progress_ends_at_one() -> None:
    shares: list[float] = []
    running.one_text(SCENARIO, shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_a_refused_scenario_ends_all_runs() -> None:
    with pytest.raises(ScenarioError) as refused:
        running.many([seeded(1), seeded(2) | {"duration": "soon"}], workers=2)
    assert refused.value.key == "duration"
    assert str(refused.value) == f"duration: {refused.value.message}"


UP_ONLY = TOML[: TOML.index("[[traffic]]")] + '[[traffic]]\nkind = "cbr"\nrate = "1mbit"\ndirection = "up"\n'


@pytest.fixture(params=[False, True], ids=["as it is", "null"])
def idle(request: pytest.FixtureRequest, here: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a scenario whose down queue forwards nothing. Its delay is then full of nulls, or null itself."""
    (here / "up.toml").write_text(UP_ONLY, encoding="utf-8")
    if request.param:
        simulate = running.simulate

        def nulled(*arguments: Any, **more: Any) -> str:
            record = json.loads(simulate(*arguments, **more))
            record["queues"]["down"] |= {"delay_ms": None, "delay_percentiles_ms": None}
            return json.dumps(record)

        monkeypatch.setattr(running, "simulate", nulled)
    return "up.toml"


def test_a_queue_that_forwards_nothing_has_dashes(idle: str, goodqueue: Callable[..., Result]) -> None:
    result = goodqueue("run", idle, "--all")
    assert (result.status, result.err) == (0, "")
    down = next(line for line in result.out.splitlines() if line.startswith("down "))
    assert down.split() == ["down", "codel", "0.0", "0.00", *"–––––", "0.00", "0.00"]


def test_such_queues_are_compared_and_reported(idle: str, here: Path, goodqueue: Callable[..., Result]) -> None:
    words = ["compare", "codel", "pfifo", "--scenario", idle, "--seeds", "2", "--metric", "utilisation_percent"]
    result = goodqueue(*words, "--metric", "drop_percent", "--out", "report")
    assert (result.status, result.err) == (0, "")
    assert re.search(r"^codel +0\.00 +0\.00$", result.out, re.MULTILINE)
    assert (here / "report" / "report.html").exists()
    refused = goodqueue(*words, "--metric", "delay_mean_ms")
    assert "--metric delay_mean_ms: no run of this scenario shows it; accepted: with" in refused.err


def test_sigterm_cleans_up(here: Path) -> None:
    code = (
        "import sys, time\n"
        "from goodqueue import cli\n"
        "from goodqueue.files import output\n"
        "def work(*a):\n"
        "    def fill(folder):\n"
        "        (folder / 'half').write_text('')\n"
        "        print('ready', flush=True)\n"
        "        time.sleep(60)\n"
        "    output.write('deep/out', False, fill)\n"
        "cli._dispatch = work\n"
        "cli.main([])\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.terminate()
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (143, "")
    assert [path.name for path in here.iterdir()] == ["ok.toml"]


def test_ctrl_c_while_it_is_imported_is_one_line(here: Path) -> None:
    code = (
        "import sys\n"
        "class Slow:\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'typer': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Slow())\n"
        "from goodqueue.__main__ import main\n"
        "main()\n"
    )
    process = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert (process.returncode, process.stderr) == (130, "goodqueue: interrupted\n")


@pytest.mark.needs("dev-full")
def test_bad_input_has_its_status_even_if_it_cannot_be_said(here: Path) -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:  # noqa: PTH123
        command = [sys.executable, "-m", "goodqueue", "run", "missing.toml"]
        assert subprocess.run(command, check=False, stderr=full).returncode == 2


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
    at_work(process)
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


@pytest.mark.needs("dev-full")
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
