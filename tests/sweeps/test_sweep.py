"""Sweeps: a grid with common seeds; stored runs are never repeated; the tables are the same after any interruption."""

import csv
import json
import os
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from conftest import TOML, Result, spawn
from goodqueue import engines, running, store
from goodqueue.errors import UserError
from goodqueue.measures import numbers, stats
from goodqueue.record import Record, Scenario
from goodqueue.sweeps import carrying, grid, result, show
from goodqueue.sweeps.result import Goal

Command = Callable[..., Result]

GRID = ["sweep", "ok.toml", "--set", "bottleneck.qdisc=codel,pie target 20ms", "--set", "path.rtt=10ms,40ms"]


def sweep(goodqueue: Command, *more: str) -> dict[str, Any]:
    found = goodqueue(*GRID, *more, "--json")
    assert found.status == 0, found.err
    data: dict[str, Any] = json.loads(found.out)
    return data


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("codel,pie target 20ms", ["codel", "pie target 20ms"]),
        ("1,4", ["1", "4"]),
        ("[1,2],[3]", ["[1,2]", "[3]"]),
        ('{bdp = 1, x = 2},"a,b"', ["{bdp = 1, x = 2}", '"a,b"']),
        ("'a,b',c", ["'a,b'", "c"]),
    ],
)
def test_commas_within_a_value_are_its_own(text: str, parts: list[str]) -> None:
    assert grid.split(text, "") == parts
    assert grid.axes([f"a.b={text}"])[0].values == tuple(parts)


def test_every_combination_runs_on_the_same_seeds(here: Path, goodqueue: Command) -> None:
    found = sweep(goodqueue, "--seeds", "3", "--seed", "7")
    places = [tuple(cell["at"].values()) for cell in found["cells"]]
    assert places == [("codel", "10ms"), ("codel", "40ms"), ("pie target 20ms", "10ms"), ("pie target 20ms", "40ms")]
    codel, _, pie, _ = found["cells"]
    arguments = ["run", "ok.toml", "--set", "bottleneck.qdisc=pie target 20ms", "--set", "path.rtt=10ms", "--json"]
    alone = [json.loads(goodqueue(*arguments, "--seed", str(seed)).out) for seed in (7, 8, 9)]
    delays = [record["queues"]["down"]["delay_ms"]["mean"] for record in alone]
    assert pie["metrics"]["delay_mean_ms"]["values"] == delays, "a cell's runs must be those of `run` with these seeds"
    by_hand = stats.estimate([a - b for a, b in zip(delays, codel["metrics"]["delay_mean_ms"]["values"], strict=True)])
    assert by_hand is not None
    difference = pie["difference_from_first_qdisc"]["delay_mean_ms"]
    assert (difference["mean"], difference["ci"]) == (by_hand.mean, [by_hand.low, by_hand.high])
    assert codel["difference_from_first_qdisc"] is None


def test_any_value_of_any_key_may_be_the_baseline(here: Path, goodqueue: Command) -> None:
    found = sweep(goodqueue, "--seeds", "3", "--against", "rtt=40ms", "--correct", "holm", "--metric", "delay_mean_ms")
    assert (found["against"], found["correct"]) == ({"path.rtt": "40ms"}, "holm")
    near, far = found["cells"][:2]
    difference = near["difference_from_against"]["delay_mean_ms"]
    pairs = zip(*(cell["metrics"]["delay_mean_ms"]["values"] for cell in (near, far)), strict=True)
    by_hand = stats.estimate([one - other for one, other in pairs])
    assert by_hand is not None
    assert (difference["mean"], difference["p"], difference["d_z"]) == (by_hand.mean, by_hand.p, by_hand.effect)
    assert far["difference_from_against"] is None
    restored = result.as_json(result.from_json(found))
    assert restored == found, "a report has the same baseline"
    options = ["--set", "path.rtt=10ms,40ms", "--seeds", "2", "--against", "path.rtt=40ms", "--effect"]
    out = goodqueue("sweep", "ok.toml", *options).out
    assert "Difference from path.rtt = 40ms" in out
    assert "Effect size against path.rtt = 40ms" in out
    assert "no stars: 2 seeds are too few" in " ".join(out.split())
    assert "*" not in out


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--against", "path.rtt"], '--against: found "path.rtt"; accepted: KEY=VALUE of bottleneck.qdisc, path.rtt'),
        (["--against", "path.rtt=9ms"], '--against: found "9ms"; accepted: 10ms, 40ms'),
        (["--against", "seed=1"], '--against: found "seed=1"; accepted: KEY=VALUE of'),
        (["--correct", "bonferroni"], '--correct: found "bonferroni"; accepted: holm'),
        (["--latex", "--json"], "--latex: found beside --json; accepted: one of them"),
    ],
)
def test_a_baseline_that_is_none_is_refused(here: Path, goodqueue: Command, options: list[str], expected: str) -> None:
    axes = ["--set", "bottleneck.qdisc=codel,pie", "--set", "path.rtt=10ms,40ms"]
    said = goodqueue("sweep", "ok.toml", *axes, *options)
    assert (said.status, said.out) == (2, "")
    assert said.err.startswith(f"goodqueue: {expected}")


