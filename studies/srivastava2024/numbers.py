"""The share of the flows with one congestion control."""

import math

from goodqueue.record import Record
from goodqueue.studies.computing import TEXT, Computation, Options


def share_percent(record: Record, options: Options) -> float | None:
    """Return which share of the goodput of all flows those with the congestion control ``cc`` have."""
    whole = math.fsum(flow["goodput_mbps"] for flow in record["flows"])
    own = math.fsum(flow["goodput_mbps"] for flow in record["flows"] if flow["cc"] == options["cc"])
    return 100 * own / whole if whole else None


NUMBERS = {"share_percent": Computation({"cc": TEXT}, share_percent, "of the goodput of all flows: those with `cc`")}
"""The computations by name, as `compute` takes them."""
