"""Numbers of the flows with one name."""

import math
from statistics import fmean

from goodqueue.record import Record
from goodqueue.studies.computing import TEXT, Computation, Options


def share_percent(record: Record, options: Options) -> float | None:
    """Return which share of the goodput of all flows those called ``name`` have."""
    rates = [(flow["name"].rpartition("/")[0], flow["goodput_mbps"]) for flow in record["flows"]]
    whole = math.fsum(rate for _, rate in rates)
    return 100 * math.fsum(rate for name, rate in rates if name == options["name"]) / whole if whole else None


def srtt_mean_ms(record: Record, options: Options) -> float | None:
    """Return the mean of the smoothed RTTs of the flows called ``name``, as sampled, each flow counted alike."""
    flows = [flow for flow in record["series"]["flows"] if flow["name"].rpartition("/")[0] == options["name"]]
    samples = [[rtt for rtt in flow["tcp"]["rtt_ms"] if rtt is not None] for flow in flows]
    means = [fmean(of_flow) for of_flow in samples if of_flow]
    return fmean(means) if means else None


NUMBERS = {
    "share_percent": Computation({"name": TEXT}, share_percent, "of the goodput of all flows: those called `name`"),
    "srtt_mean_ms": Computation({"name": TEXT}, srtt_mean_ms, "of the flows called `name`, as sampled"),
}
"""The computations by name, as `compute` takes them."""
