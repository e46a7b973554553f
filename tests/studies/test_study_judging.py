"""Values: intervals, distances, verdicts, the summary."""

import math
from pathlib import Path
from typing import Any

import pytest

from goodqueue.record.dotted import check_path
from goodqueue.studies import judging, measuring, trivial
from goodqueue.studies.judging import Judged
from goodqueue.studies.measuring import Measurement
from goodqueue.studies.model import Metric, Study, Tolerance
from goodqueue.studies.published import Published, Value, load
from goodqueue.studies.summary import summarise


def study(**tolerances: Tolerance) -> Study:
    facts = Published(Path("p"), "k", "t", (), 2014, "", {}, (), ())
    return Study(folder=Path("f"), key="k", title="t", citation="", published=facts, tolerances=tolerances)


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
        (value(10), measured(12, half=1), "close"),  # narrow enough, but without the published value
        (value(10), measured(12, half=2), "reproduced"),  # at the interval's end
        (value(10), measured(0), "differs"),
        (value(0), measured(0), "reproduced"),
        (value(80, "percent"), measured(80.5), "reproduced"),
        (value(80, "percent"), measured(82), "close"),
        (value(80, "percent"), measured(77.9), "differs"),
        (value(80, "percent"), measured(81.5, half=1.9), "reproduced"),
        (value(80, "percent"), measured(81.5, half=3), "close"),
        (value(10, high=20), measured(15), "reproduced"),
        (value(10, high=20), measured(22), "close"),
        (value(0.90, "index"), measured(0.9049), "reproduced"),  # shares differ, by 0.005
        (value(0.90, "index"), measured(0.9051), "close"),
        (value(0.90, "index"), measured(0.8801), "close"),  # and by 0.02
        (value(0.90, "index"), measured(0.8799), "differs"),
        (value(5, "percentage_points"), measured(5.5), "reproduced"),  # no second distance: not a share of a whole
        (value(-math.inf, high=20), measured(1), "reproduced"),
        (value(10), measured(None), "not_run"),
    ],
)
def test_verdicts(printed: Value, got: Measurement, want: str) -> None:
    assert judging.compare(study(), printed, got).verdict == want


PERCENT = "percent"


@pytest.mark.parametrize(
    ("printed", "got", "want"),
    [
        # a loss near 0: half a point means nothing
        (value(0.40, PERCENT), measured(0.41), "reproduced"),  # 2.5 %
        (value(0.40, PERCENT), measured(0.48), "close"),  # ln 1.2 = 0.18
        (value(0.40, PERCENT), measured(0.60), "differs"),
        (value(0.40, PERCENT), measured(0), "differs"),
        (value(0.40, PERCENT), measured(0.48, half=0.1), "reproduced"),  # in an interval that is narrow enough
        (value(0.40, PERCENT), measured(0.60, half=0.5), "differs"),  # an interval from 0.1 to 1.1 proves nothing
        (value(0.40, PERCENT), measured(0.20, half=0.2), "differs"),  # an interval that reaches 0 proves even less
        # a value stands for everything that rounds to it
        (value(0.04, PERCENT, half_digit=0.005), measured(0.036), "reproduced"),
        (value(0.04, PERCENT, half_digit=0.005), measured(0.034), "reproduced"),  # 3 % from 0.035
        (value(0.04, PERCENT, half_digit=0.005), measured(0.029), "close"),
        (value(0.04, PERCENT, half_digit=0.005), measured(0.08), "differs"),
        (value(0, PERCENT, half_digit=0.005), measured(0.004), "reproduced"),
        (value(0, PERCENT, half_digit=0.005), measured(0), "reproduced"),
        (value(0, PERCENT, half_digit=0.005), measured(0.02), "differs"),
        # the unused part of a link is treated in the same way
        (
            value(96.0, PERCENT, half_digit=0.05),
            measured(95.8),
            "reproduced",
        ),  # 4.2 % of the link where 3.95 to 4.05 is printed
        (value(96.0, PERCENT, half_digit=0.05), measured(95.6), "close"),
        (value(96.0, PERCENT, half_digit=0.05), measured(100), "differs"),
        (value(100, PERCENT, half_digit=0.05), measured(99.96), "reproduced"),
        (value(100, PERCENT, half_digit=0.05), measured(99.8), "differs"),
        # in the middle, points are narrower, and decide
        (value(20, PERCENT), measured(20.5), "reproduced"),
        (value(20, PERCENT), measured(20.6), "close"),
        (value(20, PERCENT), measured(22.1), "differs"),
        (value(40, PERCENT), measured(60), "differs"),  # the smaller parts are alike
        (value(120, PERCENT), measured(120.4), "reproduced"),  # not a share of a whole: only points
        (value(-3, PERCENT), measured(-3.4), "reproduced"),
        (value(-math.inf, PERCENT, high=0.1), measured(0.01), "reproduced"),  # a bound
        (value(-math.inf, PERCENT, high=0.1), measured(0.2), "differs"),
    ],
)
def test_a_percentage_is_held_to_the_ratio_of_its_smaller_part_too(printed: Value, got: Measurement, want: str) -> None:
    assert judging.compare(study(), printed, got).verdict == want


def test_the_ratio_of_a_percentage_has_the_studys_tolerance_of_ratios() -> None:
    loose = study(ratio=Tolerance(0.5, 1.0))
    assert judging.compare(loose, value(0.40, PERCENT), measured(0.60)).verdict == "reproduced"
    assert judging.compare(loose, value(0.40, PERCENT), measured(1.4)).verdict == "differs"


