"""The selection of a figure's runs, and its lines and panels, by keys of the scenarios."""

import copy
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from conftest import Result
from goodqueue.errors import UserError
from goodqueue.plot import drawing, selection
from goodqueue.record import Record
from goodqueue.scenario.quantity import order, quantity, same

QDISCS = ("codel limit 1000 target 5ms", "codel limit 1000 target 20ms", "pie limit 1000 target 15ms")
RTTS = ("10ms", "200ms", "5ms")


def cells(record: Record, qdiscs: Sequence[str] = QDISCS, rtts: Sequence[str] = RTTS, seeds: int = 2) -> list[Record]:
    """Return one record per cell of a grid, as a sweep leaves them: keys that follow from the axes differ, too."""
    found = []
    for rtt in rtts:
        for line in qdiscs:
            for seed in range(1, seeds + 1):
                one: Any = copy.deepcopy(record)
                scenario = one["scenario"]
                scenario["path"]["rtt"], scenario["seed"], one["seed"] = rtt, seed, seed
                for table in (scenario["bottleneck"], scenario["bottleneck"]["up"]):
                    table["qdisc"] = line
                for source in scenario["traffic"]:
                    source["rtt"] = rtt
                found.append(one)
    return found


def test_what_differs_is_said_by_the_fewest_keys(record: Record) -> None:
    found = selection.runs(cells(record))
    assert found.differ == ["path.rtt", "bottleneck.qdisc"] or found.differ == ["bottleneck.qdisc", "path.rtt"]
    assert found.values("path.rtt") == list(RTTS), "in the order of the runs, not by size"
    assert selection.runs(cells(record, QDISCS[:1], ("5ms",))).differ == []


def test_a_limit_that_follows_from_the_buffer_is_no_difference(record: Record) -> None:
    records = cells(record)
    for at, one in enumerate(records):
        bottleneck = one["scenario"]["bottleneck"]
        for table in (bottleneck, bottleneck["up"]):
            table["qdisc"] = table["qdisc"].replace("limit 1000", f"limit {at // 6 + 1}")
    found = selection.runs(records)
    assert sorted(found.differ) == ["bottleneck.qdisc", "path.rtt"]
    assert len(found.values("bottleneck.qdisc")) == 3
    two = selection.runs(cells(record, ("pfifo limit 10", "pfifo limit 20"), ("5ms",)))
    assert two.values("bottleneck.qdisc") == ["pfifo limit 10", "pfifo limit 20"], "here it is what differs"


@pytest.mark.parametrize(
    ("conditions", "count"),
    [
        ([], 18),
        (["path.rtt=5ms"], 6),
        (["rtt=0.01s,200ms"], 12),
        (["qdisc=codel"], 12),
        (["qdisc=codel target 20ms", "rtt=5ms"], 2),
        (["qdisc=codel limit 1000"], 12),
        (["bottleneck.up.qdisc=pie"], 6),
        (["seed=2"], 9),
        (["engine=sim"], 18),
        (["traffic.0.count=2"], 18),
    ],
)
def test_runs_are_chosen_by_values_of_keys(record: Record, conditions: list[str], count: int) -> None:
    assert len(selection.where(selection.runs(cells(record)), conditions).records) == count


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("rtt", "--where rtt: found no KEY=VALUE; accepted: as in rtt=10ms,50ms"),
        ("rtt=", "--where rtt=: found no KEY=VALUE"),
        ("rtt=7ms", '--where rtt=7ms: found no run with rtt "7ms"; accepted: 10ms, 200ms, 5ms'),
        ("qdisc=red", '--where qdisc=red: found no run with qdisc "red"; accepted: codel target 5ms, codel'),
        ("rat=1", '--where rat=1: found no key "rat" in these runs; accepted: what differs ('),
        ("kind=bulk", '--where kind=bulk: found "kind", the last word of several; accepted: traffic.0.kind, traffic.1'),
        ('rtt="5ms', "--where rtt=\"5ms: found the quote"),
    ],
)  # fmt: skip
def test_a_condition_that_chooses_nothing_is_refused(record: Record, condition: str, expected: str) -> None:
    with pytest.raises(UserError) as refused:
        selection.where(selection.runs(cells(record)), [condition])
    assert str(refused.value).startswith(expected)


def test_a_condition_orders_the_runs_as_its_values_are_written(record: Record) -> None:
    found = selection.where(selection.runs(cells(record)), ["rtt=200ms,5ms", "qdisc=pie,codel"])
    assert found.values("path.rtt") == ["200ms", "5ms"]
    assert next(group.label for group in selection.groups(found, ["bottleneck.qdisc"])) == "pie"


def test_conditions_that_no_run_fulfils_together_are_refused(record: Record) -> None:
    records = [one for one in cells(record) if (one["scenario"]["path"]["rtt"] == "5ms") == ("pie" in _line(one))]
    with pytest.raises(UserError, match="found no run that fulfils all"):
        selection.where(selection.runs(records), ["rtt=5ms", "qdisc=codel"])


def _line(record: Record) -> str:
    return str(record["scenario"]["bottleneck"]["qdisc"])


