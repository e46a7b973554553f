"""The benchmark of runs measures what users run."""

import pytest

from goodqueue import extras
from goodqueue import scenario as scenarios
from goodqueue.speed import bench_runs, bench_tables


def test_each_run_is_one_of_the_simulator() -> None:
    for name, (seconds, scenario) in bench_runs.scenarios().items():
        assert scenarios.resolve(bench_runs.lasting(scenario, seconds))["duration"] == f"{seconds:g}s", name


def test_the_start_up_is_apart() -> None:
    found = bench_runs.run("Wi-Fi", quick=True)
    assert (found.run, found.simulated_s) == ("Wi-Fi", 2)
    assert found.packets > 100
    assert found.start_up_s > 0
    assert found.cpu_s > 0


def test_a_verb_has_the_seconds_of_all_its_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = {"--version": 0.5, "compare": 3.0}
    monkeypatch.setattr(bench_runs, "_cpu_s", lambda words: seconds[words[0]])
    found = bench_runs.run("compare", quick=True)
    assert (found.start_up_s, found.cpu_s) == (0.5, 2.5)
    assert bench_tables.runs_table([found]).rows[0][-1] == "–"


def test_a_quic_stack_is_measured_if_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "has", lambda package: package == "goodqueue_transports")
    assert {*bench_runs.with_stacks()} - {*bench_runs.scenarios()} == {"QUIC beside CUBIC"}
    assert "QUIC beside CUBIC" in bench_runs.names()
    monkeypatch.setattr(extras, "has", lambda package: False)
    assert {*bench_runs.with_stacks()} == {*bench_runs.scenarios()}
