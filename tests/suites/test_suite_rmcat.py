"""The suite ``rmcat``: RFC 8867's cases for live media, and the computations for parts of a run."""

from typing import Any, cast

import pytest

import goodqueue as gq
from goodqueue.record import Record
from goodqueue.studies import libraries, windows
from goodqueue.suites import loading, sheet

CASES = ["5.1", "5.2", "5.3", "5.4", "5.5", "5.6", "5.7", "5.8"]


def course(*flows: list[float | None]) -> Record:
    """Return a record of flows called video/0, video/1 … in intervals of half a second."""
    count = len(flows[0])
    return cast(
        "Record",
        {
            "flows": [{"name": f"video/{number}"} for number in range(len(flows))],
            "series": {
                "time_s": [0.5 * (at + 1) for at in range(count)],
                "flows": [{"goodput_mbps": own} for own in flows],
                "queues": {"down": {"delay_ms": [float(at) for at in range(count)]}},
            },
        },
    )


def of(name: str, from_s: float, to_s: float) -> dict[str, Any]:
    """Return the options of a window."""
    return {"name": name, "from_s": from_s, "to_s": to_s}


def test_a_window_is_its_own_seconds_and_flows() -> None:
    """Guards against an interval before or after the window, and a flow of another name."""
    record = course([9.0, 9.0, 1.0, 3.0, 2.0, 2.0, 9.0], [0.0, 0.0, 1.0, 1.0, None, 2.0, 0.0])
    assert windows.goodput_mbps(record, of("video/0", 1, 3)) == 2
    assert windows.goodput_mbps(record, of("video", 1, 3)) == pytest.approx((2 + 1 + 2 + 1) / 2)
    assert windows.goodput_mbps(record, of("audio", 1, 3)) is None
    assert windows.delay_ms(record, of("", 1, 3)) == pytest.approx((2 + 3 + 4 + 5) / 4)


def test_a_flow_that_swings_within_a_second_does_not_oscillate() -> None:
    """RFC 8867, 4.3 takes rates over a second. Guards against a video's frames that count as oscillation."""
    assert windows.oscillation_percent(course([0.0, 2.0] * 4), of("video/0", 0, 4)) == 0
    assert windows.oscillation_percent(course([1.0, 1.0, 3.0, 3.0]), of("video/0", 0, 2)) == 50
    assert windows.oscillation_percent(course([0.0, 2.0] * 4), of("video/0", 0.3, 2.3)) == 0, "seconds of the window"
    assert windows.oscillation_percent(course([0.0] * 4), of("video/0", 0, 2)) is None, "nothing arrives"
    assert windows.oscillation_percent(course([1.0] * 4), of("audio", 0, 2)) is None


def test_a_flow_has_settled_at_the_first_second_near_its_end() -> None:
    """Guards against the time of the peak, or of the last change."""
    assert windows.settle_s(course([0.2, 0.2, 0.5, 0.5, *[1.0] * 20]), of("video/0", 0, 12)) == 2
    # Only the last ten seconds define the final rate: 2, and 1.6 is near that. The 18 before them does not count.
    late = course([6.0, 6.0, 18.0, 18.0, 1.6, 1.6, *[2.0] * 16, 2.4, 2.4])
    assert windows.settle_s(late, of("video/0", 0, 12)) == 2
    assert windows.settle_s(course([0.0] * 4), of("video/0", 0, 2)) is None, "nothing arrives"
    assert windows.settle_s(course([1.0] * 4), of("audio", 0, 2)) is None


def test_the_least_share_is_of_all_flows_that_begin_so() -> None:
    """Guards against a share of neighbours only."""
    record = course([1.0, 1.0], [4.0, 4.0], [2.0, 2.0])
    assert windows.least_share(record, of("video", 0, 1)) == 0.25
    assert windows.least_share(course([1.0, 1.0], [None, 0.0]), of("video", 0, 1)) == 0, "who gets nothing has a share"
    assert windows.least_share(course([0.0, 0.0], [0.0, 0.0]), of("video", 0, 1)) is None


def test_every_basic_case_of_rfc_8867_is_there_as_its_tables_have_it() -> None:
    """Guards against a capacity, a time or a number of flows that the RFC does not have."""
    suite = loading.load(libraries.SUITES.find("rmcat"))
    assert [row.section for row in suite.rows if row.level == "case"] == CASES
    found = {trial.experiment.id: trial.experiment.scenario for trial in suite.trials}

    def steps(id_: str, direction: str = "down") -> list[tuple[str, str]]:
        changes = found[id_].get("change", [])
        return [(one["at"], one["rate"]) for one in changes if one.get("direction", "down") == direction]

    assert steps("variable-one") == [("40s", "2500kbit"), ("60s", "600kbit"), ("80s", "1mbit")]
    assert steps("variable-two") == [("25s", "2mbit"), ("50s", "3500kbit"), ("75s", "1mbit"), ("100s", "2mbit")]
    assert steps("feedback") == [("20s", "1mbit"), ("40s", "500kbit"), ("60s", "2mbit")]
    assert steps("feedback", "up") == [("35s", "800kbit"), ("70s", "2mbit")]
    lengths = {id_: scenario["duration"] for id_, scenario in found.items()}
    assert [lengths[id_] for id_ in ("variable-one", "variable-two", "feedback", "same", "rtts")] == [
        *("100s", "125s", "100s", "120s", "300s")
    ]
    assert [one["rtt"] for one in found["rtts"]["traffic"] if "rtt" in one] == [
        *("20ms", "50ms", "100ms", "200ms", "300ms")
    ]
    assert found["pause"]["traffic"][1]["pause"] == ["40s", "60s"]


def test_nada_follows_the_capacity_where_the_path_has_no_jitter() -> None:
    """RFC 8867, 5.1. Guards against a flow that stays below the capacity, or fills the queue."""
    found = gq.suite("rmcat", only="5.1 still", quick=True, progress=False)
    assert found.tested == ["nada"]
    assert found.verdict("5.1 still", "nada") == sheet.PASSES


def test_another_congestion_control_is_refused_in_a_line() -> None:
    """Guards against a congestion control of TCP in place of one for media."""
    with pytest.raises(gq.UserError, match=r'^CC: found "cubic"; .*accepted: nada$'):
        gq.suite("rmcat", "cubic", progress=False)
