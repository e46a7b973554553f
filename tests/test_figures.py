"""What figures show: all that they should, where it belongs, with nothing that covers it."""

import copy
import json
import os
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from goodqueue import metrics
from goodqueue.compare import Comparison
from goodqueue.metrics import Metric
from goodqueue.picture import axis_for
from goodqueue.plot import along, course, delay, drawing, ellipse, panels, series, stored, style
from goodqueue.plot import comparison as figures
from goodqueue.plot.stored import Group
from goodqueue.record import Record
from goodqueue.stats import Estimate, share_below

CODEL = style.looks(["codel"])[0].colour


def made(record: Record, label: str, factor: float = 1.0, panel: str = "", count: int = 3) -> Group:
    """A group whose delays are ``factor`` times those of ``record``, each run a little off."""
    found = []
    for run in range(count):
        one: Any = copy.deepcopy(record)
        by = factor * (1 + 0.1 * run)
        queue, line = one["queues"]["down"], one["series"]["queues"]["down"]
        queue["delay_percentiles_ms"] = [value * by for value in queue["delay_percentiles_ms"]]
        queue["delay_ms"] = {key: value * by for key, value in queue["delay_ms"].items()}
        line["delay_ms"] = [None if value is None else value * by for value in line["delay_ms"]]
        for app in one["apps"]:
            app["rtt_ms"] = {key: value * by for key, value in app["rtt_ms"].items()}
        for flow in one["flows"]:
            flow["goodput_mbps"] *= 1 + 0.03 * run * factor
        found.append(one)
    return Group(label, found, panel)


def many(record: Record, count: int, places: int, words: str = "") -> list[Group]:
    names = ["codel", "pie", "fq_codel", "sfq", "red", "cake", "pfifo", "dualpi2"]
    labels = [f"{names[at % 8]} {'' if at < 8 else f'limit {at}'} {words}".strip() for at in range(count)]
    titles = [f"rtt {place} ms" if places > 1 else "" for place in range(places)]
    return [made(record, name, 1.4**at, title) for title in titles for at, name in enumerate(labels)]


def boxes(figure: Figure) -> tuple[Any, Bbox, list[Axes]]:
    canvas = FigureCanvasAgg(figure)
    canvas.draw()  # type: ignore[no-untyped-call]
    return canvas.get_renderer(), figure.bbox, [ax for ax in figure.axes if ax.get_visible()]  # type: ignore[no-untyped-call]


def check_layout(figure: Figure) -> None:
    """Nothing but the axes stands on the axes, nothing is cut off, and no numbers meet."""
    renderer, whole, places = boxes(figure)
    within = Bbox.from_extents(whole.x0 - 1, whole.y0 - 1, whole.x1 + 1, whole.y1 + 1)
    beside = [legend.get_window_extent(renderer) for legend in figure.legends]
    beside += [text.get_window_extent(renderer) for text in figure.texts if text.get_text()]
    for at, box in enumerate(beside):
        assert within.x0 <= box.x0 <= box.x1 <= within.x1, "cut off at a side"
        assert within.y0 <= box.y0 <= box.y1 <= within.y1, "cut off above or below"
        for ax in places:
            assert not box.overlaps(ax.get_window_extent(renderer)), "over the data"
        for other in beside[:at]:
            assert not box.overlaps(other), "over each other"
    for ax in places:
        tight = ax.get_window_extent(renderer)
        assert min(tight.width, tight.height) > 60, "too small to see anything"
    numbers = [
        label.get_window_extent(renderer)
        for ax in places
        for tick in ax.xaxis.get_major_ticks()
        if (label := tick.label1).get_visible() and label.get_text() and abs(label.get_rotation()) < 1
        if tick.get_loc() >= min(ax.get_xlim()) and tick.get_loc() <= max(ax.get_xlim())
    ]
    for at, box in enumerate(numbers):
        assert not any(box.overlaps(other) for other in numbers[:at]), "numbers below the axes meet"


