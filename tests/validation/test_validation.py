"""Validation: the arithmetic of its judgement by hand, its set of scenarios, and no repeated runs."""

import json
import math
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from conftest import Result
from goodqueue import engines, store
from goodqueue import scenario as scenarios
from goodqueue.engines import identity
from goodqueue.errors import UserError
from goodqueue.measures.numbers.changes import window_recovery_s
from goodqueue.record import Scenario
from goodqueue.validation import cells, judging, pages, result, show
from goodqueue.validation.judging import FEW, FLOOR_MS
from goodqueue.validation.result import Result as Cell
from goodqueue.validation.result import Side, Validation, from_json

# --- the judgement, by hand ---------------------------------------------------------------------------------------


def test_a_ratio_of_delays_is_a_logarithm_above_the_floor() -> None:
    assert judging.log_ratio(20.0, 10.0) == pytest.approx(0.693147, abs=1e-6)
    assert judging.log_ratio(10.0, 20.0) == pytest.approx(-0.693147, abs=1e-6), "below the truth is negative"
    assert judging.log_ratio(0.0, 0.001) == 0.0, "two empty queues agree, though their ratio is 0"
    assert judging.log_ratio(0.2, 0.0) == pytest.approx(math.log(0.2 / FLOOR_MS))


def test_counts_agree_within_a_quarter_and_few_are_not_judged() -> None:
    assert judging.count_ratio([FEW - 1], [0]) is None, "a handful of drops says nothing"
    assert judging.count_ratio([125], [100]) == pytest.approx(math.log(1.25))
    assert judging.agree(math.log(125 / 100)), "the factor itself is within it"
    assert judging.agree(math.log(80 / 100)), "and so is its inverse"
    assert not judging.agree(math.log(126 / 100))
    assert judging.count_ratio([FEW], [0]) == math.inf
    assert judging.count_ratio([0], [FEW]) == -math.inf
    assert not judging.agree(-math.inf), "drops on one side only are a disagreement, not a missing value"


def test_flows_are_compared_best_with_best() -> None:
    assert judging.shares_apart([6.0, 4.0], [5.0, 5.0]) == pytest.approx(20.0), "|6-5| + |4-5| = 2 of 10"
    assert judging.shares_apart([0.0], [0.0]) is None


def test_the_area_between_two_curves_is_a_part_of_the_kernels() -> None:
    # Each value holds until the next time; the last value has no next. |2-4| x 1 s + |6-4| x 2 s = 6 of 4 x 3 s = 12.
    assert judging.area_between(([0, 1, 3], [2, 6, 9]), ([0, 1, 3], [4, 4, 4])) == pytest.approx(0.5)
    assert judging.area_between(([0, 1], [4, 4]), ([0, 1], [4, 4])) == 0.0
    # If one value is unknown, neither counts: |3-4| x 2 s of 4 x 2 s.
    assert judging.area_between(([0, 1, 3], [None, 3, 3]), ([0, 1, 3], [4, 4, 4])) == pytest.approx(0.25)
    assert judging.area_between(([0], [None]), ([0], [4])) is None


def side(delay: list[float | None], used: list[float], dropped: list[float], marked: list[float]) -> Side:
    values: dict[str, Sequence[float | None]] = {
        "delay_mean_ms": delay,
        "delay_p95_ms": delay,
        "utilisation_percent": used,
        "goodput_mbps": [9.0] * len(used),
        "jain_goodput": [1.0] * len(used),
        "dropped": dropped,
        "marked": marked,
        "recovery_s": [None] * len(used),
    }
    return Side(values, [[9.0]] * len(used), [], {})


def results() -> list[Cell]:
    """Return three cells: twice the true delay in one seed and equal in the other; four times the delay; the same."""
    same = side([5.0, 5.0], [90.0, 90.0], [50, 50], [0, 0])
    return [
        Cell("codel", "base", "codel", side([20.0, 10.0], [97.0, 99.0], [60, 60], [0, 0]),
             side([10.0, 10.0], [98.0, 98.0], [50, 50], [0, 0])),
        Cell("codel", "rtt=10ms", "codel", side([8.0, 8.0], [92.0, 92.0], [99, 99], [5, 5]),
             side([2.0, 2.0], [91.0, 91.0], [50, 50], [5, 4])),
        Cell("pie", "base", "pie", same, same),
    ]  # fmt: skip


