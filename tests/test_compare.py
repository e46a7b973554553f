"""Comparisons: paired by seed, the same with any number of threads, written whole or not at all."""

import json
import os
import re
import subprocess
import tomllib
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from conftest import SCENARIO, Result
from goodqueue import compare as comparing
from goodqueue import output, report, stats
from goodqueue.compare import Comparison
from goodqueue.errors import UserError
from goodqueue.plot import style
from goodqueue.record import Record

QUICK = ["--duration", "4s", "--warmup", "1s", "--seeds", "3"]


def test_differences_are_taken_seed_by_seed(comparison: Comparison) -> None:
    first, second = comparison.entries[0], comparison.entries[1]
    by_hand = [b - a for a, b in zip(first.values["delay_mean_ms"], second.values["delay_mean_ms"], strict=True)]  # type: ignore[operator]
    assert second.differences["delay_mean_ms"] == stats.estimate(by_hand)
    assert all(value.mean == 0 for value in first.differences.values() if value), "the first differs not from itself"


def test_disciplines_see_the_same_arrivals() -> None:
    # With a buffer that never fills, codel that never acts is a pfifo: any difference would be the generator's.
    lazy = comparing.compare(SCENARIO, ["pfifo limit 100000", "codel limit 100000 target 10s interval 20s"], [5, 6])
    fifo, codel = lazy.entries
    assert fifo.values == codel.values, "changing the AQM must not move another stream's draws"


def test_the_shared_scenario_names_no_qdisc_and_no_seed(comparison: Comparison) -> None:
    assert "seed" not in comparison.scenario
    assert "qdisc" not in comparison.scenario["bottleneck"]
    assert "qdisc" not in comparison.scenario["bottleneck"]["up"]
    buffered = SCENARIO | {"bottleneck": {"rate": "10mbit", "buffer": {"bdp": 2.0}, "up": {"qdisc": "pie"}}}
    shared = comparing.compare(buffered, ["pfifo"], [1]).scenario["bottleneck"]
    assert shared["buffer"] == {"bdp": 2.0}, "limits made from a buffer differ by qdisc: the buffer is what they share"
    assert shared["up"]["qdisc"].startswith("pie"), "what the way back was given is shared"


def test_json_is_the_same_with_any_number_of_threads(here: Path, goodqueue: Callable[..., Result]) -> None:
    first = goodqueue("compare", "pfifo", "pie", *QUICK, "--json", "--workers", "1")
    assert goodqueue("compare", "pfifo", "pie", *QUICK, "--json", "--workers", "3") == first
    found = json.loads(first.out)
    assert found["seeds"] == [1, 2, 3]
    pie = found["qdiscs"][1]
    assert pie["resolved"].startswith("pie limit 1000 target 15ms")
    low, high = pie["metrics"]["delay_mean_ms"]["ci"]
    assert low <= pie["metrics"]["delay_mean_ms"]["mean"] <= high
    assert len(pie["metrics"]["delay_mean_ms"]["values"]) == 3
    assert len(pie["delay_percentiles_ms"]) == 101


def test_options_change_a_scenario_file(here: Path, goodqueue: Callable[..., Result]) -> None:
    arguments = ["compare", "pfifo", "--scenario", "ok.toml", "--rate", "5mbit", "--buffer", "2bdp", "--seeds", "1"]
    found = json.loads(goodqueue(*arguments, "--json").out)
    assert found["scenario"]["bottleneck"]["rate"] == "5mbit"
    assert found["qdiscs"][0]["resolved"] == "pfifo limit 16", "2 x 5 Mbit/s x 20 ms are 16 frames of 1514 bytes"


FILES = {"report.html", "results.json", "records.jsonl", "scenario.toml"}
FIGURES = {"delay-cdf", "delay-over-time", "estimates", "delay-goodput", "flow-goodput"}


