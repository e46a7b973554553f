"""Figures of stored results show the records' values, and are files that other programs can read."""

import json
import math
import statistics
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import SCENARIO, Result
from goodqueue import running
from goodqueue.measures import numbers
from goodqueue.plot import course, ellipse, rows, stored
from goodqueue.plot.stored import Group
from goodqueue.record import Record
from goodqueue.store import results

Command = Callable[..., Result]


@pytest.fixture(scope="module")
def groups() -> list[Group]:
    """Return three seeds each of two disciplines, with series."""
    base = SCENARIO | {"series": {"interval": "200ms"}}
    records = [
        running.one(base | {"seed": seed, "bottleneck": {"rate": "10mbit", "qdisc": qdisc}})
        for qdisc in ("pfifo", "fq_codel")
        for seed in (1, 2, 3)
    ]
    return stored.groups(records, results.labels(records))


def test_the_ellipse_is_one_standard_deviation() -> None:
    """By hand: for (1, 0), (3, 0), (2, 1), (2, -1) the variances, over n, are 1/2 each, and there is no covariance."""
    edge = ellipse.outline([(1, 0), (3, 0), (2, 1), (2, -1)])
    assert [math.hypot(x - 2, y) for x, y in edge] == pytest.approx([math.sqrt(0.5)] * 72)
    # On a line of slope 1 the ellipse has no width, and extends one deviation of sqrt(2/3) * sqrt(2) along the line.
    flat = ellipse.outline([(1, 1), (2, 2), (3, 3)])
    assert max(abs(x - y) for x, y in flat) < 1e-6
    assert max(x for x, _ in flat) == pytest.approx(2 + math.sqrt(2 / 3), abs=2e-3)
    assert ellipse.outline([(1, 1), (2, 2)]) == [], "two points have no likeliest ellipse"


def test_better_is_up_and_to_the_right(groups: list[Group]) -> None:
    figure = ellipse.figure(groups)
    assert figure is not None
    left, right = figure.axes[0].get_xlim()
    assert left > right, "latency falls to the right"
    texts = {text.get_text(): text for text in figure.axes[0].texts}
    assert {"pfifo", "fq_codel", "better ↗"} <= texts.keys(), "ellipses carry their names"
    assert texts["fq_codel"].get_position()[0] < texts["pfifo"].get_position()[0]


def test_a_box_of_a_distribution_ends_at_the_percentiles_that_it_says(groups: list[Group]) -> None:
    figure = rows.distribution_boxes(groups, "delay_ms")
    assert figure is not None
    assert "whiskers: p5 and p95" in figure.texts[0].get_text() + (figure._supxlabel.get_text())  # type: ignore[attr-defined]
    pooled = stored.percentiles(groups[0], "delay_ms")
    assert pooled is not None
    ends = {round(float(x), 6) for line in figure.axes[0].lines for x in line.get_xdata()}  # type: ignore[union-attr]
    assert {round(pooled[at], 6) for at in (5, 25, 50, 75, 95)} <= ends | {round(pooled[at], 6) for at in (25, 75)}


def test_a_bar_has_the_mean_and_the_deviation_of_the_runs(groups: list[Group]) -> None:
    figure = rows.bars(groups, numbers.find(["delay_p95_ms"])[0])
    assert figure is not None
    own = [one["queues"]["down"]["delay_ms"]["p95"] for one in groups[0].records]  # type: ignore[index]
    bar = figure.axes[0].patches[0]
    assert bar.get_width() == pytest.approx(statistics.fmean(own))  # type: ignore[attr-defined]
    (segment,) = figure.axes[0].collections[0].get_segments()  # type: ignore[attr-defined]
    assert segment[1][0] - segment[0][0] == pytest.approx(2 * statistics.stdev(own))


def test_the_course_is_the_mean_of_the_runs_and_its_band_their_deviation(groups: list[Group]) -> None:
    figure = course.figure(groups[:1], "goodput_mbps")
    assert figure is not None
    at = 15  # the interval that ends at 3.2 s
    values = [
        sum(flow["goodput_mbps"][at] or 0 for flow in one["series"]["flows"] if flow["name"] != "ping/0")
        for one in groups[0].records
    ]
    line = figure.axes[0].lines[0]
    assert line.get_xdata()[at] == pytest.approx(3.2)  # type: ignore[index]
    assert line.get_ydata()[at] == pytest.approx(statistics.fmean(values))  # type: ignore[index]
    band = figure.axes[0].collections[0].get_paths()[0].vertices
    tops = [y for x, y in band if abs(x - 3.2) < 1e-9]  # type: ignore[union-attr, misc]
    assert max(tops) - min(tops) == pytest.approx(2 * statistics.stdev(values), rel=1e-6)


