"""Queues over time: each computation on a hand-made record, and the pooling of points."""

from typing import Any

import pytest

import own_numbers
from goodqueue.studies import measuring, varying
from goodqueue.studies.model import Metric

numbers = own_numbers.of("studies/nichols2012")


def record() -> Any:
    """Return 6 s of a link with 1514 bytes in 10 ms, a tenth of that from 2 s to 4 s, and two flows each way."""
    flow = {"direction": "down", "goodput_mbps": 1.0}
    return {
        "scenario": {
            "duration": "6s",
            "bottleneck": {"rate": "1.2112mbit"},
            "change": [
                {"at": "2s", "rate": "121120bit", "direction": "down"},
                {"at": "4s", "rate": "1.2112mbit", "direction": "down"},
            ],
        },
        "flows": [
            flow | {"loss_percent": 1.0},
            flow | {"loss_percent": 3.0},
            {"direction": "down", "goodput_mbps": 0.0, "loss_percent": 0.0},
            flow | {"direction": "up", "loss_percent": 50.0},
        ],
        "series": {
            "time_s": [0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 5.5, 6.0],
            "queues": {"down": {"delay_ms": [5, 5, 5, 5, 900, 700, None, 40, 30, 200, 5, 5]}},
            "flows": [
                {"dropped_packets": [0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0], "goodput_mbps": [1.0] * 12},
                {"dropped_packets": [0] * 12, "goodput_mbps": [0.5, None, *[0.5] * 10]},
            ],
            "packets": {"down": {"time_s": [0.1, 0.2, 0.3, 0.4], "delay_ms": [0.0, 9.0, 18.0, 40.0]}},
        },
    }


def test_fairness_of_drops_is_of_those_who_send_that_way() -> None:
    assert numbers.drop_share_jain_index(record(), {"direction": "down"}) == pytest.approx(4**2 / (2 * 10))
    assert numbers.drop_share_jain_index(record(), {"direction": "up"}) == 1.0
    lossless = record()
    lossless["flows"] = [flow | {"loss_percent": 0.0} for flow in lossless["flows"]]
    assert numbers.drop_share_jain_index(lossless, {"direction": "down"}) is None, "0/0 is no fairness"
    uneven = record()
    uneven["flows"][0]["loss_percent"] = 0.0
    assert numbers.drop_share_jain_index(uneven, {"direction": "down"}) == 0.5, "who loses nothing has a share: none"
    uneven["flows"][0] |= {"goodput_mbps": 0.0, "loss_percent": 100.0}
    assert numbers.drop_share_jain_index(uneven, {"direction": "down"}) == pytest.approx(103**2 / (2 * 10009))


def test_a_queue_counts_the_packet_on_the_wire_and_an_empty_one_is_empty() -> None:
    """Waits of 9, 18 and 40 ms are 0.9, 1.8 and 4 packet times. One more packet is on the wire."""
    options = {"from_s": 0.15, "to_s": 0.5}
    found = {name: numbers.queue_packets(record(), {"statistic": name, **options}) for name in ("min", "mean", "max")}
    assert found == pytest.approx({"min": 1.9, "mean": 1 + 67 / 30, "max": 5.0})
    assert numbers.queue_packets(record(), {"statistic": "min", "from_s": 0, "to_s": 1}) == 0.0
    assert numbers.queue_packets(record(), {"statistic": "min", "from_s": 1, "to_s": 2}) is None
    assert numbers.queue_packets(record(), {"statistic": "max", "from_s": 0.1, "to_s": 0.4}) == pytest.approx(2.8)
    assert numbers.queue_packets(record(), {"statistic": "max", "from_s": 0.4, "to_s": 0.5}) == pytest.approx(5.0)
    short = record()
    short["series"]["packets"]["down"]["delay_ms"] = [0.5] * 4
    least = numbers.queue_packets(short, {"statistic": "min", "from_s": 0, "to_s": 1})
    assert least == pytest.approx(1.05), "a part of a packet, and the one on the wire"
    assert numbers.wait_ms(record(), {"number": 2}) == 9.0
    assert numbers.wait_ms(record(), {"number": 4}) == 40.0
    assert numbers.wait_ms(record(), {"number": 5}) is None