def test_errors_are_taken_seed_by_seed() -> None:
    found = judging.errors(results()[0])
    assert found.delay_mean_ln is not None
    assert found.delay_mean_ln.mean == pytest.approx(math.log(2) / 2), "ln 2 and 0; of the means it would be ln 1.5"
    assert found.delay_mean_ln.n == 2
    assert found.utilisation_points is not None
    assert found.utilisation_points.mean == 0.0
    assert found.utilisation_points.half_width == pytest.approx(12.706, abs=0.001), "-1 and +1: t = 12.706, s / √2 = 1"
    assert found.drops_ln == pytest.approx(math.log(1.2)), "of the medians"
    assert found.marks_ln is None
    assert found.cwnd_area is None


def test_one_run_of_a_long_tail_decides_neither_a_number_nor_a_verdict() -> None:
    """PIE with load both ways: 200 drops in most runs, and 1000 in one of ten on either engine."""
    usual = side([30.0] * 5, [90.0] * 5, [200, 210, 190, 205, 195], [0] * 5)
    tailed = side([30.0, 60.0, 30.0, 30.0, 29.0], [90.0] * 5, [200, 1000, 190, 205, 195], [0] * 5)
    found = replace(validation(), results=[Cell("pie", "loaded=both", "pie", tailed, usual)])
    judged = judging.judge(found.results)
    assert judged.overall.drops_agree == 1, "the sums are 1790 and 1000"
    row = next(line for line in show.markdown(found, judged).splitlines() if line.startswith("| pie/"))
    assert row.split(" | ")[1:3] == ["30.0 [29.0 – 60.0]", "30.0"], "an interval of Student's would end at 52 and 19"
    assert row.split(" | ")[10:12] == ["200 [190 – 1000]", "200 [190 – 210]"]


def test_a_seed_without_a_delay_is_left_out() -> None:
    idle = side([None, 10.0], [0.0, 98.0], [0, 0], [0, 0])
    found = judging.errors(Cell("codel", "base", "codel", idle, results()[0].kernel)).delay_mean_ln
    assert found is not None
    assert (found.mean, found.n) == (0.0, 1)


def test_the_overall_figures_are_medians_means_and_shares() -> None:
    found = judging.judge(results())
    assert found.overall.delay_mean_ln == pytest.approx(math.log(2) / 2), "the median of 0, ln 2 / 2 and ln 4"
    assert found.overall.utilisation_points == pytest.approx(1 / 3), "the mean of |0|, |1| and |0|"
    assert (found.overall.drops_agree, found.overall.drops_judged) == (2, 3)
    assert (found.overall.marks_agree, found.overall.marks_judged) == (0, 0)
    assert found.by_qdisc["pie"].delay_mean_ln == 0.0
    assert found.by_change["rtt=10ms"].delay_mean_ln == pytest.approx(math.log(4))
    assert [group.cells for group in (found.by_qdisc["codel"], found.by_change["base"])] == [2, 2]


def test_the_headline_says_how_far_off_the_worst_cells_are() -> None:
    truth = side([10.0], [90.0], [50], [0])
    off = [
        Cell("codel", f"x={n}", "codel", side([10.0 * math.exp(n / 100)], [90.0], [50], [0]), truth) for n in range(20)
    ]
    found = replace(validation(), results=off)
    said = show.headline(found, judging.judge(off))[0]
    # ln| of 0 to 0.19: the 15th of 20, the 18th, the last.
    assert "median |ln(sim / kernel)| 0.095, p75 0.140, p90 0.170, worst 0.190 in codel/x=19;" in said
    assert "worst" not in show.headline(found, judging.judge(off[:9]))[0], "nine cells have no percentiles"


def test_what_is_chance_stands_beside_each_figure() -> None:
    """The simulator against itself: ln 2 off in delay (ln 4 off the kernel), and off in drops (equal to the kernel)."""
    truth, ours = side([10.0], [90.0], [50], [0]), side([40.0], [92.0], [50], [0])
    one = Cell("codel", "base", "codel", ours, truth, side([20.0], [91.5], [80], [0]))
    judged = judging.judge([one])
    assert judged.chance is not None
    assert judged.chance.delay_mean_ln == pytest.approx(math.log(2))
    found = replace(validation(), results=[one])
    said = " ".join(show.headline(found, judged))
    assert "median |ln(sim / kernel)| 1.386 (0.693)" in said
    assert "|sim - kernel| 2.00 (0.50) points" in said
    assert "drops in 1 of 1 (0 of 1) cells" in said
    assert "| the simulator against itself | 1 | 0.693 |" in show.markdown(found, judged)
    loaded = from_json(json.loads(json.dumps(pages.as_json(found, judged), allow_nan=False)))
    assert show.markdown(loaded, judging.judge(loaded.results)) == show.markdown(found, judged)


