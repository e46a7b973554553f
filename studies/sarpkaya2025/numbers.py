"""Numbers of the flows with one name."""

import math
from statistics import fmean

from goodqueue.record import Record
from goodqueue.record.reading import statistic
from goodqueue.studies.computing import TEXT, Computation, Options


def share_percent(record: Record, options: Options) -> float | None:
    """Return which share of the goodput of all flows those called ``name`` have."""
    rates = [(flow["name"].rpartition("/")[0], flow["goodput_mbps"]) for flow in record["flows"]]
    whole = math.fsum(rate for _, rate in rates)
    return 100 * math.fsum(rate for name, rate in rates if name == options["name"]) / whole if whole else None


def rtt_mean_ms(record: Record, options: Options) -> float | None:
    """Return the mean RTT of the flows called ``name``, each flow counted alike."""
    flows = [flow for flow in record["flows"] if flow["name"].rpartition("/")[0] == options["name"]]
    means = [mean for flow in flows if (mean := statistic(flow.get("rtt_ms"), "mean")) is not None]
    return fmean(means) if means else None


NUMBERS = {
    "share_percent": Computation({"name": TEXT}, share_percent, "of the goodput of all flows: those called `name`"),
    "rtt_mean_ms": Computation({"name": TEXT}, rtt_mean_ms, "of the flows called `name`"),
}
"""The computations by name, as `compute` takes them."""
