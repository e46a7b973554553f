"""The list of numbers: each verb takes all of them, and a refusal says what the scenario lacks that cannot show one."""

import json
from collections.abc import Callable
from functools import cache

import pytest

import goodqueue as gq
from conftest import Result
from goodqueue import running
from goodqueue import scenario as scenarios
from goodqueue.calibrate import programs
from goodqueue.errors import Option, UserError
from goodqueue.measures import metrics, needs, numbers
from goodqueue.record import Record, Scenario
from goodqueue.search import conditions
from goodqueue.studies import measuring
from goodqueue.validation.result import MEASURES

Command = Callable[..., Result]

WHOLE: Scenario = {
    "duration": "20s",
    "warmup": "2s",
    "bottleneck": {"rate": "5mbit", "qdisc": "pie ecn"},
    "path": {"rtt": "20ms"},
    "series": {"interval": "100ms"},
    "traffic": [
        {"kind": "bulk", "count": 2},
        {"kind": "ping"},
        {"kind": "cbr", "rate": "9mbit", "start": "4s", "stop": "5s"},
    ],
}
"""A scenario that has what all numbers need, except kinds of applications."""


@cache
def record(qdisc: str = "pie ecn", flows: int = 2) -> Record:
    """Return the record of a run of `WHOLE`."""
    first, *others = WHOLE["traffic"]
    made = {
        **WHOLE,
        "bottleneck": {**WHOLE["bottleneck"], "qdisc": qdisc},
        "traffic": [first | {"count": flows}, *others],
    }
    found: Record = json.loads(running.one_text(scenarios.resolve(made)))
    return found


def others() -> list[metrics.Metric]:
    """Return the numbers that no table has by itself."""
    return [one for one in numbers.by_key().values() if one not in metrics.METRICS]


@pytest.mark.parametrize(
    "key", [one.key for one in others() if "window_recovery" not in one.key and "up_tcp" not in one.key]
)
def test_a_run_that_has_what_a_number_needs_shows_it(key: str) -> None:
    one = numbers.by_key()[key]
    resolved = scenarios.resolve(WHOLE)
    assert all(need.is_met(resolved) for need in one.needs)
    assert one.pick(record()) is not None


def test_a_flow_and_a_queue_recover_from_a_burst_in_times_of_their_own() -> None:
    """The datagrams begin at 4 s, and end at 5 s, which is the last change of the load."""
    alone = record("pfifo limit 40", 1)
    queue, flow = (numbers.by_key()[key].pick(alone) for key in ("recovery_ms", "window_recovery_s"))
    assert queue is not None
    assert flow is not None
    assert flow > 1, "the window cannot be back before the datagrams end"
    assert queue != pytest.approx(1000 * flow)
    assert numbers.by_key()["window_recovery_s"].pick(record()) is None, "two flows have no window in common"


def test_three_goodputs_count_different_flows() -> None:
    found = record()
    down = [flow for flow in found["flows"] if flow["direction"] == "down"]
    tcp, all_down, both = (
        numbers.by_key()[key].pick(found) for key in ("tcp_goodput_mbps", "goodput_mbps", "goodput_all_mbps")
    )
    assert tcp == pytest.approx(sum(flow["goodput_mbps"] for flow in down if flow["kind"] == "bulk"))
    assert all_down == pytest.approx(sum(flow["goodput_mbps"] for flow in down))
    assert both == all_down, "nothing is sent up but acknowledgements and echoes"
    assert tcp is not None
    assert all_down is not None
    assert tcp < all_down


def test_a_round_trip_is_the_base_with_both_queues() -> None:
    found = record()
    base, trip, per_minute, p50 = (
        numbers.by_key()[key].pick(found)
        for key in ("base_rtt_ms", "round_trip_mean_ms", "round_trips_per_minute", "round_trip_p50_ms")
    )
    delays = [found["queues"][direction]["delay_ms"] for direction in ("down", "up")]
    assert base == 20
    assert trip == pytest.approx(20 + sum((one or {})["mean"] or 0.0 for one in delays))
    assert p50 is not None
    assert per_minute == pytest.approx(60_000 / p50)


@pytest.mark.parametrize("key", list(numbers.by_key()))
def test_each_number_is_taken_by_conditions_and_by_studies(key: str) -> None:
    (condition,) = conditions.parse([f"{key} > 1"], Option("want"))
    assert condition.metric is numbers.by_key()[key]
    assert key in measuring.names()
    assert measuring.find(key).of(record(), {}) == condition.metric.pick(record())


def test_validation_and_calibration_take_their_numbers_from_the_list() -> None:
    known = numbers.by_key()
    assert {one.pick for one in MEASURES} <= {one.pick for one in known.values()}
    assert [claim.truth for one in programs.PROGRAMS for claim in one.claims if claim.truth not in known] == []


