"""Loss and Mathis' constant of all flows."""

import math
from statistics import fmean

from goodqueue.record import Record
from goodqueue.record.reading import statistic
from goodqueue.studies.computing import Computation, Options

MSS_BITS = 1448 * 8


def mathis_c_drops(record: Record, _: Options) -> float | None:
    """Return Mathis' constant by drops: the mean of rate x RTT x sqrt(p) / MSS over the flows, p the queue's loss."""
    packets = record["queues"]["down"]["packets"]
    if packets is None or not packets["dropped"]:
        return None
    loss = math.sqrt(packets["dropped"] / (packets["dropped"] + packets["forwarded"]))
    flows = [(flow["goodput_mbps"], statistic(flow.get("rtt_ms"), "mean")) for flow in record["flows"]]
    constants = [1000 * rate * rtt * loss / MSS_BITS for rate, rtt in flows if rtt is not None]
    return fmean(constants) if constants else None


NUMBERS = {"mathis_c_drops": Computation({}, mathis_c_drops, "Mathis' constant by the queue's drops")}
"""The computations by name, as `compute` takes them."""
