"""Latency under load: each computation on a hand-made record, and the comparison of numbers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

import own_numbers
from conftest import Result
from goodqueue.measures import numbers
from goodqueue.measures.numbers import counts, shares, trips
from goodqueue.record import Record
from goodqueue.studies import flows as beside
from goodqueue.studies import libraries, loading, measuring, phases, planning, selection
from goodqueue.studies.model import Metric

latency, roundtrip = own_numbers.of("studies/hoiland2015"), own_numbers.of("studies/khademi2013")


def record() -> Any:
    """Return a record of two pings over 5 s in intervals of 1 s, on a path of 50 ms, and a TCP flow."""
    pings: list[list[float | None]] = [[60.0, 250.0, None, 71.0, 69.0], [80.0, 350.0, None, 71.0, None]]
    none = [0] * 5
    return {
        "scenario": {"path": {"rtt": "50ms"}},
        "flows": [
            {"goodput_mbps": 4.0, "cc": "cubic", "direction": "down"},
            {"goodput_mbps": 5.0, "cc": "cubic", "direction": "down"},
            {"goodput_mbps": 1.0, "cc": "cubic", "direction": "up"},
            {"goodput_mbps": 0.5, "cc": None, "direction": "down"},
        ],
        "apps": [
            {"kind": "voip", "delay_percentiles_ms": [25.0 + step for step in range(101)]},
            {"kind": "ping", "rtt_ms": {"mean": 70.0}},
            {"kind": "ping", "rtt_ms": {"mean": 90.0}},
            {"kind": "ping", "rtt_ms": None},
        ],
        "series": {
            "time_s": [1.0, 2.0, 3.0, 4.0, 5.0],
            "queues": {"down": {"drop_probability": [0.5, 0.0, None, 0.01, 0.03]}},
            "flows": [
                {"name": "a/0", "cwnd_packets": [10, 20, 30, 20, 20], "dropped_packets": [0, 0, 4, 0, 1]},
                *({"name": "p", "cwnd_packets": [None] * 5, "dropped_packets": none, "rtt_ms": ping} for ping in pings),
            ],
        },
    }


def test_flows_of_the_other_way_or_not_of_tcp_are_no_goodput() -> None:
    down, up, every = numbers.find(["tcp_goodput_mbps", "up_tcp_goodput_mbps", "goodput_all_mbps"])
    assert (down.pick(record()), up.pick(record()), every.pick(record())) == (9.0, 1.0, 10.5)


def test_latency_is_above_the_base_and_a_silent_ping_has_no_part() -> None:
    assert trips.latency_mean_ms(record()) == 30.0


def test_a_ping_each_200_ms_is_heard_in_each_span() -> None:
    """Intervals of 100 ms: 10, nothing, 30, 50, and one of the next span. Single intervals would jump."""
    short = record()
    short["series"]["time_s"] = [0.1, 0.2, 0.3, 0.4, 0.5]
    short["series"]["flows"] = [{"name": "p", "rtt_ms": [60.0, None, 80.0, 100.0, 55.0]}]
    assert latency.latencies(short) == ([0.2, 0.4, 0.6], [10.0, 40.0, 5.0])


def test_the_steady_state_is_of_its_time() -> None:
    """Latencies 20, 250, none, 21, 19: steady after 3 s is 20. The second up to 4 s is the first within 1.25."""
    assert latency.latencies(record()) == ([1.0, 2.0, 4.0, 5.0], [20.0, 250.0, 21.0, 19.0])
    assert latency.steady_ms(record(), {"from_s": 3.0}) == 20.0
    assert latency.settle_s(record(), {"from_s": 3.0, "factor": 1.25}) == 4.0
    assert latency.settle_s(record(), {"from_s": 3.0, "factor": 0.5}) is None
    assert latency.settle_s(record(), {"from_s": 3.0, "factor": 1.05}) == 4.0, "21 is just 1.05 times 20"
    assert latency.settle_s(record(), {"from_s": 3.0, "factor": 0.96}) == 5.0, "19 is below 19.2, in the last second"
    assert latency.steady_ms(record(), {"from_s": 4.0}) == 19.0, "what ended at that time is of before"
    assert latency.settle_s(record(), {"from_s": 2.0, "factor": 100.0}) == 4.0, "never before the peak, ended at 2 s"
    assert latency.settle_s(record(), {"from_s": 5.0, "factor": 9.0}) is None, "nothing is steady after the end"
    assert latency.settle_s(record(), {"from_s": 0.5, "factor": 9.0}) is None, "there was no peak before"


def test_a_course_begins_with_its_first_span_and_ends_with_its_last() -> None:
    """Ten spans of 0.2 s up to 2 s: before the first echo its latency, then on the line from 20 to 250 ms."""
    found = latency.course(record(), 2.0)
    assert found == pytest.approx((*[20.0] * 5, 66.0, 112.0, 158.0, 204.0, 250.0))


def test_the_round_trips_that_senders_measured_are_those_of_the_flow_in_the_middle() -> None:
    """Medians of 30, 50 and 70 ms. Guards against flows of the other way, of datagrams, or without a measurement."""
    flow = {"cc": "cubic", "direction": "down"}
    times = [{"p10": low, "p50": low + 10.0, "p90": None} for low in (60.0, 20.0, 40.0, 99.0, 98.0)]
    own: list[dict[str, Any]] = [flow | {"rtt_ms": one} for one in times]
    own[3]["direction"], own[4]["cc"] = "up", None
    found = cast("Record", {"flows": [*own, flow | {"rtt_ms": None}]})
    assert roundtrip.flow_rtts_ms(found, {"direction": "down", "percentile": 50.0}) == 50
    assert roundtrip.flow_rtts_ms(found, {"direction": "down", "percentile": 10.0}) == 40
    assert roundtrip.flow_rtts_ms(found, {"direction": "up", "percentile": 50.0}) == 109
    assert roundtrip.flow_rtts_ms(found, {"direction": "down", "percentile": 90.0}) is None


def test_the_peak_is_that_of_the_mean_of_the_seeds() -> None:
    """Runs that peak at different times: the maximum of each is 9, that of their mean (3, 5.5, 5) is 5.5."""
    assert measuring.at_peak([(1.0, 9.0, 1.0), (5.0, 2.0, 9.0)]) == [9.0, 2.0]
    assert measuring.at_peak([None, (1.0, 2.0)]) == [None, 2.0]
    assert measuring.at_peak([3.0, None]) == [3.0, None]
    found = latency.peak_ms(record(), {"until_s": 4.0})
    assert found is not None
    assert found[4::5] == pytest.approx((20.0, 250.0, 135.5, 21.0))  # at 1 to 4 s; at 3 s between its neighbours
    seconds = Metric(
        "latency_peak_s", computation=latency.NUMBERS["latency_peak_ms"], options={"until_s": 4.0}, scale=1e-3
    )
    assert measuring.of_record(seconds, record()) == pytest.approx([one / 1e3 for one in found])
    assert latency.peak_ms(record() | {"series": {"time_s": [1.0], "flows": []}}, {"until_s": 1.0}) is None


def test_drops_are_known_to_their_interval() -> None:
    """Losses 0 0 4 0 1: mean 1, squares of the differences 1 1 9 1 0, so 12/5 over 1."""
    assert counts.first_drop_time_ms(record()) == 2000.0
    assert latency.burstiness_index(record(), {"flow": "a/0"}) == pytest.approx(2.4)
    assert latency.burstiness_index(record(), {"flow": "p"}) is None
    more = record()
    more["series"]["flows"][0]["dropped_packets"] = [1, 0, 4, 0, 5]  # mean 2: squares 1 4 4 4 9, so 22/5 over 2
    assert latency.burstiness_index(more, {"flow": "a/0"}) == pytest.approx(2.2)
    assert counts.first_drop_time_ms(more) == 0.0, "the first interval begins with the run"
    never = record()
    never["series"]["flows"] = never["series"]["flows"][1:]
    assert counts.first_drop_time_ms(never) is None
    assert latency.drop_probability_percent(record(), {"from_s": 2.0}) == pytest.approx(2.0)
    assert counts.cwnd_mean_packets(record()) == 20.0


def test_a_calls_delay_is_above_half_the_round_trip() -> None:
    assert latency.call_delay_ms(record(), {"percentile": 50.0, "above": -1.0}) == 50.0
    assert latency.call_delay_ms(record(), {"percentile": 90.0, "above": 10.0}) == 80.0
    longer = record() | {"scenario": {"path": {"rtt": "60ms"}}}
    assert latency.call_delay_ms(longer, {"percentile": 90.0, "above": 0.0}) == 90.0, "above the least, not the way"
    lossy = record()
    lossy["apps"][0]["delay_percentiles_ms"][95] = None
    assert latency.call_delay_ms(lossy, {"percentile": 95.0, "above": 10.0}) is None
    assert latency.call_delay_ms(lossy, {"percentile": 99.0, "above": 95.0}) is None
    assert latency.call_delay_ms(record() | {"apps": []}, {"percentile": 50.0, "above": -1.0}) is None


def test_numbers_are_set_against_others() -> None:
    assert measuring.set_against(Metric("x"), 3.0, 2.0) == 1.5
    assert measuring.set_against(Metric("x", form="less_percent"), 9.0, 10.0) == pytest.approx(10.0)
    assert measuring.set_against(Metric("x"), 3.0, 0.0) is None
    assert measuring.pool("mean", [[1.0, 2.0], [3.0, None]], [1, 2]) == [2.0, None]


def test_hoiland_is_complete() -> None:
    """Every result is computed or excluded by name. Each direction of 10/1 Mbit/s has the line for its own rate."""
    study = loading.load(libraries.STUDIES.available()["hoiland2015"])
    plan = planning.plan(study, selection.select(study, []))
    wanted = [cell for cell in plan.cells if "tcp" not in cell.at]
    computed = [
        (cell.scenario, cell.algorithm, metric.name, {**cell.at, **metric.at})
        for cell in wanted
        for metric in cell.experiment.metrics.values()
    ]
    # Values pooled over the links have no point.
    computed += [("hoiland2015/fig7", law, "first_drop_time_ms", {}) for law in ("pie", "codel")]
    missing = [
        value.id.removeprefix("hoiland2015/v")
        for value in study.published.values
        if value.metric != "parameter"
        and (value.scenario, value.algorithm, value.metric, dict(value.at)) not in computed
    ]
    assert missing == ["105", "109", "111", "113", "116"]
    narrow = next(cell for cell in plan.cells if cell.scenario.endswith("fig2c") and cell.algorithm == "codel")
    scenario = planning.scenario_of(narrow, quick=False)
    assert "target 5ms" in scenario["bottleneck"]["qdisc"]
    assert "target 13ms" in scenario["bottleneck"]["up"]["qdisc"]


def test_without_load_the_same_page_is_fetched_over_the_same_link() -> None:
    """Figure 5 was once divided by the time of the other page. The load's own keys have no place in that scenario."""
    study = loading.load(libraries.STUDIES.available()["hoiland2015"])
    plan = planning.plan(study, selection.select(study, ["fig5b"]), seeds=1)
    alone = {key for keys in plan.beside.values() for key in keys if plan.scenarios[key]["duration"] == "20s"}
    (scenario,) = (plan.scenarios[key] for key in alone)
    (fetch,) = scenario["traffic"]
    assert (fetch["page"], scenario["bottleneck"]["up"]["rate"]) == ("huffpost", "10mbit")