def test_a_metric_may_be_any_number_of_the_record(here: Path, goodqueue: Command) -> None:
    found = sweep(goodqueue, "--seeds", "2", "--metric", "queues.up.packets.offered", "--metric", "jain_goodput")
    assert list(found["cells"][0]["metrics"]) == ["queues.up.packets.offered", "jain_goodput"]
    assert found["cells"][0]["metrics"]["queues.up.packets.offered"]["mean"] > 100
    said = goodqueue(*GRID, "--metric", "apps.0.rtt_ms.p99", "--seeds", "2").out
    assert "apps.0.rtt_ms.p99" in said
    assert "Jain  " not in said, "only what was asked for is shown"


def test_without_a_qdisc_axis_nothing_is_compared(here: Path, goodqueue: Command) -> None:
    said = goodqueue("sweep", "ok.toml", "--set", "path.rtt=10ms,40ms", "--seeds", "2")
    assert said.status == 0
    assert "Difference" not in said.out


def test_a_cell_that_is_refused_is_named_and_the_others_go_on(here: Path, goodqueue: Command) -> None:
    found = goodqueue("sweep", "ok.toml", "--set", "bottleneck.qdisc=codel,codle", "--seeds", "2", "--json")
    assert found.status == 1
    first, second = json.loads(found.out)["cells"]
    assert first["n"] == 2
    assert second["n"] == 0
    assert found.err.startswith('goodqueue: bottleneck.qdisc=codle: --set bottleneck.qdisc: unknown qdisc "codle"; did')
    assert found.err.count("\n") == 1


FAILING = """
class Fails:
    def __init__(self, link, after=10**9):
        self.link, self.left = link, after

    def enqueue(self, now, packet, queue):
        self.left -= 1
        if self.left < 0:
            raise ArithmeticError("the law broke")
        queue.push(packet)

    def dequeue(self, now, queue):
        return queue.pop()
"""


def test_a_run_that_fails_is_named_and_the_others_go_on(here: Path, goodqueue: Command) -> None:
    (here / "idea.py").write_text(FAILING, encoding="utf-8")
    lines = "./idea.py:Fails after 50,codel,./idea.py:Fails"
    command = ["sweep", "ok.toml", "--set", f"bottleneck.qdisc={lines}", "--seeds", "2", "--store", "st"]
    found = goodqueue(*command)
    assert found.status == 1
    counted, named = found.err.splitlines()
    assert counted == "goodqueue: 4 runs in st, 4 of them new", "what failed is not stored"
    assert named == (
        "goodqueue: bottleneck.qdisc=./idea.py:Fails after 50: seed 1: ./idea.py:9: ArithmeticError: the law broke"
    )
    assert " failed " in found.out
    (here / "idea.py").write_text(FAILING.replace("raise ArithmeticError", "print"), encoding="utf-8")
    mended = goodqueue(*command)
    assert mended.status == 0, "a failure is not kept: the mended law runs"
    assert "6 runs in st, 4 of them new" in mended.err, "both cells of the file that changed, and not codel's"


KILLED = """
import os, signal, sys, time
from pathlib import Path
from goodqueue import cli, running
own, begun = running.simulate, []
def dying(scenario, progress, stop):
    if len(begun) == 5:
        for _ in range(1000):
            if len(list(Path("st").glob("runs/*/*.parquet"))) > 2:
                break
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGKILL)
    begun.append(1)
    return own(scenario, progress, stop)
running.simulate = dying
cli.main(sys.argv[1:])
"""


