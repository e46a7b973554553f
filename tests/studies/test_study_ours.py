"""The study that comes with the package: complete, and with --quick each claim has its known verdict."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Result
from goodqueue import qdisc
from goodqueue.studies import libraries, loading, planning, selection

Command = Callable[..., Result]


# The verdicts of --quick, with 3 seeds of 40 s. docs/results/claims.md has those of the whole study, with 10 of 1010 s.
VERDICTS = {
    "holds": "01 03 05 06 07 08 11 12 17 18 19 20 21 24 27",
    "fails": "04 09 10 14 16 22 23 25 26 28 29",
    "not_run": "02 13 15",
}


@pytest.mark.long
def test_ours_in_a_hurry(goodqueue: Command) -> None:
    """Guards against a change of verdict that nobody notices. NOTES.md must explain each change."""
    result = goodqueue("study", "schwardmann2014", "--quick", "--json")
    assert (result.status, result.err) == (0, "")
    found = json.loads(result.out)
    assert len(found["values"]) == 154
    claims = {claim["id"].removeprefix("schwardmann2014/c"): claim["verdict"] for claim in found["claims"]}
    assert claims == {id_: verdict for verdict, ids in VERDICTS.items() for id_ in ids.split()}
    why = {value["id"]: value["why"] for value in found["values"]}
    assert why["schwardmann2014/v037"].startswith("the printed mean rows are not the means")
    assert why["schwardmann2014/v133"] == "a setting of the experiment, not a result"


def test_ours_is_complete() -> None:
    """Every value except settings and mean rows is computed, with as many runs as the paper's tables require."""
    folder = libraries.STUDIES.available()["schwardmann2014"]
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
    # 17 cells x 3 disciplines, minus the default cell that tables 1b and 1c share, x 10 seeds; table 2; figure 2.
    assert len(plan.scenarios) == 16 * 3 * 10 + 3 * 10 + 3


@pytest.mark.parametrize("name", ["static", "dynamic", "figure2"])
def test_its_scenarios_run_by_themselves(name: str, goodqueue: Command) -> None:
    file = libraries.STUDIES.available()["schwardmann2014"] / "scenarios" / f"{name}.toml"
    shorter = ("--set", "duration=12s") if name == "static" else ()
    assert goodqueue("run", str(file), "--json", *shorter).status == 0


def test_a_copy_elsewhere_is_the_same_study(tmp_path: Path, goodqueue: Command) -> None:
    shutil.copytree(libraries.STUDIES.available()["schwardmann2014"], tmp_path / "copy")
    arguments = ("--only", "v001", "--quick", "--json")
    assert (
        goodqueue("study", str(tmp_path / "copy"), *arguments).out
        == goodqueue("study", "schwardmann2014", *arguments).out
    )


def test_studies_are_listed(goodqueue: Command) -> None:
    assert "schwardmann2014" in goodqueue("list", "studies").out


def test_the_law_that_no_text_has_is_the_rfcs_until_it_resumes() -> None:
    """It is a copy in Python, found beside its study from any folder. A mistake in the copy would be no hypothesis."""
    line = loading.load(libraries.STUDIES.available()["schwardmann2014"]).reconstructions[0].qdiscs["codel"]
    assert isinstance(line, str)

    def drops(line: str) -> list[list[int]]:
        law, found = qdisc.make(f"{line} limit 10000"), []
        for begin in (0, 1000, 2000):  # the queue stands for most of a second, and is empty for the rest
            dropped = []
            for ms in range(begin, begin + 900):
                for number in range(2):
                    law.enqueue(ms * 1_000_000, qdisc.Packet(1514, id=2 * ms + number))
                law.dequeue(ms * 1_000_000)
                dropped += [packet.id for packet, _ in law.dropped]
            while law.dequeue((begin + 900) * 1_000_000) is not None:
                pass
            found.append(dropped)
        return found

    ours, rfc = drops(line), drops("codel variant rfc8289")
    assert ours[0] == rfc[0]
    assert [len(episode) for episode in ours] == [22, 53, 84]
    assert [len(episode) for episode in rfc] == [22, 52, 72]
