"""What a number needs of a scenario. A refusal then names the key that the scenario lacks."""

from collections.abc import Callable
from typing import Any, NamedTuple

from goodqueue import traffic
from goodqueue.record import Scenario


class Need(NamedTuple):
    """Something that a scenario must have so that a run of it shows a number."""

    words: str
    """What it is, with the key of the scenario that gives it."""
    is_met: Callable[[Scenario], bool]
    """Takes a scenario that is resolved, or that a search has built."""
    key: str = ""
    """The one key that gives it, if there is one."""


def _series(name: str, example: str) -> Need:
    key = f"series.{name}"
    return Need(
        f"the key {key}, as {example}", lambda scenario: bool((scenario.get("series") or {}).get(name)), key
    )  # fmt: skip


SERIES = _series("interval", "100ms")
"""A course over time."""

PACKETS = _series("packets", '{ from = "1s", to = "2s" }')
"""Single packets."""

RATE = Need(
    "the key bottleneck.rate or bottleneck.trace",
    lambda scenario: any(key in scenario["bottleneck"] for key in ("rate", "trace")),
)
"""A rate of the link down. The medium of a Wi-Fi cell has none."""


def bulk_flows(least: int, most: int | None = None, direction: str = "down") -> Need:
    """Return the need of ``least`` bulk flows in ``direction`` or more, and of ``most`` at most."""
    words = "one bulk flow" if least == 1 else f"{least} bulk flows"
    more = "alone" if most == least else "or more"

    def is_met(scenario: Scenario) -> bool:
        flows = sum(
            int(one.get("count", 1))
            for one in scenario["traffic"]
            if one["kind"] == traffic.BULK and _is(one, direction)
        )
        return _has_subscribers(scenario) or (least <= flows and (most is None or flows <= most))

    return Need(f"{words} {direction} {more}, by the keys traffic.N.kind and traffic.N.count", is_met)


def application(kind: str) -> Need:
    """Return the need of traffic of ``kind``, which measures the number."""
    return _traffic(f"traffic of the kind {kind}, by the key traffic.N.kind", lambda one: one["kind"] == kind)


def data(*directions: str) -> Need:
    """Return the need of traffic whose data go in one of ``directions``. Packets of a ping are no data."""
    return _traffic(
        f"traffic {' or '.join(directions)} beside pings, by the keys traffic.N.kind and traffic.N.direction",
        lambda one: not _kind(one).is_probe and _is(one, *directions),
    )


def tcp(*directions: str) -> Need:
    """Return the need of traffic whose data go in one of ``directions`` by TCP."""
    return _traffic(
        f"TCP traffic {' or '.join(directions)}, by the keys traffic.N.kind and traffic.N.direction",
        lambda one: _kind(one).is_tcp and _is(one, *directions),
    )


def packets(direction: str) -> Need:
    """Return the need of packets in ``direction``: of data, or those that answer them, such as ACKs."""
    return _traffic(
        f"traffic that sends packets {direction}, by the keys traffic.N.kind and traffic.N.direction",
        lambda one: _is(one, direction) or _kind(one).is_probe or _has_control(one),
    )


def _traffic(words: str, suits: Callable[[dict[str, Any]], bool]) -> Need:
    """Return the need of one [[traffic]] that ``suits``. Subscribers draw traffic of their own, which may have it."""
    return Need(words, lambda scenario: _has_subscribers(scenario) or any(map(suits, scenario["traffic"])))


def _has_subscribers(scenario: Scenario) -> bool:
    return bool(scenario.get("subscriber"))


def _kind(one: dict[str, Any]) -> traffic.Kind:
    return traffic.kinds()[one["kind"]]


def _has_control(one: dict[str, Any]) -> bool:
    return any(key["name"] == "cc" for key in _kind(one).keys)


def _is(one: dict[str, Any], *directions: str) -> bool:
    return one.get("direction", "down") in directions
