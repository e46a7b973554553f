"""Several engines on the same scenarios: one row per engine, paired differences, refusals before anything runs."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import ROOT, SCENARIO, Result
from goodqueue import comparison as comparing
from goodqueue import engines
from goodqueue.errors import UserError
from goodqueue.measures import stats
from goodqueue.record import Scenario

QUICK = ["--duration", "3s", "--warmup", "1s", "--seeds", "3"]


@pytest.mark.parametrize(
    ("text", "found"),
    [("kernl", '"kernl"'), ("", '""'), ("sim,", '""'), ("gateway", '"gateway"'), ("sim,sim", '"sim,sim"')],
)
def test_an_engine_that_is_none_is_refused_by_name(text: str, found: str) -> None:
    with pytest.raises(UserError, match=f"--engine: found {found}.*; accepted: "):
        engines.parse(text)


def test_one_engine_means_one() -> None:
    with pytest.raises(UserError, match=r'found "sim,kernel"; accepted: sim, kernel, live$'):
        engines.parse("sim,kernel", several=False)


def test_a_row_an_engine_with_their_difference_by_seed(
    here: Path, kernel: list[Scenario], goodqueue: Callable[..., Result]
) -> None:
    result = goodqueue("compare", "pfifo", "codel", *QUICK, "--engine", "sim,kernel", "--json")
    assert (result.status, result.err) == (0, "")
    found = json.loads(result.out)
    assert found["engines"] == ["sim", "kernel"]
    rows = [(row["qdisc"], row["engine"]) for row in found["qdiscs"]]
    assert rows == [("pfifo", "sim"), ("pfifo", "kernel"), ("codel", "sim"), ("codel", "kernel")]
    _, other_pfifo, codel, other_codel = found["qdiscs"]
    values = [row["metrics"]["delay_mean_ms"]["values"] for row in (other_pfifo, codel, other_codel)]
    by_engine = stats.paired(values[2], values[1])
    by_qdisc = stats.paired(values[2], values[0])
    assert by_engine is not None
    assert by_qdisc is not None
    assert codel["difference_from_first_engine"] is None, "the first engine is what the others differ from"
    assert other_codel["difference_from_first_engine"]["delay_mean_ms"]["mean"] == by_engine.mean
    assert other_codel["difference_from_first"]["delay_mean_ms"]["mean"] == by_qdisc.mean, "on the same engine"


def test_progress_is_that_of_all_engines_together(kernel: list[Scenario]) -> None:
    """A bar that restarts with the second engine, or that ends at a half, would be wrong."""
    shares: list[float] = []
    comparing.compare(SCENARIO, ["pfifo"], [1, 2], progress=shares.append, on=("sim", "kernel"))
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert 0.5 in shares


def test_the_report_names_the_engine_of_each_row(
    here: Path, kernel: list[Scenario], goodqueue: Callable[..., Result]
) -> None:
    result = goodqueue("compare", "codel", *QUICK, "--engine", "sim,kernel", "--out", "report")
    assert (result.status, result.err) == (0, "")
    assert "Difference from engine sim" in result.out
    page = (here / "report" / "report.html").read_text(encoding="utf-8")
    for needed in ("codel (sim)", "codel (kernel)", "Difference from engine sim", "engines sim and kernel"):
        assert needed in page
    results = json.loads((here / "report" / "results.json").read_text(encoding="utf-8"))
    assert results["command"].count("--engine sim,kernel") == 1


def test_what_the_kernel_has_not_is_refused_before_anything_runs(
    here: Path, kernel: list[Scenario], goodqueue: Callable[..., Result]
) -> None:
    result = goodqueue("compare", "codel", "rem", *QUICK, "--engine", "sim,kernel", "--out", "report")
    assert (result.status, result.out) == (2, "")
    assert result.err == 'goodqueue: bottleneck.qdisc: found "rem"; accepted: what Linux has\n'
    assert kernel == []
    assert not (here / "report").exists()


def test_a_study_runs_on_the_kernel(here: Path, kernel: list[Scenario], goodqueue: Callable[..., Result]) -> None:
    study = str(ROOT / "studies" / "schwardmann2014")
    command = ["study", study, "--quick", "--seeds", "1", "--only", "v001"]
    result = goodqueue(*command, "--engine", "kernel", "--json")
    assert (result.status, result.err) == (0, "")
    found = json.loads(result.out)
    assert (found["engine"], found["runs"]) == ("kernel", len(kernel))
    assert kernel


def test_a_study_that_the_kernel_cannot_run_names_the_cell(
    here: Path, monkeypatch: pytest.MonkeyPatch, goodqueue: Callable[..., Result]
) -> None:
    def refuse(engine: str, scenario: Scenario) -> None:
        raise UserError("traffic[0].stack", 'found "linux-3.10"; accepted: linux-6.1')

    monkeypatch.setattr(engines, "check", refuse)
    result = goodqueue("study", "schwardmann2014", "--quick", "--engine", "kernel")
    assert (result.status, result.out) == (2, "")
    assert "goodqueue: --engine kernel: " in result.err
    why = 'traffic[0].stack: found "linux-3.10"; accepted: linux-6.1'
    assert result.err.endswith(f"table1a codel bandwidth_mbps=1: {why}\n")