def test_a_killed_sweep_goes_on_and_ends_the_same(
    here: Path, goodqueue: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = [*GRID, "--seeds", "3", "--json", "--jobs", "1"]
    whole = goodqueue(*arguments, "--store", "undisturbed")
    command = [sys.executable, "-c", KILLED, *arguments, "--store", "st"]
    killed = subprocess.run(command, check=False, capture_output=True, env=os.environ)
    assert killed.returncode == -signal.SIGKILL
    stored = store.find(here / "st")
    kept = {key: (stored.path(key).read_bytes(), stored.path(key).stat().st_mtime_ns) for key in stored.all_keys()}
    assert 3 <= len(kept) <= 5
    ran: list[int] = []
    own = running.simulate

    def counting(scenario: Scenario, progress: running.Progress, stop: threading.Event) -> str:
        ran.append(1)
        return own(scenario, progress, stop)

    monkeypatch.setattr(running, "simulate", counting)
    again = goodqueue(*arguments, "--store", "st")
    assert len(ran) == 12 - len(kept), "a stored run must not be done again"
    assert again.out == whole.out
    for key, (content, changed) in kept.items():
        assert (stored.path(key).read_bytes(), stored.path(key).stat().st_mtime_ns) == (content, changed)
    ours, theirs = (
        {file.relative_to(here / name): file.read_bytes() for file in (here / name).rglob("*") if file.is_file()}
        for name in ("st", "undisturbed")
    )
    assert ours == theirs, "both folders must be the same to the byte"


def test_sweeps_share_a_store(here: Path, goodqueue: Command) -> None:
    assert goodqueue(*GRID, "--seeds", "2", "--store", "st").status == 0
    more = goodqueue(*GRID[:4], "--set", "path.rtt=10ms,40ms,80ms", "--seeds", "2", "--store", "st")
    assert more.err == "goodqueue: 12 runs in st, 4 of them new\n"
    assert len(list((here / "st" / "sweeps").iterdir())) == 2, "the first sweep's tables stay"


def test_the_files_of_a_sweep_are_tables(here: Path, goodqueue: Command) -> None:
    command = ["sweep", "ok.toml", "--set", "traffic.0.count=1,3", "--set", "path.rtt=10ms,40ms", "--seeds", "2"]
    found = json.loads(goodqueue(*command, "--store", "st", "--json").out)
    (folder,) = (here / "st" / "sweeps").iterdir()
    assert json.loads((folder / "results.json").read_text(encoding="utf-8")) == found | {
        "files": ["cells.csv", "results.json", "runs.parquet", "tables.tex"]
    }
    rows = parquet.read_table(folder / "runs.parquet").to_pylist()
    places = [(row["traffic.0.count"], row["path.rtt"], row["seed"]) for row in rows]
    assert places == [(count, rtt, seed) for count in (1.0, 3.0) for rtt in ("10ms", "40ms") for seed in (1, 2)]
    assert {(row["set.path.rtt"], row["set.path.rtt_ms"]) for row in rows} == {("10ms", 10.0), ("40ms", 40.0)}
    assert {(row["set.traffic.0.count"], row["set.traffic.0.count_number"]) for row in rows} == {("1", 1), ("3", 3)}
    assert [row["goodput_mbps"] for row in rows[:2]] == found["cells"][0]["metrics"]["goodput_mbps"]["values"]
    assert {row["key"] for row in rows} == set(store.find(here / "st").all_keys())
    with (folder / "cells.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert float(lines[3]["delay_p95_ms_mean"]) == found["cells"][3]["metrics"]["delay_p95_ms"]["mean"]


def test_a_mix_of_traffic_is_a_value_of_the_axis_traffic(here: Path, goodqueue: Command) -> None:
    (here / "other.toml").write_text(TOML.replace("count = 2", "count = 3"), encoding="utf-8")
    mixes = ["--mix", "calls=bulk:1,voip:2,ping", "--mix", "other=other.toml"]
    command = ["sweep", "ok.toml", "--set", "bottleneck.qdisc=codel,pie", *mixes, "--seeds", "1"]
    found = json.loads(goodqueue(*command, "--store", "st", "--json").out)
    assert [tuple(cell["at"].values()) for cell in found["cells"]][:2] == [("codel", "calls"), ("codel", "other")]
    kept = store.find(here / "st")
    records = {
        cell["at"]["traffic"]: next(kept.rows([cell["runs"][0]], ["record"]))["record"] for cell in found["cells"][:2]
    }
    kinds = {name: [flow["kind"] for flow in json.loads(str(text))["flows"]] for name, text in records.items()}
    assert kinds == {"calls": ["bulk", "voip", "voip"], "other": ["bulk"] * 3}
    assert result.as_json(result.from_json(found)) == found
    assert show.command(result.from_json(found)) == shlex.join(["goodqueue", *command])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--mix", "bulk:4"], "--mix bulk:4: found no NAME=LIST; accepted: as in calls=bulk:4,voip:10"),
        (["--mix", "a=bulk", "--mix", "a=ping"], '--mix a=ping: found "a" twice; accepted: each name once'),
        (["--mix", "a=nosuch"], '--traffic: found "nosuch"; accepted: bulk'),
        (["--mix", "a=none.toml"], "none.toml: "),
        (
            ["--mix", "a=ping", "--set", "traffic.0.count=1,2"],
            "--mix: found beside --set traffic.0.count",
        ),
    ],
)
def test_a_mix_that_is_none_is_refused(here: Path, goodqueue: Command, options: list[str], expected: str) -> None:
    said = goodqueue("sweep", "ok.toml", *options)
    assert (said.status, said.out) == (2, "")
    assert said.err.startswith(f"goodqueue: {expected}")


