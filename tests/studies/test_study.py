"""The verb ``study``: a user's own folder, our studies with --quick, refusals, and the written files."""

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import ROOT, TOML, Result
from goodqueue.errors import UserError
from goodqueue.record import Record
from goodqueue.record.dotted import check_path, walk
from goodqueue.show.answer import Section
from goodqueue.studies import execution, findings, loading, outcome, planning, selection, show, verdicts
from goodqueue.studies.model import Decision, Tolerance

Command = Callable[..., Result]

STUDY = """
[study]
title = "A small one"

[qdiscs]
codel = "codel"
droptail = "pfifo limit 100"

[[experiment]]
id = "rates"
published = "mine/rates"
scenario = "link.toml"
seeds = 2
quick = { seeds = 1, set = { duration = "2s" } }

[experiment.sweep]
bandwidth_mbps.set = { "bottleneck.rate" = "{}mbit" }

[experiment.metrics]
delay_mean_ms.record = "queues.down.delay_ms.mean"
utilisation_percent.record = "queues.down.utilisation_percent"

[[exclude]]
metrics = ["drop_*"]
why = "nobody knows what was counted"
"""

PUBLISHED = """
[paper]
key = "mine"
title = "A small one"
authors = ["Ada Small"]
year = 2026

[[scenario]]
id = "mine/rates"
title = "Two rates"
where = "Table 1"
sweep = [{ param = "bandwidth_mbps", values = [5, 10] }]

[[scenario]]
id = "mine/other"

[[value]]
id = "mine/v1"
scenario = "mine/rates"
algorithm = "codel"
metric = "delay_mean_ms"
at = { bandwidth_mbps = 5 }
value = 3.0
unit = "ms"

[[value]]
id = "mine/v2"
scenario = "mine/rates"
algorithm = "codel"
metric = "utilisation_percent"
at = { bandwidth_mbps = 10 }
low = 50
unit = "percent"

[[value]]
id = "mine/v3"
scenario = "mine/rates"
algorithm = "codel"
metric = "drop_percent"
at = { bandwidth_mbps = 10 }
value = 1
unit = "percent"

[[value]]
id = "mine/v4"
scenario = "mine/other"
algorithm = "codel"
metric = "delay_mean_ms"
value = 1
unit = "ms"

[[claim]]
id = "mine/c1"
scenario = "mine/rates"
statement = "CoDel queues less than drop-tail"
kind = "less_than"
left = { algorithm = "codel", metric = "delay_mean_ms" }
right = { algorithm = "droptail" }
over = { param = "bandwidth_mbps", values = [5, 10] }

[[claim]]
id = "mine/c2"
scenario = "mine/rates"
statement = "CoDel queues for a second"
kind = "greater_than"
left = { algorithm = "codel", metric = "delay_mean_ms", at = { bandwidth_mbps = 5 } }
right = { value = 1000, unit = "ms" }

[[claim]]
id = "mine/c3"
scenario = "mine/rates"
statement = "The paper contradicts itself"
kind = "less_than"
left = { algorithm = "codel", metric = "delay_mean_ms", at = { bandwidth_mbps = 5 } }
right = { value = 1, unit = "ms" }
agrees = false

[[claim]]
id = "mine/c4"
scenario = "mine/other"
statement = "Not run here"
kind = "less_than"
left = { algorithm = "codel", metric = "delay_mean_ms" }
right = { value = 1, unit = "ms" }
"""


TRIVIAL = (
    "Of the 1 that are a loss, marks or a utilisation: 1 reproduced; "
    "by a model that never loses a packet and always fills the link: 1."
)


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "study.toml").write_text(STUDY, encoding="utf-8")
    (folder / "published.toml").write_text(PUBLISHED, encoding="utf-8")
    (folder / "link.toml").write_text(TOML, encoding="utf-8")
    return folder