@pytest.mark.long
def test_hoiland_draws_what_was_run(tmp_path: Path, goodqueue: Callable[..., Result]) -> None:
    """One panel of each kind, with --quick. A page's figure has room for panels that were not run."""
    panels = ("fig2c", "fig3f", "fig4c", "fig6d", "fig9", "fig10a", "fig11a")
    only = [word for panel in panels for word in ("--only", panel)]
    result = goodqueue("study", "hoiland2015", "--quick", *only, "--out", str(tmp_path / "out"))
    assert (result.status, result.err) == (0, "")
    drawn = {file.stem: file.read_text(encoding="utf-8") for file in (tmp_path / "out").glob("figure*.svg")}
    assert drawn.keys() == {"figure2c", "figure3f", "figure4", "figure6d", "figure9", "figure10a", "figure11"}
    for name, svg in drawn.items():
        for algorithm in ("FIFO", "ARED", "PIE", "CoDel", "SFQ", "fq_nocodel", "fq_codel"):
            assert f">{algorithm}<" in svg, (name, algorithm)


def flows(**named: tuple[float, float | None]) -> Record:
    """Return a record with these flows, a goodput and a loss each. small_0 is called small/0."""
    return cast(
        "Record",
        {
            "flows": [
                {"name": name.replace("_", "/"), "direction": "down", "goodput_mbps": goodput, "loss_percent": loss}
                for name, (goodput, loss) in named.items()
            ]
        },
    )


