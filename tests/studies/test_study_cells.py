"""Measured cells of a study: how they are read, when a number is inside one, and how many are."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Result
from goodqueue.studies import curves, inside, libraries, loading, planning, selection
from goodqueue.studies.outcome import carry_out

Command = Callable[..., Result]
RAW = ("l4steam2020", "paras2024", "sarpkaya2025", "srivastava2024", "taht2016")

STUDY = """
[study]
title = "Cells"

[[cells]]
file = "cells.csv"
scenario = "mine/link"
at = ["rate_mbps", "ecn"]
units = { used_percent = "percent", goodput_mbps = "Mbps" }
figure = { metric = "goodput_mbps", x = "rate_mbps" }

[qdiscs]
fifo = "pfifo limit 100"

[[experiment]]
id = "link"
published = "mine/link"
scenario = "link.toml"
seeds = 2

[experiment.sweep]
rate_mbps.values = []
rate_mbps.set = { "bottleneck.rate" = "{}mbit" }
ecn.values = []
ecn.set = { "traffic.0.ecn" = "{}" }

[experiment.metrics]
used_percent.record = "queues.down.utilisation_percent"
goodput_mbps = { compute = "goodput_all_mbps" }
"""
PUBLISHED = '[paper]\nkey = "mine"\ntitle = "Cells"\n\n[[scenario]]\nid = "mine/link"\ntitle = "A link"\n'
LINK = """
duration = "2s"
bottleneck = { rate = "5mbit", qdisc = "pfifo" }
path = { rtt = "20ms" }
traffic = [{ kind = "cbr", rate = "4mbit" }]
"""
CELLS = """# A comment.
algorithm,rate_mbps,ecn,n,used_percent,goodput_mbps,goodput_mbps_sd
fifo,5,true,1,84.9,3.9,0.2
fifo,5,false,1,86,,
fifo,8,false,10,55.1,3.9,0.01
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {"study.toml": STUDY, "published.toml": PUBLISHED, "link.toml": LINK, "cells.csv": CELLS}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_a_cell_has_its_point_its_id_and_its_band(folder: Path) -> None:
    values = loading.load(folder).published.values
    assert [(value.id, dict(value.at), value.number, value.band) for value in values[:2]] == [
        ("mine/link:fifo:5:true:used_percent", {"rate_mbps": 5, "ecn": True}, 84.9, 5.0),
        ("mine/link:fifo:5:true:goodput_mbps", {"rate_mbps": 5, "ecn": True}, 3.9, 0.4),
    ]
    assert [value.metric for value in values if value.at["ecn"] is False] == [
        "used_percent", "used_percent", "goodput_mbps"
    ]  # fmt: skip


def test_a_number_inside_the_band_is_reproduced_and_twice_as_far_it_is_close(folder: Path) -> None:
    """The link is used to 80 and 50 %: 4.9, 6 and 5.1 points from the cells, of which one run is known to 5."""
    study = loading.load(folder)
    chosen = selection.select(study, ())
    found = carry_out(planning.plan(study, chosen), chosen)
    by_id = {judged.value.id.partition(":")[2]: judged.verdict for judged in found.values}
    assert by_id == {
        "fifo:5:true:used_percent": "reproduced",
        "fifo:5:true:goodput_mbps": "reproduced",
        "fifo:5:false:used_percent": "close",
        "fifo:8:false:used_percent": "close",
        "fifo:8:false:goodput_mbps": "differs",
    }
    everything, *groups = inside.counts(
        study.words, [(one.value, one.verdict == inside.INSIDE) for one in inside.judged_cells(found)]
    )
    assert everything.inside == {"used_percent": (1, 3), "goodput_mbps": (1, 2)}
    assert {one.group: one.inside["used_percent"] for one in groups} == {
        "fifo": (1, 3), "at rate 5 Mbit/s": (1, 2), "at rate 8 Mbit/s": (0, 1),
        "at ecn false": (0, 2), "at ecn true": (1, 1),
    }  # fmt: skip
    assert inside.sentence(found).startswith("Cells: 1 of 3 inside the measured spread (33 %)")


CLAIM = """
[[claim]]
id = "mine/c1"
scenario = "mine/link"
statement = "the slow link is used more"
kind = "greater_than"
left = { algorithm = "fifo", metric = "used_percent", at = { rate_mbps = 5 } }
right = { at = { rate_mbps = 8 } }
over = { points = [{ ecn = false }] }
"""


