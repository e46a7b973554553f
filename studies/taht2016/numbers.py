"""The load of a queue in bytes, and its goodput by direction."""

import math

from goodqueue.record import Record
from goodqueue.record.dotted import walk
from goodqueue.studies.computing import TEXT, Computation, Options


def backlog_mean_bytes(record: Record, _: Options) -> float | None:
    """Return the mean backlog by Little's law: what leaves the queue times how long it waits."""
    delay, left = walk(record, "queues.down.delay_ms.mean"), walk(record, "queues.down.throughput_mbps")
    return None if delay is None or left is None else 1000 * delay * left / 8


def goodput_mbps(record: Record, options: Options) -> float | None:
    """Return the goodput of all flows of one ``direction``."""
    rates = [flow["goodput_mbps"] for flow in record["flows"] if flow["direction"] == options["direction"]]
    return math.fsum(rates) if rates else None


def jain(record: Record, _: Options) -> float | None:
    """Return Jain's index of the TCP flows' goodput, or None for a flow by itself."""
    rates = [flow["goodput_mbps"] for flow in record["flows"]]
    squares = math.fsum(rate * rate for rate in rates)
    return math.fsum(rates) ** 2 / len(rates) / squares if len(rates) > 1 and squares else None


NUMBERS = {
    "jain": Computation({}, jain, "Jain's index of the goodput of all TCP flows"),
    "backlog_mean_bytes": Computation({}, backlog_mean_bytes, "mean bytes in the queue down"),
    "goodput_of_way_mbps": Computation({"direction": TEXT}, goodput_mbps, "of all TCP flows of `direction`"),
}
"""The computations by name, as `compute` takes them."""
