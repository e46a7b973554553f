"""Figures show everything that they should, at its place, and nothing covers it."""

import copy
import json
import os
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.text import Text

from drawn import CODEL, check_layout, colours, made, many
from goodqueue.comparison import drawing as figures
from goodqueue.comparison.comparing import Comparison
from goodqueue.measures import metrics, numbers
from goodqueue.measures.stats import Estimate, share_below
from goodqueue.plot import along, course, delay, drawing, ellipse, series, stored, style
from goodqueue.plot.stored import Group
from goodqueue.record import Record
from goodqueue.show.picture import axis_for


@pytest.mark.parametrize("kind", ["ellipse", "cdf", "time", "box", "bar"])
@pytest.mark.parametrize(
    ("count", "places", "words"),
    [(2, 1, ""), (9, 1, ""), (16, 1, ""), (5, 1, "target 20ms interval 200ms limit 2000 ecn ce_threshold 5ms memory"),
     (9, 3, ""), (4, 2, "a long name, 10mbit, 50ms"), (3, 4, ""), pytest.param(3, 12, "", marks=pytest.mark.long)],
)  # fmt: skip
def test_nothing_covers_the_data_and_nothing_is_cut(
    record: Record, kind: str, count: int, places: int, words: str
) -> None:
    figure = drawing.draw(kind, many(record, count, places, words), [], "A title")
    check_layout(figure)
    texts = [text.get_text() for text in figure.findobj(Text)]  # type: ignore[attr-defined]
    assert texts.count("A title") == 1
    assert any(text.startswith("codel") for text in texts)


def test_matplotlib_says_nothing(record: Record, recwarn: pytest.WarningsRecorder) -> None:
    style.encode(drawing.draw("cdf", many(record, 2, 1), [], "待ち行列"), "png", "a")
    assert [str(one.message) for one in recwarn.list] == []


@pytest.mark.long
def test_codel_has_one_colour_in_every_figure(record: Record, comparison: Comparison) -> None:
    groups = [made(record, "pfifo", 3.0), made(record, "codel"), made(record, "sfq", 1.5)]
    for kind in ("ellipse", "cdf", "time", "box", "bar", "jain"):
        assert CODEL in colours(drawing.draw(kind, groups, [], "")), kind
        assert CODEL in colours(drawing.draw(kind, groups[1:], [], "")), kind
    named = zip(comparison.entries, ("sfq", "codel", "pie"), strict=True)
    renamed = replace(comparison, entries=[replace(entry, label=name) for entry, name in named])
    for figure in (
        figures.estimates(renamed, renamed.shown()),
        figures.delay_against_goodput(renamed),
        figures.goodput_by_flow(renamed),
    ):
        assert figure is not None
        assert CODEL in colours(figure)


def test_both_figures_of_delay_and_goodput_have_better_up_and_to_the_right(
    record: Record, comparison: Comparison
) -> None:
    for figure in (figures.delay_against_goodput(comparison), ellipse.figure([made(record, "codel")])):
        assert figure is not None
        left, right = figure.axes[0].get_xlim()
        assert left > right
        assert "better ↗" in {text.get_text() for text in figure.axes[0].texts}


# --- Distributions


def test_a_distribution_begins_at_the_axis_with_the_share_that_lies_below() -> None:
    often_empty = [0.0] * 60 + [float(value) for value in range(1, 42)]
    standing = [10.0 + value for value in range(101)]
    figure = delay.cdf([("codel", often_empty), ("pfifo", standing)])
    low = axis_for([often_empty, standing], 100).low
    curve = next(
        line for line in figure.axes[0].lines if to_hex(line.get_color()) == CODEL and len(line.get_xdata()) > 5
    )  # type: ignore[arg-type]
    x, y = np.asarray(curve.get_xdata(), dtype=float), np.asarray(curve.get_ydata(), dtype=float)
    assert x[0] == low
    assert y[0] == pytest.approx(100 * share_below(often_empty, low))
    assert y[0] > 55
    assert (x[1:] > low).all(), "nothing is piled up at the edge"


def test_what_never_waits_is_said_and_not_drawn() -> None:
    idle, standing = [0.001] * 101, [10.0 + value for value in range(101)]
    figure = delay.cdf([("fq_codel", idle), ("pfifo", standing)])
    low = axis_for([idle, standing], 100).low
    assert figure._supxlabel.get_text() == f"fq_codel: no packet waits {low:g} ms."  # type: ignore[attr-defined]
    assert style.looks(["fq_codel"])[0].colour not in colours(figure)
    check_layout(figure)