def test_names_tell_apart_what_differs_and_no_more(groups: list[Group]) -> None:
    base: Record = groups[0].records[0]
    other = json.loads(json.dumps(base))
    other["scenario"]["path"]["rtt"] = "100ms"
    assert results.labels([base, base]) == ["pfifo", "pfifo"]
    assert results.labels([base, other]) == ["pfifo, 20ms", "pfifo, 100ms"]
    other["scenario"]["path"]["rtt"] = "20ms"
    other["scenario"]["bottleneck"]["up"]["qdisc"] = "fq_codel"
    assert results.labels([base, other]) == ["pfifo, pfifo up", "pfifo, fq_codel up"]
    other["scenario"]["bottleneck"]["up"]["qdisc"] = base["scenario"]["bottleneck"]["up"]["qdisc"]
    other["scenario"]["warmup"] = "2s"  # not part of any name
    assert results.labels([base, other]) == ["pfifo", "pfifo #2"]


@pytest.mark.parametrize(
    ("kind", "options"), [("ellipse", []), ("cdf", []), ("bar", []), ("time", ["--metric", "delay_ms"])]
)
def test_dollar_signs_in_names_are_no_formulas(here: Path, goodqueue: Command, kind: str, options: list[str]) -> None:
    """A formula that is none ended in a traceback of matplotlib's."""
    record = json.loads(goodqueue("run", "ok.toml", "--set", "series.interval=200ms", "--json").out)
    for name, line in (("a", "$x_{$ limit 5"), ("b", "pfifo $a$")):
        record["scenario"]["bottleneck"]["qdisc"] = line
        Path(f"{name}.json").write_text(json.dumps(record), encoding="utf-8")
    said = goodqueue("plot", kind, "a.json", "b.json", *options, "--out", "a.svg")
    assert (said.status, said.err) == (0, "")
    assert "$x_{$" in "".join(ET.parse(here / "a.svg").getroot().itertext())  # noqa: S314


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("ellipse", []),
        ("cdf", []),
        ("cdf", ["--metric", "ping_rtt_ms"]),
        ("box", ["--metric", "apps.0.rtt_ms.p99"]),
        ("bar", ["--metric", "jain_goodput"]),
        ("time", ["--metric", "cwnd_packets"]),
        ("jain", []),
    ],
)
def test_each_kind_is_drawn_from_a_store_alone(
    here: Path, goodqueue: Command, kind: str, options: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sets = ["--set", "bottleneck.qdisc=pfifo,codel", "--set", "series.interval=200ms"]
    assert goodqueue("sweep", "ok.toml", *sets, "--seeds", "3", "--store", "store").status == 0
    monkeypatch.setattr(running, "simulate", None)
    for form in ("svg", "pdf", "png"):
        said = goodqueue("plot", kind, "store", *options, "--out", f"a.{form}")
        assert (said.status, said.out, said.err) == (0, f"Written: a.{form}\n", "")
        if form == "svg" or kind == "jain":  # one writer of PDF and PNG for all kinds
            assert goodqueue("plot", kind, "store", *options, "--out", f"b.{form}").status == 0
            assert (here / f"a.{form}").read_bytes() == (here / f"b.{form}").read_bytes(), "same data, same bytes"
    assert (here / "a.pdf").read_bytes().startswith(b"%PDF")
    assert (here / "a.png").read_bytes().startswith(b"\x89PNG")
    text = "".join(ET.parse(here / "a.svg").getroot().itertext())  # noqa: S314
    assert "pfifo" in text
    assert "codel" in text
    assert kind == "cdf" or "n = 3 runs each" in " ".join(text.split())


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            ["pie", "r.json", "--out", "a.svg"],
            'plot: found "pie"; accepted: ellipse, cdf, box, bar, time, jain, lines, air, law',
        ),
        (
            ["ping_cdf", "r.json", "--out", "a.svg"],
            'plot: found "ping_cdf", a plot of Flent\'s; accepted here: cdf --metric ping_rtt_ms',
        ),
        (["cdf", "r.json", "--out", "a.gif"], "--out a.gif: found no such format; accepted: .svg, .pdf, .png"),
        (["cdf", "none.json", "--out", "a.svg"], "none.json: not found; accepted: "),
        (
            ["cdf", "r.json", "--out", "r.json.svg"],
            "--out r.json.svg: exists already; accepted: another name, or --force",
        ),
        (["time", "r.json", "--out", "a.svg"], "plot time: no record has delay_ms; accepted: runs with --set series"),
        (
            ["time", "r.json", "--metric", "x", "--out", "a.svg"],
            "plot time: no record has x; accepted: runs with",
        ),
        (["bar", "r.json", "--metric", "x", "--out", "a.svg"], '--metric: found "x"; accepted: delay_mean_ms, '),
        (["jain", "r.json", "--metric", "x", "--out", "a.svg"], "--metric: found with jain, which leaves no choice"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_one_line(
    here: Path, goodqueue: Command, arguments: list[str], expected: str
) -> None:
    (here / "r.json").write_text(goodqueue("run", "ok.toml", "--json").out, encoding="utf-8")
    (here / "r.json.svg").write_text("mine", encoding="utf-8")
    said = goodqueue("plot", *arguments)
    assert (said.status, said.out) == (2, "")
    assert said.err.startswith(f"goodqueue: {expected}")
    assert said.err.count("\n") == 1
    assert not (here / "a.svg").exists()
