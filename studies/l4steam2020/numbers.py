"""The goodput of TCP beside UDP."""

import math

from goodqueue.record import Record
from goodqueue.studies.computing import Computation, Options


def goodput_of_tcp_mbps(record: Record, _: Options) -> float:
    """Return the goodput of both TCP flows."""
    return math.fsum(flow["goodput_mbps"] for flow in record["flows"] if flow["kind"] == "bulk")


NUMBERS = {"goodput_of_tcp_mbps": Computation({}, goodput_of_tcp_mbps, "of both TCP flows")}
"""The computations by name, as `compute` takes them."""
