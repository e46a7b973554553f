"""The drawn set of scenarios: the same for everybody, from the stated ranges, and distinct from the fixed set."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from statistics import median

import pytest

from conftest import Result
from goodqueue import engines
from goodqueue.errors import UserError
from goodqueue.record import Scenario
from goodqueue.validation import drawing, judging, pages, show
from goodqueue.validation.cells import Draw

LINES = 11


def test_a_draw_is_the_same_each_time_and_a_longer_one_holds_it() -> None:
    few, many = (drawing.load(Draw(cells, 7)).cells for cells in (5, 30))
    assert list(many[:5]) == list(few)
    other = drawing.load(Draw(5, 8)).cells
    assert {cell.id for cell in few}.isdisjoint(cell.id for cell in other), "another seed draws another set"
    # Today's numbers: anyone must be able to draw a published set again.
    assert [cell.id for cell in drawing.load(Draw(3, 1)).cells] == [
        "fq_codel/42mbit,35ms,1xbbr+7xreno",
        "fq_pie/1.5mbit,17ms,3xreno,ecn",
        "sfq/3.6mbit,53ms,1xcubic",
    ]


def test_what_is_drawn_is_within_the_ranges_and_even_on_their_scale() -> None:
    drawn = drawing.load(Draw(220, 1)).cells
    assert len({cell.id for cell in drawn}) == 220
    rates, rtts, counts, mixed, ecn, both = [], [], [], 0, 0, 0
    for cell in drawn:
        words = cell.change.split(",")
        rates.append(float(words[0].removesuffix("mbit")))
        rtts.append(float(words[1].removesuffix("ms")))
        down = [traffic for traffic in cell.scenario["traffic"] if traffic["direction"] == "down"]
        counts.append(sum(traffic["count"] for traffic in down))
        mixed += len(down) == 2
        ecn += all(traffic["ecn"] for traffic in cell.scenario["traffic"])
        both += len(down) < len(cell.scenario["traffic"])
        assert ("both" in words, "ecn" in words) == (len(down) < len(cell.scenario["traffic"]), down[0]["ecn"])
    assert min(rates) >= 1
    assert max(rates) <= 50
    assert math.sqrt(50) / 1.35 < median(rates) < math.sqrt(50) * 1.35, "half of the cells below the middle in logs"
    assert min(rtts) >= 5
    assert max(rtts) <= 200
    assert math.sqrt(1000) / 1.35 < median(rtts) < math.sqrt(1000) * 1.35
    assert set(counts) == set(range(1, 9))
    assert 0.3 < mixed / 220 < 0.6, "half of those with two flows at least"
    assert 0.3 < ecn / 220 < 0.5
    assert 0.15 < both / 220 < 0.35


def test_each_line_is_dealt_once_before_one_comes_again() -> None:
    file = drawing.load(Draw(3 * LINES, 1)).cells
    rounds = [[cell.scenario["bottleneck"]["qdisc"] for cell in file[at : at + LINES]] for at in range(0, 33, LINES)]
    names = [sorted(line.split()[0] for line in lines) for lines in rounds]
    assert names[0] == names[1] == names[2]
    assert {"cake", "fq_pie", "choke", "red", "sfq"} < set(names[0])
    assert [line.split()[0] for line in rounds[0]] != [line.split()[0] for line in rounds[1]], "each in its own order"


def test_linux_has_all_that_is_drawn() -> None:
    for cell in drawing.load(Draw(66, 3)).cells:
        engines.check("kernel", cell.scenario)


def test_a_line_is_filled_with_what_fits_the_link(tmp_path: Path) -> None:
    text = drawing.FILE.read_text(encoding="utf-8").replace("rate_mbit = [1, 50]", "rate_mbit = [8, 8]")
    file = tmp_path / "drawn.toml"
    file.write_text(text, encoding="utf-8")
    lines = {cell.scenario["bottleneck"]["qdisc"] for cell in drawing.load(Draw(LINES, 1), file=file).cells}
    assert any("limit 320000 min 12000 max 36000 avpkt 1000 bandwidth 8mbit" in line for line in lines), "8 kbit a ms"
    assert any(line.startswith("cake bandwidth 7200kbit") for line in lines)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("rate_mbit = [1, 50]", "rate_mbit = [50, 1]", "rate_mbit: found [50, 1]; accepted: two numbers above 0"),
        ("rate_mbit = [1, 50]", "rate_mbit = 5", "rate_mbit: found 5; accepted: two numbers above 0"),
        ("flows = [1, 8]", "flows = [0, 8]", "flows: found [0, 8]"),
        ("ecn = 0.4", "ecn = 1.4", "ecn: found 1.4; accepted: a share, from 0 to 1"),
        ('cc = ["cubic", "reno", "bbr"]', "cc = []", "cc: found an empty list; accepted: one text at least"),
        ('cc = ["cubic", "reno", "bbr"]', 'cc = ["cubik"]', 'cc: found "cubik"'),
        ("{320ms}", "{320 ms}", "lines: found {320 ms}; accepted: a time, as {20ms}, or a share, as {90%}"),
        ('"pie ecn"', '"pye ecn"', "bottleneck.qdisc"),
        ("loaded_both", "loaded_booth", "loaded_both: missing"),
        ("seeds = 3", "seeds = 3\nseed = 1", "seed: unknown key"),
    ],
)
def test_wrong_ranges_are_refused_by_key(tmp_path: Path, old: str, new: str, complaint: str) -> None:
    text = drawing.FILE.read_text(encoding="utf-8")
    assert old in text
    file = tmp_path / "drawn.toml"
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(UserError) as refused:
        drawing.load(Draw(LINES, 1), file=file)
    assert str(file) in str(refused.value)
    assert complaint in str(refused.value)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--drawn", "0"], 'goodqueue: --drawn: found "0"; accepted: a whole number from 1 to 1000'),
        (["--drawn", "many"], 'goodqueue: --drawn: found "many"; accepted: a whole number from 1 to 1000'),
        (["--drawn", "3", "--draw-seed", "-1"], 'goodqueue: --draw-seed: found "-1"; accepted: a whole number from 1'),
        (["--draw-seed", "2"], "goodqueue: --draw-seed: found without --drawn; accepted: with --drawn N"),
        (["--drawn", "3", "--quick"], "goodqueue: --quick: found with --drawn; accepted: one of them"),
    ],
)
def test_nonsense_is_refused_in_one_line(
    arguments: list[str], complaint: str, kernel: list[Scenario], goodqueue: Callable[..., Result]
) -> None:
    result = goodqueue("validate", *arguments)
    assert (result.status, result.out, result.err) == (2, "", f"{complaint}\n")
    assert kernel == []


COMMAND = ["validate", "--drawn", "3", "--draw-seed", "1", "--only", "fq_pie", "--only", "sfq", "--seeds", "2"]


def test_a_drawn_set_is_run_kept_and_told_as_one(
    here: Path, kernel: list[Scenario], goodqueue: Callable[..., Result]
) -> None:
    first = goodqueue(*COMMAND, "--store", "runs", "--out", "out", "--json")
    assert (first.status, first.err, len(kernel)) == (0, "", 4)
    found = json.loads(first.out)
    assert found["drawn"] == {"cells": 3, "seed": 1}
    assert [cell["id"] for cell in found["cells"]] == ["fq_pie/1.5mbit,17ms,3xreno,ecn", "sfq/3.6mbit,53ms,1xcubic"]
    assert found["chance"]["cells"] == 2
    assert goodqueue(*COMMAND, "--store", "runs", "--out", "out", "--force", "--json").out == first.out
    assert len(kernel) == 4, "nothing runs twice"
    text = (here / "out" / "table.md").read_text(encoding="utf-8")
    assert text.startswith("2 cells drawn by seed 1, 2 seeds each, ")
    assert "### Qdiscs" not in text, "one line for each name would not be true of lines that depend on the rate"
    assert "\n| 1.5mbit" not in text, "a group of one cell is that cell"
    assert show.markdown(*pages.load(here / "out" / "results.json")) == text


def test_chance_is_computed_from_the_simulator_s_own_seeds(
    here: Path, kernel: list[Scenario], goodqueue: Callable[..., Result]
) -> None:
    found = json.loads(goodqueue(*COMMAND, "--json").out)
    for cell, name in ((cell, cell["id"]) for cell in found["cells"]):
        again, sim = (cell[part]["values"]["delay_mean_ms"] for part in ("again", "sim"))
        assert set(again).isdisjoint(sim), f"{name}: under the same seeds it would be no comparison"
    sizes = [
        abs(sum(map(judging.log_ratio, *(cell[part]["values"]["delay_mean_ms"] for part in ("sim", "again")))) / 2)
        for cell in found["cells"]
    ]
    assert found["chance"]["delay_mean_ln"] == pytest.approx(median(sizes))