def test_the_peak_is_of_its_time() -> None:
    assert numbers.delay_peak_ms(record(), {"at_s": 2, "for_s": 2}) == 900
    assert numbers.delay_peak_ms(record(), {"at_s": 0, "for_s": 2}) == 5
    assert numbers.delay_peak_ms(record(), {"at_s": 6, "for_s": 2}) is None


def test_only_a_fall_is_recovered_from_and_at_the_latest_when_the_rate_changes() -> None:
    """The second second after the fall has a mean of 40 ms. A rise is no fall."""
    assert varying.recovery_time_s(record(), {"below_ms": 100}) == 2.0
    assert varying.recovery_time_s(record(), {"below_ms": 1000}) == 1.0
    assert varying.recovery_time_s(record(), {"below_ms": 800}) == 2.0, "the first second's mean is just that"
    assert varying.recovery_time_s(record(), {"below_ms": 10}) == 2.0, "never: the two seconds until the rise"


def changed(*changes: dict[str, str]) -> Any:
    """Return the same record with other changes of the link."""
    other = record()
    other["scenario"]["change"] = list(changes)
    return other


SAME = {"at": "2s", "rate": "1.2112mbit", "direction": "down"}
UP = {"at": "2s", "rate": "1kbit", "direction": "up"}
DELAY = {"at": "2s", "rtt": "100ms", "direction": "down"}


@pytest.mark.parametrize("change", [SAME, UP, DELAY])
def test_the_same_rate_the_way_up_and_another_rtt_are_no_fall(change: dict[str, str]) -> None:
    assert varying.recovery_time_s(changed(change), {"below_ms": 100}) is None
    assert numbers.adapt_ms(changed(change), {}) is None


@pytest.mark.parametrize("change", [SAME, DELAY])
def test_what_does_not_raise_the_rate_is_no_jump(change: dict[str, str]) -> None:
    """One flow of 1 Mbit/s and one of 0.5 for 6 s, half a second of it unknown: 1125 kB minus 31.25."""
    assert numbers.transferred_kb(changed(change), {"phase": "jump"}) == 0
    assert numbers.transferred_kb(changed(change), {"phase": "other"}) == pytest.approx(1125 - 31.25)


def test_the_first_drop_after_the_fall_counts_not_one_before() -> None:
    assert numbers.adapt_ms(record(), {}) == pytest.approx(1000)


def test_what_was_transferred_at_a_risen_rate_and_else() -> None:
    """1.5 Mbit/s are 187.5 kB per second. One interval of the second flow is unknown."""
    assert numbers.transferred_kb(record(), {"phase": "jump"}) == pytest.approx(2 * 187.5)
    assert numbers.transferred_kb(record(), {"phase": "other"}) == pytest.approx(4 * 187.5 - 0.5 * 62.5)


def test_points_are_joined_to_their_mean_their_median_or_their_spread() -> None:
    columns = [[1.0, None], [4.0, 2.0], [7.0, 3.0]]
    assert measuring.pool("mean", columns, [1, 2, 3]) == [4.0, None]
    assert measuring.pool("median", [*columns, [100.0, 0.0]], [1, 2, 3, 4]) == [5.5, None]
    assert measuring.pool("range", columns, [1, 2, 3]) == [6.0, None]


FORMS = {"ratio": 0.25, "percent": 25.0, "less_percent": 75.0, "less": 6.0}


@pytest.mark.parametrize(("form", "number"), FORMS.items())
def test_a_number_is_set_against_another_as_its_metric_says(form: str, number: float) -> None:
    assert measuring.set_against(Metric("x_ms", record="a", to="b", form=form), 2.0, 8.0) == number
    assert measuring.set_against(Metric("x_ms", record="a", to="b", form=form), None, 8.0) is None
