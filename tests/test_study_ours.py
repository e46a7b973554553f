"""The study that comes with the package: whole, and its own claims hold even in a hurry."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.conftest import Result

from goodqueue.studies import loading, locate, planning, selection

Command = Callable[..., Result]


def test_ours_in_a_hurry(goodqueue: Command) -> None:
    """One table end to end, shortened: the numbers are rough, the order of the three at 1 Mbit/s is not."""
    ids = ("c01", "v133", "v037")
    result = goodqueue("study", "schwardmann2014", "--quick", "--json", *(word for i in ids for word in ("--only", i)))
    assert (result.status, result.err) == (0, "")
    found = json.loads(result.out)
    assert len(found["values"]) == 154
    assert len(found["claims"]) == 29
    claims = {claim["id"]: claim["verdict"] for claim in found["claims"]}
    assert claims["schwardmann2014/c01"] == "holds"
    why = {value["id"]: value["why"] for value in found["values"]}
    assert why["schwardmann2014/v037"].startswith("the printed mean rows are not the means")
    assert why["schwardmann2014/v133"] == "a setting of the experiment, not a result"


def test_ours_is_complete() -> None:
    """Every value but settings and mean rows is computed, and the published facts are those that were handed to us."""
    folder = locate.available()["schwardmann2014"]
    study = loading.load(folder)
    plan = planning.plan(study, selection.select(study, []))
    assert len({(cell.scenario, cell.algorithm, str(cell.at)) for cell in plan.cells}) == 57
    computed = {(cell.scenario, cell.algorithm, str(cell.at)) for cell in plan.cells}
    missing = [
        value.id
        for value in study.published.values
        if value.metric != "parameter"
        and "_of_sweep_" not in value.metric
        and (value.scenario, value.algorithm, str(value.at)) not in computed
    ]
    assert missing == []
    # 17 cells x 3 disciplines, less the default one that tables 1b and 1c share, x 10 seeds; table 2; figure 2.
    assert len(plan.scenarios) == 16 * 3 * 10 + 3 * 10 + 3


@pytest.mark.parametrize("name", ["static", "dynamic", "figure2"])
def test_its_scenarios_run_by_themselves(name: str, goodqueue: Command) -> None:
    file = locate.available()["schwardmann2014"] / "scenarios" / f"{name}.toml"
    shorter = ("--set", "duration=12s") if name == "static" else ()
    assert goodqueue("run", str(file), "--json", *shorter).status == 0


def test_a_copy_elsewhere_is_the_same_study(tmp_path: Path, goodqueue: Command) -> None:
    shutil.copytree(locate.available()["schwardmann2014"], tmp_path / "copy")
    arguments = ("--only", "v001", "--quick", "--json")
    assert (
        goodqueue("study", str(tmp_path / "copy"), *arguments).out
        == goodqueue("study", "schwardmann2014", *arguments).out
    )


def test_studies_are_listed(goodqueue: Command) -> None:
    assert "schwardmann2014" in goodqueue("list", "studies").out
