"""Round trips and goodputs, as captures at the ends of the path and the senders show them.

The round trip of a packet is measured with synthetic packet pairs (3.1.3): base RTT, waiting time in the queue down,
and the transmission times of the packet's frame and its ACK's frame at the bottleneck. The queue up holds only ACKs and
is assumed to be empty.
"""

import math
from itertools import pairwise
from statistics import median
from typing import cast

from goodqueue.measures.base import path_ms
from goodqueue.record import Record
from goodqueue.record.reading import statistic
from goodqueue.scenario import paths
from goodqueue.studies.computing import ABOVE, NUMBER, TEXT, TIME, Computation, Options

FRAME_BYTES = 1514
ACK_BYTES = 66


def spans_mbps(record: Record, direction: str) -> list[float]:
    """Return the total goodput of all TCP flows in one direction, for each interval of the series."""
    of_flows = [flow["direction"] if flow["cc"] else "" for flow in record["flows"]]
    if "series" not in record:
        return []
    series = [one["goodput_mbps"] for one in record["series"]["flows"] if "rtt_ms" not in one]  # leaves out pings
    own = [values for values, of_flow in zip(series, of_flows, strict=True) if of_flow == direction]
    return [math.fsum(value or 0.0 for value in span) for span in zip(*own, strict=True)]


def goodput_spans_mbps(record: Record, options: Options) -> float | None:
    """Return a ``percentile`` of `spans_mbps`."""
    import numpy as np

    spans = spans_mbps(record, str(options["direction"]))
    return float(np.percentile(spans, float(options["percentile"]))) if spans else None


def flow_rtts_ms(record: Record, options: Options) -> float | None:
    """Return the ``percentile`` (10, 50 or 90) of the round-trip times that a sender measured: the flows' median.

    Only TCP flows in one ``direction`` count. A flow without a measurement, since it never connected, is left out.
    """
    key = f"p{options['percentile']:g}"
    own = [flow for flow in record["flows"] if flow["cc"] and flow["direction"] == options["direction"]]
    known = [times[key] for flow in own if (times := cast("dict[str, float | None] | None", flow["rtt_ms"]))]
    measured = [value for value in known if value is not None]
    return median(measured) if measured else None


def captured_rtt_ms(record: Record, options: Options) -> float | None:
    """Return a ``percentile`` (10, 50 or 90) of the round trips that captures at the stations show of what they send.

    Linux shows a packet to a capture when it leaves the discipline (``dev_queue_xmit_nit``), so its wait there is no
    part of the round trip. The record has no distribution of whole round trips: the percentile is the sum of that of
    the station's driver, that of the access point's queue, which the ACKs cross, and the base RTT.
    """
    key = f"p{options['percentile']:g}"
    up, down = (record["queues"][direction] for direction in ("up", "down"))
    parts = [statistic(up["ring"]["delay_ms"], key) if "ring" in up else None, statistic(down["delay_ms"], key)]
    known = [part for part in parts if part is not None]
    return path_ms(record["scenario"]) + sum(known) if len(known) == len(parts) else None


def sending_ms(record: Record) -> float:
    """Return the transmission times at the bottleneck of a full frame down and of its ACK up, together, in ms."""
    bottleneck = record["scenario"]["bottleneck"]
    down, up = paths.rate_bps(bottleneck), paths.rate_bps(bottleneck["up"])
    return 8e3 * (FRAME_BYTES / down + ACK_BYTES / up)


def delay_ms(record: Record, options: Options) -> float | None:
    """Return a ``percentile`` of the packets' round-trip times minus the base RTT, or the percentile ``above``."""
    found = record["queues"]["down"]["delay_percentiles_ms"]
    if not found:
        return None
    above = int(options["above"])
    value, less = found[int(options["percentile"])], found[above] if above >= 0 else -sending_ms(record)
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
    own = [
        (time, delay + more)
        for time, delay, whose in zip(packets["time_s"], packets["delay_ms"], packets["flow"], strict=True)
        if whose == flow
    ]
    return [time for time, _ in own], [rtt for _, rtt in own]


def of_flow_ms(record: Record, options: Options) -> float | None:
    """Return the mean round-trip time of the packets of ``flow``."""
    _, found = course(record, int(options["flow"]))
    return math.fsum(found) / len(found) if found else None


def jitter_ms(record: Record, options: Options) -> float | None:
    """Return the mean absolute difference between the round-trip times of successive packets of ``flow``."""
    _, found = course(record, int(options["flow"]))
    steps = [abs(after - before) for before, after in pairwise(found)]
    return math.fsum(steps) / len(steps) if steps else None


NUMBERS = {
    "goodput_spans_mbps": Computation(
        {"direction": TEXT, "percentile": NUMBER},
        goodput_spans_mbps,
        "of all flows of one way together, a percentile over the series' intervals",
        needs=TIME,
    ),
    "flow_rtts_ms": Computation(
        {"direction": TEXT, "percentile": NUMBER},
        flow_rtts_ms,
        "round trips as senders of one way measured them: the percentile (10, 50, 90) of the flow in the middle",
    ),
    "captured_rtt_ms": Computation(
        {"percentile": NUMBER},
        captured_rtt_ms,
        "round trips of what a cell's stations send, as captures there show them: below the stations' discipline",
    ),
    "packet_rtt_ms": Computation(
        ABOVE,
        rtt_ms,
        "round trip of the packets down: a percentile, or what it is above another",
    ),
    "packet_delay_ms": Computation(ABOVE, delay_ms, "the same less the base RTT"),
    "flow_rtt_ms": Computation({"flow": NUMBER}, of_flow_ms, "mean of the packets of one flow"),
    "flow_jitter_ms": Computation(
        {"flow": NUMBER},
        jitter_ms,
        "mean difference of successive packets of one flow, unsigned",
    ),
}
"""The computations by name, as `compute` takes them."""
