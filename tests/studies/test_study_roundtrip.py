"""Round trips as captures show them: each number worked by hand, on a hand-made record."""

from typing import Any

import pytest

import own_numbers

numbers = own_numbers.of("studies/khademi2013")


def record() -> Any:
    """Return a record: a path of 100 ms, 10 Mbit/s down and 1 Mbit/s up, percentiles of the queue from 0 to 100 ms."""
    return {
        "scenario": {"path": {"rtt": "100ms"}, "bottleneck": {"rate": "10mbit", "up": {"rate": "1mbit"}}},
        "queues": {"down": {"delay_percentiles_ms": [float(percent) for percent in range(101)]}},
        "flows": [
            {"cc": "reno", "direction": "down"},
            {"cc": "reno", "direction": "down"},
            {"cc": "reno", "direction": "up"},
            {"cc": None, "direction": "down"},
        ],
        "series": {
            "packets": {
                "down": {"time_s": [1.0, 2.0, 3.0, 4.0], "delay_ms": [5.0, 9.0, 7.0, 8.0], "flow": [0, 1, 0, 0]}
            },
            "flows": [
                {"goodput_mbps": [1.0, 2.0, None]},
                {"goodput_mbps": [2.0, 3.0, 9.0]},
                {"goodput_mbps": [70.0, 70.0, 70.0]},
                {"goodput_mbps": [0.5, 0.5, 0.5]},
                {"goodput_mbps": [0.0, 0.0, 0.0], "rtt_ms": [1.0, 1.0, 1.0]},
            ],
        },
    }


SENDING_MS = 1.2112 + 0.528
"""The transmission of 1514 bytes at 10 Mbit/s, and of 66 bytes at 1 Mbit/s."""


def test_the_round_trip_of_a_packet_is_what_captures_at_both_ends_show() -> None:
    options: dict[str, str | float] = {"percentile": 50.0, "above": -1.0}
    assert numbers.delay_ms(record(), options) == pytest.approx(50 + SENDING_MS)
    assert numbers.rtt_ms(record(), options) == pytest.approx(150 + SENDING_MS)
    above = numbers.NUMBERS["packet_rtt_ms"].options["above"].default
    assert above is not None
    assert numbers.rtt_ms(record(), {"percentile": 50.0, "above": above}) == pytest.approx(150 + SENDING_MS)
    for of in (numbers.delay_ms, numbers.rtt_ms):
        assert of(record(), {"percentile": 90.0, "above": 10.0}) == pytest.approx(80), "a tail has no base RTT"
        assert of(record(), {"percentile": 90.0, "above": 0.0}) == pytest.approx(90), "the least is a percentile, too"
    lossy = record()
    lossy["queues"]["down"]["delay_percentiles_ms"][95] = None
    assert numbers.delay_ms(lossy, {"percentile": 95.0, "above": 10.0}) is None
    assert numbers.delay_ms(lossy, {"percentile": 99.0, "above": 95.0}) is None
    empty = record()
    empty["queues"]["down"]["delay_percentiles_ms"] = None
    assert numbers.delay_ms(empty, options) is None
    assert numbers.rtt_ms(empty, options) is None


def test_one_flows_packets_are_told_from_the_others() -> None:
    """The first flow's packets waited 5, 7 and 8 ms: on average 20/3, and steps of 2 and 1 ms."""
    times, found = numbers.course(record(), 0)
    assert times == [1.0, 3.0, 4.0]
    assert found == pytest.approx([delay + 100 + SENDING_MS for delay in (5, 7, 8)])
    assert numbers.of_flow_ms(record(), {"flow": 0.0}) == pytest.approx(100 + SENDING_MS + 20 / 3)
    assert numbers.jitter_ms(record(), {"flow": 0.0}) == pytest.approx(1.5)
    assert numbers.jitter_ms(record(), {"flow": 1.0}) is None, "one packet has no jitter"
    silent = record()
    del silent["series"]["packets"]["down"]["flow"]
    assert numbers.of_flow_ms(silent, {"flow": 0.0}) is None


def test_goodput_by_spans_is_that_of_the_flows_of_one_way_together() -> None:
    """3, 5 and 9 Mbit/s down. Datagrams, pings and the way up do not count, nor do intervals without a value."""
    assert numbers.spans_mbps(record(), "down") == [3.0, 5.0, 9.0]
    assert numbers.goodput_spans_mbps(record(), {"direction": "down", "percentile": 50.0}) == 5.0
    assert numbers.goodput_spans_mbps(record(), {"direction": "down", "percentile": 25.0}) == 4.0
    without = record()
    del without["series"]
    assert numbers.spans_mbps(without, "down") == []
    assert numbers.goodput_spans_mbps(without, {"direction": "down", "percentile": 50.0}) is None
