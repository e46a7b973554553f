"""The round-trip time of single packets, as captures at both ends of the path show it.

Khademi et al. 2013 measure it so (3.1.3, synthetic packet pairs): base RTT, waiting time in the queue down, and the
transmission times of the packet's frame and its ACK's frame at the bottleneck. The queue up holds only ACKs and is
assumed to be empty.
"""

import math
from collections.abc import Mapping
from itertools import pairwise

from goodqueue.measures.base import path_ms
from goodqueue.record import Record
from goodqueue.scenario import paths

FRAME_BYTES = 1514
ACK_BYTES = 66

Options = Mapping[str, str | float]


def sending_ms(record: Record) -> float:
    """Return the transmission times at the bottleneck of a full frame down and of its ACK up, together, in ms."""
    bottleneck = record["scenario"]["bottleneck"]
    down, up = paths.rate_bps(bottleneck), paths.rate_bps(bottleneck["up"])
    return 8e3 * (FRAME_BYTES / down + ACK_BYTES / up)


def delay_ms(record: Record, options: Options) -> float | None:
    """Return a ``percentile`` of the packets' round-trip times minus the base RTT, or the percentile ``above``."""
    percentiles = record["queues"]["down"]["delay_percentiles_ms"]
    if not percentiles:
        return None
    above = int(options["above"])
    value, less = percentiles[int(options["percentile"])], percentiles[above] if above >= 0 else -sending_ms(record)
    return None if value is None or less is None else value - less


def rtt_ms(record: Record, options: Options) -> float | None:
    """Return the same as `delay_ms`, plus the base RTT unless it is the difference of two percentiles."""
    value = delay_ms(record, options)
    return None if value is None else value + (path_ms(record["scenario"]) if options["above"] == -1 else 0)


def course(record: Record, flow: int) -> tuple[list[float], list[float]]:
    """Return when each packet of ``flow`` left the queue, within the window of the series, and its RTT in ms."""
    packets = record.get("series", {}).get("packets", {}).get("down")
    if packets is None or "flow" not in packets:
        return [], []  # the scenario does not record packets, or not their flows
    more = path_ms(record["scenario"]) + sending_ms(record)
    samples = [
        (time, delay + more)
        for time, delay, whose in zip(packets["time_s"], packets["delay_ms"], packets["flow"], strict=True)
        if whose == flow
    ]
    return [time for time, _ in samples], [rtt for _, rtt in samples]


def of_flow_ms(record: Record, options: Options) -> float | None:
    """Return the mean round-trip time of the packets of ``flow``."""
    _, rtts = course(record, int(options["flow"]))
    return math.fsum(rtts) / len(rtts) if rtts else None


def jitter_ms(record: Record, options: Options) -> float | None:
    """Return the mean absolute difference between the round-trip times of successive packets of ``flow``."""
    _, rtts = course(record, int(options["flow"]))
    steps = [abs(after - before) for before, after in pairwise(rtts)]
    return math.fsum(steps) / len(steps) if steps else None