def test_what_few_seeds_leave_open_is_half_an_interval() -> None:
    truth = side([10.0, 10.0], [90.0, 90.0], [50, 50], [0, 0])
    ours = side([10.0, 10.0 * math.exp(0.02)], [90.0, 90.0], [50, 50], [0, 0])
    # ln: 0 and 0.02; sd 0.0141, divided by the root of 2 is 0.01; t for one degree of freedom at 97.5 % is 12.706.
    found = judging.judge([Cell("codel", "base", "codel", ours, truth, ours)]).overall
    assert found.delay_half_width_ln == pytest.approx(0.12706, abs=1e-5)
    alone = Cell("codel", "base", "codel", *(side([value], [90.0], [50], [0]) for value in (10.0, 12.0)))
    said = " ".join(show.headline(replace(validation(), results=[alone], seeds=(1,)), judging.judge([alone])))
    assert "leave" not in said, "a single seed has no interval"


def test_a_chance_that_some_cells_lack_is_not_told() -> None:
    cell = results()[0]
    judged = judging.judge([replace(cell, again=cell.sim), results()[1]])
    assert judged.chance is None
    said = show.headline(replace(validation(), results=results()[:2]), judged)
    assert "(" not in said[1], "a figure of all cells beside one of some"


def test_errors_of_opposite_sign_do_not_cancel() -> None:
    truth = side([10.0], [90.0], [50], [0])
    high = Cell("codel", "base", "codel", side([20.0], [92.0], [50], [0]), truth)
    low = Cell("pie", "base", "pie", side([5.0], [88.0], [50], [0]), truth)
    found = judging.judge([high, low]).overall
    assert found.delay_mean_ln == pytest.approx(math.log(2)), "twice the truth and half of it are not the truth"
    assert found.utilisation_points == pytest.approx(2.0), "nor are 2 points above and 2 below"


def burst_record(cwnd: list[float | None]) -> Any:
    """Return a record with a window that is read each second, a warm-up of 2 s, and a burst at 5.5 s."""
    traffic = [{"kind": "bulk"}, {"kind": "cbr", "start": "5.5s"}]
    return {
        "scenario": {"warmup": "2s", "traffic": traffic},
        "flows": [{"name": "bulk/0", "kind": "bulk"}, {"name": "cbr/0", "kind": "cbr"}],
        "series": {
            "time_s": [float(second) for second in range(1, len(cwnd) + 1)],
            "flows": [{"name": "cbr/0", "cwnd_packets": []}, {"name": "bulk/0", "cwnd_packets": cwnd}],
        },
    }


def test_a_flow_has_recovered_when_its_window_is_back_at_its_mean_before_the_burst() -> None:
    # The mean of 2 s to 5 s is 20; values before the warm-up's end do not count. At 6 s the losses are not known yet.
    before: list[float | None] = [90, 18, 20, 22, 20]
    assert window_recovery_s(burst_record([*before, 23, 10, 15, 20, 24])) == 3.5, "at 9 s"
    assert window_recovery_s(burst_record([*before, 23, 10, None, 19])) is None, "not back before the end"
    assert window_recovery_s(burst_record([*before, 23, 24, 25])) is None, "it never fell"
    alone = burst_record([*before, 23, 10, 15, 20, 24])
    alone["scenario"]["traffic"].pop()
    assert window_recovery_s(alone) is None, "there was no burst"


