"""Which published values are judged, by which number, and why the others are not."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from conftest import SCENARIO
from goodqueue.studies import judging
from goodqueue.studies.execution import Measured
from goodqueue.studies.measuring import Measurement
from goodqueue.studies.model import Cell, Exclusion, Experiment, Metric, Quick, Study
from goodqueue.studies.published import Claim, Published, Term, Value
from goodqueue.studies.selection import Selection, select
from test_study_judging import measured, study, value

EVERYTHING = Selection(frozenset())


def experiment(scenario: str, **metrics: Metric) -> Experiment:
    """Return an experiment that answers ``scenario`` with ``metrics``, under CoDel only."""
    return Experiment(
        "e", (scenario,), Path(), Path(), SCENARIO, {"codel": "codel"}, {}, {}, {}, metrics, 3, Quick(1, {}), False
    )


def judged(study_: Study, *cells: Measured, selection: Selection = EVERYTHING) -> dict[str, tuple[str, str]]:
    """Return each value's verdict and its reason."""
    by_place: dict[tuple[str, str], list[Measured]] = {}
    for cell in cells:
        by_place.setdefault((cell.cell.scenario, cell.cell.algorithm), []).append(cell)
    return {one.value.id: (one.verdict, one.why) for one in judging.judge(study_, by_place, selection)}


def of(*values: Value, exclusions: tuple[Exclusion, ...] = ()) -> Study:
    """Return a study of k/s, which has an experiment, and of k/none, which has none."""
    facts = Published(Path("p"), "k", "t", (), 2014, "", {}, values, ())
    experiments = (experiment("k/s", delay=Metric("delay_ms"), loss=Metric("loss_percent")), experiment("k/bare"))
    return Study(
        folder=Path("f"),
        key="k",
        title="t",
        citation="",
        published=facts,
        experiments=experiments,
        exclusions=exclusions,
        tolerances={},
    )


def cell(at: Mapping[str, Any], **numbers: Measurement) -> Measured:
    """Return CoDel's measurements at a point of k/s."""
    there = experiment("k/s", delay=Metric("delay_ms"), loss=Metric("loss_percent"))
    return Measured(Cell(there, "k/s", "codel", at), (1, 2, 3), "codel", numbers, None, ())


def delay(id_: str, low: float = 10, **more: Any) -> Value:
    return value(low, **({"id": id_, "algorithm": "codel", "metric": "delay_ms", "at": {"x": 1}} | more))


def test_a_value_is_judged_by_the_number_of_its_metric_at_its_point() -> None:
    """Guards against the number of another point, or of another metric at the same point."""
    values = (delay("here"), delay("there", 20, at={"x": 2}), delay("loss", 30, metric="loss_percent"))
    first = cell({"x": 1}, loss=measured(30), delay=measured(10))
    found = judged(of(*values), first, cell({"x": 2}, loss=measured(40), delay=measured(20)))
    assert found == dict.fromkeys(("here", "there", "loss"), ("reproduced", ""))
    assert judged(of(*values), first)["there"] == ("not_run", "the study does not run this point")
    assert judged(of(delay("pie", algorithm="pie")), first)["pie"][0] == "not_run"


def test_what_is_not_judged_says_why() -> None:
    exclusions = (
        Exclusion(("drop_*", "tau_ms"), (), (), "nobody knows what was counted"),
        Exclusion((), (), ("k/wifi",), "no such radio"),
    )
    values = (
        delay("setting", metric="parameter"),
        delay("pattern", metric="drop_percent"),
        delay("name", metric="tau_ms"),
        delay("scenario", scenario="k/wifi"),
        delay("text", unit="ms", low=cast("float", None)),
        delay("none", scenario="k/none"),
        delay("metric", metric="jitter_ms"),
        delay("bare", scenario="k/bare"),
        delay("line", algorithm="pie"),
        delay("kept"),
    )
    found = judged(of(*values, exclusions=exclusions), cell({"x": 1}, delay=measured(10)))
    assert {id_: why for id_, (verdict, why) in found.items() if verdict == "not_run"} == {
        "setting": "a setting of the experiment, not a result",
        "pattern": "nobody knows what was counted",
        "name": "nobody knows what was counted",
        "scenario": "no such radio",
        "text": "printed as text, not as a number",
        "none": "no experiment of the study answers this scenario",
        "metric": "the study does not compute jitter_ms",
        "bare": "the study does not compute delay_ms",
        "line": "the study has no qdisc line for pie",
    }
    assert found["kept"] == ("reproduced", "")


def test_only_what_was_asked_for_is_judged() -> None:
    both = of(delay("one"), delay("other"))
    found = judged(both, cell({"x": 1}, delay=measured(10)), selection=Selection(frozenset({"one"})))
    assert found == {"one": ("reproduced", ""), "other": ("not_run", "left out by --only")}


def test_a_claim_is_asked_for_by_its_id_or_by_one_of_its_scenarios() -> None:
    """Guards against all claims except the requested ones, and against runs that only another claim needs."""
    left = Term(algorithms=("codel",), metrics=("delay_ms",))
    own = Claim("k/c1", ("k/s",), "…", "within", left, low=1, high=2)
    other = Claim("k/c2", ("k/s", "k/t"), "…", "less_than", left, Term(constant=5.0))
    facts = Published(Path("p"), "k", "t", (), 2014, "", {}, (), (own, other))
    whole = Study(folder=Path("f"), key="k", title="t", citation="", published=facts, tolerances={})
    by_id = select(whole, ["c1"])
    assert by_id.wanted == (("k/s", "codel", {}),)
    assert (by_id.takes_claim(own), by_id.takes_claim(other)) == (True, False)
    by_scenario = Selection(frozenset({"k/t"}))
    assert (by_scenario.takes_claim(own), by_scenario.takes_claim(other)) == (False, True)
    assert EVERYTHING.takes_claim(own)
    assert select(whole, ["c2"]).wanted == (("k/s", "codel", {}), ("k/t", "codel", {}))


@pytest.mark.parametrize(
    ("number", "missing", "said"),
    [
        (10, 0, ("reproduced", "")),
        (10, 1, ("reproduced", "1 of 4 seeds do not show it")),
        (None, 3, ("not_run", "3 of 6 seeds do not show it")),
        (None, 0, ("not_run", "too few seeds")),
    ],
)
def test_seeds_that_do_not_show_it_are_counted(number: float | None, missing: int, said: tuple[str, str]) -> None:
    """Guards against a mean of one seed of four that looks like a mean of four."""
    found = judging.compare(study(), value(10), Measurement(number, None, None, n=3, missing=missing))
    assert (found.verdict, found.why) == said
