"""Figures at the width of a column, and on a slide: nothing covers anything, and text has a size that can be read."""

import copy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest
from matplotlib.text import Text

from conftest import SCENARIO, Result
from drawn import check_layout, check_texts, many
from goodqueue import running
from goodqueue.comparison import drawing as figures
from goodqueue.comparison.comparing import Comparison
from goodqueue.errors import UserError
from goodqueue.plot import delay, drawing, selection, style, wishes
from goodqueue.plot.stored import Group
from goodqueue.record import Record

pytestmark = pytest.mark.long

Command = Callable[..., Result]

SETTINGS = """
axes.facecolor: "#ffeedd"  # of the paper
font.size: 7

text.usetex: True
"""


@pytest.mark.parametrize("kind", ["ellipse", "cdf", "time", "box", "bar", "jain"])
@pytest.mark.parametrize(
    ("width", "count", "places", "words"),
    [("3.5in", 8, 1, ""), ("3.5in", 4, 3, ""), ("3.5in", 4, 1, "target 20ms interval 200ms ecn"), ("slide", 4, 3, "")],
)
def test_no_text_covers_another(record: Record, kind: str, width: str, count: int, places: int, words: str) -> None:
    with wishes.applied(wishes.of(width, None, None)):
        figure = drawing.draw(kind, many(record, count, places, words), [], "A title of some length, as people write")
    check_texts(figure)
    check_layout(figure)


@pytest.mark.parametrize("width", ["3.5in", "slide"])
def test_no_text_covers_another_in_rows_over_time(record: Record, width: str) -> None:
    series = ["delay_ms", "backlog_packets", "goodput_mbps", "cwnd_packets"]
    for groups in (many(record, 3, 1), many(record, 3, 2)):
        with wishes.applied(wishes.of(width, None, None)):
            check_texts(drawing.draw("time", groups, series[: 2 if width == "slide" else 4], "A title"))


@pytest.mark.parametrize("width", ["3.5in", "slide"])
@pytest.mark.parametrize(
    "values", [["1ms", "2ms", "5ms", "10ms", "20ms", "50ms", "100ms"], ["a long name", "another", "c"]]
)
def test_no_text_covers_another_along_an_axis(record: Record, width: str, values: list[str]) -> None:
    records: list[Any] = []
    for qdisc in ("codel", "pie"):
        for value in values:
            one: Any = copy.deepcopy(record)
            one["scenario"]["path"]["rtt"] = value
            one["scenario"]["bottleneck"]["qdisc"] = qdisc
            records.append(one)
    with wishes.applied(wishes.of(width, None, None)):
        check_texts(drawing.of_runs("lines", selection.runs(records), [], "qdisc", "rtt", "A title"))


@pytest.mark.parametrize("width", ["3.5in", "slide"])
def test_no_text_covers_another_in_the_figures_of_a_comparison(
    record: Record, comparison: Comparison, width: str
) -> None:
    with wishes.applied(wishes.of(width, None, None)):
        for figure in (
            figures.estimates(comparison, comparison.shown()[:8] if width == "3.5in" else comparison.shown()[:4]),
            figures.delay_against_goodput(comparison),
            figures.goodput_by_flow(comparison),
            delay.over_time([("pfifo", record), ("codel", record)]),
        ):
            assert figure is not None
            check_texts(figure)


def test_no_text_covers_another_on_the_air() -> None:
    stations = [{"name": name, "rate": "mcs7"} for name in ("near", "far", "a-long-name-of-a-station")]
    cell = {"qdisc": "fq_codel", "wifi": {"standard": "802.11n", "station": stations}}
    window = {"air": {"from": "3s", "to": "3.02s"}}
    record = running.one({**SCENARIO, "bottleneck": cell, "series": window})
    with wishes.applied(wishes.of("3.5in", None, None)):
        check_texts(drawing.of_runs("air", selection.runs([record]), [], None, None, "A title"))


def test_text_is_not_smaller_than_can_be_read(record: Record) -> None:
    for width, least in (("3.5in", 6.5), ("slide", 6.5)):  # a slide is shown at twice this size
        with wishes.applied(wishes.of(width, None, None)):
            figure = drawing.draw("box", many(record, 3, 1), [], "")
        sizes = {text.get_fontsize() for text in figure.findobj(Text) if text.get_text()}  # type: ignore[attr-defined]
        assert least <= min(sizes) <= max(sizes) <= 9
        inches = figure.get_size_inches().tolist()
        assert inches[0] == 3.5 if width == "3.5in" else inches == list(wishes.SLIDE_IN)


def test_ellipses_of_several_rtts_have_axes_of_their_own(record: Record) -> None:
    near, far = many(record, 3, 1), many(record, 3, 1)
    groups = [Group(group.label, group.records, "rtt 10ms") for group in near]
    for group in far:
        for one in group.records:
            for app in one["apps"]:
                app["rtt_ms"] = {key: value * 30 for key, value in app["rtt_ms"].items()}  # type: ignore[union-attr]
        groups.append(Group(group.label, group.records, "rtt 300ms"))
    figure = drawing.draw("ellipse", groups, [], "")
    first, second = (sorted(ax.get_xlim()) for ax in figure.axes)
    assert first[1] < second[0], "each axis shows its own runs"
    assert "Each panel has its own axes." in " ".join(figure._supxlabel.get_text().split())  # type: ignore[attr-defined]