def test_transfers_are_judged_one_by_one_and_recoveries_in_seconds() -> None:
    empty = results()[0].kernel

    def measured(small: list[float | None], large: list[float | None], recovery: list[float | None]) -> Side:
        times = {"reno 1kB": small, "reno 10MB": large}
        return replace(empty, values={**empty.values, "recovery_s": recovery}, completions_ms=times)

    ours = measured([110.0, 100.0], [8000.0, 8000.0], [4.0, 5.0])
    theirs = measured([100.0, 100.0], [8000.0, None], [3.0, 5.0])
    cell = Cell("codel", "transfers", "codel", ours, theirs)
    found = judging.errors(cell)
    assert found.completion_ln["reno 1kB"].mean == pytest.approx(math.log(1.1) / 2)
    assert found.completion_ln["reno 10MB"].n == 1, "a transfer that did not end has no time"
    assert found.recovery_s is not None
    assert found.recovery_s.mean == 0.5
    one = replace(validation(), results=[cell])
    judged = judging.judge(one.results)
    assert judged.overall.completion_ln == pytest.approx(math.log(1.1) / 4), "the median of two"
    text = show.markdown(one, judged)
    assert "| codel/transfers | reno 1kB | 105.0 | 100.0 | +0.048 |" in text
    assert "| codel/transfers | 4.5 | 4.0 | +0.5 |" in text
    loaded = from_json(json.loads(json.dumps(pages.as_json(one, judged), allow_nan=False)))
    assert show.markdown(loaded, judging.judge(loaded.results)) == text


def test_a_validation_from_before_a_measure_was_taken_can_still_be_read() -> None:
    data = json.loads(json.dumps(pages.as_json(validation(), judging.judge(results()))))
    for cell in data["cells"]:
        for engine in ("sim", "kernel"):
            del cell[engine]["values"]["recovery_s"]
    assert judging.judge(from_json(data).results).overall.recovery_s is None


def validation() -> Validation:
    kernel = {"release": "6.1.0", "tc": "iproute2-6.1.0", "where": "vm", "qemu": "7.2"}
    return Validation("2025-01-02", "0.1.0", "abc", kernel, False, (1, 2), results())


def test_the_table_marks_counts_that_disagree_and_names_what_is_worst() -> None:
    text = show.markdown(validation(), judging.judge(results()))
    rows = {line.split(" | ")[0].removeprefix("| "): line.split(" | ") for line in text.splitlines()}
    assert rows["codel/rtt=10ms"][10:12] == ["99", "50 !"], "of one run"
    assert rows["codel/base"][10:12] == ["60", "50"]
    assert rows["codel/rtt=10ms"][3] == "+1.39"
    assert "Farthest off in mean delay: codel (0.866), rtt=10ms (1.386)." in text
    assert "Linux 6.1.0 in qemu 7.2" in text


def test_what_is_stored_is_judged_the_same_again(tmp_path: Path) -> None:
    judged = judging.judge(results())
    stored = tmp_path / "results.json"
    stored.write_text(json.dumps(pages.as_json(validation(), judged), allow_nan=False), encoding="utf-8")
    loaded, again = pages.load(stored)
    assert show.markdown(loaded, again) == show.markdown(validation(), judged)
    assert asdict(again) == asdict(judged)


# --- the set --------------------------------------------------------------------------------------------------------


PATHS = {"loss", "jitter", "hidden-buffer", "two-bottlenecks", "rates"}
"""The variations of the base in the path."""

STUDIES = {"khademi2013", "nichols2012", "hoiland2015", "schwardmann2014"}
"""The variations of the base that follow a study."""


def test_the_set_has_each_qdisc_under_each_factor_and_a_quick_part() -> None:
    whole, quick = cells.load(), cells.load(quick=True)
    ids = [cell.id for cell in whole.cells]
    assert len(ids) == len(set(ids))
    assert {cell.qdisc for cell in whole.cells} == {"pfifo", "red", "pie", "codel", "sfq", "fq_codel"}
    factors = {re.split("[=,]", cell.change)[0] for cell in whole.cells}
    assert factors == {"base", "flows", "cc", "rate", "rtt", "ecn", "loaded", "burst", "transfers"} | PATHS | STUDIES
    assert {cell.id for cell in quick.cells} < set(ids)
    assert len(quick.cells) == 8
    for cell in whole.cells:
        line = cell.scenario["bottleneck"]["qdisc"]
        assert line.partition(" child ")[2 if cell.change.endswith("shaped") else 0].split()[0] == cell.qdisc
        if cell.qdisc == "red":
            assert " noadaptive" in cell.scenario["bottleneck"]["qdisc"], "with Linux's tc it would not adapt"
            rate = cell.scenario["bottleneck"]["rate"]
            assert f"bandwidth {rate} " in cell.scenario["bottleneck"]["qdisc"], "it decays by its own link's rate"