def test_flows_are_set_against_each_other_by_place_and_by_name() -> None:
    """By hand: 1 + 3; 6 over 3; means of 2 and 0 % over 4 %. Guards against a flow of another name, and 0 over 0."""
    found = flows(small_0=(1, 2.0), small_1=(3, None), big_0=(6, 4.0), bigger_0=(9, 0.0))
    assert beside.goodput_sum_mbps(found, {"name": "small"}) == 4
    assert beside.goodput_sum_mbps(found, {"name": "tiny"}) is None
    assert beside.least_goodput_mbps(found, {"name": "small"}) == 1
    assert beside.least_goodput_mbps(found, {"name": "tiny"}) is None
    assert beside.goodput_ratio(found, {"flow": 2, "to_flow": 1}) == 2
    assert beside.goodput_ratio(flows(a_0=(1, 0), b_0=(0, 0)), {"flow": 0, "to_flow": 1}) is None
    assert beside.loss_ratio(found, {"name": "small", "to_name": "big"}) == 0.25
    assert beside.loss_ratio(found, {"name": "small", "to_name": "bigger"}) is None
    assert beside.loss_ratio(found, {"name": "bigger", "to_name": "big"}) == 0
    assert beside.loss_ratio(found, {"name": "tiny", "to_name": "big"}) is None, "nobody of that name lost nothing"
    assert beside.loss_ratio(found, {"name": "small", "to_name": "tiny"}) is None
    assert shares.goodput_all_mbps(found) == 19


