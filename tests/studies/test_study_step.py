"""Tau and the largest delay on hand-made series."""

import pytest

import own_numbers
from goodqueue.studies import measuring
from goodqueue.studies.model import Metric

numbers = own_numbers.of("studies/schwardmann2014")

TIMES = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]


@pytest.mark.parametrize(
    ("delays", "start", "rise", "want"),
    [
        ([1, 8, 20, 9, 4, 30], 1.5, 5, (3.5, 20)),  # up, and back at 5.0
        ([1, 8, 20, 9, 5, 3], 1.5, 5, (4.5, 20)),  # at the target is not below it
        ([1, 4, 3, 20, 9, 2], 0.5, 5, (5.5, 20)),  # below the target at first: that is no recovery
        ([30, 2, 9, 20, 3, 2], 1.5, 5, (3.5, 20)),  # values before the step do not count
        ([1, 6, 4, 20, 9, 2], 1.5, 5, (1.5, 6)),  # to the letter: the first crossing ends it
        ([1, 6, 4, 20, 9, 2], 1.5, 10, (4.5, 20)),  # with a rise of twice the target it is ignored
        ([1, 5, 4, 5, 4, 4], 1.5, 5, None),  # at the bound is not above it
        ([1, 2, 3, 4, 4, 4], 1.5, 5, None),  # never exceeds the target
        ([1, 6, 7, 8, 9, 9], 1.5, 5, None),  # does not come back
        ([1, 6, 7, 8, 9, 2], 7.0, 5, None),  # nothing after the step
    ],
)
def test_excursions(delays: list[float], start: float, rise: float, want: tuple[float, float] | None) -> None:
    found = numbers.excursion(TIMES, delays, start, target_ms=5, rise_ms=rise)
    assert (found and (found.tau_s, found.delay_max_ms)) == want


def test_a_packet_that_leaves_at_the_very_start_counts() -> None:
    short = numbers.excursion([1.0, 2.0], [0.8, 0.1], start_s=1.0, target_ms=0.5, rise_ms=0.5)
    assert short is not None
    assert short.delay_max_ms == 0.8
    found = numbers.excursion([1.0, 2.0], [9.0, 1.0], start_s=1.0, target_ms=5, rise_ms=5)
    assert found is not None
    assert found.delay_max_ms == 9.0


def test_the_bound_may_not_be_below_the_target_and_lists_must_match() -> None:
    with pytest.raises(ValueError, match="rise_ms"):
        numbers.excursion([], [], 0, target_ms=5, rise_ms=4)
    with pytest.raises(ValueError, match="zip"):
        numbers.excursion([1.0], [], 0, target_ms=5, rise_ms=5)


def test_the_metrics_read_start_and_packets_from_a_record() -> None:
    record = {
        "flows": [{"name": "bulk/0", "start_s": 0.1}, {"name": "cbr/0", "start_s": 1.5}],
        "series": {"packets": {"down": {"time_s": TIMES, "delay_ms": [1, 8, 20, 9, 4, 30]}}},
    }
    options = {"flow": "cbr/0", "target_ms": 5.0, "rise_ms": 0.0}
    of_tau = numbers.NUMBERS["tau_ms"]
    tau = Metric("tau_mean_ms", computation=of_tau, options=options)
    assert measuring.of_record(tau, record) == pytest.approx(3500)  # type: ignore[arg-type]
    in_seconds = Metric("tau_s", computation=of_tau, options=options, scale=1e-3)
    assert measuring.of_record(in_seconds, record) == pytest.approx(3.5)  # type: ignore[arg-type]
    bare = options | {"rise_ms": of_tau.options["rise_ms"].default}
    to_the_letter = Metric("tau_mean_ms", computation=of_tau, options=bare)
    assert measuring.of_record(to_the_letter, record) == pytest.approx(3500)  # type: ignore[arg-type]
    largest = Metric("delay_max_mean_ms", computation=numbers.NUMBERS["delay_max_ms"], options=options)
    assert measuring.of_record(largest, record) == 20  # type: ignore[arg-type]
    nobody = Metric("tau_mean_ms", computation=of_tau, options=options | {"flow": "voip/0"})
    assert measuring.of_record(nobody, record) is None  # type: ignore[arg-type]