def test_a_cell_s_hops_have_its_discipline_and_one_of_them_may_be_what_is_compared() -> None:
    found = {cell.change: cell for cell in cells.load().cells if cell.qdisc == "codel"}
    two, hidden, rates = found["two-bottlenecks"], found["hidden-buffer"], found["rates"]
    assert two.scenario["hop"][0]["qdisc"] == two.scenario["bottleneck"]["qdisc"]
    assert (two.measured, hidden.measured) == (None, "modem")
    assert Path(rates.scenario["bottleneck"]["trace"]).is_file(), "beside the set, from wherever it is run"
    assert "rate" not in rates.scenario["bottleneck"]
    short = scenarios.resolve(hidden.scenario | {"duration": "6s"})
    record = json.loads(next(iter(engines.run_many("sim", [short]))))
    compared = result.of_records(hidden, [record], [record], [record]).kernel.values["delay_mean_ms"]
    assert compared == [record["hops"][0]["delay_ms"]["mean"]]
    assert compared[0] > 10 * record["queues"]["down"]["delay_ms"]["mean"], "the buffer is hidden from the discipline"


def test_linux_has_all_of_the_set() -> None:
    for cell in cells.load().cells:
        engines.check("kernel", cell.scenario)


def test_only_picks_by_id_qdisc_or_change() -> None:
    found = cells.load(only=["sfq/base", "ecn=on", "rate=100mbit"]).cells
    ecn, fast = {"red/ecn=on", "pie/ecn=on", "codel/ecn=on", "fq_codel/ecn=on"}, {"codel", "fq_codel"}
    assert {cell.id for cell in found} == {"sfq/base", *ecn, *(f"{name}/rate=100mbit" for name in fast)}
    with pytest.raises(UserError, match='--only: found "codle"; did you mean "codel"\\? accepted: QDISC, CHANGE or'):
        cells.load(only=["codle"])


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('rate = "10mbit"', 'rate = "ten"', "bottleneck.rate: found"),
        ('qdiscs = ["codel", "fq_codel"]', 'qdiscs = ["coddle"]', 'qdiscs: found "coddle"; did you mean "codel"'),
        ('id = "flows=2"', 'id = "flows=2"\nsets = {}', "sets: unknown key"),
        ('"codel/flows=1"', '"codel/flows=3"', 'quick.cells: found "codel/flows=3"'),
        ("seeds = 3", "", "seeds: missing"),
    ],
)
def test_a_wrong_set_is_refused_by_key(tmp_path: Path, old: str, new: str, complaint: str) -> None:
    text = cells.FILE.read_text(encoding="utf-8")
    assert old in text
    file = tmp_path / "cells.toml"
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(UserError) as refused:
        cells.load(quick=True, file=file)
    assert str(file) in str(refused.value)
    assert complaint in str(refused.value)


# --- runs -----------------------------------------------------------------------------------------------------------

COMMAND = ["validate", "--quick", "--only", "codel", "--seeds", "2"]


def test_a_validation_reports_both_engines(
    here: Path, kernel: list[Scenario], goodqueue: Callable[..., Result]
) -> None:
    result = goodqueue(*COMMAND, "--store", "runs", "--out", "out", "--json")
    assert (result.status, result.err) == (0, "")
    found = json.loads(result.out)
    assert [cell["id"] for cell in found["cells"]] == ["codel/base", "codel/flows=1"]
    for name in ("image", "laboratory", "qemu"):
        assert found["kernel"].pop(name), f"{name}: what a run in a virtual machine depends on too"
    assert found["kernel"] == {"release": "6.1.0-1-amd64", "tc": "iproute2-6.1.0", "where": "vm"}
    assert len(found["cells"][0]["kernel"]["values"]["delay_mean_ms"]) == 2
    assert found["errors"]["codel/flows=1"]["cwnd_area"]["n"] == 2
    names = {file.name for file in (here / "out").iterdir()}
    figures = {f"{name}.{kind}" for name in ("sim-against-kernel", "errors", "cwnd") for kind in ("svg", "png")}
    assert names == {"results.json", "table.md", *figures}
    assert len(store.find(here / "runs").all_keys()) == 12


@pytest.mark.long
def test_nothing_runs_twice(here: Path, kernel: list[Scenario], goodqueue: Callable[..., Result]) -> None:
    first = goodqueue(*COMMAND, "--store", "runs", "--out", "out", "--json")
    assert len(kernel) == 4
    refused = goodqueue(*COMMAND, "--store", "runs", "--out", "out", "--json")
    assert (refused.status, refused.out) == (2, "")
    assert "--out out: holds results of goodqueue validate; accepted: another name, or --force to" in refused.err
    again = goodqueue(*COMMAND, "--store", "runs", "--out", "out", "--json", "--force")
    assert len(kernel) == 4
    assert again.out == first.out
    assert goodqueue(*COMMAND[:-1], "3", "--store", "runs", "--out", "out", "--force").status == 0
    assert len(kernel) == 6, "one more seed is one more run a cell"