# --- Time


def flat(record: Record, values: list[float]) -> Group:
    """Return a group of runs, each with the same queueing delay at all times."""
    found = []
    for value in values:
        one: Any = copy.deepcopy(record)
        line = one["series"]["queues"]["down"]
        line["delay_ms"] = [value] * len(line["delay_ms"])
        found.append(one)
    return Group(f"codel {values[0]:g}", found)


def test_a_band_on_a_logarithmic_axis_is_of_percentiles(record: Record) -> None:
    runs = [1.0, 2.0, 3.0, 200.0]  # the mean, 51.5, minus one deviation, 99, is no delay
    figure = course.figure([flat(record, runs), flat(record, [5.0, 5.0])], "delay_ms")
    assert figure is not None
    ax = figure.axes[0]
    assert ax.get_yscale() == "log"
    edges = {round(float(y), 6) for y in ax.collections[0].get_paths()[0].vertices[:, 1]}  # type: ignore[index]
    assert edges == {round(float(y), 6) for y in np.percentile(runs, (10, 90))}
    assert "band: p10 to p90 of the runs" in figure._supxlabel.get_text()  # type: ignore[attr-defined]


def with_law(record: Record) -> Group:
    found = []
    for seed in (1, 2):
        one: Any = copy.deepcopy(record)
        times = len(one["series"]["time_s"])
        law = {
            "count": [float(seed)] * times,
            "drop_next_ms": [None, *[-2.5 * seed] * (times - 1)],
            "lastcount": [None if at in (3, 4, 6) else 1.0 for at in range(times)],
        }
        one["series"]["queues"]["down"]["law"] = law
        one["series"]["queues"]["up"]["law"] = {}
        found.append(one)
    return Group("codel", found)


def test_what_the_law_thinks_stands_in_rows_with_one_time_axis(record: Record) -> None:
    group = with_law(record)
    asked = ["delay_ms", "count", "drop_next", "cwnd_packets"]
    figure = course.figure([group], asked)
    assert figure is not None
    assert [ax.get_ylabel().replace("\n", " ") for ax in figure.axes] == [
        "queueing delay (ms)", "count", "drop_next (ms)", "mean congestion window (packets)",
    ]  # fmt: skip
    assert len({ax.get_xlim() for ax in figure.axes}) == 1
    assert len({ax.get_subplotspec().colspan.start for ax in figure.axes}) == 1  # type: ignore[union-attr]
    line = figure.axes[1].lines[0]
    assert set(np.asarray(line.get_ydata()).tolist()) == {1.5}
    assert figure.axes[2].get_ylim()[0] < -5, "what has passed is below zero"
    check_layout(figure)


def test_what_a_law_has_not_set_is_not_drawn(record: Record) -> None:
    figure = course.figure([with_law(record)], "lastcount")
    assert figure is not None
    line, alone = figure.axes[0].lines
    assert [at for at, value in enumerate(np.asarray(line.get_ydata())) if np.isnan(value)] == [3, 4, 6]
    times = with_law(record).records[0]["series"]["time_s"]
    assert np.asarray(alone.get_xdata()).tolist() == pytest.approx([times[5]]), "no line leads to it"


def test_a_series_that_no_record_has_is_refused_with_those_that_there_are(record: Record) -> None:
    with pytest.raises(Exception, match=r'found "count"; accepted of these records: delay_ms, .*series\.law=true'):
        drawing.draw("time", [made(record, "codel")], ["count"], "")
    with pytest.raises(Exception, match=r'found "prob"; accepted of these records: .*count, drop_next_ms, lastcount$'):
        drawing.draw("time", [with_law(record)], ["prob"], "")
    with pytest.raises(Exception, match="up_count"):
        drawing.draw("time", [with_law(record)], ["up_count"], "")


# --- Directions


def upward(record: Record) -> Group:
    """Return runs with swapped queues: the way up is loaded."""
    group = made(record, "codel")
    for one in group.records:
        queues: Any = one["queues"]
        queues["up"], queues["down"] = queues["down"], queues["up"]
        line: Any = one["series"]["queues"]
        line["up"], line["down"] = line["down"], line["up"]
        for flow in one["flows"]:
            flow["direction"] = "up"
    return group


