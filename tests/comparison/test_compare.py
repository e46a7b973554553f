"""Comparisons: paired by seed, the same with any number of threads, written completely or not at all."""

import json
import re
import tomllib
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from conftest import SCENARIO, Result
from goodqueue import pages
from goodqueue.comparison import answer, comparing
from goodqueue.comparison.comparing import Comparison
from goodqueue.errors import UserError
from goodqueue.files import drafts, output
from goodqueue.measures import numbers, stats
from goodqueue.plot import style
from goodqueue.record import Record

QUICK = ["--duration", "4s", "--warmup", "1s", "--seeds", "3"]


def test_differences_are_taken_seed_by_seed(comparison: Comparison) -> None:
    first, second = comparison.entries[0], comparison.entries[1]
    by_hand = [b - a for a, b in zip(first.values["delay_mean_ms"], second.values["delay_mean_ms"], strict=True)]  # type: ignore[operator]
    assert second.differences["delay_mean_ms"] == stats.estimate(by_hand)
    assert all(value.mean == 0 for value in first.differences.values() if value), "the first differs not from itself"
    third = comparison.entries[2]
    by_hand = [b - a for a, b in zip(first.values["delay_mean_ms"], third.values["delay_mean_ms"], strict=True)]  # type: ignore[operator]
    assert third.differences["delay_mean_ms"] == stats.estimate(by_hand), "from the first, not from the one before"


def test_disciplines_see_the_same_arrivals() -> None:
    # In a buffer that never fills, a codel that never acts is a pfifo. A difference would be the generator's fault.
    lazy = comparing.compare(SCENARIO, ["pfifo limit 100000", "codel limit 100000 target 10s interval 20s"], [5, 6])
    fifo, codel = lazy.entries
    assert fifo.values == codel.values, "changing the AQM must not move another stream's draws"


def test_a_law_that_draws_differs_seed_by_seed_from_one_that_does_not() -> None:
    """If flows start together, a FIFO gives one run for all seeds. PIE gives three runs, and so three differences.

    The difference of the first seeds alone, without an interval, would be wrong.
    """
    together = SCENARIO | {"traffic": [{"kind": "bulk", "count": 2}]}
    found = comparing.compare(together, ["pfifo limit 100", "pie", "pfifo limit 50"], [1, 2, 3])
    fifo, pie, shorter = found.entries
    assert (fifo.is_nil, pie.is_nil, shorter.is_nil, found.spread_is_nil()) == (True, False, True, False)
    by_seed, at_once = pie.differences["delay_mean_ms"], shorter.differences["delay_mean_ms"]
    assert by_seed is not None
    assert (by_seed.n, by_seed.half_width is not None) == (3, True)
    assert at_once is not None
    assert (at_once.n, at_once.half_width) == (1, None)


def test_each_line_has_its_seeds_and_its_ways() -> None:
    found = comparing.scenarios(SCENARIO, ["codel / fq_codel", "pie"], [4, 7])
    told = [(one["bottleneck"]["qdisc"], one["bottleneck"].get("up"), one["seed"]) for one in found]
    up = {"qdisc": "fq_codel"}
    assert told == [("codel", up, 4), ("codel", up, 7), ("pie", None, 4), ("pie", None, 7)]
    assert SCENARIO["bottleneck"]["qdisc"] == "codel", "what was given stays as it is"


def test_somebody_asked_for_metrics_or_nobody_did(comparison: Comparison) -> None:
    asked = comparing.compare(SCENARIO, ["pfifo"], [1], shown=numbers.find(["delay_mean_ms"]))
    assert (asked.is_asked, comparison.is_asked) == (True, False)
    assert [metric.key for metric in asked.shown()] == ["delay_mean_ms"]


def test_what_no_seed_shows_has_no_number_in_the_json() -> None:
    assert comparing.estimate_json(None) == {"mean": None, "ci": None, "n": 0}
    assert comparing.estimate_json(stats.Estimate(2.0, None, 1)) == {"mean": 2.0, "ci": None, "n": 1}
    assert comparing.estimate_json(stats.Estimate(2.0, 0.5, 3)) == {"mean": 2.0, "ci": [1.5, 2.5], "n": 3}


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
    assert (found["schema"], found["made_by"], found["seeds"]) == (1, "goodqueue compare", [1, 2, 3])
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