def test_a_matplotlibrc_and_a_style_are_honoured_and_leave_no_trace(record: Record, tmp_path: Path) -> None:
    file = tmp_path / "mine.mplstyle"
    file.write_text(SETTINGS, encoding="utf-8")
    with mpl.rc_context({"axes.edgecolor": "red", "figure.figsize": (4.0, 3.0)}):
        wished = wishes.of(None, None, str(file))
        with wishes.applied(wished):
            figure = drawing.draw("cdf", many(record, 2, 1), [], "")
        plain = drawing.draw("cdf", many(record, 2, 1), [], "")
    ax = figure.axes[0]
    assert mpl.colors.to_hex(ax.get_facecolor()) == "#ffeedd"
    assert mpl.colors.to_hex(ax.spines["left"].get_edgecolor()) == "#ff0000"
    assert figure.get_size_inches()[0] == 4.0
    assert ax.xaxis.label.get_fontsize() == pytest.approx(7)
    assert not ax.xaxis.label.get_usetex(), "names of disciplines are no formulas"
    assert plain.get_size_inches()[0] == style.WIDTH_IN, "a report keeps its own look"
    assert mpl.colors.to_hex(plain.axes[0].get_facecolor()) == "#ffffff"


def test_a_font_is_taken_with_its_size(record: Record) -> None:
    with wishes.applied(wishes.of("3.5in", "dejavu serif 9pt", None)):
        figure = drawing.draw("cdf", many(record, 2, 1), [], "")
    label = figure.axes[0].xaxis.label
    assert (label.get_fontfamily(), label.get_fontsize()) == (["DejaVu Serif"], pytest.approx(9))
    assert b"DejaVu Serif" in style.encode(figure, "svg", "a")


@pytest.mark.parametrize(
    ("width", "font", "look", "expected"),
    [
        ("3.5", None, None, '--width: found "3.5"; accepted: 2in to 30in, also in cm, mm or pt, or slide'),
        ("1e9in", None, None, '--width: found "1e9in"; accepted'),
        ("0cm", None, None, '--width: found "0cm"; accepted'),
        ("-3in", None, None, '--width: found "-3in"; accepted'),
        (None, "Nosuch Font", None, '--font: found "Nosuch Font"; accepted: a font that matplotlib finds, such as '),
        (None, "Times", None, '--font: found "Times"; accepted: a font that matplotlib finds, such as STIXGeneral, '),
        (None, "99pt", None, '--font: found "99pt"; accepted: 4pt to 40pt'),
        (None, " ", None, '--font: found " "; accepted: a font\'s name'),
        (None, None, "nosuch", '--style: found "nosuch"; accepted: a style of matplotlib, such as '),
        (None, None, "https://example.org/x.mplstyle", '--style: found "https://example.org/x.mplstyle"; accepted'),
    ],
)
def test_what_cannot_be_a_look_is_refused(width: str | None, font: str | None, look: str | None, expected: str) -> None:
    with pytest.raises(UserError) as refused:
        wishes.of(width, font, look)
    assert str(refused.value).startswith(expected)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"axes.facecolor\n", ', line 1: found "axes.facecolor"; accepted: lines of matplotlib'),
        (b"# ok\nnosuch.key: 3\n", ', line 2: found "nosuch.key"; accepted: lines of'),
        (b"font.size: huge\n", ', line 1: font.size: found "huge"; accepted: matplotlib'),
        (b"\x00\xff\xfe", ": "),
    ],
)
def test_a_file_of_settings_that_is_none_is_refused(tmp_path: Path, content: bytes, expected: str) -> None:
    file = tmp_path / "bad.mplstyle"
    file.write_bytes(content)
    with pytest.raises(UserError) as refused:
        wishes.of(None, None, str(file))
    assert str(refused.value).startswith(f"{file}{expected}")


def test_a_slide_that_would_be_too_full_is_refused(record: Record) -> None:
    with (
        wishes.applied(wishes.of("slide", None, None)),
        pytest.raises(UserError, match="--width slide: found a figure"),
    ):
        drawing.draw("box", many(record, 30, 1), [], "")


def test_the_help_fits_sixty_columns(goodqueue: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    said = goodqueue("plot", "--help").out
    assert "ellipse" in said
    assert [line for line in said.splitlines() if len(line) > 60] == []


def test_the_options_of_a_figure_s_look_reach_it(here: Path, goodqueue: Command) -> None:
    (here / "r.json").write_text(goodqueue("run", "ok.toml", "--json").out, encoding="utf-8")
    for width, points in (("3.5in", "252"), ("9cm", "255.1")):
        said = goodqueue("plot", "cdf", "r.json", "--width", width, "--font", "7pt", "--out", f"{width}.svg")
        assert (said.status, said.err) == (0, "")
        assert f'width="{points}' in (here / f"{width}.svg").read_text(encoding="utf-8")[:800]
    (here / "matplotlibrc").write_text("axes.facecolor: ffeedd\n", encoding="utf-8")
    command = [sys.executable, "-m", "goodqueue", "plot", "cdf", "r.json", "--out", "mine.svg"]
    subprocess.run(command, check=True, cwd=here, capture_output=True)
    assert "#ffeedd" in (here / "mine.svg").read_text(encoding="utf-8")
