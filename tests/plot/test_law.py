"""The figure of one run's law: linear axis, target, a mark for each drop, within a window of time."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_hex

from conftest import SCENARIO, Result
from drawn import check_texts
from goodqueue import running
from goodqueue.plot import course, law, wishes
from goodqueue.plot.stored import Group
from goodqueue.record import Record

Command = Callable[..., Result]


def made(qdisc: str) -> Record:
    series = {"interval": "20ms", "law": True}
    return running.one({**SCENARIO, "bottleneck": {"rate": "10mbit", "qdisc": qdisc}, "series": series})


@pytest.fixture(scope="module")
def codel() -> Record:
    return made("codel target 7ms")


def test_the_delay_is_linear_with_its_target_and_a_mark_per_drop(codel: Record) -> None:
    with wishes.applied(wishes.of("3.5in", None, None)):
        figure = law.figure([Group("codel", [codel])], (None, None), "A title")
    assert figure is not None
    check_texts(figure)
    above, below = figure.axes
    assert above.get_yscale() == "linear"
    assert above.get_ylim()[0] == 0
    delays, target, marks = above.lines
    series = codel["series"]
    assert list(np.asarray(delays.get_ydata())[30:40]) == series["queues"]["down"]["delay_ms"][30:40]
    assert set(np.asarray(target.get_ydata())) == {7.0}
    dropped = np.sum([flow["dropped_packets"] for flow in series["flows"] if flow["name"] != "ping/0"], axis=0)
    expected = [at for at, count in zip(series["time_s"], dropped, strict=True) if count]
    assert expected, "this run drops"
    assert list(np.asarray(marks.get_xdata())) == expected
    assert to_hex(marks.get_color()) == law.DROP
    assert below.get_ylabel() == "count"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["target 7 ms", "a packet is dropped"]


def test_a_window_shows_only_its_time(codel: Record) -> None:
    groups = [Group("codel", [codel])]
    figure = law.figure(groups, (1.5, 2.5))
    over_time = course.figure(groups, "delay_ms", "", (1.5, 2.5))
    for one in (figure, over_time):
        assert one is not None
        assert one.axes[0].get_xlim() == (1.5, 2.5)
        times = [at for line in one.axes[0].lines[:1] for at in np.asarray(line.get_xdata())]
        assert 1.5 <= min(times) <= max(times) <= 2.5
    inside = [v for at, v in zip(codel["series"]["time_s"], codel["series"]["queues"]["down"]["delay_ms"], strict=True)
              if 1.5 <= at <= 2.5 and v is not None]  # fmt: skip
    assert figure is not None
    assert figure.axes[0].get_ylim()[1] == pytest.approx(1.15 * max(*inside, 8.4)), "the axis fits what is shown"


def test_a_law_without_target_or_count_has_neither(codel: Record) -> None:
    figure = law.figure([Group("pfifo", [made("pfifo")])], (None, None))
    assert figure is not None
    assert len(figure.axes) == 1
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["a packet is dropped"]
    both = law.figure([Group("codel", [codel]), Group("pie", [made("pie target 20ms")])], (None, None))
    assert both is not None
    assert [ax.get_ylabel() for ax in both.axes][1::2] == ["count", "drop probability"]
    assert both.legends[0].get_texts()[0].get_text() == "target"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["law", "r.json"], "plot law: no record has the queue over time; accepted: runs with --set series.interval"),
        (["cdf", "r.json", "--from", "1s"], "--from: found with cdf; accepted: with time and law"),
        (["law", "s.json", "--from", "soon"], '--from: found "soon"; accepted: a time of the run, such as 9s'),
        (["law", "s.json", "--to", "5mbit"], '--to: found "5mbit"; accepted: a time of the run'),
        (["law", "s.json", "--from", "3s", "--to", "2s"], '--to: found "2s", not after --from 3s; accepted: a later'),
        (["time", "s.json", "--from", "90s"], "--from 90s: found no time of these runs; accepted: within 0.02s to 4s"),
        (["law", "s.json", "--metric", "count"], "--metric: found with law, which leaves no choice"),
    ],
)
def test_what_has_no_law_to_draw_is_refused(
    here: Path, goodqueue: Command, codel: Record, arguments: list[str], expected: str
) -> None:
    (here / "r.json").write_text(goodqueue("run", "ok.toml", "--json").out, encoding="utf-8")
    (here / "s.json").write_text(json.dumps(codel), encoding="utf-8")
    said = goodqueue("plot", *arguments, "--out", "a.svg")
    assert (said.status, said.out) == (2, "")
    assert said.err.startswith(f"goodqueue: {expected}")
    assert not (here / "a.svg").exists()
