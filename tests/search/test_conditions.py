"""Conditions: what is read, what is refused, and how far a run is from breaking one."""

import json
from functools import cache

import pytest

from goodqueue import running
from goodqueue import scenario as scenarios
from goodqueue.errors import Option, UserError
from goodqueue.measures import numbers
from goodqueue.measures.numbers import changes, shares
from goodqueue.record import Record
from goodqueue.search import conditions, properties

PLACE = Option("property", "x")


@cache
def record(qdisc: str = "codel", cc: str = "cubic", second: str = "cubic") -> Record:
    """Return the record of two flows, and of datagrams that begin at 3 s."""
    made = {
        "duration": "16s",
        "bottleneck": {"rate": "5mbit", "qdisc": qdisc},
        "path": {"rtt": "20ms"},
        "series": {"interval": "100ms"},
        "traffic": [
            {"kind": "bulk", "cc": cc},
            {"kind": "bulk", "cc": second},
            {"kind": "cbr", "rate": "1mbit", "start": "3s", "stop": "4s"},
        ],
    }
    found: Record = json.loads(running.one_text(scenarios.resolve(made)))
    return found


def _delay_ms(found: Record) -> float | None:
    (metric,) = numbers.find(["delay_mean_ms"])
    return metric.pick(found)


@pytest.mark.parametrize(
    ("text", "number", "sign", "bound", "of", "times"),
    [
        ("drop_percent >= 3", "drop_percent", ">=", 3.0, "", ""),
        ("completion_p50_ms >= 1.5 x cubic nohystart", "completion_p50_ms", ">=", 1.5, "", "cubic nohystart"),
        ("delay_targets of pie target 5ms < 5", "delay_targets", "<", 5.0, "pie target 5ms", ""),
        ("share<=1e-1", "share", "<=", 0.1, "", ""),
        ("flows.0.goodput_mbps > 2 x traffic.0.count=1", "flows.0.goodput_mbps", ">", 2.0, "", "traffic.0.count=1"),
    ],
)
def test_a_condition_is_read_whole(text: str, number: str, sign: str, bound: float, of: str, times: str) -> None:
    (found,) = conditions.parse([text], PLACE)
    assert (found.number, found.sign, found.bound, found.of, found.times) == (number, sign, bound, of, times)


@pytest.mark.parametrize(
    "text", ["", "delay", "drop_percent = 3", "drop_percent > x", "nonsense > 1", "a.b > 1", "share > 1e999"]
)
def test_what_is_no_condition_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(UserError) as refused:
        conditions.parse([text], PLACE)
    assert "\n" not in str(refused.value)
    assert str(refused.value).startswith("--property x: ")


def test_the_margin_has_the_sign_of_the_answer_and_grows_with_the_number() -> None:
    runs = {"": record()}
    value = _delay_ms(runs[""])
    assert value is not None
    margins = []
    for bound in (value * 4, value * 2, value * 0.9):
        (one,) = conditions.parse([f"delay_mean_ms > {bound}"], PLACE)
        margins.append(one.margin(runs))
        assert one.holds(runs) == (one.margin(runs) >= 0) == (value > bound)
    assert margins == sorted(margins)


def test_a_run_without_the_number_never_holds() -> None:
    (one,) = conditions.parse(["completion_p50_ms < 1e9"], PLACE)
    assert not one.holds({"": record()})
    assert one.margin({"": record()}) == -conditions.FURTHEST


def test_a_bound_may_be_a_multiple_of_another_run() -> None:
    (one,) = conditions.parse(["delay_mean_ms >= 2 x codel"], PLACE)
    fifo, codel = record("pfifo"), record()
    value, bound = one.values({"": fifo, "codel": codel})
    assert value == _delay_ms(fifo)
    assert bound == 2 * (_delay_ms(codel) or 0)
    assert one.holds({"": fifo, "codel": codel})
    assert not one.holds({"": codel, "codel": codel})


def test_the_target_of_the_line_is_the_unit_of_targets() -> None:
    usual, long = record(), record("codel target 20ms")
    for one, target in ((usual, 5.0), (long, 20.0)):
        delay = one["queues"]["down"]["delay_ms"]
        assert delay is not None
        assert numbers.by_key()["delay_targets"].pick(one) == pytest.approx((delay["mean"] or 0) / target)


def test_share_compares_the_bulk_flows_only() -> None:
    found = record("pfifo limit 30", "cubic", "vegas")
    goodputs = [flow["goodput_mbps"] for flow in found["flows"] if flow["kind"] == "bulk"]
    assert shares.share(found) == pytest.approx(min(goodputs) / max(goodputs))
    assert shares.responsive_percent(found) == pytest.approx(100 * sum(goodputs) / 5)
    assert shares.offered_percent(found) == pytest.approx(20)


def test_recovery_counts_from_the_last_change_of_the_load() -> None:
    found = record("pfifo")
    # The datagrams end at 4 s. The FIFO is above its target from then on, to the end of the run.
    assert changes.recovery_ms(found) == pytest.approx(12_000, abs=200)
    codel = changes.recovery_ms(record())
    assert codel is not None
    assert codel < 3_000


def test_what_flows_get_after_the_load_changed_is_a_share_of_the_rate() -> None:
    got = changes.after_percent(record("pfifo"))
    assert got is not None
    assert 70 < got <= 100


@pytest.mark.parametrize("name", list(properties.NAMED))
def test_each_named_property_is_made_of_conditions(name: str) -> None:
    found = properties.read([name])
    assert found.conditions
    assert found.main == "bulk"
    assert found.needs_series == (name in ("oscillation", "recovery"))


def test_a_completion_time_makes_the_first_traffic_a_transfer() -> None:
    assert properties.read(["completion_p50_ms > 1000"]).main == "transfer"


@pytest.mark.parametrize(("texts", "found"), [([], "found none"), (["sharing"], 'found "sharing"')])
def test_an_unknown_property_is_refused_with_the_names(texts: list[str], found: str) -> None:
    with pytest.raises(UserError) as refused:
        properties.read(texts)
    assert found in str(refused.value)
    assert "starvation" in str(refused.value)