def test_no_computation_of_studies_has_no_options_and_the_name_of_a_number() -> None:
    both = [name for name in measuring.COMPUTATIONS if name in numbers.by_key()]
    assert both == [], "one of the two would never be found"


LACKS = {
    "compare codel pie --duration 4s --metric recovery_ms": "--metric recovery_ms: no run of this scenario shows it; "
    "accepted: with the key series.interval, as 100ms",
    "compare codel --duration 4s --traffic bulk:1 --metric share": "--metric share: no run of this scenario shows it; "
    "accepted: with 2 bulk flows down or more, by the keys traffic.N.kind and traffic.N.count",
    "compare codel --duration 4s --metric voip_mos": "--metric voip_mos: no run of this scenario shows it; accepted: "
    "with traffic of the kind voip, by the key traffic.N.kind",
    "compare codel --wifi 802.11n --stations a:mcs7 --metric responsive_percent": "--metric responsive_percent: no run "
    "of this scenario shows it; accepted: with the key bottleneck.rate or bottleneck.trace",
    "sweep ok.toml --set path.rtt=10ms,20ms --metric oscillation": "--metric oscillation: no run of this scenario "
    "shows it; accepted: with the key series.interval, as 100ms",
    "sensitivity ok.toml --vary path.rtt=1ms..9ms --vary bottleneck.rate=1mbit..9mbit --metric oscillation": "--metric "
    "oscillation: no run of this scenario shows it; accepted: with the key series.interval, as 100ms",
    "tune codel --on ok.toml --min recovery_ms": "--min recovery_ms: no run of this scenario shows it; accepted: with "
    "the key series.interval, as 100ms",
    "tune codel --rate 5mbit --rtt 20ms --max voip_mos": "--max voip_mos: no run of this scenario shows it; accepted: "
    "with traffic of the kind voip, by the key traffic.N.kind",
    "tune codel --on ok.toml --max share --min share": '--min: found "share" twice; accepted: each once',
    "tune codel --on ok.toml --want recovery_ms<9": "--want recovery_ms: no run of this scenario shows it; accepted: "
    "with the key series.interval, as 100ms",
    "fit ok.toml --vary path.rtt=1ms..9ms --observed recovery_ms=9": "--observed recovery_ms: no run of this scenario "
    "shows it; accepted: with the key series.interval, as 100ms",
}
"""Commands that ask for a number that their scenario cannot show, and the refusals."""


@pytest.mark.parametrize("words", LACKS)
def test_a_refusal_names_what_the_scenario_lacks(here: object, goodqueue: Command, words: str) -> None:
    said = goodqueue(*words.split())
    assert (said.status, said.out, said.err) == (2, "", f"goodqueue: {LACKS[words]}\n")


def test_a_comparison_shows_a_number_of_series_that_the_scenario_has(goodqueue: Command) -> None:
    words = ("compare", "codel", "pie", "--duration", "4s", "--seeds", "2", "--metric", "recovery_ms", "--json")
    found = json.loads(goodqueue(*words, "--set", "series.interval=100ms").out)
    values = [qdisc["metrics"]["recovery_ms"]["values"] for qdisc in found["qdiscs"]]
    assert all(value is not None and value > 0 for seeds in values for value in seeds)


def test_a_link_is_tuned_by_shares_and_by_numbers_of_series(goodqueue: Command) -> None:
    tune = ("tune", "codel", "--rate", "4mbit", "--rtt", "40ms", "--evaluations", "1", "--seeds", "1", "--json")
    found = json.loads(goodqueue(*tune, "--max", "share", "--min", "recovery_ms").out)
    assert [goal["metric"] for goal in found["goals"]] == ["share", "recovery_ms"]


def test_python_names_what_the_scenario_lacks() -> None:
    for call in (
        lambda: gq.compare("codel", duration="4s", metric="recovery_ms"),
        lambda: gq.sweep(qdisc="codel", grid={"path.rtt": ["10ms"]}, metric="recovery_ms"),
    ):
        with pytest.raises(
            UserError, match=r"^metric recovery_ms: no run of this scenario shows it; accepted: with the"
        ):
            call()


def test_of_several_scenarios_one_must_show_a_number() -> None:
    bare = scenarios.resolve({key: value for key, value in WHOLE.items() if key != "series"})
    asked = numbers.find(["recovery_ms"])
    assert not needs.SERIES.is_met(bare)
    numbers.check(asked, [bare, scenarios.resolve(WHOLE)])
    with pytest.raises(UserError):
        numbers.check(asked, [bare])
