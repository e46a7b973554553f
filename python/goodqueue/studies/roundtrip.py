"""The round trip of single packets, as captures at both ends of the path show it: what was taken off them says.

That is how Khademi et al. 2013 measure (3.1.3, synthetic packet pairs): the base RTT, what a packet waits in the
queue down, and what its frame and that of an ACK take on the bottleneck. The queue up holds ACKs alone, and is taken
as empty.
"""

import math
from collections.abc import Mapping
from itertools import pairwise

from goodqueue.record import Record
from goodqueue.scenario import paths
from goodqueue.studies.latency import base_ms

FRAME_BYTES = 1514
ACK_BYTES = 66

Options = Mapping[str, str | float]


def sending_ms(record: Record) -> float:
    """Return how long a full frame and the ACK of it take on the bottleneck's two ways."""
    bottleneck = record["scenario"]["bottleneck"]
    down, up = paths.rate_bps(bottleneck), paths.rate_bps(bottleneck["up"])
    return 8e3 * (FRAME_BYTES / down + ACK_BYTES / up)


def delay_ms(record: Record, options: Options) -> float | None:
    """Return a ``percentile`` of the packets' round trips less the base RTT, or what it is ``above`` another one."""
    found = record["queues"]["down"]["delay_percentiles_ms"]
    if not found:
        return None
    above = int(options["above"])
    value, less = found[int(options["percentile"])], found[above] if above >= 0 else -sending_ms(record)
    return None if value is None or less is None else value - less


def rtt_ms(record: Record, options: Options) -> float | None:
    """Return the same with the base RTT."""
    value = delay_ms(record, options)
    return None if value is None else value + (base_ms(record) if options["above"] == -1 else 0)


def course(record: Record, flow: int) -> tuple[list[float], list[float]]:
    """Return when each packet of ``flow`` left the queue within the window of the series, and its round trip in ms."""
    packets = record.get("series", {}).get("packets", {}).get("down")
    if packets is None or "flow" not in packets:
        return [], []  # the scenario does not ask for them, or not whose they are
    more = base_ms(record) + sending_ms(record)
    own = [
        (time, delay + more)
        for time, delay, whose in zip(packets["time_s"], packets["delay_ms"], packets["flow"], strict=True)
        if whose == flow
    ]
    return [time for time, _ in own], [rtt for _, rtt in own]


def of_flow_ms(record: Record, options: Options) -> float | None:
    """Return the mean round trip of the packets of ``flow``."""
    _, found = course(record, int(options["flow"]))
    return math.fsum(found) / len(found) if found else None


def jitter_ms(record: Record, options: Options) -> float | None:
    """Return the mean difference between the round trips of successive packets of ``flow``, without its sign."""
    _, found = course(record, int(options["flow"]))
    steps = [abs(after - before) for before, after in pairwise(found)]
    return math.fsum(steps) / len(steps) if steps else None