@pytest.mark.parametrize("kind", ["ellipse", "cdf", "time", "box", "bar"])
@pytest.mark.parametrize(
    ("count", "places", "words"),
    [(2, 1, ""), (9, 1, ""), (16, 1, ""), (5, 1, "target 20ms interval 200ms limit 2000 ecn ce_threshold 5ms memory"),
     (9, 3, ""), (4, 2, "a long name, 10mbit, 50ms"), (3, 12, "")],
)  # fmt: skip
def test_nothing_covers_the_data_and_nothing_is_cut(
    record: Record, kind: str, count: int, places: int, words: str
) -> None:
    figure = drawing.draw(kind, many(record, count, places, words), [], "A title")
    check_layout(figure)
    everything = " ".join(
        " ".join(text.get_text() for text in one.findobj(lambda a: hasattr(a, "get_text"))) for one in [figure]
    )
    assert "codel" in everything
    assert "A title" in everything


def test_matplotlib_says_nothing(record: Record, recwarn: pytest.WarningsRecorder) -> None:
    style.encode(drawing.draw("cdf", many(record, 2, 1), [], "待ち行列"), "png", "a")
    assert [str(one.message) for one in recwarn.list] == []


def test_codel_has_one_colour_in_every_figure(record: Record, comparison: Comparison) -> None:
    groups = [made(record, "pfifo", 3.0), made(record, "codel"), made(record, "sfq", 1.5)]
    for kind in ("ellipse", "cdf", "time", "box", "bar", "jain"):
        assert CODEL in colours(drawing.draw(kind, groups, [], "")), kind
        assert CODEL in colours(drawing.draw(kind, groups[1:], [], "")), kind
    named = zip(comparison.entries, ("sfq", "codel", "pie"), strict=True)
    renamed = replace(comparison, entries=[replace(entry, label=name) for entry, name in named])
    for figure in (
        figures.estimates(renamed),
        figures.delay_against_goodput(renamed),
        figures.goodput_by_flow(renamed),
    ):
        assert figure is not None
        assert CODEL in colours(figure)


def colours(figure: Figure) -> set[str]:
    lines = [line.get_color() for ax in figure.axes for line in ax.lines]
    return {
        to_hex(colour) for colour in [*lines, *(patch.get_edgecolor() for ax in figure.axes for patch in ax.patches)]
    }


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
    """A group of runs whose queueing delay is the same at all times."""
    found = []
    for value in values:
        one: Any = copy.deepcopy(record)
        line = one["series"]["queues"]["down"]
        line["delay_ms"] = [value] * len(line["delay_ms"])
        found.append(one)
    return Group(f"codel {values[0]:g}", found)


def test_a_band_on_a_logarithmic_axis_is_of_percentiles(record: Record) -> None:
    runs = [1.0, 2.0, 3.0, 200.0]  # mean 51.5 less one deviation of 99 is no delay
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
    """Runs whose queues have changed places: the way up is loaded."""
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
    assert stored.goodput([group]).key == "up_goodput_mbps"
    assert stored.goodput([group]).pick(group.records[0]) == sum(
        flow["goodput_mbps"] for flow in group.records[0]["flows"]
    )
    for one in group.records:
        one["apps"].clear()
    queue = stored.latency([group])
    assert queue is not None
    assert (queue.key, queue.label) == ("up_delay_mean_ms", "mean queueing delay, up")
    assert series.series(group.records[0], "goodput_mbps") is None, "no flow goes down"
    assert series.described("up_goodput_mbps", [group]) == ("goodput of all flows, up", "Mbit/s")
    down = made(record, "codel")
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
    (metric,) = metrics.find(["delay_p95_ms"])
    lines = {"codel": {"5ms": Estimate(5.0, 1.0, 3), "200ms": Estimate(9.0, None, 1), "10ms": None}}
    values = {"5ms": "5ms", "200ms": "200ms", "10ms": "10ms"}
    figure = along.figure({"": lines}, values, "rtt", metric, "Title")
    ax = figure.axes[0]
    assert (ax.get_xscale(), ax.get_xlabel(), ax.get_ylabel()) == ("log", "rtt", "delay p95 (ms)")
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["5ms", "10ms", "200ms"]
    assert np.asarray(ax.lines[0].get_xdata()).tolist() == pytest.approx([5, 200])
    check_layout(figure)


