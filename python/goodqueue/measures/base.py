"""The base RTT: the round trip of the path without queues."""

from goodqueue.record import Record, Scenario
from goodqueue.record.reading import UNKNOWN, times_of
from goodqueue.scenario import seconds


def path_ms(scenario: Scenario) -> float:
    """Return the base RTT that ``scenario`` states. Every scenario of a run of ours does."""
    return 1e3 * seconds(scenario["path"]["rtt"])


def base_ms(record: Record) -> float | None:
    """Return the base RTT of the path, or the shortest ping if the path is not known."""
    if record["scenario"]["path"]["rtt"] != UNKNOWN:
        return path_ms(record["scenario"])
    rtts = [rtt for app in record["apps"] if (times := times_of(app)) and (rtt := times.get("min")) is not None]
    return min(rtts, default=None)