@pytest.fixture(scope="module")
def written(comparison: Comparison, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report that is looked at, never changed."""
    folder = tmp_path_factory.mktemp("written")
    report.write(folder, comparison, "goodqueue compare pfifo")
    return folder


class Loads(HTMLParser):
    """Collects what a page would fetch, and its text."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.opened: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.opened.append(tag)
        for name, value in attrs:
            if name in ("src", "href", "xlink:href", "data", "action") and value and not value.startswith("#"):
                self.fetched.append(f"{tag} {name}={value}")

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_report_is_one_file_that_needs_no_other(written: Path) -> None:
    page = (written / "report.html").read_text(encoding="utf-8")
    parser = Loads()
    parser.feed(page)
    assert parser.fetched == [], "the page must load nothing, neither from the network nor from beside it"
    assert not {"script", "link", "iframe", "img"} & set(parser.opened)
    assert "@import" not in page
    assert not re.search(r"url\((?!#)", page), "a style may refer to the page itself only"
    assert parser.opened.count("svg") == len(FIGURES)
    for needed in (
        "codel target 10ms",
        "n = 3 seeds (1 to 3)",
        "goodqueue compare pfifo",
        'rate = "10mbit"',
        "± 95 % CI",
    ):
        assert needed in parser.text, "a reader must find what was run, how often and how sure it is"


def test_identifiers_of_the_figures_do_not_clash(written: Path) -> None:
    page = (written / "report.html").read_text(encoding="utf-8")
    identifiers = re.findall(r'\bid="([^"]+)"', page)
    assert len(identifiers) == len(set(identifiers)), "two figures would share clip paths and markers"
    for used in re.findall(r'(?:url\(#|href="#)([^")]+)', page):
        assert used in identifiers


def test_files_are_complete_and_the_same_each_time(written: Path, comparison: Comparison, tmp_path: Path) -> None:
    expected = FILES | {f"{name}.{kind}" for name in FIGURES for kind in ("svg", "png")}
    assert {file.name for file in written.iterdir()} == expected
    again = tmp_path / "again"
    again.mkdir()
    report.write(again, comparison, "goodqueue compare pfifo")
    for name in sorted(expected):
        assert (again / name).read_bytes() == (written / name).read_bytes(), f"{name} must not depend on the day"
    results = json.loads((written / "results.json").read_text(encoding="utf-8"))
    assert set(results["files"]) == expected
    lines = (written / "records.jsonl").read_text(encoding="utf-8").splitlines()
    assert lines == [text for entry in comparison.entries for text in entry.texts]


def test_the_written_scenario_runs_again(written: Path) -> None:
    scenario = tomllib.loads((written / "scenario.toml").read_text(encoding="utf-8"))
    again = comparing.compare(scenario, ["fq_codel"], [1])
    assert again.entries[0].texts[0] == (written / "records.jsonl").read_text(encoding="utf-8").splitlines()[6]


def test_figures_leave_matplotlib_as_it_was(comparison: Comparison) -> None:
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    for name, _, _, figure in report.figures(comparison):
        assert "<image" not in style.svg(figure, name), "a figure must be lines and text, not a bitmap"
    assert dict(mpl.rcParams) == before


def test_out_is_written_replaced_and_then_refused(here: Path, goodqueue: Callable[..., Result]) -> None:
    command = ["compare", "pfifo", "codel", *QUICK, "--out", "new/report"]
    assert goodqueue(*command).status == 0
    folder = here / "new" / "report"
    assert (folder / "report.html").exists()
    assert goodqueue(*command).status == 0, "what we made we may replace"
    (folder / "notes.txt").write_text("mine", encoding="utf-8")
    refused = goodqueue(*command)
    assert refused.status == 2
    assert "notes.txt" in refused.err
    assert goodqueue(*command, "--force").status == 0
    assert (folder / "notes.txt").read_text(encoding="utf-8") == "mine", "--force must leave others' files alone"
    assert sorted(path.name for path in (here / "new").iterdir()) == ["report"], "no half-made folder may stay"


def fill(folder: Path) -> None:
    (folder / "results.json").write_text('{"files": ["results.json"]}', encoding="utf-8")


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "target").mkdir()
    (tmp_path / "link").symlink_to("target")
    output.write(tmp_path / "link", False, fill)
    assert (tmp_path / "link").is_symlink(), "the link must stay a link"
    assert [file.name for file in (tmp_path / "target").iterdir()] == ["results.json"]
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(UserError):
        output.write(tmp_path / "loop", False, fill)


def test_what_dead_processes_left_is_swept(tmp_path: Path) -> None:
    dead = subprocess.Popen(["true"])
    dead.wait()
    for name in (f".out.partial-{dead.pid}", f".out.partial-{os.getppid()}", f".other.partial-{dead.pid}"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "half").touch()
    output.write(tmp_path / "out", False, fill)
    left = sorted(entry.name for entry in tmp_path.iterdir())
    assert left == sorted([f".other.partial-{dead.pid}", f".out.partial-{os.getppid()}", "out"])


def test_jain_is_that_of_the_bulk_flows_down(record: Record) -> None:
    bulk = [flow["goodput_mbps"] for flow in record["flows"]]
    strangers: list[Any] = [
        {**record["flows"][0], "kind": "cbr", "goodput_mbps": 99.0},
        {**record["flows"][0], "direction": "up", "goodput_mbps": 99.0},
    ]
    mixed = record | {"flows": record["flows"] + strangers}
    jain = next(metric for metric in comparing.METRICS if metric.key == "jain_goodput")
    assert jain.pick(mixed) == stats.jain(bulk)  # type: ignore[arg-type]
    assert jain.pick(record | {"flows": []}) is None  # type: ignore[arg-type]


def test_an_error_while_writing_leaves_the_old_folder(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "out"

    def fail(folder: Path) -> None:
        (folder / "report.html").write_text("half", encoding="utf-8")
        raise OSError(28, "No space left on device")

    with pytest.raises(UserError, match="cannot be written: No space left on device"):
        output.write(target, False, fail)
    assert list(tmp_path.iterdir()) == [], "neither the folder nor its parents nor a draft may stay"

    output.write(
        target, False, lambda folder: (folder / "results.json").write_text('{"files": ["results.json"]}') and None
    )
    with pytest.raises(UserError):
        output.write(target, False, fail)
    assert [file.name for file in target.iterdir()] == ["results.json"]
    assert [file.name for file in target.parent.iterdir()] == ["out"]


def test_calls_and_pages_are_compared_by_what_their_users_feel(goodqueue: Callable[..., Result]) -> None:
    command = ["compare", "pfifo limit 200", "fq_codel", "--traffic", "rrul,voip:up,page:google"]
    command += ["--duration", "20s", "--warmup", "5s", "--seeds", "2", "--up-rate", "2mbit"]
    found = json.loads(goodqueue(*command, "--json").out)
    fifo, fair = (entry["metrics"] for entry in found["qdiscs"])
    assert fifo["voip_delay_p95_ms"]["mean"] > 5 * fair["voip_delay_p95_ms"]["mean"]
    assert fifo["page_load_mean_ms"]["mean"] > 2 * fair["page_load_mean_ms"]["mean"]
    assert fair["voip_mos"]["mean"] > fifo["voip_mos"]["mean"]
    assert fair["voip_loss_percent"]["values"] == [0.0, 0.0]
    shown = " ".join(goodqueue(*command).out.split())
    assert "4 × bulk cubic up, 4 × bulk cubic down, 4 × ping, 1 × voip g711 up, 1 × page google down" in shown
    assert "MOS: 1 to 4.5 by ITU-T G.107" in shown
