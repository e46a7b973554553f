"""The study of Khademi et al. 2013: complete, and with --quick each claim has its known verdict."""

import json
from collections.abc import Callable

import pytest

from conftest import Result
from goodqueue.studies import libraries, loading, planning, selection

Command = Callable[..., Result]

# The verdicts of --quick for each claim, with 2 seeds of 20 s. NOTES.md has those of 10 seeds and 60 s.
VERDICTS = {
    "holds": "02 03 04 05 06 10 14 15 16 20 21 22 27 28 29 30 31 35 37 38 40 42 44 50 51 52 56 57 59 60 64 66 67 68 72",
    "fails": (
        "01 07 08 09 11 12 13 17 18 19 23 24 25 26 32 33 34 36 39 41 43 45 46 47 48 49 53 54 "
        "55 58 61 62 63 65 69 70 71 73"
    ),
    "not_run": "",
}


@pytest.mark.long
def test_ours_in_a_hurry(goodqueue: Command) -> None:
    """Guards against a change of verdict that nobody notices. NOTES.md must explain each change."""
    result = goodqueue("study", "khademi2013", "--quick", "--json")
    assert (result.status, result.err) == (0, "")
    found = json.loads(result.out)
    claims = {claim["id"].removeprefix("khademi2013/c"): claim["verdict"] for claim in found["claims"]}
    assert claims == {id_: verdict for verdict, ids in VERDICTS.items() for id_ in ids.split()}
    why = {value["id"].removeprefix("khademi2013/"): value["why"] for value in found["values"]}
    assert why["v066"].startswith("a rounding in the text of table 5")
    assert "reconstructions" not in found, "what nobody asked for is not run"


def test_every_value_is_compared() -> None:
    """Each value has a number, except settings and values that are printed twice, and the plan is the paper's."""
    study = loading.load(libraries.STUDIES.available()["khademi2013"])
    plan = planning.plan(study, selection.select(study, []))
    wired = {scenario for one in study.experiments for scenario in one.published}
    assert {f"khademi2013/fig{n}" for n in ("2a", "3", "4", "5a", "6b", "7", "8", "11b", "12", "13", "14")} <= wired
    # Targets x loads x AQMs; two more intervals and two more updates than table 2, at three loads; two more base RTTs,
    # at three loads under three AQMs; FQ_CoDel with two targets, at three loads; figure 12; 32 flows, and all with ECN.
    # Over Wi-Fi downloads, and as many uploads, at three loads.
    cells = 5 * 4 * 3 + 2 * 3 + 2 * 3 + 2 * 3 * 3 + 2 * 3 + 2 * 3 + 3 + 4 * 3 + 2 * 3 * 3
    assert len(plan.scenarios) == 10 * cells
    cabled = [scenario for scenario in plan.scenarios.values() if "wifi" not in scenario["bottleneck"]]
    lasting = {scenario["path"]["rtt"]: scenario["duration"] for scenario in cabled}
    assert lasting == {"5ms": "60s", "100ms": "60s", "500ms": "300s"}, "4.1.3"
    others = [scenario for scenario in plan.scenarios.values() if "wifi" in scenario["bottleneck"]]
    assert {scenario["duration"] for scenario in others} == {"180s"}, "3.1.3"
    assert {scenario["bottleneck"]["up"]["qdisc"].split()[0] for scenario in others} == {"pfifo_fast"}, "3.1.2"


def test_each_target_has_its_lines() -> None:
    """ARED's thresholds must be a half and one and a half of the target at 10 Mbit/s, in bytes."""
    study = loading.load(libraries.STUDIES.available()["khademi2013"])
    target = next(one for one in study.experiments if one.id == "target")
    lines = target.qdiscs["ared"]
    assert not isinstance(lines, str)
    for ms in (5, 10, 20, 30):
        words = lines[f"target_ms={ms}"].split()
        least, most = (int(words[words.index(word) + 1]) for word in ("min", "max"))
        assert (least, most) == (ms * 1250 / 2, ms * 1250 * 3 / 2)
    assert "min 1514 max 3028" in lines["target_ms=1"], "3.1.3: one MTU and two"
    for algorithm in ("codel", "pie"):
        own = target.qdiscs[algorithm]
        assert not isinstance(own, str)
        assert all(f"target {key.removeprefix('target_ms=')}ms" in line for key, line in own.items())


@pytest.mark.parametrize("name", ["wired", "one-flow", "wifi", "wifi-mixed"])
def test_its_scenarios_run_by_themselves(name: str, goodqueue: Command) -> None:
    file = libraries.STUDIES.available()["khademi2013"] / "scenarios" / f"{name}.toml"
    shorter = ("--set", "duration=10s") if name.startswith("wifi") else ()
    assert goodqueue("run", str(file), "--json", *shorter).status == 0
