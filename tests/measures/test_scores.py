"""Scores: the worked examples of their sources, and what a record gives."""

from collections.abc import Callable
from typing import Any

import pytest

from conftest import Result
from goodqueue import running
from goodqueue.measures import numbers, scores
from goodqueue.measures.scores import aim, letter, qoo
from goodqueue.measures.stats import Estimate
from goodqueue.record import Scenario


def test_the_drafts_worked_example_of_qoo_is_exactly_50() -> None:
    needed = qoo.Requirement({99: (200, 500), 99.9: (300, 600)}, (1, 5), 4)
    path = qoo.Path({99: 350, 99.9: 375}, 2, 28)
    assert qoo.score(needed, path) == 50
    assert qoo.between(2, (1, 5)) == 75
    assert qoo.between(375, (300, 600)) == 75


@pytest.mark.parametrize(
    ("path", "score"),
    [
        (qoo.Path({99: 200, 99.9: 300}, 1, 4), 100),
        (qoo.Path({99: 500, 99.9: 300}, 1, 4), 0),
        (qoo.Path({99: 200, 99.9: 300}, 1, 3.9), 0),
        (qoo.Path({99: 200, 99.9: 300}, None, 4), None),
        (qoo.Path({99: 200}, 1, 4), None),
    ],
)
def test_the_ends_of_qoo_and_what_is_missing(path: qoo.Path, score: float | None) -> None:
    assert qoo.score(qoo.Requirement({99: (200, 500), 99.9: (300, 600)}, (1, 5), 4), path) == score


def test_equal_ends_are_a_step() -> None:
    assert [qoo.between(value, (50, 50)) for value in (49, 50, 51)] == [100, 100, 0]


def test_distributions_compose_and_percentiles_do_not() -> None:
    hop = {10.0: 0.99, 110.0: 0.01}
    both = qoo.in_a_row([hop, hop])
    assert both == pytest.approx({20: 0.9801, 120: 0.0198, 220: 0.0001})
    assert (qoo.percentile(hop, 99), qoo.percentile(both, 99)) == (10, 120)
    assert qoo.losses_in_a_row([1, 2]) == pytest.approx(2.98)


def test_the_worked_examples_of_aim() -> None:
    one = aim.Measured(latency=15, increase=60, jitter=5, loss=0, download=50)
    totals = {use: aim.total(use, one) for use in aim.USES}
    assert totals == {"streaming": 40, "gaming": 20, "rtc": 30}
    assert [aim.class_of(use, found) for use, found in totals.items()] == ["good", "average", "good"]
    worse = aim.Measured(latency=15, increase=600, jitter=5, loss=0, download=50)
    assert {use: aim.total(use, worse) for use in aim.USES} == {"streaming": 20, "gaming": 0, "rtc": 10}
    assert [aim.class_of(*pair) for pair in (("gaming", 0), ("streaming", 20), ("rtc", 10))] == [
        "bad",
        "average",
        "poor",
    ]
    assert aim.total("rtc", aim.Measured(15, 60, None, 0, 50)) is None
    assert aim.total("gaming", aim.Measured(15, 60, None, None, 50)) == 10, "loss that is not measured gives no points"


@pytest.mark.parametrize(
    ("ms", "found"), [(0, "A+"), (4.9, "A+"), (5, "A"), (30, "B"), (60, "C"), (200, "D"), (400, "F")]
)
def test_the_letter_of_an_added_latency(ms: float, found: str) -> None:
    assert letter.letter(ms) == found


@pytest.mark.parametrize(
    ("mean", "half_width", "found"),
    [(10, 3, "A"), (29, 3, "A or B"), (2, 9, "A+ or A"), (50, 100, "A+ to C"), (5, None, "A")],
)
def test_a_letter_has_an_interval(mean: float, half_width: float | None, found: str) -> None:
    assert letter.letters(Estimate(mean, half_width, 3)) == found


def test_a_record_has_the_score_of_its_round_trips(scenario: Scenario) -> None:
    record = running.one({**scenario, "seed": 1})
    queue: Any = record["queues"]["down"]
    p90 = 20 + queue["delay_percentiles_ms"][90]
    by_hand = min(qoo.between(p90, (50, 150)), qoo.between(queue["drop_percent"], (0.5, 1)))
    assert numbers.by_key()["qoo_web_browsing"].pick(record) == pytest.approx(by_hand)
    assert scores.bufferbloat_ms(record) is not None


def test_a_comparison_shows_scores_with_their_intervals(goodqueue: Callable[..., Result]) -> None:
    result = goodqueue(
        "compare", "pfifo", "fq_codel", "--rate=4mbit", "--rtt=20ms", "--duration=4s", "--seeds=2",
        "--metric=qoo_web_browsing", "--metric=aim_gaming", "--metric=bufferbloat_ms",
    )  # fmt: skip
    assert result.status == 0
    assert "QoO web browsing" in result.out
    assert "±" in result.out
