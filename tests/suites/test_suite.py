"""The verb ``suite``: a user's own folder, refusals, the judgement of rows, the written files; and RFC 7928."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import goodqueue as gq
from conftest import Result
from goodqueue.errors import UserError
from goodqueue.studies import libraries
from goodqueue.suites import loading, sheet, statements, subjects
from goodqueue.suites.variations import variations

Command = Callable[..., Result]

SUITE = """
[suite]
title = "A small one"
citation = "Ada Small, 2026"
tests = "qdisc"

[beside]
pfifo = "pfifo limit 200"

[[experiment]]
id = "rates"
scenario = "link.toml"
seeds = 3

[experiment.sweep]
rate_mbps = { values = [5, 10], set = { "bottleneck.rate" = "{}mbit" } }

[experiment.metrics]
delay_mean_ms.record = "queues.down.delay_ms.mean"
utilisation_percent.record = "queues.down.utilisation_percent"

[[row]]
section = "1"
title = "Delay"
level = "must"
asked = "Two flows."
experiments = "rates"

[[row.check]]
statement = "The delay is less than drop tail's"
source = "Small, 1"
kind = "less_than"
left = { metric = "delay_mean_ms" }
right = { algorithm = "pfifo", metric = "delay_mean_ms" }
over = { param = "rate_mbps", values = [5, 10] }

[[row.figure]]
kind = "lines"
metrics = "delay_mean_ms"
along = "rate_mbps"

[[row]]
section = "1.2"
title = "Use"
level = "may"
asked = "The same."
experiments = "rates"
at = { rate_mbps = 10 }
shows = ["utilisation_percent"]

[[row]]
section = "2"
title = "Parameters"
level = "must be discussed"
asked = "What there is to set."
statement = "parameters"
"""

LINK = """
duration = "6s"
warmup = "2s"
[bottleneck]
rate = "10mbit"
qdisc = "pfifo"
[path]
rtt = "20ms"
[[traffic]]
kind = "bulk"
count = 2
start_spread = "500ms"
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """Return a folder with a small suite."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "suite.toml").write_text(SUITE, encoding="utf-8")
    (folder / "link.toml").write_text(LINK, encoding="utf-8")
    return folder


def test_a_row_passes_where_all_its_checks_hold_for_certain(mine: Path) -> None:
    """Guards against a sheet that passes a discipline equal to drop tail, or fails a better one."""
    found = gq.suite(mine, "codel", "pfifo limit 201", progress=False)
    assert found.verdict("1", "codel") == sheet.PASSES
    assert found.verdict("1", "pfifo limit 201") in (sheet.OPEN, sheet.FAILS)
    assert found.verdict("1.2", "codel") == sheet.MEASURED
    assert found.verdict("2", "codel") == sheet.STATED


def test_rows_whose_runs_are_mostly_start_are_named(mine: Path, goodqueue: Command) -> None:
    """Guards against verdicts on the start of a run, which nothing says. Drop tail's second flow catches up slowly."""
    link = (mine / "link.toml").read_text(encoding="utf-8").replace("6s", "20s").replace("500ms", "8s")
    (mine / "link.toml").write_text(link, encoding="utf-8")
    found = goodqueue("suite", str(mine), "fq_codel", "--all").out.replace("\n", " ")
    assert (
        "Not yet stationary, as more than half of a run is its start (MSER-5, White et al. 2000): 1 (pfifo"
        in " ".join(found.split())
    )
    assert re.search(r"pfifo at rate 5 Mbit/s: the start shows for 1\d(\.5)? of 20 s", found)


def test_a_row_that_needs_no_runs_makes_none(mine: Path) -> None:
    """Guards against running a whole suite for the parameters of a line."""
    found = gq.suite(mine, "codel", only="2", progress=False)
    assert found.sheet.outcome.runs == 0
    assert found.verdict("2", "codel") == sheet.STATED