def test_only_measured_cells_run_and_of_a_claim_its_points(folder: Path) -> None:
    """There is no cell of 8 Mbit/s with ECN. The claim needs those without ECN, at the rates of its two terms."""
    (folder / "published.toml").write_text(PUBLISHED + CLAIM, encoding="utf-8")
    study = loading.load(folder)
    cells = [[tuple(cell.at.values()) for cell in planning.all_cells(study) if chosen.takes(cell)] for chosen in (
        selection.select(study, ()), selection.select(study, ["c1"]))]  # fmt: skip
    assert cells == [[(5, True), (5, False), (8, False)], [(5, False), (8, False)]]


def test_a_line_of_a_figure_joins_cells_that_differ_only_along_it(folder: Path) -> None:
    study = loading.load(folder)
    chosen = selection.select(study, ())
    (drawn,) = curves.figures(carry_out(planning.plan(study, chosen, seeds=1), chosen))
    lines = [line for line in drawn.figure.axes[0].lines if line.get_linestyle() == "-"]
    assert [(line.get_label(), list(line.get_xdata())) for line in lines] == [
        ("at ecn true", [5.0]),
        ("at ecn false", [8.0]),
    ]


def test_a_report_draws_the_cells(folder: Path, goodqueue: Command) -> None:
    assert goodqueue("study", str(folder), "--seeds", "1", "--out", str(folder / "report")).status == 0
    results = json.loads((folder / "report" / "results.json").read_text(encoding="utf-8"))
    assert [value["band"] for value in results["values"]][:2] == [5.0, 0.4]
    assert (folder / "report" / "link.svg").is_file()


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("algorithm,rate_mbps,ecn,used_percent\n", "no column goodput_mbps"),
        (CELLS[: CELLS.index("\nfifo")] + "\n", "no cell below its columns"),
        (CELLS.replace(",86,,", ",86,"), "line 4: 6 fields; accepted: 7"),
        (CELLS.replace("84.9", "many"), 'line 3: used_percent: found "many"; accepted: a number'),
        (CELLS.replace("84.9", "8_4"), 'line 3: used_percent: found "8_4"; accepted: a number'),
        (CELLS.replace("84.9", "9" * 400), "line 3: used_percent: found "),  # no float can hold it
        (CELLS.replace("0.2", "-0.2"), 'line 3: goodput_mbps_sd: found "-0.2"; accepted: a number from 0'),
        (CELLS.replace("true", '"true'), "line 3: not CSV: "),
        (CELLS + "fifo,5,true,1,84.9,,\n", "is there twice"),
    ],
)
def test_a_table_that_is_none_is_refused_in_one_line(folder: Path, goodqueue: Command, text: str, want: str) -> None:
    (folder / "cells.csv").write_text(text, encoding="utf-8")
    result = goodqueue("study", str(folder))
    assert (result.status, len(result.err.splitlines())) == (2, 1)
    assert want in result.err


@pytest.mark.parametrize("name", RAW)
def test_each_claim_of_raw_data_is_about_metrics_and_lines_that_are_run(name: str) -> None:
    study = loading.load(libraries.STUDIES.available()[name])
    lines = {line for experiment in study.experiments for line in experiment.qdiscs}
    metrics = {metric.name for experiment in study.experiments for metric in experiment.metrics.values()}
    metrics |= {metric for exclusion in study.exclusions for metric in exclusion.metrics}
    for claim in study.published.claims:
        for term in filter(None, (claim.left, claim.right, *claim.items)):
            assert set(term.algorithms or ()) <= lines, claim.id
            assert set(term.metrics or ()) <= metrics, claim.id
    assert {value.algorithm for value in study.published.values} <= lines
    assert all(value.band for value in study.published.values if value.number)


def test_a_scenario_value_may_depend_on_a_second_parameter(folder: Path, goodqueue: Command) -> None:
    """With an RTT of 40 ms and 14 BBR flows, BBR's client is ready after 14 round trips, CUBIC's after 36."""
    study = loading.load(libraries.STUDIES.find("srivastava2024"))
    point = {"rate_mbps": 50, "rtt_ms": 40, "buffer_bdp": 5, "bbr_flows": 14}
    cell = next(cell for cell in planning.all_cells(study) if cell.at == point)
    flows = planning.scenario_of(cell, quick=False)["traffic"]
    assert [(one["start"], one["stop"]) for one in flows] == [("560ms", "120.56s"), ("1.44s", "121.44s")]
    study_file = folder / "study.toml"
    text = study_file.read_text(encoding="utf-8").replace('"{}mbit"', '"{}mbit", "traffic.0.start" = "{rtt*2}{}ms"')
    study_file.write_text(text, encoding="utf-8")
    result = goodqueue("study", str(folder))
    assert (result.status, len(result.err.splitlines())) == (2, 1)
    assert "sweep.rate_mbps.set.traffic.0.start: found" in result.err
