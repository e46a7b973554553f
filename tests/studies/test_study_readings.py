"""Reconstructions: run beside the stated reading on request, judged in the same way, and marked as inferred."""

import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import TOML, Result
from test_study import PUBLISHED, STUDY

Command = Callable[..., Result]

INFERRED = """
[[reconstruction]]
id = "short"
title = "a FIFO of ten packets"
evidence = "The printed delay is that of ten packets."
qdiscs = { droptail = "pfifo limit 10" }

[[reconstruction]]
id = "late"
title = "CoDel with a target of 50 ms and one flow"
evidence = "Nobody knows."
append = { codel = "target 50ms" }
set = { "traffic.0.count" = "1" }

[[reconstruction]]
id = "patient"
title = "CoDel that waits for a second"
evidence = "Two lines say codel."
replace = { "codel" = "codel interval 1s" }
"""

CLAIM = """
[[claim]]
id = "mine/c5"
scenario = "mine/rates"
statement = "Drop-tail holds more than 20 ms"
kind = "greater_than"
left = { algorithm = "droptail", metric = "delay_mean_ms" }
right = { value = 20, unit = "ms" }
over = { param = "bandwidth_mbps", values = [5, 10] }
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    folder = tmp_path / "mine"
    folder.mkdir()
    for name, text in (("study", STUDY + INFERRED), ("published", PUBLISHED + CLAIM), ("link", TOML)):
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    return folder


def test_the_stated_reading_stays_and_the_inferred_ones_stand_beside_it(
    mine: Path, tmp_path: Path, goodqueue: Command
) -> None:
    """Without the option the bytes are as without reconstructions. With it the verdicts are, too, and two readings."""
    stated = goodqueue("study", str(mine), "--json").out
    (mine / "study.toml").write_text(STUDY, encoding="utf-8")
    assert goodqueue("study", str(mine), "--json").out == stated
    (mine / "study.toml").write_text(STUDY + INFERRED, encoding="utf-8")
    store = tmp_path / "runs"
    found = json.loads(goodqueue("study", str(mine), "--json", "--reconstructed", "--store", str(store)).out)
    again = json.loads(goodqueue("study", str(mine), "--json", "--reconstructed", "--workers", "1").out)
    assert again == found, "from a store or not, on one core or all"
    short, late, patient = found.pop("reconstructions")
    before = json.loads(stated)
    # 2 rates x 2 seeds under two disciplines; two more under another FIFO; all eight with one flow less; CoDel's four.
    assert (before.pop("runs"), found.pop("runs")) == (8, 8 + 4 + 8 + 4)
    assert found == before
    claims = {claim["id"]: claim["verdict"] for claim in found["claims"]}
    inferred = {claim["id"]: claim["verdict"] for claim in short["claims"]}
    assert (claims["mine/c5"], inferred["mine/c5"]) == ("holds", "fails")
    assert [value["id"] for value in short["values"]] == [value["id"] for value in found["values"]]
    assert short["values"][0]["measured"] == found["values"][0]["measured"], "CoDel is none of its business"
    assert late["values"][0]["measured"] > found["values"][0]["measured"], "its target is ten times as long"
    assert patient["values"][0]["measured"] > found["values"][0]["measured"], "its interval is ten times as long"
    assert short["summary"]["claims"]["fails"] == found["summary"]["claims"]["fails"] + 1


def test_a_person_reads_both(mine: Path, tmp_path: Path, goodqueue: Command) -> None:
    out = tmp_path / "report"
    result = goodqueue("study", str(mine), "--reconstructed", "--out", str(out))
    said = " ".join(result.out.split())
    assert "With a FIFO of ten packets (inferred, not stated): no more claims hold, 1 no longer does (c5);" in said
    assert "of 2 values reproduced" in said
    assert "Evidence: The printed delay" not in said, "it moves no value"
    assert "Evidence: Nobody knows." in said
    assert max(map(len, result.out.splitlines())) <= 100
    page = (out / "report.html").read_text(encoding="utf-8")
    words = " ".join(re.sub(r"<style>.*?</style>|<svg.*?</svg>|<[^>]*>", " ", page, flags=re.DOTALL).split())
    assert "Inferred, not stated Choices that the paper does not state" in words
    assert "1 no longer does (c5)" in words
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert results["command"] == f"goodqueue study {mine} --reconstructed"
    assert [one["id"] for one in results["reconstructions"]] == ["short", "late", "patient"]


def test_only_a_part_is_reconstructed_where_only_a_part_is_asked_for(mine: Path, goodqueue: Command) -> None:
    found = json.loads(goodqueue("study", str(mine), "--only", "v1", "--reconstructed", "--json").out)
    # CoDel at 5 Mbit/s, as stated, with one flow less, and patient. Under the first reconstruction it is the same run.
    assert found["runs"] == 2 + 2 + 2
    assert [value["verdict"] for value in found["reconstructions"][1]["values"]].count("not_run") == 3


WRONG = [
    ('qdiscs = { droptail = "pfifo limit 10" }', "", "reconstruction[short]: changes nothing; accepted: with qdiscs,"),
    ("droptail =", "dropped =", 'reconstruction[short].qdiscs.dropped: found "dropped"; accepted: codel, droptail'),
    ("codel =", "coddle =", 'reconstruction[late].append.coddle: found "coddle"; did you mean "codel"?'),
    ("traffic.0.count", "traffic.9.count", "reconstruction[late].set.traffic.9.count: found"),
    ('id = "late"', 'id = "late"\nexperiments = ["rate"]', 'experiments: found "rate"; did you mean "rates"?'),
    ('evidence = "Nobody knows."', "", "reconstruction[late].evidence: missing; accepted: a text"),
    ('"target 50ms"', '"target soon"', "qdiscs.codel:"),
    ('"codel" = "codel i', '"coddle" = "codel i', "reconstruction[patient].replace.coddle: found in no line;"),
]


@pytest.mark.parametrize(("old", "new", "want"), WRONG)
def test_what_is_wrong_is_said_in_one_line(mine: Path, goodqueue: Command, old: str, new: str, want: str) -> None:
    assert old in INFERRED
    (mine / "study.toml").write_text(STUDY + INFERRED.replace(old, new, 1), encoding="utf-8")
    result = goodqueue("study", str(mine), "--reconstructed")
    assert (result.status, result.out, result.err.count("\n")) == (2, "", 1)
    assert want in result.err


def test_a_study_without_any_says_so(mine: Path, goodqueue: Command) -> None:
    (mine / "study.toml").write_text(STUDY, encoding="utf-8")
    result = goodqueue("study", str(mine), "--reconstructed")
    assert (result.status, result.out) == (2, "")
    assert "names no reconstruction; accepted: a study with [[reconstruction]]" in result.err


def test_all_combinations_are_tried_and_the_stated_verdicts_stay(mine: Path, goodqueue: Command) -> None:
    """Two values of one unknown exclude each other: of the three, five combinations are left beside the stated one."""
    stated = json.loads(goodqueue("study", str(mine), "--json").out)
    text = STUDY + INFERRED.replace('id = "late"', 'id = "late"\nunknown = "codel"')
    text = text.replace('[[reconstruction]]\nid = "patient"', '[[candidate]]\nid = "patient"\nunknown = "codel"')
    (mine / "study.toml").write_text(text, encoding="utf-8")
    found = json.loads(goodqueue("study", str(mine), "--json", "--fit").out)
    tried = [one["id"] for one in found["reconstructions"]]
    assert set(tried) == {"short", "late", "patient", "short + late", "short + patient"}
    assert found["claims"] == stated["claims"]
    one = next(one for one in found["reconstructions"] if one["id"] == "short + late")
    alone = {one["id"]: one["values"][0]["measured"] for one in found["reconstructions"]}
    assert one["values"][0]["measured"] == alone["late"], "CoDel's value is the one that `late` gives"


def test_fit_says_which_readings_explain_most(mine: Path, goodqueue: Command) -> None:
    shown = goodqueue("study", str(mine), "--fit")
    assert "What explains most of the paper" in shown.out
    said = " ".join(shown.out.split())
    assert "Inferred, not stated" in said
    titles = {one["id"]: one["title"] for one in tomllib.loads((mine / "study.toml").read_text())["reconstruction"]}
    assert len(titles) == 3
    for id_, title in titles.items():
        assert f"{id_}: {title}." in said, "each word is explained"


def test_fit_without_anything_open_is_refused(mine: Path, goodqueue: Command) -> None:
    (mine / "study.toml").write_text(STUDY, encoding="utf-8")
    result = goodqueue("study", str(mine), "--fit")
    assert (result.status, result.err.count("\n")) == (2, 1)
    assert "leaves nothing open; accepted: a study with [[reconstruction]] or [[candidate]]" in result.err
