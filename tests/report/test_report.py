"""The report on stored results: one page that loads nothing, fits a phone, and agrees with the files."""

import html
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from html.parser import HTMLParser
from pathlib import Path

import pytest

import needs
from conftest import SCENARIO, TOML, Result
from goodqueue import pages, running
from goodqueue.comparison import figures
from goodqueue.plot.stored import Group
from goodqueue.record import Scenario
from goodqueue.report import sections
from goodqueue.show.answer import Code, Findings, Section, Terms
from goodqueue.show.table import Table

Command = Callable[..., Result]


class Page(HTMLParser):
    """The addresses that a page would fetch, its tags, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.opened: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.opened.append((tag, dict(attrs)))
        for name, value in attrs:
            if (
                name in ("src", "href", "xlink:href", "data", "action", "srcset")
                and value
                and not value.startswith("#")
            ):
                self.fetched.append(f"{tag} {name}={value}")

    def handle_data(self, data: str) -> None:
        self.text += data


QUICK = ["--duration", "4s", "--warmup", "1s", "--seeds", "2"]


@pytest.fixture
def everything(here: Path, goodqueue: Command, kernel: list[Scenario]) -> Path:
    """Fill a folder with one of each: a store with a sweep, a record, a comparison, a study, a validation."""
    many = "bottleneck.qdisc=codel,pie target 20ms,fq_codel"
    sweep = ["sweep", "ok.toml", "--set", many, "--set", "path.rtt=10ms,40ms", "--set", "traffic.0.count=1,2"]
    assert goodqueue(*sweep, "--seeds", "2", "--store", "store").status == 0
    (here / "record.json").write_text(goodqueue("run", "ok.toml", "--json", "--seed", "5").out, encoding="utf-8")
    assert goodqueue("compare", "pfifo", "codel", *QUICK, "--out", "compared").status == 0
    assert goodqueue("study", "schwardmann2014", "--quick", "--only", "v001", "--out", "study").status == 0
    assert (
        goodqueue(
            "validate", "--quick", "--only", "codel", "--seeds", "2", "--store", "runs", "--out", "validation"
        ).status
        == 0
    )
    return here


@pytest.mark.long
def test_a_report_of_everything_is_one_page_that_fits(everything: Path, goodqueue: Command) -> None:
    inputs = ["store", "record.json", "compared", "study", "validation", "runs"]
    said = goodqueue("report", *inputs, "--out", "all.html")
    assert (said.status, said.out, said.err) == (0, "Written: all.html\n", "")
    text = (everything / "all.html").read_text(encoding="utf-8")
    page = Page(text)

    assert page.fetched == [], "the page must load nothing, neither from the network nor from beside it"
    tags = [tag for tag, _ in page.opened]
    assert not {"script", "link", "iframe", "img", "object", "embed"} & set(tags)
    assert "@import" not in text
    assert not re.search(r"url\((?!#)", text)
    names = {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert set(re.findall(r"https?://[^\"'\s<)]+", text)) <= names, (
        "only names of XML's vocabularies may look like URLs"
    )
    assert ("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"}) in page.opened
    assert "prefers-color-scheme: dark" in text
    identifiers = re.findall(r'\bid="([^"]+)"', text)
    assert len(identifiers) == len(set(identifiers)), "two figures would share clip paths and markers"
    assert set(re.findall(r'(?:url\(#|href="#)([^")]+)', text)) <= set(identifiers)
    assert tags.count("svg") >= 12
    assert tags.count("table") == text.count('<div class="scroll"><table>'), "a wide table scrolls within itself"

    for needed in (
        "Sweep of ok.toml",
        "Difference from codel, paired by seed",
        "one run",
        "pfifo, codel at 10mbit",
        "Study schwardmann2014",
        "Published beside measured",
        "The simulator beside Linux",
        "Difference from engine sim",
    ):
        assert needed in page.text, "each thing that was given must be in the page"
    means = json.loads(next((everything / "store" / "sweeps").glob("*/results.json")).read_text(encoding="utf-8"))
    mean = means["cells"][0]["metrics"]["goodput_mbps"]["mean"]
    assert f"{mean:.2f} ± " in page.text, "the table must say what results.json says"

    assert goodqueue("report", *inputs, "--out", "all.html", "--force").status == 0
    assert (everything / "all.html").read_text(encoding="utf-8") == text, "the same results give the same bytes"
    if not needs.works("chromium"):  # the page's width cannot be measured
        pytest.skip(needs.reason("chromium"))
    for width in (390, 1200):
        inner, needed_width, hidden = laid_out(everything / "all.html", width)
        assert inner == width
        assert needed_width <= width, f"at {width} pixels the page itself must not scroll sideways"
        assert hidden == 0 or width < 1200, "at 1200 pixels no column of a table may hide behind a scrollbar"


def laid_out(page: Path, width: int) -> tuple[int, int, int]:
    """Return the widths of the window and of the page in a browser, and how many tables are wider than their place.

    The page stands in a frame, since a window has a minimum width.
    """
    assert needs.CHROMIUM is not None
    probe = """<script>onload = () => parent.postMessage([innerWidth, document.documentElement.scrollWidth,
        [...document.querySelectorAll('.scroll')].filter(one => one.scrollWidth > one.clientWidth).length], '*')
        </script>"""
    inner, outer = page.with_name("inner.html"), page.with_name("outer.html")
    inner.write_text(page.read_text(encoding="utf-8").replace("</body>", f"{probe}</body>"), encoding="utf-8")
    frame = f'<iframe src="inner.html" style="border: 0; width: {width}px; height: 844px"></iframe>'
    listen = "<script>onmessage = said => { document.title = said.data.join(' ') }</script>"
    outer.write_text(f"<!doctype html><title></title>{listen}<body>{frame}</body>", encoding="utf-8")
    command = [needs.CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1400,900", "--dump-dom"]
    command += ["--virtual-time-budget=10000", f"--user-data-dir={page.parent / 'profile'}", outer.as_uri()]
    dom = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = re.search(r"<title>(\d+) (\d+) (\d+)</title>", dom)
    assert found, dom[:500]
    return int(found[1]), int(found[2]), int(found[3])


@pytest.mark.long
def test_findings_stand_before_figures_and_these_before_tables(here: Path, goodqueue: Command) -> None:
    sweep = ["sweep", "ok.toml", "--set", "bottleneck.qdisc=pfifo,codel target 4ms", "--set", "path.rtt=10ms,40ms"]
    command = [*sweep, "--seeds", "3", "--seed", "2", "--store", "store"]
    assert goodqueue(*command).status == 0
    assert goodqueue("compare", "pfifo", "codel", *QUICK, "--out", "compared").status == 0
    assert goodqueue("report", "store", "compared", "--out", "all.html").status == 0
    page = (here / "all.html").read_text(encoding="utf-8")
    for text in (*page.split("<section ")[1:], (here / "compared" / "report.html").read_text(encoding="utf-8")):
        places = [text.index(mark) for mark in ('class="findings"', "<figure", "<table")]
        assert places == sorted(places)
    said = html.unescape(page)
    assert f">{shlex.join(['goodqueue', *command])}<" in said
    assert ">goodqueue compare pfifo codel --duration 4s --warmup 1s --seeds 2<" in said
    where = (
        r">Where the qdisc matters most \(rtt (10|40)ms\): 95 % of the packets queue for at most [\d.]+ ms with codel"
    )
    assert re.search(where, said), "a sentence compares the cells of one path"
    assert " at rtt " not in said


@pytest.mark.long
def test_a_report_shows_what_fits_the_runs(here: Path, goodqueue: Command) -> None:
    """Several groups give ellipses and boxes, several flows their index, and series the course."""
    sets = ["--set", "bottleneck.qdisc=pfifo,fq_codel", "--seeds", "3", "--set", "duration=4s", "--set", "warmup=1s"]
    several = {"Latency against goodput", "Spread of latency", "Fairness"}
    courses = {"The queue over time", "Pings over time", "Goodput over time"}
    assert goodqueue("sweep", "ok.toml", *sets, "--set", "series.interval=200ms", "--store", "with").status == 0
    assert goodqueue("sweep", "ok.toml", *sets, "--store", "without").status == 0
    single = goodqueue("run", "ok.toml", "--set", "series.interval=200ms", "--json")
    (here / "one.json").write_text(single.out, encoding="utf-8")
    shutil.copytree(here / "with", here / "loose")
    shutil.rmtree(here / "loose" / "sweeps")  # the same runs, without the sweep
    expected = {"with": several | courses, "loose": several | courses, "without": several, "one.json": courses}
    for source, kinds in expected.items():
        assert goodqueue("report", source, "--out", f"{source}.html").status == 0
        page = Page((here / f"{source}.html").read_text(encoding="utf-8"))
        assert set(titles(page)) & (several | courses) == kinds, source
        assert page.fetched == []
    identifiers = re.findall(r'\bid="([^"]+)"', (here / "with.html").read_text(encoding="utf-8"))
    assert len(identifiers) == len(set(identifiers)), "two figures would share clip paths and markers"


UP = ["--set", "traffic.0.direction=up"]
"""Reverses the load of ok.toml."""

BOTH = ["--set", "traffic.1.kind=bulk", "--set", "traffic.1.direction=up", "--set", "traffic.1.start_spread=500ms"]
"""Loads the way up, too."""


def titles(page: Page) -> list[str]:
    return [label.split(".")[0] for _, given in page.opened if (label := given.get("aria-label"))]


@pytest.mark.parametrize(
    ("sets", "ends", "queues"),
    [([], [""], [""]), (UP, [" up"], [", up"]), (BOTH, [" down", " up"], [", down", ", up"])],
)
def test_figures_of_a_sweep_are_of_each_loaded_direction(
    here: Path, goodqueue: Command, sets: list[str], ends: list[str], queues: list[str]
) -> None:
    assert (
        goodqueue(
            "sweep", "ok.toml", "--set", "bottleneck.qdisc=pfifo,codel", *sets, "--seeds", "2", "--store", "st"
        ).status
        == 0
    )
    assert goodqueue("report", "st").status == 0
    page = Page((here / "report.html").read_text(encoding="utf-8"))
    found = titles(page)
    main = ["delay mean", "delay p95", "utilisation", "goodput"]
    assert found[: 4 * len(ends)] == [f"{name}{end}" for end in ends for name in main]
    assert [one for one in found if "How long" in one] == [f"How long packets queue{at}" for at in queues]
    axes = re.findall(r"queueing delay(?:, \w+)? \(ms\)", page.text)
    assert {f"queueing delay{at} (ms)" for at in queues} <= set(axes), "the axis says which queue it is of"


def test_figures_of_loose_runs_are_of_each_loaded_direction_and_of_what_a_person_feels(
    here: Path, goodqueue: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    from goodqueue.comparison import drawing as comparison

    def fail(*_: object, **__: object) -> None:
        raise AssertionError("a figure that the page has not must not be drawn")

    sweep = ["sweep", "ok.toml", "--set", "bottleneck.qdisc=pfifo,codel", *BOTH, "--set", "traffic.2.kind=ping"]
    assert goodqueue(*sweep, "--seeds", "2", "--store", "st").status == 0
    shutil.rmtree(here / "st" / "sweeps")
    monkeypatch.setattr(comparison, "goodput_by_flow", fail)
    monkeypatch.setattr(comparison, "delay_against_goodput", fail)
    assert goodqueue("report", "st").status == 0
    found = titles(Page((here / "report.html").read_text(encoding="utf-8")))
    needed = ["What a person feels", "How long packets queue, down", "How long packets queue, up", "Side by side"]
    assert found[:4] == needed


@pytest.mark.needs("chromium")
def test_a_page_that_is_too_wide_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "wide.html"
    page.write_text('<body><div style="width: 900px">wide</div></body>', encoding="utf-8")
    assert laid_out(page, 390)[1] >= 900
    scrolled = '<body><div class="scroll" style="overflow-x: auto"><p style="width: 900px">wide</p></div></body>'
    page.write_text(scrolled, encoding="utf-8")
    assert laid_out(page, 390)[2] == 1, "a table that scrolls must be counted"


@pytest.mark.parametrize("directions", ["bulk:4:up", pytest.param("bulk:2,bulk:2:up", marks=pytest.mark.long)])
def test_a_comparison_with_calls_and_pages_shows_every_column(here: Path, goodqueue: Command, directions: str) -> None:
    qdiscs = ["pfifo", "fq_codel flows 1024 target 5ms interval 100ms"]
    link = [
        "--rate",
        "50mbit",
        "--up-rate",
        "10mbit",
        "--rtt",
        "30ms",
        "--traffic",
        f"{directions},voip:up,page:google,ping",
    ]
    assert goodqueue("compare", *qdiscs, *link, "--duration", "8s", "--seeds", "2", "--out", "wide").status == 0
    text = (here / "wide" / "report.html").read_text(encoding="utf-8")
    heads = [" ".join(head.split()) for head in re.findall(r"<th[^>]*>([^<]*)", text)]
    for needed in ("ping p95", "voip loss", "MOS", "page p95"):
        assert needed in heads
    parts = re.findall(r"<tbody>\s*<tr><td[^>]*>([^<]*)", text)
    assert set(parts) == set(qdiscs), "each part of a table names its rows"
    if not needs.works("chromium"):  # the tables' width cannot be measured
        pytest.skip(needs.reason("chromium"))
    assert laid_out(here / "wide" / "report.html", 1200)[::2] == (1200, 0)
    assert laid_out(here / "wide" / "report.html", 390)[1] <= 390


def records(*changes: tuple[str, int]) -> str:
    """Return records of the small scenario, one per line, each with its own qdisc and seed."""
    bottleneck = SCENARIO["bottleneck"]
    lines = [
        running.one_text({**SCENARIO, "seed": seed, "bottleneck": {**bottleneck, "qdisc": qdisc}})
        for qdisc, seed in changes
    ]
    return "\n".join(lines)


def test_records_are_compared_where_they_can_be(here: Path, goodqueue: Command) -> None:
    text = records(("codel", 1), ("codel", 2), ("pie", 1), ("pie", 2), ("pfifo", 1), ("codel", 1))
    (here / "some.jsonl").write_text(text, encoding="utf-8")
    assert goodqueue("report", "some.jsonl").status == 0
    page = Page((here / "report.html").read_text(encoding="utf-8"))
    assert "codel, pie at 10mbit, 20ms" in page.text, "the two qdiscs with the same seeds are compared, given once"
    assert "n = 2 seeds (1 to 2), common to all" in page.text
    assert "pfifo at 10mbit, 20ms, 2 × bulk cubic down, 1 × ping, one run" in page.text, (
        "one with other seeds stands by itself"
    )


@pytest.mark.parametrize(
    ("bottleneck", "title"),
    [
        ('wifi = {standard = "802.11n", station = [{name = "a", rate = "mcs7"}]}', "802.11n Wi-Fi (a at mcs7), 20ms"),
        ('trace = "some.rates"\nup.rate = "5mbit"', "the rates of some.rates, 20ms"),
    ],
    ids=["wifi", "trace"],
)
def test_a_run_on_a_link_without_one_rate_has_a_title(
    here: Path, goodqueue: Command, bottleneck: str, title: str
) -> None:
    Path("some.rates").write_text("0s 5mbit\n1s 9mbit\n", encoding="ascii")
    Path("one.toml").write_text(TOML.replace('rate = "10mbit"', bottleneck), encoding="utf-8")
    Path("one.json").write_text(goodqueue("run", "one.toml", "--json").out, encoding="utf-8")
    assert goodqueue("report", "one.json").err == ""
    assert f"codel at {title}" in Page(Path("report.html").read_text(encoding="utf-8")).text


def test_a_damaged_store_is_refused_by_name(here: Path, goodqueue: Command) -> None:
    sweep = ["sweep", "ok.toml", "--seeds", "2", "--store", "st"]
    assert goodqueue(*sweep).status == 0
    shutil.rmtree(here / "st" / "sweeps")  # only runs are left
    victim = next((here / "st").glob("runs/*/*.parquet"))
    victim.write_bytes(victim.read_bytes()[:1000])
    found = goodqueue("report", "st")
    assert (found.status, found.out) == (2, "")
    assert found.err.startswith(f"goodqueue: {victim.relative_to(here)}: damaged (")
    assert found.err.count("\n") == 1
    assert not (here / "report.html").exists()


def test_a_stored_study_is_told_in_words_and_units(tmp_path: Path) -> None:
    def value(metric: str, at: dict[str, object], published: object, measured: float) -> dict[str, object]:
        named = {"scenario": "x/table1b", "algorithm": "codel", "metric": metric, "at": at, "published": published}
        return named | {"measured": measured, "ci": [measured - 1, measured + 1], "n": 3, "verdict": "close"}

    values = [
        value("delay_mean_ms", {"rtt_ms": 5}, 4.66, 4.734),
        value("delay_mean_ms", {"rtt_ms": 10}, 5, 5.1),
        value("delay_mean_ms", {"link": "slow_dsl"}, [25.0, None], 30.0),
        value("loss_percent", {"rtt_ms": 5}, [None, 0.1], 0.05),
        value("loss_percent", {"rtt_ms": 10}, [0.1, 0.2], 0.15),
    ]
    counted = {"values": {"not_run": 1}, "claims": {}}
    data = {"study": "x", "runs": 1, "engine": "sim", "quick": True, "version": "1", "values": values, "claims": []}
    (table,) = (
        one for one in sections.of_study(data | {"summary": counted}, tmp_path, "s1").parts if isinstance(one, Table)
    )
    model = {"n": 4, "verdicts": {"reproduced": 2}, "here": {"reproduced": 3}}
    parts = sections.of_study(data | {"summary": counted | {"trivial": model}}, tmp_path, "s1").parts
    said = next(one.sentences for one in parts if isinstance(one, Findings))
    beside = "3 reproduced; by a model that never loses a packet and always fills the link: 2."
    assert said == ["Values: 1 not run.", f"Of the 4 that are a loss, marks or a utilisation: {beside}"]
    heads = [column.heading for column in table.columns]
    assert heads == ["qdisc", "rtt\nms", "link", "metric", "unit", "paper", "here", "95 % CI", "n", "verdict"]
    assert table.rows[0] == ["codel", "5", "–", "delay mean", "ms", "4.66", "4.73", "3.73 to 5.73", "3", "close"]
    assert [row[5] for row in table.rows] == ["4.66", "5.00", "25 or more", "at most 0.1", "0.1 to 0.2"]
    assert table.rows[2][1:3] == ["–", "slow dsl"]


@pytest.mark.parametrize(
    ("lines", "title", "names"),
    [
        (
            ("cake", "codel", "codel target 9ms"),
            "cake, codel target 5ms, codel target 9ms at 10mbit, 20ms",
            ["cake", "codel target 5ms", "codel target 9ms"],
        ),
        (("cake",), "cake at 10mbit, 20ms", ["cake"]),
    ],
)
def test_titles_have_short_names_and_the_list_the_lines(
    here: Path, goodqueue: Command, lines: Sequence[str], title: str, names: list[str]
) -> None:
    (here / "some.jsonl").write_text(records(*((line, 1) for line in lines)), encoding="utf-8")
    assert goodqueue("report", "some.jsonl", "--out", "page.html").status == 0
    text = (here / "page.html").read_text(encoding="utf-8")
    assert re.findall(r"<h1>(.*)</h1>", text)[0].startswith(title)
    listed = re.findall(r"<dt>(.*)</dt><dd><code>(.*)</code>", text)
    assert [name for name, _ in listed] == names
    assert listed[0][1].startswith("cake diffserv3 triple-isolate")


def test_a_page_that_is_there_stays(here: Path, goodqueue: Command) -> None:
    (here / "record.json").write_text(records(("codel", 1)), encoding="utf-8")
    (here / "report.html").write_text("<p>mine</p>", encoding="utf-8")
    refused = goodqueue("report", "record.json")
    assert refused.status == 2
    said = "--out report.html: exists already; accepted: another name, or --force to replace it"
    assert refused.err == f"goodqueue: {said}\n"
    assert (here / "report.html").read_text(encoding="utf-8") == "<p>mine</p>"
    assert goodqueue("report", "record.json", "--force").status == 0
    assert said in goodqueue("report", "record.json").err, "a page of ours is a result too"
    assert sorted(file.name for file in here.iterdir()) == ["ok.toml", "record.json", "report.html"]


def test_a_page_leaves_out_what_is_empty_and_escapes_what_others_wrote() -> None:
    parts = [Section("Nothing here", []), Findings([]), Code(""), Section("Names", [Terms({"<b>": "a & b"})]), "1 < 2"]
    page = pages.render("A <title>", parts)
    assert "Nothing here" not in page
    assert 'class="findings"' not in page
    assert "<pre" not in page
    assert "<h1>A &lt;title&gt;</h1>" in page
    assert "<h2>Names</h2>" in page
    assert "<dt>&lt;b&gt;</dt><dd>a &amp; b</dd>" in page
    assert "<p>1 &lt; 2</p>" in page


def test_a_report_that_cannot_be_drawn_leaves_the_files_that_were_there(tmp_path: Path) -> None:
    (tmp_path / "records.jsonl").write_text("{}\n")

    def half() -> str:
        (tmp_path / "felt.svg").write_text("<svg/>")
        raise ValueError("no font")

    assert str(pages.draw(tmp_path, "records.jsonl is", half)) == (
        "report.html: the figures cannot be drawn: ValueError: no font; records.jsonl is there"
    )
    assert [file.name for file in tmp_path.iterdir()] == ["records.jsonl"]


def test_the_tree_of_a_provider_is_on_the_page(here: Path, goodqueue: Command) -> None:
    """A record without series of nodes has no such figure."""
    asked = """
        duration = "2s"
        warmup = "1s"
        bottleneck = {rate = "10mbit", qdisc = "pfifo"}
        path.rtt = "20ms"
        node = [{name = "tower", down = "4mbit"}]
        subscriber = [{count = 2, down = "3mbit", up = "1mbit", parent = "tower", traffic = [{kind = "bulk"}]}]
    """
    (here / "isp.toml").write_text(asked, encoding="utf-8")
    text = goodqueue("run", "isp.toml", "--json", "--set", "series.interval=500ms").out
    (here / "isp.json").write_text(text, encoding="utf-8")
    assert goodqueue("report", "isp.json", "--out", "isp.html").status == 0
    titles = re.findall(r"<h3>(Which node limits: \w+)</h3>", (here / "isp.html").read_text(encoding="utf-8"))
    assert titles == ["Which node limits: pfifo"]
    record = json.loads(text)
    del record["series"]["nodes"]
    assert not list(figures.trees([Group("pfifo", [record])]))


def test_a_base_install_makes_the_page_without_figures(here: Path, goodqueue: Command) -> None:
    """Guards against a report that is refused where matplotlib, an extra, is missing, although it has tables."""
    (here / "record.json").write_text(goodqueue("run", "ok.toml", "--json").out, encoding="utf-8")
    base = "import sys; sys.modules['matplotlib'] = None; from goodqueue.__main__ import main; main()"
    command = [sys.executable, "-c", base, "report", "record.json"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    note = "The figures are left out, since matplotlib is not installed: pip install matplotlib"
    assert (done.returncode, done.stderr) == (0, f"goodqueue: {note}\n")
    page = (here / "report.html").read_text(encoding="utf-8")
    assert note in page
    assert "<table" in page
    assert "<svg" not in page
