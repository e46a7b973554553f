"""Parameters of a qdisc's line: as keys of --set and axes of a sweep, and as numbers in a store."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyarrow import dataset

from conftest import SCENARIO, Result
from goodqueue import running, scenario, store
from goodqueue.engines import identity
from goodqueue.errors import UserError
from goodqueue.scenario import parameters
from goodqueue.store import columns

Command = Callable[..., Result]


@pytest.mark.parametrize(
    ("line", "assignment", "expected"),
    [
        ("codel", "target=9ms", "codel target 9ms"),
        ("codel target 5ms limit 100", "target=9ms", "codel target 9ms limit 100"),
        ("codel", "ecn=true", "codel ecn"),
        ("codel ecn limit 7", "ecn=false", "codel limit 7 noecn"),
        ("tbf rate 1mbit child codel target 5ms", "burst=9kb", "tbf rate 1mbit burst 9kb child codel target 5ms"),
        ("tbf rate 1mbit child codel target 5ms", "child.target=9ms", "tbf rate 1mbit child codel target 9ms"),
        ("./my.py:Law limit 5", "limit=7", "./my.py:Law limit 7"),
    ],
)
def test_a_parameter_is_set_where_it_stands_or_added(line: str, assignment: str, expected: str) -> None:
    asked: dict[str, Any] = {"bottleneck": {"qdisc": line}}
    scenario.apply_set(asked, f"bottleneck.qdisc.{assignment}")
    assert asked["bottleneck"]["qdisc"] == expected


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("bottleneck.up.qdisc.target", "found no line to set target in; accepted: where there is a qdisc"),
        (
            "bottleneck.qdisc.child.target",
            'found "child.target" of "codel"; accepted: one of its parameters',
        ),
        ("bottleneck.qdisc.a.b", 'found "a.b" of "codel"; accepted: one of its parameters, or child.NAME'),
    ],
)
def test_what_has_no_such_line_is_refused(key: str, message: str) -> None:
    with pytest.raises(UserError) as raised:
        scenario.apply_set({"bottleneck": {"qdisc": "codel", "up": {}}}, f"{key}=5ms")
    assert str(raised.value).startswith(f"--set {key}=5ms: {message}")


def test_an_unknown_parameter_is_refused_with_its_option(here: Path, goodqueue: Command) -> None:
    result = goodqueue("run", "ok.toml", "--set", "bottleneck.qdisc.tarject=5ms")
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith("goodqueue: --set bottleneck.qdisc.tarject: ")
    assert result.err.count("\n") == 1


def test_an_option_s_line_is_set_before_its_parameters(here: Path, goodqueue: Command) -> None:
    words = ("run", "ok.toml", "--qdisc", "pie", "--set", "bottleneck.qdisc.target=9ms", "--json")
    assert json.loads(goodqueue(*words).out)["queues"]["down"]["qdisc"].startswith("pie limit 1000 target 9ms ")


@pytest.mark.parametrize("turned", [False, True])
def test_a_parameter_is_an_axis_of_a_sweep(here: Path, goodqueue: Command, turned: bool) -> None:
    axes = ["--set", "bottleneck.qdisc=codel,pie", "--set", "bottleneck.qdisc.target=5ms,20ms"]
    result = goodqueue("sweep", "ok.toml", *(axes[2:] + axes[:2] if turned else axes), "--seeds", "1", "--json")
    cells = json.loads(result.out)["cells"]
    lines = {(cell["at"]["bottleneck.qdisc"], cell["at"]["bottleneck.qdisc.target"]): cell["qdisc"] for cell in cells}
    assert len(lines) == 4
    for (name, target), line in lines.items():
        assert f"{name} " in line
        assert f" target {target} " in line, "whichever axis comes first"


def test_a_parameter_goes_across_a_figure_as_a_number(here: Path, goodqueue: Command) -> None:
    from goodqueue.plot import drawing, selection
    from goodqueue.store import results

    axes = ["--set", "bottleneck.qdisc=codel,pie", "--set", "bottleneck.qdisc.target=20ms,5ms,10ms"]
    assert goodqueue("sweep", "ok.toml", *axes, "--seeds", "1", "--store", "store").status == 0
    assert goodqueue("report", "store", "--out", "report").status == 0
    found = selection.runs([one.record for one in results.records(["store"])])
    figure = drawing.lines(found, ["delay_mean_ms"], [], "qdisc.target", "")
    (ax,) = figure.axes
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["5ms", "10ms", "20ms"]
    assert ax.get_xticks().tolist() == [5.0, 10.0, 20.0], "where they belong"
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["codel", "pie"]


# --- In a store


def test_what_was_run_is_numbers_too(tmp_path: Path) -> None:
    kept = store.create(tmp_path / "st", "--store st")
    rates = tmp_path / "rates.txt"
    rates.write_text("0s 10mbit\n1s 5mbit\n2s repeat\n", encoding="utf-8")
    for bottleneck in (
        {"rate": "10mbit", "qdisc": "codel target 7500us", "up": {"rate": "1500kbit"}},
        {"rate": "10mbit", "qdisc": "pie", "up": {"qdisc": "red"}},
        {"trace": str(rates), "qdisc": "dualpi2 step_thresh 3p"},
    ):
        asked = scenario.resolve(SCENARIO | {"bottleneck": bottleneck, "duration": "1500ms"})
        one = identity.of("sim", asked)
        kept.put(one, running.one_text(asked))
    rows = {row["qdisc"].split()[0]: row for row in dataset.dataset(kept.folder / "runs").to_table().to_pylist()}
    codel, pie, dualpi2 = (rows[name] for name in ("codel", "pie", "dualpi2"))
    assert (codel["rate"], codel["rate_mbps"], codel["up_rate_mbps"]) == ("10mbit", 10.0, 1.5)
    assert (codel["rtt_ms"], codel["duration_s"], codel["qdisc_target_ms"]) == (20.0, 1.5, 7.5)
    assert (codel["qdisc_limit_packets"], codel["qdisc_ce_threshold_ms"]) == (1000.0, None)
    assert (pie["qdisc_target_ms"], pie["qdisc_alpha"], codel["qdisc_alpha"]) == (15.0, 2.0, None)
    assert (dualpi2["rate"], dualpi2["qdisc_step_thresh_packets"], dualpi2["qdisc_step_thresh_ms"]) == (None, 3.0, None)
    assert dualpi2["rate_mbps"] == dualpi2["up_rate_mbps"] == 7.5, "the mean of the file that both ways follow"


def test_each_numeric_parameter_of_the_registry_has_a_column() -> None:
    from goodqueue import _goodqueue

    there = set(columns.schema().names)
    for spec in json.loads(_goodqueue.qdiscs()):
        found = parameters.numbers(spec["name"])
        assert {f"qdisc_{name}" for name in found} <= there
        values = _goodqueue.qdisc_values(spec["name"])
        numeric = {key for key, value in values.items() if type(value) in (int, float) and not key.startswith("child")}
        assert numeric == found.keys(), spec["name"]
    assert parameters.numbers("./my.py:Law limit 5") == {}


def test_a_store_of_before_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files of old stores have none of these columns."""
    old = [name for name in columns.schema().names if name not in columns.NUMBERS and not name.startswith("qdisc_")]
    own = columns.table
    monkeypatch.setattr(columns, "table", lambda one, text: own(one, text).select(old))
    kept = store.create(tmp_path / "st", "--store st")
    one = identity.of("sim", scenario.resolve(SCENARIO))
    kept.put(one, running.one_text(one.scenario))
    monkeypatch.undo()
    assert kept.get(one) is not None
    (row,) = kept.rows([one.key], ["rate", "rate_mbps", "qdisc_target_ms"])
    assert (row["rate"], row["rate_mbps"], row["qdisc_target_ms"]) == ("10mbit", None, None)