def test_a_validation_takes_the_place_of_other_results(
    here: Path, kernel: list[Scenario], goodqueue: Callable[..., Result]
) -> None:
    (here / "out").mkdir()
    for name in ("report.html", "notes.txt"):
        (here / "out" / name).touch()
    about = {"made_by": "goodqueue compare", "files": ["report.html", "results.json"]}
    (here / "out" / "results.json").write_text(json.dumps(about), encoding="utf-8")
    assert "holds files of others (notes.txt)" in goodqueue(*COMMAND, "--store", "runs", "--out", "out").err
    assert kernel == [], "the refusal comes before any run"
    assert goodqueue(*COMMAND, "--store", "runs", "--out", "out", "--force").status == 0
    names = {file.name for file in (here / "out").iterdir()}
    assert "report.html" not in names, "a page of other runs would be taken for the validation's"
    assert {"notes.txt", "table.md"} <= names
    assert "notes.txt" not in json.loads((here / "out" / "results.json").read_text(encoding="utf-8"))["files"]


def test_a_changed_simulator_runs_again_and_the_kernel_does_not(
    monkeypatch: pytest.MonkeyPatch, kernel: list[Scenario]
) -> None:
    scenario = cells.load(quick=True).cells[0].scenario
    before = {engine: identity.of(engine, scenario).key for engine in ("sim", "kernel")}
    monkeypatch.setattr("goodqueue.engines.identity.build", lambda: "another")
    after = {engine: identity.of(engine, scenario).key for engine in ("sim", "kernel")}
    assert after["sim"] != before["sim"]
    assert after["kernel"] == before["kernel"]


def test_the_simulator_runs_again_beside_the_kernels_numbers(
    here: Path, kernel: list[Scenario], goodqueue: Callable[..., Result]
) -> None:
    """A change of the simulator takes minutes to judge, because nothing on Linux runs again."""
    first = json.loads(goodqueue(*COMMAND, "--store", "runs", "--out", "out", "--json").out)
    (here / "moved").mkdir()
    for cell in first["cells"]:
        cell["sim"]["values"]["delay_mean_ms"] = [1e3] * 2  # of another simulator
        cell["kernel"]["values"]["delay_mean_ms"] = [7.0] * 2  # not what the stand-in would measure
    moved = here / "moved" / "results.json"
    moved.write_text(json.dumps(first), encoding="utf-8")
    count = len(kernel)
    again = goodqueue("validate", "--again", "moved/results.json", "--json")
    assert (again.status, again.err, len(kernel)) == (0, "", count)
    second = json.loads(again.out)
    assert [cell["id"] for cell in second["cells"]] == ["codel/base", "codel/flows=1"]
    for cell in second["cells"]:
        assert cell["kernel"]["values"]["delay_mean_ms"] == [7.0] * 2
        assert all(0 < delay < 100 for delay in cell["sim"]["values"]["delay_mean_ms"])
    assert second["kernel"] == first["kernel"]

    first["cells"][0]["line"] = "codel limit 7"
    moved.write_text(json.dumps(first), encoding="utf-8")
    refused = goodqueue("validate", "--again", "moved/results.json")
    assert (refused.status, refused.out) == (2, "")
    assert "moved/results.json: found 'codel limit 7' in the cell codel/base; accepted: " in refused.err


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--again", "other.json"], "other.json: not a validation; accepted: "),
        (
            ["--again", "other.json", "--seeds", "3"],
            "--again: found with a choice of cells, seeds, kernel or machine; accepted:",
        ),
        (["--again", "none.json"], "none.json: "),
    ],
)
def test_what_is_no_earlier_validation_is_refused(
    here: Path, goodqueue: Callable[..., Result], words: list[str], complaint: str
) -> None:
    (here / "other.json").write_text('{"schema": 1, "lines": []}', encoding="utf-8")
    refused = goodqueue("validate", *words)
    assert (refused.status, refused.out) == (2, "")
    assert complaint in refused.err
    assert refused.err.count("\n") == 1