def test_a_users_own_folder_is_a_study(mine: Path, goodqueue: Command) -> None:
    result = goodqueue("study", str(mine), "--json")
    assert (result.status, result.err) == (0, "")
    found = json.loads(result.out)
    assert (found["schema"], found["study"], found["confidence"]) == (1, "mine", 0.95)
    values = {value["id"]: value for value in found["values"]}
    first = values["mine/v1"]
    assert (first["scenario"], first["published"], first["n"]) == ("mine/rates", 3.0, 2)
    assert first["ci"][0] < first["measured"] < first["ci"][1]
    assert values["mine/v2"]["published"] == [50, None]
    assert values["mine/v2"]["verdict"] == "reproduced"
    assert values["mine/v3"]["verdict"] == values["mine/v4"]["verdict"] == "not_run"
    assert values["mine/v3"]["why"] == "nobody knows what was counted"
    claims = {claim["id"]: claim for claim in found["claims"]}
    assert [claims[f"mine/c{i}"]["verdict"] for i in range(1, 5)] == ["holds", "fails", "not_run", "not_run"]
    assert "the paper's own table contradicts it" in claims["mine/c3"]["why"]
    told = r"codel's delay mean at bandwidth 5 Mbit/s: [\d.]+ ms, not more than 1000 ms"
    assert re.fullmatch(told, claims["mine/c2"]["why"]), "a study without [words] has the words of its names"
    assert claims["mine/c4"]["why"] == "not tested: the study has no runs for other"
    assert claims["mine/c1"]["measured"]["droptail delay_mean_ms[bandwidth_mbps=10]"] > 10
    assert found["summary"]["values"]["not_run"] == 2
    assert [values[f"mine/v{i}"]["trivial"] for i in range(1, 5)] == [None, "reproduced", None, None]
    beside = {"reproduced": 1, "close": 0, "differs": 0}
    assert (found["summary"]["trivial"]["n"], found["summary"]["trivial"]["verdicts"]) == (1, beside)
    assert found["summary"]["trivial"]["here"] == beside


def test_tables_are_printed_within_100_columns(mine: Path, goodqueue: Command) -> None:
    result = goodqueue("study", str(mine), "--all")
    assert result.status == 0
    assert max(map(len, result.out.splitlines())) <= 100
    for words in ("Small, 2026: ", "Table 1: Two rates", "How far apart"):
        assert words in result.out
    assert TRIVIAL in " ".join(result.out.split()), "a share of values stands beside what a trivial model would score"


def test_the_verdict_comes_first_and_the_word_beside_it_before_the_claims(mine: Path, goodqueue: Command) -> None:
    """Guards against a verdict, and the meaning of a mark, that stand below hundreds of lines."""
    shown = goodqueue("study", str(mine)).out
    assert shown.startswith("Claims: 1 hold, 1 fail, 2 not tested")
    assert shown.splitlines()[1].startswith(
        "Values: 1 reproduced, 1 differs, of 2 compared. Typical distance: delay mean "
    )
    assert "Table 1" not in shown.split("--all shows more")[0], "each value is a detail"
    assert "Table 1: Two rates" in goodqueue("study", str(mine), "--only", "v1").out, "what is asked for is none"


def test_the_meaning_of_unsure_stands_above_the_claims(mine: Path) -> None:
    """Guards against a reader who scrolls down to a legend."""
    judged = verdicts.JudgedClaim(loading.load(mine).published.claims[0], "holds", False, {}, "it holds")
    found = outcome.Outcome(loading.load(mine), "sim", True, frozenset(), 0, (), (), {}, (judged,), ())
    (section,) = show.claims(found)
    assert isinstance(section, Section)
    meaning, table = section.parts
    assert meaning.text.startswith("unsure: ")
    assert table.rows[0][1] == "holds (unsure)"
    assert findings.counts(found)[0] == "Claims: 1 hold, 0 fail, 0 not tested; unsure: 1 of 1 verdicts."


def test_nobody_meets_an_identifier_or_an_infinity(mine: Path, tmp_path: Path, goodqueue: Command) -> None:
    out = tmp_path / "report"
    result = goodqueue("study", str(mine), "--quick", "--all", "--out", str(out))
    page = (out / "report.html").read_text(encoding="utf-8")
    assert TRIVIAL in page
    words = re.sub(r"<style>.*?</style>|<svg.*?</svg>|<[^>]*>|measured\.csv", "", page, flags=re.DOTALL)
    for text in (result.out, words):
        assert "50 or more" in text
        assert not re.search(r"\w+_(ms|mbps|percent)\b|\binf\b|not_run|no number", text)
        assert "the study has no runs for other" in text
        assert text.index("CoDel queues for a second") < text.index("Not run here"), "what is not tested comes last"
    assert result.out.count("–") == 0, "each metric has a table with the points that it was printed for"


def test_a_number_has_no_figure_where_the_study_draws_that_figure(
    mine: Path, tmp_path: Path, goodqueue: Command
) -> None:
    imports = "from goodqueue.plot.style import new_figure\nfrom goodqueue.studies.figures import Drawn\n"
    body = "def figures(outcome):\n    yield Drawn('own', '{}', '', new_figure(2))\n"
    for title, names in (("Table 1: again", {"own"}), ("Table 2: another", {"own", "rates"})):
        (mine / "figures.py").write_text(imports + body.format(title), encoding="utf-8")
        out = tmp_path / title[:7]
        assert goodqueue("study", str(mine), "--quick", "--out", str(out)).status == 0
        assert {file.stem for file in out.glob("*.svg")} == names


