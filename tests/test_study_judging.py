"""Values: intervals, distances, verdicts, the summary."""

import math
from pathlib import Path
from typing import Any

import pytest

from goodqueue.dotted import check_path
from goodqueue.studies import judging, metrics
from goodqueue.studies.judging import Judged
from goodqueue.studies.metrics import Measurement
from goodqueue.studies.model import Metric, Study, Tolerance
from goodqueue.studies.published import Published, Value
from goodqueue.studies.summary import summarise


def study(**tolerances: Tolerance) -> Study:
    facts = Published(Path("p"), "k", "t", (), 2014, "", {}, (), ())
    return Study(Path("f"), "k", "t", "", "", facts, (), (), (), tolerances)


def value(low: float, unit: str = "ms", high: float | None = None, **more: Any) -> Value:
    named = {"id": "v", "scenario": "k/s", "algorithm": "a", "metric": f"m_{unit}", "at": {}}
    return Value(**(named | more), unit=unit, low=low, high=low if high is None else high)


def measured(number: float | None, half: float | None = None) -> Measurement:
    ends = (None, None) if half is None or number is None else (number - half, number + half)
    return Measurement(number, *ends, n=3)


@pytest.mark.parametrize(
    ("printed", "got", "want"),
    [
        (value(10), measured(10.4), "reproduced"),  # 4 %
        (value(10), measured(12), "close"),  # ln 1.2 = 0.18
        (value(10), measured(13), "differs"),  # ln 1.3 = 0.26
        (value(10), measured(7.9), "close"),  # ln 0.79 = -0.24
        (value(10), measured(12, half=2.5), "reproduced"),  # in the interval, which is narrow enough
        (value(10), measured(12, half=8), "close"),  # an interval from 4 to 20 proves nothing
        (value(10), measured(0), "differs"),
        (value(0), measured(0), "reproduced"),
        (value(90, "percent"), measured(90.5), "reproduced"),
        (value(90, "percent"), measured(92), "close"),
        (value(90, "percent"), measured(87.9), "differs"),
        (value(90, "percent"), measured(91.5, half=1.9), "reproduced"),
        (value(90, "percent"), measured(91.5, half=3), "close"),
        (value(10, high=20), measured(15), "reproduced"),
        (value(10, high=20), measured(22), "close"),
        (value(-math.inf, high=20), measured(1), "reproduced"),
        (value(10), measured(None), "not_run"),
    ],
)
def test_verdicts(printed: Value, got: Measurement, want: str) -> None:
    assert judging._compare(study(), printed, got).verdict == want


def test_a_study_may_have_its_own_tolerances() -> None:
    strict = study(ms=Tolerance(0.001, 0.002))
    assert judging._compare(strict, value(10), measured(10.4)).verdict == "differs"


def test_distances_are_differences_of_percent_and_logarithms_of_the_rest() -> None:
    assert judging._compare(study(), value(90, "percent"), measured(88)).distance == -2
    assert judging._compare(study(), value(10), measured(20)).distance == pytest.approx(math.log(2))
    assert judging._compare(study(), value(10, high=15), measured(12)).distance == 0


def test_a_mean_has_students_interval_and_a_deviation_that_of_chi_squared() -> None:
    mean = metrics.over_seeds(Metric("m"), [1.0, 2.0, 3.0, 4.0, None])
    assert (mean.value, mean.n, mean.missing) == (2.5, 4, 1)
    assert mean.high == pytest.approx(2.5 + 3.182446 * 1.2909944 / 2)  # t(0.975, 3) s / sqrt(4)
    assert mean.low == pytest.approx(2.5 - 3.182446 * 1.2909944 / 2)
    deviation = metrics.over_seeds(Metric("m", over_seeds="sd"), [1.0, 2.0, 3.0, 4.0])
    assert deviation.value == pytest.approx(1.2909944)
    # chi-squared with 3 degrees: 9.348404 and 0.215795
    assert deviation.low == pytest.approx(math.sqrt(5 / 9.348404))
    assert deviation.high == pytest.approx(math.sqrt(5 / 0.215795), rel=1e-5)
    assert metrics.over_seeds(Metric("m", over_seeds="sd"), [1.0]).value is None
    assert metrics.over_seeds(Metric("m"), [None]).value is None
    assert metrics.over_seeds(Metric("m"), [2.0]).low is None


def test_the_summary_takes_the_mean_of_points_and_the_median_of_logarithms() -> None:
    def judged(printed: Value, distance: float) -> Judged:
        return Judged(printed, None, "close", distance)

    percent = [judged(value(90, "percent", algorithm=name), d) for name, d in [("a", -1.0), ("a", 3.0), ("b", 5.0)]]
    times = [judged(value(9, algorithm=name), d) for name, d in [("a", -0.1), ("b", 0.2), ("b", 0.7)]]
    skipped = [Judged(value(9), None, "not_run", None)]
    points, logs = summarise([*percent, *times, *skipped])
    assert (points.overall.value, points.overall.n) == (3.0, 3)
    assert {name: error.value for name, error in points.by_algorithm.items()} == {"a": 2.0, "b": 5.0}
    assert (logs.overall.value, logs.overall.n) == (0.2, 3)
    assert logs.by_scenario["k/s"].value == 0.2
    assert logs.verdicts == {"reproduced": 0, "close": 3, "differs": 0}


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("queues.down.delay_ms.mean", None),
        ("queues.up.packets.dropped", None),
        ("flows.0.rtt_ms.p50", None),
        ("queues.down.delay_percentiles_ms.99", None),
        ("fairness.jain_goodput", None),
        ("queues.sideways.delay_ms.mean", "accepted: down, up"),
        ("queues.down.delay_ms", "is not a number"),
        ("queues.down.sojourn", "has no field 'sojourn'"),
        ("queues.down.drop_percent.x", "is a number"),
        ("flows.first.goodput_mbps", "a number after it"),
    ],
)
def test_paths_into_the_record_are_checked_before_anything_runs(path: str, why: str | None) -> None:
    found = check_path(path)
    assert found is None if why is None else found is not None and why in found