KILLED = """
import os, signal, sys, time
from pathlib import Path
from goodqueue import cli, engines, running
from goodqueue.engines.kernel import making
kept = []
def dying(scenario, progress, stop):
    if len(kept) == 2:
        # Writing is another thread's: give it time to show that it does not wait for the end of all runs.
        for _ in range(1000):
            if len(list(Path("runs").glob("runs/*/*.parquet"))) > 8:
                break
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGKILL)
    kept.append(1)
    return running.simulate(scenario, progress, stop)
own = engines.find
engines.find = lambda name: dying if name == "kernel" else own(name)
making.build = lambda scenario, release, machine: "stand-in"
cli.main(sys.argv[1:])
"""


def test_a_validation_replaces_no_file_of_others(
    here: Path, kernel: list[Scenario], goodqueue: Callable[..., Result]
) -> None:
    (here / "out").mkdir()
    (here / "out" / "table.md").write_text("mine", encoding="utf-8")
    both = ("--store", "runs", "--out", "out")
    assert "holds files of others (table.md)" in goodqueue(*COMMAND, *both).err
    assert kernel == [], "the refusal comes before any run"
    forced = goodqueue(*COMMAND, *both, "--force")
    assert "holds files of others under names of ours and stays as it is; written: out-2" in forced.err
    assert (here / "out" / "table.md").read_text(encoding="utf-8") == "mine"
    assert (here / "out-2" / "table.md").is_file()


@pytest.mark.parametrize("folder", ["new", "old"])
def test_the_folder_that_once_kept_the_runs_is_refused_alone(
    here: Path, kernel: list[Scenario], goodqueue: Callable[..., Result], folder: str
) -> None:
    """Before 0.1 ``--out`` of a validation kept its runs. Without a word they would be run again, and lost."""
    if folder == "old":
        store.create(here / "old" / "store", "--store old/store")
    said = goodqueue(*COMMAND, "--out", folder)
    accepted = "accepted: --store DIR alone, which keeps the runs, or both, with another folder for --out"
    assert (said.status, said.err) == (2, f"goodqueue: --out {folder}: found without --store; {accepted}\n")
    assert kernel == []


def test_a_killed_validation_goes_on(here: Path, kernel: list[Scenario], goodqueue: Callable[..., Result]) -> None:
    command = [sys.executable, "-c", KILLED, *COMMAND, "--workers", "1", "--store", "runs", "--out", "out"]
    killed = subprocess.run(command, check=False, capture_output=True, env=os.environ)
    assert killed.returncode == -signal.SIGKILL
    runs = here / "runs" / "runs"
    kept = {file: file.read_bytes() for file in runs.glob("*/*.parquet")}
    assert 9 <= len(kept) <= 10, (
        "each record is written as soon as its run ends: 8 of the simulator, 1 or 2 of the kernel"
    )
    result = goodqueue(*COMMAND, "--store", "runs", "--out", "out")
    assert (result.status, result.err) == (0, "")
    assert len(kernel) == 12 - len(kept)
    for file, content in kept.items():
        assert file.read_bytes() == content
    assert not list(runs.glob("*/.*.partial-*"))


def test_a_folder_of_others_is_refused_before_anything_runs(
    here: Path, kernel: list[Scenario], goodqueue: Callable[..., Result]
) -> None:
    (here / "out").mkdir()
    (here / "out" / "mine.txt").write_text("mine", encoding="utf-8")
    result = goodqueue(*COMMAND, "--store", "runs", "--out", "out")
    assert (result.status, result.out) == (2, "")
    assert "mine.txt" in result.err
    assert kernel == []
    assert [file.name for file in (here / "out").iterdir()] == ["mine.txt"]


def test_an_engine_that_fails_ends_it_in_one_line(
    here: Path, monkeypatch: pytest.MonkeyPatch, goodqueue: Callable[..., Result]
) -> None:
    def fail(*_: object) -> str:
        raise UserError("kernel engine", "no virtual machine: found no qemu; accepted: qemu")

    own = engines.find
    monkeypatch.setattr(engines, "find", lambda name: fail if name == "kernel" else own(name))
    result = goodqueue(*COMMAND, "--store", "runs", "--out", "out")
    assert (result.status, result.out) == (2, "")
    assert result.err == "goodqueue: kernel engine: no virtual machine: found no qemu; accepted: qemu\n"
    assert len(store.find(here / "runs").all_keys()) == 8, "what was done stays"