def test_phases_take_turns_from_their_start() -> None:
    """Three phases of 2 s from 1 s on: the second is 3 to 5 s and 9 to 11 s. An interval ends in its phase."""
    count = 12
    found = cast(
        "Record",
        {
            "flows": [{"direction": "down"}, {"direction": "up"}],
            "series": {
                "time_s": [float(at + 1) for at in range(count)],
                "queues": {"down": {"delay_ms": [None if at == 4 else float(at) for at in range(count)]}},
                "flows": [{"goodput_mbps": [float(at) for at in range(count)]}, {"goodput_mbps": [100.0] * count}],
            },
        },
    )
    second = {"from_s": 1, "each_s": 2, "phases": 3, "phase": 2}
    assert phases.delay_ms(found, second) == pytest.approx((3 + 9 + 10) / 3)
    assert phases.delay_max_ms(found, second) == 10
    assert phases.goodput_mbps(found, second) == pytest.approx((3 + 4 + 9 + 10) / 4)
    assert phases.goodput_mbps(found, {**second, "phase": 3}) == pytest.approx((5 + 6 + 11) / 3)
    assert phases.delay_ms(found, {**second, "from_s": 12}) is None
    found["series"]["flows"][0]["goodput_mbps"][3] = None
    assert phases.goodput_mbps(found, second) == pytest.approx((4 + 9 + 10) / 4), "what nobody saw is nothing"