# --- Side by side


LONG = "fq_codel target 15ms interval 200ms quantum 300 memory_limit 32000000 limit {} flows 1024 drop_batch 64 noecn"


def test_names_of_rows_are_never_the_same() -> None:
    labels = [
        LONG.format(1000),
        LONG.format(2000),
        "./a/very/long/path/to/the/file.py:Discipline limit 1 target 2 k 3",
        "codel",
    ]
    labels += ["x" * 100 + "1", "x" * 100 + "2", "x" * 100 + "3"]
    names = panels.row_names(labels)
    assert len(set(names)) == len(labels)
    assert "1000" in names[0]
    assert "2000" in names[1]
    assert max(len(line) for name in names for line in name.split("\n")) <= panels.NAME + len(" #3")
    assert max(name.count("\n") for name in names) < panels.LINES


def test_estimates_of_any_metrics_in_rows_of_four(comparison: Comparison) -> None:
    entries = [
        replace(entry, label=label)
        for entry, label in zip(comparison.entries, (LONG.format(1), LONG.format(2), "codel"), strict=True)
    ]
    renamed = replace(comparison, entries=entries)
    shown = renamed.shown()
    for count in (1, 3, 4, 7):
        figure = figures.estimates(renamed, "Title", metrics=shown[:count])
        _, _, places = boxes(figure)
        assert [ax.get_title(loc="left").replace("\n", " ") for ax in places] == [
            metric.label for metric in shown[:count]
        ]
        assert max(ax.get_subplotspec().colspan.stop for ax in places) <= 4  # type: ignore[union-attr]
        check_layout(figure)


def test_quality_of_calls_has_the_axis_that_it_has(comparison: Comparison) -> None:
    (mos, page) = metrics.find(["voip_mos", "page_load_p95_ms"])
    called = replace(comparison, entries=[felt(entry, at, (mos, page)) for at, entry in enumerate(comparison.entries)])
    figure = figures.estimates(called, metrics=[mos, page])
    first, second = figure.axes
    assert first.get_xlim() == (1.0, 4.5)
    assert first.get_title(loc="left") == "MOS"
    assert (second.get_title(loc="left"), second.get_xlabel(), second.get_xscale()) == ("page p95", "ms", "log")
    check_layout(figure)


def felt(entry: Any, at: int, chosen: tuple[Metric, Metric]) -> Any:
    numbers = {"voip_mos": 1.2 + 1.5 * at, "page_load_p95_ms": 300.0 * 5**at}
    values = {**entry.values, **{metric.key: [numbers[metric.key]] * 3 for metric in chosen}}
    estimates = {**entry.estimates, **{key: Estimate(number, 0.1, 3) for key, number in numbers.items()}}
    return replace(entry, values=values, estimates=estimates)


# --- Where it is drawn


@pytest.mark.parametrize(
    "backend", ["module://matplotlib_inline.backend_of_nowhere", "module://no_such_package.backend"]
)
def test_a_backend_that_is_not_installed_does_not_matter(backend: str) -> None:
    program = (
        "from goodqueue import report\n"
        "from goodqueue.plot import delay, style\n"
        "print(len(style.encode(delay.cdf([('codel', [float(n + 1) for n in range(101)])]), 'png', 'a')) > 1000)"
    )
    environment = {**os.environ, "MPLBACKEND": backend}
    said = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert (said.stdout, said.stderr) == ("True\n", "")


def test_the_command_draws_whatever_backend_is_asked_for(record: Record, tmp_path: Any) -> None:
    (tmp_path / "r.json").write_text(json.dumps(record), encoding="utf-8")
    command = [sys.executable, "-m", "goodqueue", "plot", "cdf", "r.json", "--out", "a.png"]
    environment = {**os.environ, "MPLBACKEND": "no-such-backend"}
    said = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (said.returncode, said.stdout, said.stderr) == (0, "Written: a.png\n", "")
