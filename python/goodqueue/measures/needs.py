"""What a number needs of a scenario. A refusal then names the key that the scenario lacks."""

from collections.abc import Callable
from dataclasses import dataclass

from goodqueue import traffic
from goodqueue.record import Scenario


@dataclass(frozen=True, slots=True)
class Need:
    """Something that a scenario must have so that a run of it shows a number."""

    words: str
    """What it is, with the key of the scenario that gives it."""
    is_met: Callable[[Scenario], bool]
    """Takes a resolved scenario."""


SERIES = Need(
    "the key series.interval, as 100ms", lambda scenario: bool((scenario.get("series") or {}).get("interval"))
)
"""A course over time."""

RATE = Need(
    "the key bottleneck.rate or bottleneck.trace",
    lambda scenario: any(key in scenario["bottleneck"] for key in ("rate", "trace")),
)
"""A rate of the link down. The medium of a Wi-Fi cell has none."""


def bulk_flows(least: int, most: int | None = None) -> Need:
    """Return the need of ``least`` bulk flows down or more, and of ``most`` at most."""
    words = "one bulk flow" if least == 1 else f"{least} bulk flows"
    more = "alone" if most == least else "or more"
    return Need(
        f"{words} down {more}, by the keys traffic.N.kind and traffic.N.count",
        lambda scenario: least <= _bulk_flows(scenario) and (most is None or _bulk_flows(scenario) <= most),
    )


def _bulk_flows(scenario: Scenario) -> int:
    return sum(
        int(source.get("count", 1))
        for source in scenario["traffic"]
        if source["kind"] == traffic.BULK and source.get("direction", "down") == "down"
    )


def application(kind: str) -> Need:
    """Return the need of traffic of ``kind``, which measures the number."""
    return Need(
        f"traffic of the kind {kind}, by the key traffic.N.kind",
        lambda scenario: any(source["kind"] == kind for source in scenario["traffic"]),
    )