def test_every_key_that_is_set_is_a_column_and_a_quantity_has_a_number(here: Path, goodqueue: Command) -> None:
    sets = ["--set", "traffic.0.cc=cubic,reno", "--set", "path.rtt=0.02s", "--set", "bottleneck.rate=5mbit"]
    assert goodqueue("sweep", "ok.toml", *sets, "--seeds", "1", "--store", "st").status == 0
    (file,) = (here / "st").glob("sweeps/*/runs.parquet")
    table = parquet.read_table(file)
    first = table.to_pylist()[0]
    assert {key: value for key, value in first.items() if key.startswith("set.")} == {
        "set.traffic.0.cc": "cubic",
        "set.path.rtt": "0.02s",
        "set.path.rtt_ms": 20.0,
        "set.bottleneck.rate": "5mbit",
        "set.bottleneck.rate_mbps": 5.0,
    }


def measured(plan: carrying.Plan, values: Callable[[int], float]) -> tuple[result.Sweep, list[int]]:
    """Carry out ``plan`` with an executor that has a fixed mean delay for each seed."""
    rounds: list[int] = []

    def execute(
        engine: str,
        scenarios: list[Scenario],
        progress: running.Progress,
        finished: running.Finished,
        failed: running.Failed | None = None,
    ) -> None:
        rounds.append(len(scenarios))
        for index, scenario in enumerate(scenarios):
            delay = {"mean": values(scenario["seed"])}
            queue = {"qdisc": "codel", "delay_ms": delay, "delay_percentiles_ms": None}
            rest = {"flows": [], "apps": [], "fairness": {"jain_goodput": None}, "scenario": scenario}
            finished(index, json.dumps({"queues": {"down": queue, "up": queue}, **rest}))

    from contextlib import nullcontext

    found, _ = carrying.carry_out(plan, None, execute, lambda _: nullcontext(lambda _: None), lambda _: None)  # type: ignore[arg-type]
    return found, rounds


def plan_of(scenario: Scenario, goal: Goal, seeds: int) -> carrying.Plan:
    cells = grid.cells(scenario, [], "", "sim")
    return carrying.Plan("x.toml", scenario, [], cells, "sim", numbers.find(["delay_mean_ms"]), 1, seeds, goal)


def test_until_ci_adds_seeds_until_it_is_known(scenario: Scenario) -> None:
    # Values alternate between 9 and 11: mean 10, deviation about 1. For 4 seeds the half-width is 3.182 * 1.155 / 2 =
    # 1.84, for 8 it is 2.365 * 1.069 / sqrt(8) = 0.894, for 16 it is 2.131 * 1.033 / 4 = 0.550.
    goal = Goal(6.0, "delay_mean_ms", 100)
    found, rounds = measured(plan_of(scenario, goal, 4), lambda seed: 9.0 + 2 * (seed % 2))
    assert rounds == [4, 4, 8], "twice as many at the most, and no run twice"
    assert len(found.cells[0].keys) == 16
    assert found.cells[0].reached is True
    estimate = found.cells[0].estimate("delay_mean_ms")
    assert estimate is not None
    assert estimate.half_width == pytest.approx(0.5503, abs=1e-3)