def test_what_else_differs_becomes_panels_in_the_order_of_the_runs(record: Record) -> None:
    found = selection.runs(cells(record))
    made = selection.groups(found, ["bottleneck.qdisc"])
    assert list(dict.fromkeys(group.panel for group in made)) == ["rtt 10ms", "rtt 200ms", "rtt 5ms"]
    assert [group.label for group in made[:3]] == ["codel target 5ms", "codel target 20ms", "pie"]
    assert {len(group.records) for group in made} == {2}
    made = selection.groups(found, ["path.rtt"])
    assert [group.label for group in made[:3]] == ["rtt 10ms", "rtt 200ms", "rtt 5ms"]
    assert len({group.panel for group in made}) == 3
    assert {group.panel for group in selection.groups(found, ["bottleneck.qdisc", "path.rtt"])} == {""}
    assert {group.panel for group in selection.groups(found, [])} == {""}
    assert len(selection.groups(found, [])) == 9
    assert {len(group.records) for group in selection.groups(found, ["seed"])} == {1}


def test_values_are_numbers_where_they_are() -> None:
    assert quantity("5ms") == (5, "ms")
    assert quantity("0.2s") == (200, "ms")
    assert quantity("10Mbit") == (10, "Mbit/s")
    assert quantity("1.5") == (1.5, "")
    assert quantity("9kB") == (9, "kB")
    for text in ("codel", "", "5 apples", "1e", "ms", "nan", "inf", "-"):
        assert quantity(text) is None, text
    assert same("1000kbit", "1mbit")
    assert not same("5ms", "5mbit")
    assert order(["200ms", "5ms", "0.01s"]) == ["5ms", "0.01s", "200ms"]
    assert order(["b", "a", "5ms"]) == ["b", "a", "5ms"]


@pytest.fixture
def grid(here: Path, record: Record) -> Path:
    lines = [f"{name} limit 1000 target {at}ms" for name in ("codel", "pie") for at in range(1, 10)]
    records = cells(record, lines, seeds=1)
    (here / "grid.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return here


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (
            ["cdf"],
            (
                "plot cdf: found 54 lines in 1 panel, for these differ: bottleneck.qdisc (18 values), path.rtt (3 "
                "values); accepted: at most 16 lines and 12 panels, by --where KEY=VALUE or --by KEY"
            ),
        ),
        (["ellipse", "--by", "qdisc"], "plot ellipse: found 18 ellipses in 3 panels, for these differ: "),
        (["time", "--by", "rtt"], "plot time: found 3 lines in 18 panels, for these differ: "),
        (
            ["time", "--by", "rtt", "--where", "qdisc=codel", "--metric", "delay_ms", "--metric", "backlog_packets"],
            (
                "plot time: found 3 lines in 9 panels, for these differ: bottleneck.qdisc (9 values), path.rtt (3 "
                "values); accepted: at most 16 lines and 4 panels, and 12 with the 2 series, by"
            ),
        ),
        (["box"], "plot box: found 54 boxes in 1 panel"),
        (["lines"], "plot lines: found 18 lines in 1 panel"),
        (["lines", "--x", "rtt", "--by", "rtt"], "--by: found path.rtt, which goes across; accepted: bottleneck.qdisc"),
        (["cdf", "--x", "rtt"], "--x: found with cdf; accepted: with lines"),
        (["cdf", "--by", "x"], '--by: found no key "x" in these runs; accepted: what differs (bottleneck.qdisc, '),
        (["cdf", "--metric", "delay_ms", "--metric", "ping_rtt_ms"], "--metric: found 2 with cdf; accepted: one, or"),
        (["time", "--metric", "delay_ms", "--metric", "delay_ms", "--where", "rtt=5ms", "--where", "qdisc=pie"],
         '--metric: found "delay_ms" twice; accepted: each once'),
    ],
)  # fmt: skip
def test_a_figure_that_nobody_could_read_is_refused_in_one_line(
    grid: Path, goodqueue: Callable[..., Result], options: list[str], expected: str
) -> None:
    said = goodqueue("plot", options[0], "grid.jsonl", *options[1:], "--out", "a.svg")
    assert (said.status, said.out) == (2, "")
    assert said.err.startswith(f"goodqueue: {expected}")
    assert said.err.count("\n") == 1
    assert not (grid / "a.svg").exists()


@pytest.mark.parametrize(
    "options",
    [
        ["cdf", "--by", "qdisc", "--where", "qdisc=codel"],
        ["ellipse", "--where", "qdisc=codel", "--where", "rtt=5ms"],
        ["box", "--by", "rtt,qdisc", "--where", "qdisc=pie"],
        ["lines", "--by", "qdisc", "--metric", "delay_p95_ms", "--where", "qdisc=codel"],
        ["lines", "--x", "qdisc", "--by", "rtt", "--metric", "goodput_mbps"],
        ["time", "--by", "qdisc", "--where", "qdisc=pie", "--metric", "delay_ms", "--metric", "cwnd_packets"],
    ],
)
def test_what_was_chosen_is_drawn_without_a_word(
    grid: Path, goodqueue: Callable[..., Result], options: list[str]
) -> None:
    said = goodqueue("plot", options[0], "grid.jsonl", *options[1:], "--out", "a.svg")
    assert (said.status, said.out, said.err) == (0, "Written: a.svg\n", "")


def test_lines_go_along_the_numbers_unless_somebody_says(record: Record) -> None:
    found = selection.runs(cells(record))
    figure = drawing.lines(found, [], [], None, "")
    assert [ax.get_xlabel() for ax in figure.axes] == ["rtt"]
    assert [tick.get_text() for tick in figure.axes[0].get_xticklabels()] == ["5ms", "10ms", "200ms"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "codel target 5ms",
        "codel target 20ms",
        "pie",
    ]