def test_figures_follow_the_direction_that_is_loaded(record: Record) -> None:
    group = upward(record)
    for kind, words in (
        ("cdf", "queueing delay, up (ms)"),
        ("box", "queueing delay, up (ms)"),
        ("bar", "delay mean up (ms)"),
    ):
        assert drawing.draw(kind, [group], [], "").axes[0].get_xlabel() == words
    assert drawing.draw("time", [group], [], "").axes[0].get_ylabel() == "queueing delay, up (ms)"
    axes = stored.axes([group])
    assert axes is not None
    assert (axes[0].key, axes[1].key) == ("ping_rtt_mean_ms", "up_goodput_mbps")
    assert axes[1].pick(group.records[0]) == sum(flow["goodput_mbps"] for flow in group.records[0]["flows"])
    for one in group.records:
        one["apps"].clear()
    axes = stored.axes([group])
    assert axes is not None
    queue = axes[0]
    assert (queue.key, queue.label) == ("up_delay_mean_ms", "mean queueing delay, up")
    assert series.series(group.records[0], "goodput_mbps") is None, "no flow goes down"
    assert series.described("up_goodput_mbps", [group]) == ("goodput of all flows, up", "Mbit/s")
    (goodput,) = numbers.find(["goodput_mbps"])
    assert metrics.label(goodput, stored.loaded([group])) == "goodput down"
    down = made(record, "codel")
    assert metrics.label(goodput, stored.loaded([down])) == "goodput"
    assert drawing.draw("cdf", [down], [], "").axes[0].get_xlabel() == "queueing delay (ms)"
    assert drawing.draw("cdf", [down], ["up_delay_ms"], "").axes[0].get_xlabel() == "queueing delay, up (ms)"


# --- Along an axis


def test_numbers_stand_where_they_belong() -> None:
    far = along.scale_of(["5ms", "200ms", "0.01s"])
    assert (list(far.values), list(far.places), far.is_log) == (["5ms", "0.01s", "200ms"], [5, 10, 200], True)
    near = along.scale_of(["4", "1.5", "10"])
    assert (list(near.values), list(near.places), near.is_log) == (["1.5", "4", "10"], [1.5, 4, 10], False)
    rates = along.scale_of(["1gbit", "500kbit", "10mbit"])
    assert list(rates.places) == [0.5, 10, 1000]
    for words in (["5ms", "10mbit"], ["codel", "pie"], ["5ms", "none"], ["1s", "1000ms"]):
        scale = along.scale_of(words)
        assert (list(scale.values), list(scale.places), scale.is_numeric) == (words, [0, 1], False)


def test_marks_stand_side_by_side_and_apart_from_the_next_value() -> None:
    for values in (["5ms", "10ms", "200ms"], ["1", "2", "9"], ["codel", "pie", "red"]):
        scale = along.scale_of(values)
        places = [scale.shifted(index, 9) for index in range(9)]
        assert all(len({row[at] for row in places}) == 9 for at in range(3))
        for at in range(2):
            assert max(row[at] for row in places) < min(row[at + 1] for row in places)


def test_a_metric_along_numbers(record: Record) -> None:
    (metric,) = numbers.find(["delay_p95_ms"])
    lines = {"codel": {"5ms": Estimate(5.0, 1.0, 3), "200ms": Estimate(9.0, None, 1), "10ms": None}}
    values = {"5ms": "5ms", "200ms": "200ms", "10ms": "10ms"}
    figure = along.figure({"": lines}, values, "rtt", metric, "delay p95", "Title")
    ax = figure.axes[0]
    assert (ax.get_xscale(), ax.get_xlabel(), ax.get_ylabel()) == ("log", "rtt", "delay p95 (ms)")
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["5ms", "10ms", "200ms"]
    assert np.asarray(ax.lines[0].get_xdata()).tolist() == pytest.approx([5, 200])
    check_layout(figure)


# --- Where it is drawn


def test_the_command_draws_whatever_backend_is_asked_for(record: Record, tmp_path: Any) -> None:
    (tmp_path / "r.json").write_text(json.dumps(record), encoding="utf-8")
    command = [sys.executable, "-m", "goodqueue", "plot", "cdf", "r.json", "--out", "a.png"]
    environment = {**os.environ, "MPLBACKEND": "no-such-backend"}
    said = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (said.returncode, said.stdout, said.stderr) == (0, "Written: a.png\n", "")