def test_until_ci_stops_at_the_cap_and_says_so(scenario: Scenario) -> None:
    from goodqueue.sweeps import show

    goal = Goal(0.1, "delay_mean_ms", 10)
    found, rounds = measured(plan_of(scenario, goal, 4), lambda seed: 9.0 + 2 * (seed % 2))
    assert rounds == [4, 4, 2]
    assert found.cells[0].reached is False
    said = show.certainty(found)
    assert said[0] == "delay_mean_ms within ± 0.1 % of its mean: reached in 0 of 1 cells."
    assert said[1] == "the scenario: ± 7.5 % after n = 10.", "2.262 * 1.054 / sqrt(10) of 10"
    assert "10 seeds per cell (--max-seeds)" in said[2]
    assert "less often than 95 %" in said[3], "it was looked at several times"


def test_until_ci_is_content_where_nothing_is_random(scenario: Scenario) -> None:
    found, rounds = measured(plan_of(scenario, Goal(1.0, "delay_mean_ms", 100), 2), lambda _: 5.0)
    assert rounds == [2]
    assert found.cells[0].reached is True
    nothing, rounds = measured(plan_of(scenario, Goal(1.0, "delay_mean_ms", 8), 2), lambda seed: 2.0 * (seed % 2) - 1)
    assert rounds == [2, 2, 4], "about a mean of zero no percentage can be reached"
    assert nothing.cells[0].reached is False


def test_cells_with_more_seeds_are_compared_on_those_they_share(here: Path, goodqueue: Command) -> None:
    found = sweep(goodqueue, "--seeds", "2", "--until-ci", "4%", "--max-seeds", "12", "--metric", "delay_mean_ms")
    codel, _, pie, _ = found["cells"]
    assert codel["n"] != pie["n"], "the test needs cells that differ"
    assert pie["difference_from_first_qdisc"]["delay_mean_ms"]["n"] == min(codel["n"], pie["n"])
    assert all(cell["reached"] or cell["n"] == 12 for cell in found["cells"])


def test_a_stored_sweep_reads_back(here: Path, goodqueue: Command) -> None:
    found = sweep(goodqueue, "--seeds", "2", "--until-ci", "20%", "--max-seeds", "3")
    assert result.as_json(result.from_json(found)) == found


def test_the_kernel_refuses_by_cell(here: Path, goodqueue: Command, kernel: list[Scenario]) -> None:
    command = ["sweep", "ok.toml", "--set", "bottleneck.qdisc=codel,rem", "--seeds", "2", "--engine", "kernel"]
    found = goodqueue(*command, "--store", "st")
    assert found.status == 1
    assert 'bottleneck.qdisc=rem: bottleneck.qdisc: found "rem"; accepted: what Linux has' in found.err
    assert len(kernel) == 2
    assert "2 runs in st, 0 of them new" in goodqueue(*command, "--store", "st").err
    assert len(kernel) == 2


def test_a_failure_of_the_place_itself_ends_the_sweep(
    here: Path, goodqueue: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(store.Store, "put", stop)
    found = goodqueue(*GRID, "--store", "st")
    continues = "goodqueue: interrupted; the same command continues it from st\n"
    assert (found.status, found.out, found.err) == (130, "", continues)


def test_each_hands_records_over_and_keeps_none(scenario: Scenario) -> None:
    def engine(one: Scenario, progress: running.Progress, stop: threading.Event) -> str:
        if one["seed"] == 2:
            raise UserError("seed 2 fails")
        return f"record {one['seed']}"

    told: dict[int, str] = {}
    scenarios = [{**scenario, "seed": seed} for seed in (1, 2, 3)]
    running.each(scenarios, told.__setitem__, 2, None, engine, lambda index, error: told.update({index: str(error)}))
    assert told == {0: "record 1", 1: "seed 2 fails", 2: "record 3"}
    with pytest.raises(UserError, match="seed 2 fails"):
        running.many(scenarios, 2, None, engine)


def test_a_sweep_without_an_out_leaves_nothing(here: Path) -> None:
    found = spawn(*GRID, "--seeds", "2", "--json")
    assert (found.returncode, found.stderr) == (0, "")
    assert [file.name for file in here.iterdir()] == ["ok.toml"]


def test_local_runs_are_the_engines_own(monkeypatch: pytest.MonkeyPatch, record: Record, scenario: Scenario) -> None:
    from goodqueue import executors

    monkeypatch.setattr(engines, "find", lambda name: lambda *_: name)
    told: list[str] = []
    executors.local(1)("kernel", [scenario], lambda _: None, lambda _, text: told.append(text), None)
    assert told == ["kernel"]
