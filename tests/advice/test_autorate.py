"""`[autorate]`: a program that measures pings and sets the rates of the shapers. The Rust tests have its rules."""

import copy
from typing import Any

import pytest

from goodqueue import running
from goodqueue.engines.kernel import planning
from goodqueue.errors import UserError
from goodqueue.scenario import resolve

LINK: dict[str, Any] = {
    "duration": "20s",
    "warmup": "8s",
    "bottleneck": {
        "rate": "1gbit",
        "qdisc": "cake bandwidth 10mbit",
        "up": {"qdisc": "cake bandwidth 10mbit"},
    },
    "path": {"rtt": "20ms"},
    "hop": [
        {"name": "radio", "kind": "link", "before": "bottleneck", "rate": "20mbit", "qdisc": "bfifo limit 1250000"}
    ],
    "traffic": [
        {"kind": "bulk", "count": 2},
        {"kind": "ping", "name": "reflectors", "count": 6, "interval": "300ms", "stagger": "50ms"},
    ],
    "autorate": {"pings": "reflectors", "down": {"min": "2500kbit", "max": "40mbit"}},
}


def record(**more: Any) -> Any:
    return running.one(copy.deepcopy(LINK) | more)


def without() -> dict[str, Any]:
    return {key: value for key, value in LINK.items() if key != "autorate"}


def found(record: Any) -> tuple[float, float]:
    """Return the goodput down, and the 95th percentile of the pings."""
    pings = [app for app in record["apps"] if app["name"].startswith("reflectors/")]
    down = sum(flow["goodput_mbps"] for flow in record["flows"] if flow["name"].startswith("bulk/"))
    return down, max(app["rtt_ms"]["p95"] for app in pings)


def test_it_finds_the_rate_of_a_link_that_nobody_told_it() -> None:
    """The line says 10 Mbit/s and the link carries 20. A fixed 40 fills the queue of 500 ms behind the router."""
    down, ping = found(record())
    fixed, _ = found(running.one(without()))
    wide = copy.deepcopy(without())
    wide["bottleneck"]["qdisc"] = "cake bandwidth 40mbit"
    most, slow = found(running.one(wide))
    assert fixed < 10 < 13 < down < most
    assert ping < slow / 2


def test_it_follows_a_rate_that_falls() -> None:
    """A shaper that nobody changes would leave the whole queue in front of the slower link."""
    falls = {"change": [{"at": "4s", "hop": "radio", "rate": "5mbit"}]}
    _, ping = found(record(**falls))
    _, fixed = found(running.one(copy.deepcopy(without()) | falls))
    assert ping < fixed / 3


def test_the_same_bytes_twice_and_from_the_record() -> None:
    once = record()
    assert once == record()
    assert once == running.one(once["scenario"]), "the record has every number of the rules"
    assert once["scenario"]["autorate"]["raise"] == 1.04


def test_linux_and_a_scenario_without_it_are_as_before() -> None:
    assert "autorate" not in running.one(without())["scenario"]
    with pytest.raises(UserError, match=r"^autorate: found a program .* accepted by the kernel engine: none"):
        planning.plan(resolve(copy.deepcopy(LINK)))


@pytest.mark.parametrize(
    ("autorate", "said"),
    [
        ({"down": {"min": "1mbit", "max": "20mbit"}}, "autorate.pings: missing"),
        (
            {"pings": "bulk", "down": {"min": "1mbit", "max": "20mbit"}},
            'autorate.pings: found "bulk"; accepted: the name',
        ),
        ({"pings": "reflectors"}, "autorate: found no shaper; accepted: the table"),
        (
            {"pings": "reflectors", "down": {"min": "11mbit", "max": "20mbit"}},
            "autorate.down.min: found 11mbit; accepted",
        ),
        (
            {"pings": "reflectors", "up": {"min": "1mbit", "max": "9mbit"}},
            "autorate.up.max: found 9mbit; accepted: at least",
        ),
        ({"pings": "reflectors", "down": {"min": "1mbit"}}, "autorate.down.max: missing"),
        ({"pings": "reflectors", "down": {"least": "1mbit"}}, "autorate.down.least: unknown key"),
        ({"pings": "reflectors", "speed": 3}, "autorate.speed: unknown key"),
        ({"pings": "reflectors", "window": 0, "down": {"min": "1mbit", "max": "20mbit"}}, "autorate.window: found 0"),
        ({"pings": "reflectors", "raise": 0.5, "down": {"min": "1mbit", "max": "20mbit"}}, "autorate.raise: found 0.5"),
    ],
)
def test_what_is_wrong_is_refused_in_one_line(autorate: dict[str, Any], said: str) -> None:
    with pytest.raises((UserError, ValueError)) as refused:
        resolve(copy.deepcopy(LINK) | {"autorate": autorate})
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_line_without_a_bandwidth_has_no_rate_to_set() -> None:
    other = copy.deepcopy(LINK)
    other["bottleneck"]["qdisc"] = "fq_codel"
    with pytest.raises((UserError, ValueError), match=r"autorate\.down: found \"fq_codel.*accepted: a line of cake"):
        resolve(other)
