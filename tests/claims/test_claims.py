"""The verb ``claims``: runs of small studies, answers in place of runs, what is kept, what is compared and refused."""

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT, TOML, Result
from goodqueue.claims import making, show
from goodqueue.claims import result as results

Command = Callable[..., Result]

STUDY = """
[study]
title = "A small one"

[qdiscs]
codel = "codel"
droptail = "pfifo limit 100"

[[experiment]]
id = "link"
published = "KEY/link"
scenario = "link.toml"
seeds = 2
quick = { seeds = 1, set = { duration = "2s" } }

[experiment.metrics]
delay_mean_ms.record = "queues.down.delay_ms.mean"
"""

PUBLISHED = """
[paper]
key = "KEY"
title = "A small one"

[[scenario]]
id = "KEY/link"

[[value]]
id = "KEY/v1"
scenario = "KEY/link"
algorithm = "codel"
metric = "delay_mean_ms"
value = 500
unit = "ms"

[[claim]]
id = "KEY/c1"
scenario = "KEY/link"
statement = "CoDel's delay | is lower"
kind = "less_than"
left = { algorithm = "codel", metric = "delay_mean_ms" }
right = { algorithm = "droptail" }

[[claim]]
id = "KEY/c2"
scenario = "KEY/link"
statement = "Drop tail's delay is lower"
kind = "less_than"
left = { algorithm = "droptail", metric = "delay_mean_ms" }
right = { algorithm = "codel" }
"""


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder, which is the current one, with the studies ``a`` and ``b``."""
    for key in "ab":
        folder = tmp_path / key
        folder.mkdir()
        (folder / "study.toml").write_text(STUDY.replace("KEY", key), encoding="utf-8")
        (folder / "published.toml").write_text(PUBLISHED.replace("KEY", key), encoding="utf-8")
        (folder / "link.toml").write_text(TOML, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def kept(folder: str = "kept") -> dict[str, Any]:
    """Return the only result in ``folder``."""
    (file,) = Path(folder).iterdir()
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


def change(file: Path, what: Callable[[dict[str, Any]], object]) -> Path:
    """Apply ``what`` to the first study of the result in ``file``, and return the file of the changed result."""
    data = json.loads(file.read_text(encoding="utf-8"))
    what(data["studies"][0])
    place = Path("changed.json")
    place.write_text(json.dumps(data), encoding="utf-8")
    return place


@pytest.fixture
def result(mine: Path, goodqueue: Command) -> Path:
    """Return the file of a result of both studies."""
    done = goodqueue("claims", "./a", "./b", "--out", "kept", "--store", "runs")
    assert done.status == 0, done.err
    (file,) = Path("kept").iterdir()
    return file


def test_a_result_has_each_claim_and_value_of_whole_runs(result: Path) -> None:
    found = kept()
    assert found["made_by"] == "goodqueue claims"
    assert result.name.startswith(found["date"][:10])
    first, second = found["studies"]
    assert (first["study"], second["study"]) == ("a", "b")
    assert (first["quick"], first["seeds"], first["runs"]) == (False, [2, 2], 4)
    assert [claim["verdict"] for claim in first["claims"]] == ["holds", "fails"]
    assert first["claims"][0]["why"]
    (value,) = first["values"]
    assert (value["id"], value["published"], value["n"], value["verdict"]) == ("a/v1", 500, 2, "differs")
    assert value["measured"] == float(f"{value['measured']:.6g}")
    lines = result.read_text(encoding="utf-8").splitlines()
    assert sum(line.startswith('{"id":"') for line in lines) == 6, "one line for each value and claim"
    assert first["cpu_s"] is not None
    assert second["cpu_s"] is None, "its runs were those of the first study, and in the store already"


def test_a_later_result_is_compared_with_the_newest_whole_one(result: Path, goodqueue: Command) -> None:
    """The runs come from the store, so a killed command goes on, and nothing but what was changed by hand moves."""

    def other(study: dict[str, Any]) -> None:
        study["claims"][1]["verdict"] = "holds"
        study["values"][0] |= {"verdict": "reproduced", "measured": 499.0}

    earlier = change(result, other)
    earlier.replace(Path("kept", "2000-01-01.json"))
    older = json.loads(Path("kept", "2000-01-01.json").read_text(encoding="utf-8")) | {"date": "2000-01-01"}
    Path("kept", "2000-01-01.json").write_text(json.dumps(older), encoding="utf-8")
    done = goodqueue("claims", "./a", "./b", "--out", "kept", "--store", "runs", "--force")
    assert done.status == 0, done.err
    first, second, *_ = done.out.splitlines()
    assert first.startswith("1 claim of 4 moved since 2000-01-01")
    assert first.endswith(": 1 fails now.")
    assert second.startswith("1 value of 2 has another verdict. Of 2 numbers that both results measured, 1 differ.")
    assert "1 → 0" in done.out, "the claim that failed does not any more"
    data = json.loads(goodqueue("claims", "--from", str(result), "--beside", "kept/2000-01-01.json", "--json").out)
    (claim,) = data["moved"]["claims"]
    assert (claim["id"], claim["verdict"]) == ("a/c2", {"was": "holds", "now": "fails"})
    (value,) = data["moved"]["values"]
    assert (value["id"], value["measured"]["was"]) == ("a/v1", 499.0)
    assert (data["moved"]["numbers_that_differ"], data["moved"]["numbers_compared"]) == (1, 2)


def test_what_is_not_comparable_is_said(result: Path, goodqueue: Command) -> None:
    def beside(what: Callable[[dict[str, Any]], object]) -> list[str]:
        done = goodqueue("claims", "--from", str(result), "--beside", str(change(result, what)), "--json")
        apart: list[str] = json.loads(done.out)["moved"]["apart"]
        return apart

    assert beside(lambda study: None) == []
    assert beside(lambda study: study.update(study="c")) == [
        "The study a is new.",
        "The study c is missing: it was in the earlier result.",
    ]
    (quick,) = beside(lambda study: study.update(quick=True))
    assert quick.startswith("a is not whole: it was a quick look and is whole")
    assert beside(lambda study: study.update(seeds=[3, 3])) == ["a had 3 seeds per cell and has 2."]
    assert beside(lambda study: study.update(engine="live")) == ["a ran on the engine live and now on sim."]
    assert beside(lambda study: study["claims"].pop()) == ["1 claim is new in a: c2."]
    assert beside(lambda study: study["values"][0].update(id="a/v2")) == [
        "1 value is new in a: v1.",
        "1 value is missing in a: v2.",
    ]
    assert beside(lambda study: study["claims"][0].update(statement="It was so")) == [
        'The text of a/c1 changed. It was: "It was so"'
    ]
    assert beside(lambda study: study["values"][0].update(published=3)) == [
        "The published number of a/v1 was 3 and is 500."
    ]


def test_the_page_begins_with_what_moved(result: Path) -> None:
    """docs/results/claims.md is made of the kept results, the newest first."""
    now = results.read(result)
    was = results.read(change(result, lambda study: study["claims"][1].update(verdict="not_run", certain=None)))
    page = show.markdown([now, was, was])
    assert page.startswith(f"1 claim of 4 moved since {was.title}: 1 fails now. 0 values of 2 have another verdict.")
    (moved,) = re.findall(r"^\| a/c2 \|.*$", page, re.MULTILINE)
    assert moved.startswith("| a/c2 | not tested | fails")
    assert "| c1 | holds | holds | CoDel's delay \\| is lower |" in page, "a bar in a text begins no cell"
    assert page.count("| c2 |") == 2, "all claims of both studies"
    assert "| a | 4 | 2 | 1 | 0 → 1 | 1 → 0 | 2 | 0 | 1 | 0 | " in page
    assert show.markdown([now]).startswith("There is no earlier result to compare with. a, b: ")
    assert show.markdown([]).startswith("No result is stored.")


def test_a_look_is_not_kept_and_not_compared_without_a_word(result: Path, goodqueue: Command) -> None:
    assert "since a look is not kept" in goodqueue("claims", "./a", "--quick", "--out", "kept").err
    alone = goodqueue("claims", "./a", "--quick")
    assert alone.out.startswith("There is no earlier result to compare with.")
    assert "not whole, so no verdict counts" in alone.out
    done = goodqueue("claims", "./a", "--quick", "--beside", "kept")
    assert "a is not whole: it was whole and is a quick look" in done.out
    assert "The study b is missing" in done.out


def test_answers_of_studies_are_a_result(mine: Path, goodqueue: Command) -> None:
    """So a result can be had of an earlier version, which had no verb ``claims``."""
    for key in "ab":
        Path(f"{key}.json").write_text(goodqueue("study", f"./{key}", "--json").out, encoding="utf-8")
    own = ("--from", "b.json", "--from", "a.json", "--date", "2026-11-28", "--commit", "33c32b7b")
    done = goodqueue("claims", "./a", "./b", *own, "--out", "kept")
    assert done.status == 0, done.err
    assert [path.name for path in Path("kept").iterdir()] == ["2026-11-28-33c32b7b.json"]
    found = kept()
    assert [study["study"] for study in found["studies"]] == ["a", "b"]
    assert [study["cpu_s"] for study in found["studies"]] == [None, None]
    again = goodqueue("claims", "./a", "./b", "--beside", "kept")
    assert again.out.startswith("No claim of 4 moved since 2026-11-28 (33c32b7b).")
    assert "0 differ" in again.out, "an answer and a run of now have the same numbers"
    assert "exists already" in goodqueue("claims", "./a", "./b", *own, "--out", "kept").err


@pytest.mark.needs("checkout")
def test_a_result_names_the_commit_that_ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that stands below somebody else's repository has no commit."""
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert head.startswith(making.source().removesuffix("+"))
    assert len(making.source()) >= 8
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    monkeypatch.setattr(making, "__file__", str(tmp_path / "making.py"))
    assert making.source() == ""


