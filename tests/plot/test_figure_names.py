"""A figure has the names that people gave: of mixes, of flows, of classes, and those of ``--label``."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Result
from goodqueue.errors import UserError
from goodqueue.measures import numbers
from goodqueue.plot import clock, drawing, selection, style, tree, wishes
from goodqueue.plot.stored import Group, words_of
from goodqueue.record import Record
from goodqueue.show import labels as naming
from goodqueue.store import results

Command = Callable[..., Result]


def test_the_names_of_a_sweep_s_mixes_are_those_of_its_figures(here: Path, goodqueue: Command) -> None:
    mixes = ["--mix", "few=bulk:1", "--mix", "calls=bulk:1,voip:1,ping"]
    sets = ["--set", "path.rtt=10ms,40ms", "--set", "duration=2s"]
    assert goodqueue("sweep", "ok.toml", *sets, *mixes, "--seeds", "1", "--store", "store").status == 0
    loose = results.records(["store"])
    runs = selection.runs([run.record for run in loose], [run.mix for run in loose])
    assert [group.panel for group in selection.groups(runs, [], ["path.rtt"])] == ["few", "calls"]
    labels = [group.label for group in selection.groups(runs, [])]
    assert labels == ["codel, 10ms, few", "codel, 10ms, calls", "codel, 40ms, few", "codel, 40ms, calls"]
    assert goodqueue("plot", "box", "store", "--where", "traffic=calls", "--by", "rtt", "--out", "c.svg").status == 0
    said = goodqueue("plot", "box", "store", "--where", "traffic=call", "--out", "d.svg")
    assert said.err == 'goodqueue: --where traffic=call: found no run with traffic "call"; accepted: few, calls\n'


def draw(record: Record, labels: list[str], has_note: bool = True) -> str:
    """Return the text of the figure of two runs, of which one has another path."""
    other = json.loads(json.dumps(record))
    other["scenario"]["path"]["rtt"] = "40ms"
    asked = wishes.of(None, None, None, labels, has_note)
    with wishes.applied(asked):
        figure = drawing.of_runs("lines", selection.runs([record, other]), ["flows.1.goodput_mbps"], None, "rtt")
    asked.labels.check()
    return style.svg(figure, "a")


def test_a_label_replaces_the_name_of_a_metric_a_key_and_a_value(record: Record) -> None:
    assert ">goodput of bulk/1 (Mbit/s)<" in draw(record, [])
    text = draw(record, ["flows.1.goodput_mbps=Mine", "rtt=Base RTT", "40ms=far"])
    assert all(f">{name}<" in text for name in ("Mine (Mbit/s)", "Base RTT", "far"))
    with pytest.raises(UserError) as refused:
        draw(record, ["rrt=Base RTT"])
    said = '--label: found "rrt", no name in this figure; accepted: path.rtt, rtt, 20ms, 40ms, flows.1.goodput_mbps'
    assert str(refused.value).startswith(said)
    with pytest.raises(UserError, match="--label rtt: found no KEY=TEXT"):
        wishes.of(None, None, None, ["rtt"])


def test_a_label_leaves_colours_and_other_words(record: Record) -> None:
    """A colour belongs to the discipline, whatever the figure calls it."""
    asked = wishes.of(None, None, None, ["codel=Good", "rtt=Base RTT"])
    with wishes.applied(asked):
        assert wishes.written("codel target 4ms, rtt 10ms") == "Good target 4ms, Base RTT 10ms"
        figure = drawing.draw("bar", [Group("codel", [record]), Group("pfifo", [record])], [], "")
    ticks = figure.axes[0].get_yticklabels()
    assert [tick.get_text() for tick in ticks] == ["Good", "pfifo"]
    assert ticks[0].get_color() == style.look_of("codel").ink


def test_the_note_can_be_left_out(record: Record) -> None:
    for has_note in (True, False):
        with wishes.applied(wishes.of(None, None, None, has_note=has_note)):
            figure = drawing.draw("bar", [Group("codel", [record])], [], "")
        assert ("n = 1 run each" in style.svg(figure, "a").replace("\n", " ")) == has_note


def test_a_class_and_a_flow_are_named_without_their_file_and_number(record: Record) -> None:
    values = ["cubic", "./slow.py:Slow beta 0.5"]
    assert list(naming.of_values("traffic.1.cc", values).values()) == ["cc cubic", "cc Slow beta 0.5"]
    mine = json.loads(json.dumps(record))
    mine["flows"][1]["name"] = "mine/0"
    (metric,) = numbers.find(["flows.1.rtt_ms.p95"])
    assert words_of(metric, [Group("a", [mine])]) == "rtt p95 of mine"
    assert words_of(metric, [Group("a", [mine, record])]) == metric.key, "two flows have two names"


def test_an_evening_has_a_clock_below_it(record: Record) -> None:
    run = json.loads(json.dumps(record))
    nodes = [{"name": "tower", "limiting_percent": {"down": [0.0, 9.0], "up": [0.0, 0.0]}}]
    run["series"] = {"time_s": [2.0, 4.0], "nodes": nodes}
    drawn = tree.figure([Group("a", [run])])
    assert drawn is not None
    assert drawn.axes[-1].get_xlabel() == "time (s)"
    run["scenario"]["evening"] = {"from": 18.5, "to": 24.0}
    drawn = tree.figure([Group("a", [run])])
    assert drawn is not None
    ax = drawn.axes[-1]
    assert ax.get_xlabel() == "time of day"
    ticks = dict(zip(ax.get_xticks(), [tick.get_text() for tick in ax.get_xticklabels()], strict=True))
    hours = {at: text for at, text in ticks.items() if 0 <= at <= 4}
    assert list(hours.values()) == ["19:00", "20:00", "21:00", "22:00", "23:00", "24:00"]
    assert list(hours) == pytest.approx([(hour - 18.5) / 5.5 * 4 for hour in range(19, 25)])
    assert clock.name(ax, [run, record]) == "time (s)", "runs without an evening have seconds"