FILES = {"report.html", "results.json", "records.jsonl", "scenario.toml", "tables.tex"}
FIGURES = {"felt", "delay-cdf", "delay-over-time", "estimates", "delay-goodput", "flow-goodput"}


def write(folder: Path, comparison: Comparison) -> None:
    pages.write(folder, answer.of(comparison), "compare", "goodqueue compare pfifo", lambda _: None)


@pytest.fixture(scope="module")
def written(comparison: Comparison, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a report, which tests read but never change."""
    folder = tmp_path_factory.mktemp("written")
    write(folder, comparison)
    return folder


class Loads(HTMLParser):
    """Collects what a page would fetch, and the page's text."""

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
    write(again, comparison)
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


@pytest.mark.long
def test_figures_leave_matplotlib_as_it_was(comparison: Comparison) -> None:
    import matplotlib as mpl

    from goodqueue.comparison import figures

    before = dict(mpl.rcParams)
    for picture in figures.of(comparison):
        assert "<image" not in style.svg(picture.draw(), picture.name), "a figure must be lines and text, not a bitmap"
    assert dict(mpl.rcParams) == before


@pytest.mark.long
def test_what_is_there_is_replaced_only_by_force(here: Path, goodqueue: Callable[..., Result]) -> None:
    (here / "new" / "report").mkdir(parents=True)
    command = ["compare", "pfifo", "codel", *QUICK, "--out", "new/report"]
    assert goodqueue(*command).status == 0, "an empty folder is fine"
    folder = here / "new" / "report"
    (folder / "report.html").write_text("changed", encoding="utf-8")
    refused = goodqueue(*command)
    directions = "accepted: another name, or --force to"
    said = f"--out new/report: holds results of goodqueue compare; {directions} replace them"
    assert (refused.status, refused.out, refused.err) == (2, "", f"goodqueue: {said}\n")
    assert (folder / "report.html").read_text(encoding="utf-8") == "changed"
    assert goodqueue(*command, "--force").status == 0
    assert (folder / "report.html").read_text(encoding="utf-8") != "changed"
    (folder / "notes.txt").write_text("mine", encoding="utf-8")
    refused = goodqueue(*command)
    said = f"--out new/report: holds files of others (notes.txt); {directions} write beside them"
    assert (refused.status, refused.err) == (2, f"goodqueue: {said}\n")
    assert goodqueue(*command, "--force").status == 0
    assert (folder / "notes.txt").read_text(encoding="utf-8") == "mine", "--force must leave others' files alone"
    assert sorted(path.name for path in (here / "new").iterdir()) == ["report"], "no half-made folder may stay"


def test_what_was_measured_is_kept_where_its_name_was_taken(
    here: Path, goodqueue: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process writes to the same place during the runs."""
    run = comparing.compare

    def meanwhile(*arguments: Any) -> Comparison:
        (here / "report").mkdir()
        (here / "report" / "mine.txt").touch()
        return run(*arguments)

    monkeypatch.setattr(comparing, "compare", meanwhile)
    result = goodqueue("compare", "pfifo", "codel", *QUICK, "--out", "report")
    said = "--out report: appeared in the meantime and stays as it is; written: report-2"
    assert (result.status, result.err) == (2, f"goodqueue: {said}\n")
    assert "Written: report-2/report.html" in result.out
    assert [file.name for file in (here / "report").iterdir()] == ["mine.txt"]
    assert (here / "report-2" / "results.json").exists()


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


def test_names_that_are_taken_are_passed_over(tmp_path: Path) -> None:
    target, file = tmp_path / "out", tmp_path / "a.csv.gz"
    file.touch()
    assert [Path(output.write(target, False, fill)[0]).name for _ in range(3)] == ["out", "out-2", "out-3"]
    assert [Path(output.write_file(file, False, b"new")).name for _ in range(2)] == ["a-2.csv.gz", "a-3.csv.gz"]
    assert file.read_bytes() == b""
    assert output.write_file(file, True, b"new") == str(file)
    assert sorted(one.name for one in tmp_path.iterdir()) == sorted(
        ["a.csv.gz", "a-2.csv.gz", "a-3.csv.gz", "out", "out-2", "out-3"]
    )


def test_force_keeps_runs_that_lie_in_a_folder_of_ours(tmp_path: Path) -> None:
    """A validation lists its store, which takes hours on a kernel: another result is written beside the store."""
    target = tmp_path / "validation"
    (target / "store").mkdir(parents=True)
    (target / "results.json").write_text('{"files": ["results.json", "store"]}', encoding="utf-8")
    output.write(target, True, fill)
    assert (target / "store").is_dir()


def test_what_ended_processes_left_is_swept(tmp_path: Path) -> None:
    names = {name: drafts.beside(tmp_path / name, drafts.PARTIAL) for name in ("out", "other")}
    for draft in names.values():
        draft.mkdir()
        (draft / "half").touch()
    output.write(tmp_path / "out", False, fill)
    assert sorted(tmp_path.iterdir()) == [names["other"], tmp_path / "out"], "another result may want its draft back"


def test_a_result_that_a_killed_process_had_moved_away_comes_back(tmp_path: Path) -> None:
    """It was killed between the two names: the old result had lost its name, the new one had none yet."""
    old = drafts.beside(tmp_path / "out", drafts.OLD)
    output.write(tmp_path / "out", False, fill)
    (tmp_path / "out").rename(old)
    written, _ = output.write(tmp_path / "out", False, fill)
    assert Path(written).name == "out-2", "the old result is there again, and stays"
    assert not old.exists()


def test_jain_is_that_of_the_bulk_flows_down(record: Record) -> None:
    bulk = [flow["goodput_mbps"] for flow in record["flows"]]
    strangers: list[Any] = [
        {**record["flows"][0], "kind": "cbr", "goodput_mbps": 99.0},
        {**record["flows"][0], "direction": "up", "goodput_mbps": 99.0},
    ]
    mixed: Any = record | {"flows": record["flows"] + strangers}
    down, up = numbers.find(["jain_goodput", "up_jain_goodput"])
    assert down.pick(mixed) == record["fairness"]["jain_goodput"], "there is one definition, the record's"
    assert down.pick(mixed) == pytest.approx(sum(bulk) ** 2 / len(bulk) / sum(x * x for x in bulk), abs=1e-6)
    assert up.pick(mixed) is None, "one flow shares with nobody"
    two = mixed | {"flows": [*mixed["flows"], mixed["flows"][-1]]}
    assert up.pick(two) == 1.0
    idle = two | {"flows": [*two["flows"], {**mixed["flows"][-1], "bytes_sent": 0, "timeouts": 0}]}
    assert up.pick(idle) == 1.0, "a flow that sent nothing while measuring has no share"
    nothing: Any = record | {"flows": []}
    assert down.pick(nothing) is None


def test_an_error_while_writing_leaves_the_old_folder(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "out"

    def fail(folder: Path) -> None:
        (folder / "report.html").write_text("half", encoding="utf-8")
        raise OSError(28, "No space left on device")

    with pytest.raises(UserError, match="cannot be written: No space left on device"):
        output.write(target, False, fail)
    assert list(tmp_path.iterdir()) == [], "neither the folder nor its parents nor a draft may stay"

    output.write(target, False, fill)
    with pytest.raises(UserError):
        output.write(target, True, fail)
    assert [file.name for file in target.iterdir()] == ["results.json"]
    assert [file.name for file in target.parent.iterdir()] == ["out"]


def test_figures_that_cannot_be_drawn_lose_no_runs(
    here: Path, goodqueue: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    from goodqueue.comparison import drawing

    def fail(*_: object) -> None:
        raise ValueError("no such font")

    monkeypatch.setattr(drawing, "estimates", fail)
    result = goodqueue("compare", "pfifo", "pie", *QUICK, "--out", "out")
    assert (result.status, result.err.count("\n")) == (2, 1)
    assert (
        "report.html: the figures cannot be drawn: ValueError: no such font; results.json and records.jsonl are there"
        in result.err
    )
    assert "Written: out/results.json and records.jsonl." in result.out
    found = {file.name for file in (here / "out").iterdir()}
    assert found == {"records.jsonl", "results.json", "scenario.toml", "tables.tex"}
    assert len((here / "out" / "records.jsonl").read_text(encoding="utf-8").splitlines()) == 6


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