@pytest.mark.parametrize(
    ("how", "said"),
    [
        (("--quick",), "--from: found an answer of --quick or --only; accepted with --out: whole studies"),
        (("--only", "c1"), "--from: found an answer of --quick or --only; accepted with --out: whole studies"),
        (("--seeds", "1"), "a.json: found 1 seeds in a/link; accepted: the study's own number, 2"),
    ],
)
def test_an_answer_that_is_not_whole_is_not_kept(how: list[str], said: str, mine: Path, goodqueue: Command) -> None:
    Path("a.json").write_text(goodqueue("study", "./a", *how, "--json").out, encoding="utf-8")
    done = goodqueue(
        "claims", "./a", "--from", "a.json", "--date", "2026-11-28", "--commit", "33c32b7b", "--out", "kept"
    )
    assert (done.status, done.out) == (2, "")
    assert said in done.err
    assert not Path("kept").exists()


def test_bad_input_is_one_line(result: Path, goodqueue: Command) -> None:
    Path("other.json").write_text('{"made_by": "goodqueue sweep later"}', encoding="utf-8")
    Path("strange.json").write_text('{"made_by": "goodqueue study", "study": []}', encoding="utf-8")
    Path("damaged.json").write_text('{"made_by": "goodqueue claims", "version": "1"}', encoding="utf-8")
    date = ("--date", "2026-11-28", "--commit", "1")
    verdict = change(result, lambda study: study["claims"][0].update(verdict="perhaps"))
    for words, said in [
        (("--beside", "other.json", "./a"), 'other.json: found "goodqueue sweep later"; accepted: what'),
        (("--beside", "damaged.json", "./a"), "damaged.json: commit: missing"),
        (("--beside", "none.json", "./a"), "none.json: not found; accepted: what `goodqueue claims --out` wrote"),
        (("--from", "other.json", *date), "other.json: found something else; accepted: an answer of"),
        (("--from", "strange.json", *date), "strange.json: study: found []; accepted: text"),
        (("--from", str(result), "--store", "runs"), "--from: found with --store; accepted: without"),
        (("./a", "./a"), "NAME: found a twice; accepted: each study once"),
        (("--from", "other.json"), "--date: missing; accepted: with --from"),
        (("--from", str(result), *date), "--date: found with a result of `goodqueue claims`"),
        (("./a", "--commit", "1"), "--commit: found without --from"),
        (("--from", "other.json", "--date", "soon", "--commit", "1"), '--date: found "soon"; accepted: 2026-11-28'),
        (("--from", "other.json", "--date", "2026-11-28", "--commit", "../1"), '--commit: found "../1"; accepted: a'),
        (("--beside", str(verdict), "./a"), 'changed.json: damaged (verdict "perhaps" of a/c1)'),
        (("--out", "other.json", "./a"), "--out other.json: found a file; accepted: a folder"),
        (("--from", "other.json", "--from", "other.json", *date), "--from: found a file twice"),
    ]:
        done = goodqueue("claims", *words)
        assert (done.status, done.out) == (2, ""), words
        assert said in done.err, words
        assert done.err.count("\n") == 1, words
