"""Studies over a Wi-Fi cell: the places of the lines, numbers of stations, and Høiland-Jørgensen et al. 2017."""

import json
from collections.abc import Callable
from typing import Any

import pytest

import own_numbers
from conftest import Result
from goodqueue import scenario
from goodqueue.errors import UserError
from goodqueue.studies import libraries, loading, planning, selection
from goodqueue.studies.keys import load_toml

stations, captured = own_numbers.of("studies/hoiland2017"), own_numbers.of("studies/khademi2013")


Command = Callable[..., Result]


def first_cell(plan: planning.Plan, name: str, **at: str) -> dict[str, Any]:
    """Return the scenario of the cell ``name`` under PIE."""
    cell = next(one for one in plan.cells if one.scenario.endswith(name) and one.algorithm == "pie" and one.at == at)
    return planning.scenario_of(cell, quick=False)


def test_radios_and_the_wired_bottleneck_each_have_a_line() -> None:
    """Guards against a wired bottleneck of 1 Mbit/s with the line for 100, and a radio without the discipline."""
    study = loading.load(libraries.STUDIES.available()["hoiland2015"])
    plan = planning.plan(study, selection.select(study, ["wifi-low", "fig9"]), seeds=1)
    slow = next(one for one in plan.cells if one.algorithm == "codel" and one.at == {"link": "10/1"})
    resolved = planning.scenario_of(slow, quick=False)
    down, up = (next(hop for hop in resolved["hop"] if hop["name"] == name) for name in ("router", "modem"))
    assert "target 5ms" in down["qdisc"]
    assert "target 13ms" in up["qdisc"], "table 1 at 1 Mbit/s"
    ends = (resolved["bottleneck"], resolved["bottleneck"]["up"])
    assert all(end["qdisc"].startswith("codel") and "target 5ms" in end["qdisc"] for end in ends)
    assert first_cell(plan, "fig9")["hop"][0]["qdisc"].startswith("pie")


def test_a_link_that_the_scenario_lacks_is_refused(tmp_path: Any) -> None:
    folder = libraries.STUDIES.available()["hoiland2015"]
    text = (folder / "study.toml").read_text(encoding="utf-8")
    (tmp_path / "scenarios").symlink_to(folder / "scenarios")
    (tmp_path / "published.toml").symlink_to(folder / "published.toml")
    (tmp_path / "numbers.py").symlink_to(folder / "numbers.py")
    (tmp_path / "study.toml").write_text(
        text.replace('hops = ["router", "modem"]', 'hops = ["ruoter"]'), encoding="utf-8"
    )
    with pytest.raises(UserError, match=r'hops.*"ruoter".*did you mean "router"'):
        loading.load(tmp_path)


STATION = {"name": "slow", "airtime_percent": 79.0, "down": {"aggregate_frames": 1.9}, "up": {"aggregate_frames": None}}


@pytest.mark.parametrize(
    ("station", "number", "want"),
    [
        ("slow", "airtime_percent", 79.0),
        ("slow", "down.aggregate_frames", 1.9),
        ("slow", "up.aggregate_frames", None),
        ("fast", "airtime_percent", None),
    ],
)
def test_a_number_of_a_station(station: str, number: str, want: float | None) -> None:
    record: Any = {"wifi": {"stations": [STATION]}}
    assert stations.of_station(record, {"station": station, "number": number}) == want
    assert stations.of_station({}, {"station": station, "number": number}) is None, "no cell"  # type: ignore[typeddict-item]


def test_round_trips_are_of_the_flow_in_the_middle() -> None:
    """Guards against a flow the other way, a flow that never connected counted as 0, and UDP, which measures no RTT."""
    flows = [
        {"cc": "cubic", "direction": "up", "rtt_ms": {"p50": value} if value else None}
        for value in (300, None, 100, 200)
    ]
    flows += [{"cc": "cubic", "direction": "down", "rtt_ms": {"p50": 9.0}}, {"cc": None, "direction": "up"}]
    record: Any = {"flows": flows}
    assert captured.flow_rtts_ms(record, {"direction": "up", "percentile": 50}) == 200
    assert captured.flow_rtts_ms({"flows": []}, {"direction": "up", "percentile": 50}) is None  # type: ignore[typeddict-item]


def test_captures_do_not_show_the_wait_in_a_stations_own_discipline() -> None:
    """Guards against the whole queue upstream, or the wrong one's percentile, in place of the driver's part."""
    up = {"delay_ms": {"p50": 1300.0, "p90": 1400.0}, "ring": {"delay_ms": {"p50": 60.0, "p90": 70.0}}}
    down = {"delay_ms": {"p50": 110.0, "p90": 200.0}, "ring": {"delay_ms": {"p50": 50.0, "p90": 55.0}}}
    record: Any = {"scenario": {"path": {"rtt": "100ms"}}, "queues": {"up": up, "down": down}}
    assert [captured.captured_rtt_ms(record, {"percentile": at}) for at in (50, 90)] == [270, 370]
    down["delay_ms"] = {}
    assert captured.captured_rtt_ms(record, {"percentile": 50}) is None, "no ACK was forwarded"


# The verdicts of --quick for each claim of hoiland2017, with 2 seeds of 15 and 20 s. NOTES.md has those of more.
VERDICTS = {"holds": "01 02 03 04 05 06 07 08 09 10", "fails": "11"}


def test_airtime_in_a_hurry(goodqueue: Command) -> None:
    """Guards against a change of verdict that nobody notices. NOTES.md must explain each change."""
    result = goodqueue("study", "hoiland2017", "--quick", "--json")
    assert (result.status, result.err) == (0, "")
    claims = {one["id"].removeprefix("hoiland2017/c"): one["verdict"] for one in json.loads(result.out)["claims"]}
    assert claims == {id_: verdict for verdict, ids in VERDICTS.items() for id_ in ids.split()}


def test_each_fact_says_where_it_is_from() -> None:
    """The paper was not available: a number without its source would look as if it had been read there."""
    folder = libraries.STUDIES.available()["hoiland2017"]
    facts = load_toml(folder / "published.toml", "facts")
    assert {value["note"] for value in facts["value"]} == {"remembered", "patch"}
    assert {claim["where"] for claim in facts["claim"]} == {"remembered", "abstract", "patch"}


@pytest.mark.parametrize(
    "file", ["hoiland2015/wifi-rrul", "hoiland2015/wifi-voip", "hoiland2015/wifi-web", "hoiland2017/udp"]
)
def test_scenarios_over_a_cell_run_by_themselves(file: str, goodqueue: Command) -> None:
    study, name = file.split("/")
    path = libraries.STUDIES.available()[study] / "scenarios" / f"{name}.toml"
    assert scenario.load(path)["bottleneck"]["wifi"]["standard"] == "802.11n"
    assert goodqueue("run", str(path), "--json", "--set", "duration=8s").status == 0