def test_a_line_is_not_held_against_itself(mine: Path) -> None:
    """Guards against a drop tail that fails because it is not better than drop tail."""
    found = gq.suite(mine, "pfifo", only="1", progress=False)
    (row, _) = found.rows
    assert row.checks["pfifo"] == ()
    assert found.verdict("1", "pfifo") == sheet.MEASURED


def test_a_row_is_about_its_part_of_the_points(mine: Path) -> None:
    """Guards against numbers at 5 Mbit/s in a row about 10, and a metric that the row does not show."""
    found = gq.suite(mine, "codel", only="1.2", progress=False)
    (row,) = found.rows
    assert [(one.algorithm, one.metric, dict(one.at)) for one in row.numbers] == [
        ("codel", "utilisation_percent", {}),
        ("pfifo", "utilisation_percent", {}),
    ]
    assert {one.cell.at["rate_mbps"] for one in found.sheet.outcome.cells} == {5, 10}


def test_the_same_suite_gives_the_same_results_and_the_numbers_have_intervals(mine: Path) -> None:
    """Guards against a page that another run does not repeat."""
    one, other = (gq.suite(mine, "codel", progress=False, workers=workers).sheet for workers in (1, 2))
    assert sheet.as_json(one, "") == sheet.as_json(other, "")
    number = sheet.as_json(one, "")["rows"][0]["numbers"][0]
    low, high = number["ci"]
    assert low < number["value"] < high
    assert number["n"] == 3