@pytest.mark.parametrize("name", ["../own", "/own", ".own", "a/b", ""])
def test_a_figure_is_written_beside_the_page(name: str) -> None:
    from goodqueue.studies.figures import Drawn

    with pytest.raises(ValueError, match=r"Drawn: name: found .* accepted: a file's name, without a folder"):
        Drawn(name, "title", "", None)  # type: ignore[arg-type]


def test_a_report_is_written_whole(mine: Path, tmp_path: Path, goodqueue: Command) -> None:
    (mine / "NOTES.md").write_text("# Seen\n\nNothing *yet* <b>.\n", encoding="utf-8")
    (mine / "figures.py").write_text("def figures(outcome):\n    return []\n", encoding="utf-8")
    out = tmp_path / "report"
    assert goodqueue("study", str(mine), "--quick", "--out", str(out)).status == 0
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert sorted(results["files"]) == sorted(file.name for file in out.iterdir())
    assert results["command"] == f"goodqueue study {mine} --quick"
    assert {"report.html", "results.json", "measured.csv", "NOTES.md", "rates.svg", "rates.png"} <= set(
        results["files"]
    )
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "Nothing <em>yet</em> &lt;b&gt;." in page
    assert "<svg" in page
    assert "http" not in re.sub(r"http://www\.w3\.org/[\w/.]+", "", page), "the report needs nothing from elsewhere"
    header, first = (out / "measured.csv").read_text(encoding="utf-8").splitlines()[:2]
    assert header.startswith("id,scenario,algorithm,metric,at,unit,published,measured,ci_low,ci_high,n,verdict")
    assert first.startswith("mine/v1,mine/rates,codel,delay_mean_ms,bandwidth_mbps=5,ms,3.0,")


@pytest.mark.parametrize(
    ("body", "want"),
    [
        ("return [1 / 0]", "figures() raised ZeroDivisionError: division by zero"),
        ("yield 7", "figures() gave a value of type int; accepted: Drawn"),
        ("return 7", "figures() raised TypeError: 'int' object is not iterable"),
        ("yield Drawn('x', 'X', '', None)", "figures() gave a figure of type NoneType; accepted: Figure"),
        (
            "yield Drawn('no/where', 'X', '', new_figure(2))",
            'figures() raised ValueError: Drawn: name: found "no/where"',
        ),
    ],
)
def test_broken_figures_lose_no_results(mine: Path, tmp_path: Path, goodqueue: Command, body: str, want: str) -> None:
    imports = "from goodqueue.plot.style import new_figure\nfrom goodqueue.studies.figures import Drawn\n"
    (mine / "figures.py").write_text(f"{imports}def figures(outcome):\n    {body}\n", encoding="utf-8")
    result = goodqueue("study", str(mine), "--quick", "--out", str(tmp_path / "report"))
    assert result.status == 2
    assert result.err.startswith(f"goodqueue: {mine / 'figures.py'}: {want}")
    assert result.err.count("\n") == 1
    assert "How far apart" in result.out, "the runs are done: their tables are printed"
    assert sorted(entry.name for entry in (tmp_path / "report").iterdir()) == ["measured.csv", "results.json"]
    assert json.loads((tmp_path / "report" / "results.json").read_text(encoding="utf-8"))["study"] == "mine"


