"""Whether the start of runs shows: MSER-5."""

from typing import Any

import pytest

from goodqueue.measures import steady

NOISE = [0.3, -0.2, 0.1, -0.4, 0.2, 0.35, -0.15, -0.3, 0.05, 0.05]


def noisy(level: float, count: int) -> list[float]:
    return [level + NOISE[(7 * at + at // 10) % 10] for at in range(count)]


@pytest.mark.parametrize("start", [0, 20, 60, 120])
def test_what_is_left_out_is_the_start(start: int) -> None:
    assert steady.truncation([*noisy(5.0, start), *noisy(1.0, 200 - start)]) == start


def test_a_start_that_fades_is_left_out_until_noise_hides_it() -> None:
    fading = [value + 8.0 * 0.93**at for at, value in enumerate(noisy(1.0, 300))]
    assert 40 <= steady.truncation(fading) <= 100


def test_a_constant_series_and_a_short_one_lose_nothing() -> None:
    assert steady.truncation([0.1] * 137) == steady.truncation([1.0, 2.0]) == steady.truncation([]) == 0


def test_a_series_that_still_moves_at_its_end_loses_more_than_half() -> None:
    assert steady.truncation([float(at) for at in range(100)]) == 75


def record(flows: dict[str, list[float]], delay: list[float | None]) -> Any:
    """Return what is read of a record whose ``flows`` are bulk flows down."""
    rows = [{"name": name, "goodput_mbps": goodput} for name, goodput in flows.items()]
    return {
        "flows": [{"name": name, "kind": "bulk", "direction": "down"} for name in flows],
        "series": {
            "interval_s": 0.1,
            "queues": {"down": {"delay_ms": delay}, "up": {"delay_ms": [None] * len(delay)}},
            "flows": [*rows, {"name": "ping/0", "goodput_mbps": [0.0] * len(delay)}],
        },
    }


def test_a_flow_that_holds_the_link_is_a_start_although_the_link_is_full() -> None:
    first = [*noisy(9.0, 100), *noisy(5.0, 200)]
    runs = [record({"bulk/0": first, "bulk/1": [10.0 - one for one in first]}, [20.0] * 300)]
    assert steady.settled_s(runs) == pytest.approx(10.0)


def test_a_queue_that_holds_single_packets_says_nothing() -> None:
    assert steady.settled_s([record({"bulk/0": [5.0] * 100}, [0.5] * 40 + [0.0] * 60)]) == 0.0
    assert steady.settled_s([record({"bulk/0": [5.0] * 100}, [50.0] * 40 + [None] * 60)]) == pytest.approx(4.0)


def test_runs_are_averaged_first() -> None:
    swings = [10.0] * 30 + [0.0] * 70
    runs = [record({"bulk/0": one}, [0.0] * 100) for one in (swings, [10.0 - value for value in swings])]
    assert steady.settled_s(runs[:1]) > 0.0
    assert steady.settled_s(runs) == 0.0