def test_a_model_that_never_loses_is_judged_as_we_are() -> None:
    losses = [value(number, PERCENT, id=f"l{number}", metric="voip_loss_percent") for number in (0, 0.04, 0.4, 8.5)]
    used = [value(number, PERCENT, id=f"u{number}", metric="utilisation_percent") for number in (100, 99.8, 70)]
    delays = [value(5, id="delay", metric="delay_mean_ms"), value(0, id="ratio", unit="ratio", metric="loss_ratio")]
    swings = value(100, PERCENT, id="swings", metric="oscillation_percent")
    compared = [judging.compare(study(), one, measured(one.low)) for one in (*losses, *used, *delays, swings)]
    unknown = Judged(value(0, PERCENT, id="none", metric="drop_percent"), None, "not_run", None)
    found = trivial.judge(study(), [*compared, unknown])
    assert found == {
        "l0": "reproduced",
        "l0.04": "differs",
        "l0.4": "differs",
        "l8.5": "differs",
        "u100": "reproduced",
        "u99.8": "differs",
        "u70": "differs",
    }


def test_a_percentage_is_as_fine_as_the_finest_of_its_row(tmp_path: Path) -> None:
    """TOML has 10.6 where a paper prints 10.60, and a dash is written as 0.0."""
    rows = [
        ("v1", 1, "10.6"),
        ("v2", 1, "0.04"),
        ("v3", 1, "0.0"),
        ("v4", 2, "100.0"),
        ("v5", 2, "99.9"),
        ("v6", 3, "10"),
    ]
    text = '[paper]\nkey = "k"\ntitle = "t"\n[[scenario]]\nid = "s"\n'
    for name, rate, number in rows:
        text += f'[[value]]\nid = "{name}"\nscenario = "s"\nalgorithm = "a"\nmetric = "loss_percent"\n'
        text += f'at = {{ rate = {rate} }}\nvalue = {number}\nunit = "percent"\n'
    text += '[[value]]\nid = "v7"\nscenario = "s"\nalgorithm = "a"\nmetric = "delay_ms"\nvalue = 1.5\nunit = "ms"\n'
    (tmp_path / "p.toml").write_text(text)
    found = {one.id: one.half_digit for one in load(tmp_path / "p.toml").values}
    assert found == {"v1": 0.005, "v2": 0.005, "v3": 0.005, "v4": 0.05, "v5": 0.05, "v6": 0.5, "v7": 0.0}


def test_a_study_may_have_its_own_tolerances() -> None:
    strict = study(ms=Tolerance(0.001, 0.002))
    assert judging.compare(strict, value(10), measured(10.4)).verdict == "differs"


def test_distances_are_differences_of_percent_and_logarithms_of_the_rest() -> None:
    assert judging.compare(study(), value(90, "percent"), measured(88)).distance == -2
    assert judging.compare(study(), value(10), measured(20)).distance == pytest.approx(math.log(2))
    assert judging.compare(study(), value(10, high=15), measured(12)).distance == 0


def test_a_mean_has_students_interval_and_a_deviation_that_of_chi_squared() -> None:
    mean = measuring.over_seeds(Metric("m"), [1.0, 2.0, 3.0, 4.0, None])
    assert (mean.value, mean.n, mean.missing) == (2.5, 4, 1)
    assert mean.high == pytest.approx(2.5 + 3.182446 * 1.2909944 / 2)  # t(0.975, 3) s / sqrt(4)
    assert mean.low == pytest.approx(2.5 - 3.182446 * 1.2909944 / 2)
    deviation = measuring.over_seeds(Metric("m", over_seeds="sd"), [1.0, 2.0, 3.0, 4.0])
    assert deviation.value == pytest.approx(1.2909944)
    # chi-squared with 3 degrees: 9.348404 and 0.215795
    assert deviation.low == pytest.approx(math.sqrt(5 / 9.348404))
    assert deviation.high == pytest.approx(math.sqrt(5 / 0.215795), rel=1e-5)
    # two seeds are enough; with 1 degree: 5.023886 and 0.000982069
    two = measuring.over_seeds(Metric("m", over_seeds="sd"), [1.0, None, 3.0])
    assert (two.value, two.n, two.missing) == (pytest.approx(math.sqrt(2)), 2, 1)
    assert (two.low, two.high) == pytest.approx((math.sqrt(2 / 5.023886), math.sqrt(2 / 0.000982069)))
    assert measuring.over_seeds(Metric("m", over_seeds="sd"), [1.0]).value is None
    assert measuring.over_seeds(Metric("m"), [None]) == Measurement(None, None, None, 0, 1, (None,))
    assert measuring.over_seeds(Metric("m"), [2.0]).low is None


def test_the_summary_takes_the_mean_of_points_and_the_median_of_logarithms() -> None:
    def judged(printed: Value, distance: float) -> Judged:
        return Judged(printed, None, "close", distance)

    percent = [judged(value(90, "percent", algorithm=name), d) for name, d in [("a", -1.0), ("a", 3.0), ("b", 5.0)]]
    times = [judged(value(9, algorithm=name), d) for name, d in [("a", -0.1), ("b", 0.2), ("b", 0.7)]]
    skipped = [Judged(value(9), None, "not_run", None)]
    shares = [judged(value(0.9, "index"), -0.01)]
    points, logs, fairness = summarise([*percent, *times, *skipped, *shares])
    assert points.measure == "mean |measured - published|, percentage points"
    assert logs.measure == "median |ln(measured / published)|"
    assert (fairness.measure, fairness.overall.value) == ("mean |measured - published|, index", 0.01)
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
