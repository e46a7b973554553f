"""Nichols and Jacobson 2012 as a study: complete, and with --quick each claim has its known verdict."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Result
from goodqueue.studies import libraries, loading, planning, selection

Command = Callable[..., Result]

FOLDER = libraries.STUDIES.available()["nichols2012"]

# The verdicts of --quick for each claim. NOTES.md has the full study.
VERDICTS = {
    "holds": "01 02 03 04 05 06 08 09 10 12 14 16 17 18 19 20 21 22 23 25 26 27 28 29 30 31 32 33 34 35 37 38 41 42 43 "
    "45 48 49 51 52 54 56 57 58",
    "fails": "07 11 13 15 24 36 39 40 44 46 47 50 53 55",
}


@pytest.mark.long
def test_nichols_in_a_hurry(goodqueue: Command, tmp_path: Path) -> None:
    """Guards against a change of verdict that nobody notices, and against a missing figure of the paper."""
    result = goodqueue("study", "nichols2012", "--quick", "--json", "--out", str(tmp_path / "out"))
    assert (result.status, result.err) == (0, "")
    found = json.loads(result.out)
    claims = {claim["id"].removeprefix("nichols2012/c"): claim["verdict"] for claim in found["claims"]}
    assert claims == {id_: verdict for verdict, ids in VERDICTS.items() for id_ in ids.split()}
    drawn = {file.stem for file in (tmp_path / "out").glob("figure*.svg")}
    assert drawn == {f"figure{number}" for number in "3456789"} | {"figure7-delays"}


def test_nichols_is_complete() -> None:
    """Every result is computed. Settings are excluded by name."""
    study = loading.load(FOLDER)
    plan = planning.plan(study, selection.select(study, []))
    computed = [
        (cell.scenario, cell.algorithm, metric.name)
        for cell in plan.cells
        for metric in cell.experiment.metrics.values()
    ]
    excluded = {name for exclusion in study.exclusions for name in exclusion.metrics} | {"parameter"}
    missing = [
        value.id
        for value in study.published.values
        if value.metric not in excluded and (value.scenario, value.algorithm, value.metric) not in computed
    ]
    assert missing == []


def test_each_algorithm_has_the_parameters_of_its_rate() -> None:
    """ns-2 sets RED up for the link's first rate: min is 2.5 ms of packets of 500 bytes, at least 5 of them."""
    study = loading.load(FOLDER)
    lines = next(experiment for experiment in study.experiments if experiment.id == "rates").qdiscs["red"]
    assert isinstance(lines, dict)
    for rate, line in lines.items():
        words = dict(zip(*[iter(line.removeprefix("red_gentle bytes ").split())] * 2, strict=True))
        capacity = float(rate.removesuffix("mbit")) * 1e6 / (8 * 500)
        assert float(words["min"]) == pytest.approx(max(5.0, 0.005 * capacity / 2)), rate
        assert float(words["max"]) == pytest.approx(3 * float(words["min"])), rate
        assert float(words["weight"]) == pytest.approx(1 / capacity, rel=0.02), rate  # 1 - exp(-1/C)


@pytest.mark.parametrize("file", sorted((FOLDER / "scenarios").glob("*.toml")), ids=lambda file: file.stem)
def test_its_scenarios_run_by_themselves(file: Path, goodqueue: Command) -> None:
    shorter = ("--set", "duration=12s") if "dynamic" not in file.stem else ()
    shorter += ("--set", "warmup=2s") if "warmup" in file.read_text(encoding="utf-8") else ()
    assert goodqueue("run", str(file), "--json", *shorter).status == 0


def test_each_remedy_empties_the_modem(goodqueue: Command) -> None:
    """Figure 10: with the queue in the modem pings take its 250 ms. Each remedy leaves less than a quarter of that."""
    file = FOLDER / "scenarios" / "cable.toml"
    remedies = {
        "none": (),
        "limit": ("bottleneck.up.rate=1.9mbit",),
        "codel": ("hop.0.qdisc=codel variant acm2012",),
        "flow control": ("bottleneck.up.rate=2mbit", "bottleneck.up.ring=4", "hop.0.rate=1gbit"),
    }
    latency = {}
    for name, sets in remedies.items():
        options = [word for one in sets for word in ("--set", one)]
        record = json.loads(goodqueue("run", str(file), "--json", *options).out)
        latency[name] = next(app["rtt_ms"]["p50"] for app in record["apps"] if app["kind"] == "ping") - 40
    assert latency["none"] > 150, latency
    assert all(latency[name] < latency["none"] / 4 for name in list(remedies)[1:]), latency
