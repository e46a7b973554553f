"""Queueing delays of the flows with one name."""

import math

from goodqueue.record import Record
from goodqueue.record.reading import statistic
from goodqueue.studies.computing import TEXT, Computation, Options


def goodput_of_tcp_mbps(record: Record, _: Options) -> float:
    """Return the goodput of both TCP flows."""
    return math.fsum(flow["goodput_mbps"] for flow in record["flows"] if flow["kind"] == "bulk")


def wait_ms(record: Record, options: Options) -> float | None:
    """Return ``number`` (p50 or p99) of the RTT of the flow called ``name``, less the base RTT: its class's delay."""
    for flow in record["flows"]:
        if flow["name"].rpartition("/")[0] == options["name"]:
            value = statistic(flow.get("rtt_ms"), str(options["number"]))
            return None if value is None else max(0.0, value - 20)
    return None


NUMBERS = {
    "goodput_of_tcp_mbps": Computation({}, goodput_of_tcp_mbps, "of both TCP flows"),
    "wait_ms": Computation({"name": TEXT, "number": TEXT}, wait_ms, "RTT of `name` above the base RTT"),
}
"""The computations by name, as `compute` takes them."""