def test_what_is_stored_is_not_run_again(mine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Guards against a suite that starts from the beginning after it was killed."""
    first = gq.suite(mine, "codel", store=tmp_path / "runs", progress=False)
    monkeypatch.setattr("goodqueue.running.simulate", lambda *_: pytest.fail("a run was made again"))
    again = gq.suite(mine, "codel", store=tmp_path / "runs", progress=False)
    assert sheet.as_json(first.sheet, "") == sheet.as_json(again.sheet, "")


def test_a_row_that_fails_is_told_first_with_what_decided_it(mine: Path, goodqueue: Command) -> None:
    """Guards against a verdict below hundreds of lines, and against the status of a suite where all is well."""
    result = goodqueue("suite", str(mine), "pfifo limit 2000", "--only", "1")
    assert result.status == 1
    head = " ".join(result.out.splitlines()[:3])
    assert head.startswith(
        "pfifo limit 2000 passes 0 of 2 rows, 0 of the 1 that must be run; fails 1 (both comparisons fail: "
    )
    assert "1.2 Use (may)" in result.out, "a row that was asked for is no detail"
    assert "What fails or is open" in result.out


def test_the_command_prints_the_sheet_and_writes_one_page(mine: Path, tmp_path: Path, goodqueue: Command) -> None:
    """Guards against a page without the lines, the scenarios, the command or the figure."""
    result = goodqueue("suite", str(mine), "codel", "--out", str(tmp_path / "page"))
    assert result.status == 0
    verdict, told, _, sheet_title = result.out.splitlines()[:4]
    assert verdict == "codel passes 1 of 3 rows, 1 of the 1 that must be run; fails none; 1 measured; 1 stated."
    assert told.startswith("mine: codel beside pfifo: ")
    assert sheet_title == "Pass sheet"
    assert "✓ codel" not in result.out, "each row is a detail"
    assert "--all shows more: Each row, The experiment\n" in result.out
    page = (tmp_path / "page" / "report.html").read_text(encoding="utf-8")
    for wanted in ("codel limit 1000 target 5ms", "rate = &#34;10mbit&#34;", "goodqueue suite", "<svg", "Ada Small"):
        assert wanted in page, wanted
    headings = re.findall(r"<h\d[^>]*>([^<]+)", page)
    assert len(headings) == len(set(headings)), "no title is there twice"
    assert "✓ codel: The delay is less than drop tail" in page
    results = json.loads((tmp_path / "page" / "results.json").read_text(encoding="utf-8"))
    assert set(results["files"]) == {file.name for file in (tmp_path / "page").iterdir()}
    assert results["rows"][0]["checks"][0]["source"] == "Small, 1"


@pytest.mark.parametrize(
    ("arguments", "refusal"),
    [
        (["rfc7928"], "suite rfc7928: no qdisc; accepted: one or several, such as codel, or ./my_aqm.py:MyAqm"),
        (["rfc7928", "codle"], 'QDISC: unknown qdisc "codle"; did you mean "codel"?'),
        (["rfc7928", "codel target 5x"], 'QDISC: codel target: found "5x"'),
        (["rfc7928", "mac80211"], 'QDISC: found "mac80211" without Wi-Fi'),
        (["rfc7928", "codel", "--only", "77"], '--only: found "77"; accepted: 4.4, '),
        (["rfc7982", "codel"], 'SUITE: found "rfc7982"; did you mean "rfc7928"?'),
        (["rfc7928", "codel", "--seeds", "0"], "--seeds: "),
        (["rfc7928", "./nothing.py:Aqm"], "QDISC: "),
    ],
)
def test_what_cannot_be_tested_is_refused_in_a_line(arguments: list[str], refusal: str, goodqueue: Command) -> None:
    """Guards against a traceback, and against runs before the refusal."""
    result = goodqueue("suite", *arguments)
    assert result.status == 2
    assert result.out == ""
    (line,) = result.err.splitlines()
    assert refusal in line


@pytest.mark.parametrize(
    ("old", "new", "refusal"),
    [
        ('experiments = "rates"', 'experiments = "rats"', 'row[0].experiments: found "rats"; did you mean "rates"?'),
        ('left = { metric = "delay_mean_ms" }', 'left = { metric = "delay_ms" }', 'metric: found "delay_ms"'),
        ('algorithm = "pfifo"', 'algorithm = "fifo"', 'algorithm: found "fifo"; did you mean "pfifo"?'),
        ('kind = "lines"', 'kind = "line"', 'row[0].figure[0].kind: found "line"; did you mean "lines"?'),
        ('statement = "parameters"', 'statement = "cists"', 'row[2].statement: found "cists"'),
        ('tests = "qdisc"', 'tests = "tcp"', 'suite.tests: found "tcp"'),
        ('asked = "Two flows."\n', "", "row[0].asked: missing"),
        ('shows = ["utilisation_percent"]', 'shows = ["delay"]', 'row[1].shows: found "delay"'),
        ('level = "may"', 'level = "may"\nspeed = 3', "row[1].speed"),
    ],
)
def test_a_mistake_in_a_suite_is_named_with_its_place(mine: Path, old: str, new: str, refusal: str) -> None:
    """Guards against a traceback, and against a key that nobody reads."""
    assert old in SUITE
    (mine / "suite.toml").write_text(SUITE.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(UserError) as refused:
        loading.load(mine)
    assert str(mine / "suite.toml") in str(refused.value)
    assert refusal in str(refused.value)


def test_a_lines_parameters_are_halved_and_doubled_one_at_a_time() -> None:
    """Guards against a variation of a limit or a word, and one that the discipline refuses."""
    assert variations("codel target 10ms") == {
        "as given": "codel target 10ms",
        "target 5ms": "codel target 5ms",
        "target 20ms": "codel target 20ms",
        "interval 50ms": "codel target 10ms interval 50ms",
        "interval 200ms": "codel target 10ms interval 200ms",
    }
    assert list(variations("pfifo limit 10")) == ["as given"]


def test_what_a_line_sets_and_leaves_is_told() -> None:
    """Guards against a parameter that is called a default although the line sets it."""
    told = statements.parameters("codel target 10ms")
    assert told.startswith("6 parameters, set in the line: target; as by default: limit 1000, interval 100ms, ")


def test_a_lines_own_limit_stands_where_the_scenario_has_a_buffer() -> None:
    """Guards against refusing `codel limit 50`, or a discipline without a limit, in a suite with a buffer."""
    assert subjects.takes_buffer("codel")
    assert not subjects.takes_buffer("codel limit 50")
    assert not subjects.takes_buffer("cake")
    found = gq.suite("rfc7928", "codel limit 50", "cake", only="5.3 mix", quick=True, seeds=1, progress=False)
    lines = {one.cell.algorithm: one.qdisc for one in found.sheet.outcome.cells}
    assert lines["codel limit 50"].startswith("codel limit 50 ")
    assert lines["pfifo"] == "pfifo limit 82", "10 Mbit/s times 100 ms in full frames"


def test_rfc_7928_whole_runs_in_a_hurry_for_a_law_written_in_python(here: Path) -> None:
    """Guards against a row that cannot be run for a class in Python."""
    (here / "mine.py").write_text(
        "class Mine:\n"
        "    def __init__(self, link, limit=100):\n"
        "        self.limit = limit\n"
        "    def enqueue(self, now, packet, queue):\n"
        "        queue.push(packet) if len(queue) < self.limit else packet.drop('overlimit')\n"
        "    def dequeue(self, now, queue):\n"
        "        return queue.pop()\n",
        encoding="utf-8",
    )
    found = gq.suite("rfc7928", "./mine.py:Mine", only=["5.1", "12"], quick=True, seeds=1, progress=False)
    assert found.verdict("12", "./mine.py:Mine") == sheet.STATED
    (statement,) = found.rows[-1].said.values()
    assert statement == "1 parameter, none set in the line; as by default: limit 100."
    assert "Mine" in found.table()


MUST = {"5.1.1", "5.1.2", "5.2", "5.3", "5.3 mix", "6.2", "7.2", "8.2.2", "8.2.5", "8.2.6", "8.2.6 fast"}


def test_rfc_7928_has_every_scenario_of_its_summary() -> None:
    """Section 13 of the RFC lists them with their levels. Guards against a section that nobody runs."""
    suite = loading.load(libraries.SUITES.find("rfc7928"))
    levels = {row.section: row.level for row in suite.rows}
    assert {section for section, level in levels.items() if level == "must"} == MUST
    assert levels["4.5"] == levels["11"] == levels["12"] == "must be discussed"
    assert (levels["5.4"], levels["9.1"], levels["9.2"], levels["10.2"]) == ("may", "recommended", "may", "may")
    assert levels["8.3"] == "should be discussed"


@pytest.mark.parametrize(("id_", "flows"), [("levels", [6, 13, 19])])
def test_rfc_7928_the_levels_of_congestion_are_the_projections(id_: str, flows: list[int]) -> None:
    """8.2.2 to 8.2.4: N is 0.036, 0.081 and 0.114 of S, the BDP and the buffer in packets."""
    (trial,) = [one for one in loading.load(libraries.SUITES.find("rfc7928")).trials if one.experiment.id == id_]
    bdp = int(10e6 * 0.1 / 8 / 1514)
    assert [round(share * 2 * bdp) for share in (0.036, 0.081, 0.114)] == flows
    assert list(trial.experiment.sweep["flows"].values or ()) == flows


def test_rfc_7928_judges_disciplines_that_are_known() -> None:
    """Guards against a CoDel that keeps no delay, a flood that FQ-CoDel lets through, and a drop tail that passes."""
    found = gq.suite("rfc7928", "codel", "pfifo limit 83", only=["5.1.1", "5.3"], quick=True, progress=False)
    assert found.verdict("5.1.1", "codel") == sheet.PASSES
    assert found.verdict("5.3", "codel") == sheet.PASSES
    assert found.verdict("5.1.1", "pfifo limit 83") != sheet.PASSES
    assert found.verdict("5.3", "pfifo limit 83") == sheet.FAILS