@pytest.mark.parametrize("content", ["import nonsuch\n", "figures = 7\n", "def figures(\n"])
def test_figures_that_cannot_be_imported_are_refused_before_any_run(
    mine: Path, tmp_path: Path, goodqueue: Command, monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    monkeypatch.setattr(outcome, "carry_out", lambda *_: pytest.fail("it ran"))
    (mine / "figures.py").write_text(content, encoding="utf-8")
    result = goodqueue("study", str(mine), "--quick", "--out", str(tmp_path / "report"))
    assert (result.status, result.out, result.err.count("\n")) == (2, "", 1)
    assert "figures.py: " in result.err


def test_a_reason_without_drops_counts_as_none(record: Record) -> None:
    path = "queues.down.drops_by_reason.nobody"
    assert check_path(path) is None
    assert walk(record, path) == 0.0


def test_the_result_does_not_depend_on_the_number_of_workers(mine: Path, goodqueue: Command) -> None:
    first, again = (goodqueue("study", str(mine), "--json", "--workers", n) for n in ("1", "2"))
    assert first.status == 0
    assert first.out == again.out


def test_progress_goes_from_nothing_to_all(mine: Path) -> None:
    """Guards against a bar that goes back, or that ends before the runs or after them."""
    study = loading.load(mine)
    shares: list[float] = []
    execution.execute(planning.plan(study, selection.select(study, [])), progress=shares.append)
    assert shares == sorted(shares)
    assert shares[0] < 0.5
    assert shares[-1] == pytest.approx(1)


def test_seeds_and_quick_change_what_is_run(mine: Path, goodqueue: Command) -> None:
    three = json.loads(goodqueue("study", str(mine), "--json", "--seeds", "3", "--quick").out)
    assert three["runs"] == 12
    assert three["cells"][0]["seeds"] == [1, 2, 3]
    one = json.loads(goodqueue("study", str(mine), "--json", "--quick").out)
    assert one["values"][0]["n"] == 1
    assert one["values"][0]["ci"] is None
    assert one["claims"][0]["certain"] is None


@pytest.mark.parametrize(
    ("only", "cells", "judged"),
    [
        (["rates"], 4, {"mine/v1", "mine/v2"}),
        (["mine/v1"], 1, {"mine/v1"}),
        (["c2"], 1, set()),
        (["c1", "v2"], 4, {"mine/v2"}),
        (["other"], 0, set()),
    ],
)
def test_only_runs_what_was_asked_for(mine: Path, only: list[str], cells: int, judged: set[str]) -> None:
    study = loading.load(mine)
    chosen = selection.select(study, only)
    plan = planning.plan(study, chosen, quick=True)
    assert len(plan.cells) == cells
    found = outcome.carry_out(plan, chosen)
    assert {one.value.id for one in found.values if one.distance is not None} == judged
    named = {f"mine/{word}" for word in only}
    left_out = [one.claim.id for one in found.claims if one.why == "left out by --only"]
    assert not named & set(left_out)


def test_cells_that_mean_the_same_run_share_it(mine: Path) -> None:
    other = '[[scenario]]\nid = "mine/other"'
    again = PUBLISHED.replace(other, other + '\nsweep = [{ param = "rtt_ms", values = [20, 40] }]')
    (mine / "published.toml").write_text(again, encoding="utf-8")
    text = STUDY.replace('"mine/rates"', '["mine/rates", "mine/other"]')
    text = text.replace(
        "[experiment.metrics]", '[experiment.metrics]\ndelay_p50_ms.record = "queues.down.delay_ms.p50"'
    )
    text = text.replace("[experiment.sweep]", '[experiment.sweep]\nrtt_ms.set = { "path.rtt" = "{}ms" }')
    text = text.replace('delay_p50_ms.record = "queues.down.delay_ms.p50"\n', "")
    (mine / "study.toml").write_text(text, encoding="utf-8")
    study = loading.load(mine)
    plan = planning.plan(study, selection.select(study, []))
    # rates: 5 and 10 Mbit/s at 20 ms. other: 10 Mbit/s at 20 and 40 ms, and once without a point, for v4.
    assert len(plan.cells) == 2 * (2 + 3)
    assert len(plan.scenarios) == 2 * 3 * 2


SWEPT = 'bandwidth_mbps.set = { "bottleneck.rate" = "{}mbit" }'
MEASURED = 'delay_mean_ms.record = "queues.down.delay_ms.mean"'
AGAIN = """
[[experiment]]
id = "{}"
published = "mine/{}"
scenario = "link.toml"
[experiment.metrics]
delay_mean_ms.record = "queues.down.delay_ms.mean"

"""

# File, its text, the replacement, and the refusal.
WRONG = [
    ("study", "[study]", "[studdy]", 'study.toml: studdy: unknown key; did you mean "study"?'),
    ("study", 'title = "A small one"', "title = 7", "study.title: found 7; accepted: a text"),
    ("study", 'title = "A small one"', 'titel = "x"\ntitle = "y"', 'study.titel: unknown key; did you mean "title"?'),
    ("study", "[[exclude]]", "[[exclud]]", 'exclud: unknown key; did you mean "exclude"?'),
    ("study", '"link.toml"', '"lank.toml"', "lank.toml: not found; accepted: a scenario file in TOML"),
    ("study", '"mine/rates"', '"mine/rate"', '.published: found "mine/rate"; did you mean "mine/rates"?'),
    ("study", "seeds = 2", "seeds = 0", "experiment[rates].seeds: found 0; accepted: a whole number from 1"),
    ("study", "seeds = 2", "seeds = 2\nseds = 1", 'experiment[rates].seds: unknown key; did you mean "seeds"?'),
    ("study", '"{}mbit"', '"5mbit"', 'bandwidth_mbps.set.bottleneck.rate: found "5mbit"; accepted: a text with one'),
    ("study", '"{}mbit"', '"{}mbyte"', "sweep.bandwidth_mbps.set.bottleneck.rate: found"),
    ("study", '"bottleneck.rate"', '"bottleneck.rat"', "sweep.bandwidth_mbps.set.bottleneck.rat: unknown key"),
    ("study", '"bottleneck.rate"', '"traffic.9.count"', "sweep.bandwidth_mbps.set.traffic.9.count: found"),
    ("study", '"codel"', '"codle"', 'study.toml: qdiscs.codel: unknown qdisc "codle"; did you mean "codel"?'),
    ("study", "delay_ms.mean", "delay.mean", "metrics.delay_mean_ms.record: queues.down has no field 'delay'"),
    ("study", 'record = "queues.down.delay_ms.mean"', 'compute = "taw_ms"', 'compute: found "taw_ms"; did you mean'),
    ("study", "delay_mean_ms.record", "delay_ms.record", "metrics.delay_ms: no published value or claim has this"),
    ("study", 'duration = "2s"', 'duration = "-2s"', "quick.set.duration: found"),
    (
        "study",
        "[[exclude]]",
        '[words]\ncodle = "CoDel"\n[[exclude]]',
        'words.codle: found "codle"; did you mean "codel"?',
    ),
    (
        "study",
        "[[exclude]]",
        '[places]\nrtt_ms = "far"\n[[exclude]]',
        'places.rtt_ms: found "rtt_ms"; accepted: bandwidth',
    ),
    (
        "study",
        "[[exclude]]",
        "[places]\nbandwidth_mbps = 5\n[[exclude]]",
        "places.bandwidth_mbps: found 5; accepted: a text",
    ),
    ("study", 'metrics = ["drop_*"]', "", "exclude[0]: found none of metrics, scenarios and needs; accepted"),
    (
        "study",
        'record = "queues.down.delay_ms.mean"',
        'compute = "tau_ms"\ndelay_mean_ms.flow = "x"\ndelay_mean_ms.target_ms = 5\ndelay_mean_ms.rise_ms = 4',
        "metrics.delay_mean_ms.rise_ms: found 4; accepted: at least target_ms, 5",
    ),
    (
        "study",
        'published = "mine/rates"',
        'published = "rates"',
        '.published: found "rates"; did you mean "mine/rates"?',
    ),
    (
        "study",
        'metrics = ["drop_*"]',
        'scenarios = ["mine/otter"]',
        'exclude[0].scenarios: found "mine/otter"; did you mean',
    ),
    (
        "study",
        "[[exclude]]",
        AGAIN.format("rates", "other") + "[[exclude]]",
        'experiment: the id "rates" is used twice',
    ),
    (
        "study",
        "[[exclude]]",
        AGAIN.format("again", "rates") + "[[exclude]]",
        "experiment: mine/rates is answered by rates and by again; accepted: one experiment for each",
    ),
    ("study", "[[exclude]]", "[[exclude]]\nwhen = 1", "exclude[0].when: unknown key"),
    (
        "study",
        "[[exclude]]",
        '[[decision]]\nabout = "a"\nchoice = "b"\nwhy = "c"\nhow = 1\n[[exclude]]',
        ".how: unknown",
    ),
    (
        "study",
        "[[exclude]]",
        '[[reconstruction]]\nid = "r"\ntitle = "t"\nevidence = "e"\nset = { "path.rtt" = "9ms" }\nhow = 1\n[[exclude]]',
        ".how: unknown key",
    ),
    ("study", "quick = { seeds = 1,", "quick = { seds = 1,", 'quick.seds: unknown key; did you mean "seeds"?'),
    ("study", SWEPT, f"bandwidth_mbps.sat = 1\n{SWEPT}", "sweep.bandwidth_mbps.sat: unknown key"),
    (
        "study",
        SWEPT,
        'bandwidth_mbps.cases = [{ value = 5, set = { "path.rtt" = "9ms" }, sat = 1 }]',
        ".sat: unknown key",
    ),
    ("study", MEASURED, f"{MEASURED}\ndelay_mean_ms.recrod = 1", "metrics.delay_mean_ms.recrod: unknown key"),
    (
        "study",
        "[[exclude]]",
        "[tolerance.ms]\nreproduced = 1\nclose = 2\nclos = 1\n[[exclude]]",
        "tolerance.ms.clos: unknown",
    ),
    (
        "study",
        "[[exclude]]",
        "[tolerance.ms]\nreproduced = 1.3\nclose = 1.1\n[[exclude]]",
        "tolerance.ms.close: found 1.1; accepted: at least reproduced, 1.3",
    ),
    ("study", "seeds = 2", 'seeds = 2\nalgorithms = ["codle"]', 'algorithms: found "codle"; did you mean "codel"?'),
    (
        "study",
        "seeds = 2",
        'seeds = 2\npoints = { "mine/rate" = {} }',
        'points.mine/rate: found "mine/rate"; did you mean',
    ),
    (
        "study",
        "seeds = 2",
        'seeds = 2\npoints = { "mine/rates" = { rtt_ms = 5 } }',
        'points.mine/rates.rtt_ms: found "rtt_ms"; accepted: bandwidth_mbps',
    ),
    ("study", MEASURED, f'{MEASURED}\ndelay_mean_ms.to = "alone"', ".to: the experiment has no scenario `alone`"),
    ("study", MEASURED, f'{MEASURED}\ndelay_mean_ms.to = "codle"', '.to: found "codle"; did you mean "codel"?'),
    (
        "study",
        MEASURED,
        f'{MEASURED}\ndelay_mean_ms.spread = "rtt_ms"',
        '.spread: found "rtt_ms"; accepted: bandwidth_mbps',
    ),
    ("study", SWEPT, f"bandwidth_mbps.values = 5\n{SWEPT}", "bandwidth_mbps.values: found 5; accepted: a list"),
    (
        "study",
        SWEPT,
        'bandwidth_mbps.cases = [{ value = [5], set = { "path.rtt" = "9ms" } }]',
        "value: found [5]; accepted: a text, a number, true or false",
    ),
    (
        "study",
        SWEPT,
        "bandwidth_mbps.values = [5]",
        "bandwidth_mbps.set: found neither of set and cases; accepted: set =",
    ),
    (
        "study",
        SWEPT,
        f'{SWEPT}\nbandwidth_mbps.cases = [{{ value = 5, set = {{ "path.rtt" = "9ms" }} }}]',
        "bandwidth_mbps.set: found both of set and cases; accepted: set =",
    ),
    (
        "study",
        MEASURED,
        "delay_mean_ms.scale = 2",
        "metrics.delay_mean_ms: found neither of record and compute; accepted",
    ),
    ("study", MEASURED, f'{MEASURED}\ndelay_mean_ms.compute = "tau_ms"', "found both of record and compute; accepted"),
    (
        "study",
        MEASURED,
        'delay_mean_ms.compute = "tau_ms"\ndelay_mean_ms.flow = "x"\ndelay_mean_ms.target_ms = -2',
        "metrics.delay_mean_ms.target_ms: found -2; accepted: a number from -1",
    ),
    (
        "study",
        MEASURED,
        (
            'delay_mean_ms.compute = "tau_ms"\ndelay_mean_ms.flow = "x"\ndelay_mean_ms.target_ms = 5\n'
            "delay_mean_ms.rise_ms = 0.5"
        ),
        "metrics.delay_mean_ms.rise_ms: found 0.5; accepted: at least target_ms, 5",
    ),
    (
        "study",
        'codel = "codel"',
        'codel = { "5mbit" = "codel" }',
        'qdiscs.codel: no line for a rate of "10mbit"; accepted: 5',
    ),
    ("published", '["Ada Small"]', '[""]', 'published.toml: paper.authors: found [""]; accepted: names, none of them'),
    ("published", 'key = "mine"', "", "published.toml: paper.key: missing"),
    ("published", 'id = "mine/v2"', 'id = "mine/v1"', 'the id "mine/v1" is used twice'),
    ("published", 'scenario = "mine/other"', 'scenario = "mine/otter"', 'value[mine/v4].scenario: found "mine/otter"'),
    ("published", "value = 3.0", 'value = "3.0"', 'value[mine/v1].value: found "3.0"; accepted: a number'),
    ("published", "value = 3.0", "", "value[mine/v1].value: missing; accepted: one of value, text, or low and high"),
    ("published", 'kind = "less_than"', 'kind = "less"', 'claim[mine/c1].kind: found "less"; did you mean'),
    ("published", 'right = { algorithm = "droptail" }', "", "claim[mine/c1].right: missing; accepted: a term"),
    ("published", "[paper]", "[paper", "published.toml: not TOML"),
    ("link", 'rtt = "20ms"', 'rtt = "20lightyears"', "link.toml:8: path.rtt: found"),
]


@pytest.mark.parametrize(("name", "old", "new", "want"), WRONG)
def test_what_is_wrong_is_said_in_one_line(
    mine: Path, goodqueue: Command, name: str, old: str, new: str, want: str
) -> None:
    shutil.copy(ROOT / "studies" / "schwardmann2014" / "numbers.py", mine)  # which has tau_ms
    file = mine / f"{name}.toml"
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    out = mine.parent / "report"
    result = goodqueue("study", str(mine), "--quick", "--out", str(out))
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith("goodqueue: ")
    assert result.err.count("\n") == 1
    assert want in result.err
    assert not out.exists()


def test_a_value_that_is_printed_as_a_text_stays_one(mine: Path, goodqueue: Command) -> None:
    (mine / "published.toml").write_text(PUBLISHED.replace("value = 3.0", 'text = "small"'), encoding="utf-8")
    found = json.loads(goodqueue("study", str(mine), "--quick", "--json").out)
    assert {value["id"]: value["published"] for value in found["values"]}["mine/v1"] == "small"


def test_a_point_that_no_case_has_is_refused(mine: Path) -> None:
    file = mine / "study.toml"
    cases = 'bandwidth_mbps.cases = [{ value = 5, set = { "bottleneck.rate" = "5mbit" } }]'
    text = STUDY.replace(SWEPT, cases)
    file.write_text(text.replace("seeds = 2", 'seeds = 2\npoints = { "mine/rates" = { bandwidth_mbps = 7 } }'), "utf-8")
    with pytest.raises(UserError, match=r"points\.mine/rates\.bandwidth_mbps: found 7; accepted: \*, 5"):
        loading.load(mine)


def test_a_study_without_experiments_is_refused(mine: Path) -> None:
    (mine / "study.toml").write_text('[study]\ntitle = "none"\n', encoding="utf-8")
    with pytest.raises(UserError, match="experiment: missing; accepted: at least one"):
        loading.load(mine)


def test_a_scenario_without_a_bottleneck_is_refused(mine: Path) -> None:
    """The study sweeps the bottleneck's rate, so only a study without a sweep comes this far."""
    text = STUDY.replace(f"[experiment.sweep]\n{SWEPT}\n", "")
    (mine / "study.toml").write_text(text, encoding="utf-8")
    start, end = TOML.index("[bottleneck]"), TOML.index("[path]")
    (mine / "link.toml").write_text(TOML[:start] + TOML[end:], encoding="utf-8")
    study = loading.load(mine)
    with pytest.raises(UserError, match=r"link\.toml: bottleneck: missing; accepted: a table with a rate"):
        planning.plan(study, selection.select(study, []))


@pytest.mark.parametrize(
    ("compute", "key"),
    [
        ('compute = "window_delay_ms", from_s = 1, to_s = 2', "interval"),
        ('compute = "recovery_ms"', "interval"),
        ('compute = "phase_delay_ms", from_s = 0, each_s = 1, phases = 2, phase = 1', "interval"),
        ('compute = "tau_ms", flow = "x", target_ms = 5', "packets"),
    ],
)
def test_a_number_over_time_needs_series_before_any_run(mine: Path, compute: str, key: str) -> None:
    """Guards against a traceback after the runs, in each of the computations that read the series."""
    text = STUDY.replace('delay_mean_ms.record = "queues.down.delay_ms.mean"', f"delay_mean_ms = {{ {compute} }}")
    assert text != STUDY
    shutil.copy(ROOT / "studies" / "schwardmann2014" / "numbers.py", mine)
    (mine / "study.toml").write_text(text, encoding="utf-8")
    study = loading.load(mine)
    wanted = rf"link\.toml: series\.{key}: missing; accepted: one, as delay_mean_ms is computed from it \(compute = "
    with pytest.raises(UserError, match=wanted):
        planning.plan(study, selection.select(study, []))


def test_cells_with_seeds_apart_have_no_seed_in_common(mine: Path) -> None:
    for text, least in ((STUDY, 2), (STUDY.replace("seeds = 2\n", "seeds = 2\nseeds_apart = true\n"), 4)):
        (mine / "study.toml").write_text(text, encoding="utf-8")
        study = loading.load(mine)
        planned = planning.plan(study, selection.select(study, []))
        again = planning.plan(study, selection.select(study, []))
        assert len({run["seed"] for run in planned.scenarios.values()}) >= least
        assert planned.scenarios == again.scenarios
        assert all(len(keys) == 2 for keys in planned.runs.values())


def test_what_an_engine_cannot_run_is_refused_before_any_run(mine: Path) -> None:
    (mine / "study.toml").write_text(STUDY.replace('codel = "codel"', 'codel = "ared"'), encoding="utf-8")
    study = loading.load(mine)
    with pytest.raises(UserError, match=r"--engine kernel: .*link\.toml: rates codel bandwidth_mbps=5: .*ared"):
        planning.plan(study, selection.select(study, []), engine="kernel")


def test_what_a_study_leaves_out_and_what_it_says(mine: Path) -> None:
    added = '[[decision]]\nabout = "a"\nchoice = "b"\nwhy = "c"\n[tolerance.ms]\nreproduced = 1.1\nclose = 1.1\n'
    text = STUDY.replace("seeds = 2\nquick = { seeds = 1,", "quick = {").replace("[[exclude]]", f"{added}[[exclude]]")
    (mine / "study.toml").write_text(text, encoding="utf-8")
    study = loading.load(mine)
    [experiment] = study.experiments
    assert (experiment.seeds, experiment.quick.seeds, experiment.keep_records) == (1, 1, False)
    assert experiment.metrics["delay_mean_ms"].scale == 1.0
    assert study.decisions == (Decision("a", "b", "c"),)
    assert study.tolerances == {"ms": Tolerance(1.1, 1.1)}


@pytest.mark.parametrize("rise", ["0", "5", "6"])
def test_a_rise_of_nothing_and_one_from_the_target_on_are_accepted(mine: Path, rise: str) -> None:
    computed = f'compute = "tau_ms", flow = "x", target_ms = 5, rise_ms = {rise}'
    shutil.copy(ROOT / "studies" / "schwardmann2014" / "numbers.py", mine)
    (mine / "study.toml").write_text(STUDY.replace(MEASURED, f"delay_mean_ms = {{ {computed} }}"), encoding="utf-8")
    assert loading.load(mine).experiments[0].metrics["delay_mean_ms"].options["rise_ms"] == float(rise)


def test_a_printed_point_that_the_study_does_not_sweep_is_run_too(mine: Path) -> None:
    text = STUDY.replace(SWEPT, f"{SWEPT}\nbandwidth_mbps.values = [5]")
    (mine / "study.toml").write_text(text, encoding="utf-8")
    study = loading.load(mine)
    found = planning.points(study, study.experiments[0], "mine/rates")
    assert found == [{"bandwidth_mbps": 5}, {"bandwidth_mbps": 10}]


def test_a_value_that_is_no_swept_parameter_does_not_end_the_sweep(mine: Path) -> None:
    (mine / "study.toml").write_text(STUDY.replace("seeds = 2", 'seeds = 2\nat = { stack = "old" }'), encoding="utf-8")
    first = next(planning.all_cells(loading.load(mine)))
    assert first.at == {"stack": "old", "bandwidth_mbps": 5}
    assert planning.scenario_of(first, quick=False)["bottleneck"]["rate"] == "5mbit"


def test_a_metric_beside_another_point_moves_what_the_published_scenario_fixes(mine: Path) -> None:
    first = replace(next(planning.all_cells(loading.load(mine))), fixed={"rtt_ms": 20, "loss": 1})
    assert planning._moved(first, {"rtt_ms": 5}).point == {"bandwidth_mbps": 5, "rtt_ms": 5, "loss": 1}


def test_the_run_without_load_has_what_is_swept_of_the_path_and_runs_once(mine: Path) -> None:
    """The scenario without load has only the ping: a key of traffic that it lacks is left out, and no other key."""
    swept = 'bandwidth_mbps.set = { "traffic.1.count" = "{}", "path.rtt" = "{}ms" }'
    text = STUDY.replace(SWEPT, swept).replace("seeds = 2", 'seeds = 2\nalone = "alone.toml"')
    (mine / "study.toml").write_text(
        text.replace(MEASURED, f'{MEASURED}\ndelay_mean_ms.to = "alone"'), encoding="utf-8"
    )
    start, end = TOML.index("[[traffic]]"), TOML.rindex("[[traffic]]")
    (mine / "alone.toml").write_text(TOML[:start] + TOML[end:], encoding="utf-8")
    study = loading.load(mine)
    first = next(planning.all_cells(study))
    without = planning.scenario_of(first, quick=False, alone=True)
    assert (without["path"]["rtt"], len(without["traffic"])) == ("5ms", 1)
    beside = planning.plan(study, selection.select(study, [])).beside
    assert beside
    assert {(len(keys), len(set(keys))) for keys in beside.values()} == {(2, 1)}, "both seeds share one run"


@pytest.mark.parametrize("content", [b"", b"\xff", b"# nothing"])
def test_empty_files_and_strange_bytes(mine: Path, goodqueue: Command, content: bytes) -> None:
    for name in ("study.toml", "published.toml", "link.toml"):
        before = (mine / name).read_bytes()
        (mine / name).write_bytes(content)
        result = goodqueue("study", str(mine))
        assert (result.status, result.out) == (2, "")
        assert f"{name}: " in result.err
        assert result.err.count("\n") == 1
        (mine / name).write_bytes(before)


@pytest.mark.parametrize(
    ("arguments", "want"),
    [
        (["nosuch2014"], 'STUDY: found "nosuch2014"; '),
        (
            ["schwardman2014"],
            'did you mean "schwardmann2014"? accepted: hoiland2015, hoiland2017, khademi2013, l4steam2020, le2003',
        ),
        (["."], ".: holds no study.toml; accepted: a study's folder"),
        (["schwardmann2014", "--only", "table9"], '--only: found "table9"; did you mean "table2"? accepted: table1a'),
        (["schwardmann2014", "--seeds", "0"], "--seeds"),
        (["a\x00b"], "STUDY: found"),
    ],
)
def test_what_does_not_exist(here: Path, goodqueue: Command, arguments: list[str], want: str) -> None:
    result = goodqueue("study", *arguments)
    assert (result.status, result.out) == (2, "")
    assert want in result.err
    assert result.err.count("\n") == 1
