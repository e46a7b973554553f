"""What flows get of the link: their goodput, the shares of flows, and what is offered."""

import math
from collections.abc import Callable
from functools import partial

from goodqueue import traffic
from goodqueue.measures.metrics import DIRECTIONS, Metric, of_direction
from goodqueue.measures.needs import RATE, bulk_flows, tcp
from goodqueue.record import Record
from goodqueue.record.reading import UNKNOWN
from goodqueue.scenario import paths

CONSTANT = "cbr"
"""The kind of traffic whose rate does not answer drops."""


def link_mbps(record: Record) -> float | None:
    """Return the rate of the link down, of one that follows a file its mean, or None if it is unknown."""
    link = record["scenario"]["bottleneck"]
    is_known = "trace" in link or link.get("rate", UNKNOWN) != UNKNOWN
    return paths.rate_bps(link) / 1e6 if is_known else None


def _bulk(record: Record) -> list[float]:
    flows = [flow for flow in record["flows"] if flow["kind"] == traffic.BULK and flow["direction"] == "down"]
    return [flow["goodput_mbps"] for flow in flows]


def share(record: Record) -> float | None:
    """Return the smallest goodput of a bulk flow, divided by the largest one. None with fewer than two flows."""
    goodputs = _bulk(record)
    return min(goodputs) / max(goodputs) if len(goodputs) > 1 and max(goodputs) > 0 else None


def responsive_percent(record: Record) -> float | None:
    """Return the goodput of all bulk flows in percent of the link's rate."""
    goodputs, rate = _bulk(record), link_mbps(record)
    return 100 * sum(goodputs) / rate if goodputs and rate else None


def offered_percent(record: Record) -> float | None:
    """Return the rate of all datagrams that are sent at a constant rate, in percent of the link's rate."""
    rate = link_mbps(record)
    sent = [source["rate"] for source in record["scenario"]["traffic"] if source["kind"] == CONSTANT]
    return 100 * sum(paths.rate_bps({"rate": str(text)}) / 1e6 for text in sent) / rate if rate else None


def goodput_all_mbps(record: Record) -> float:
    """Return the total goodput of all flows that carry data, in both directions."""
    return math.fsum(flow["goodput_mbps"] for flow in record["flows"])


def _of_tcp(direction: str) -> Callable[[Record], float | None]:
    """Return the function that picks the total goodput of all TCP flows in one ``direction``."""

    def pick(record: Record) -> float | None:
        flows = [flow["goodput_mbps"] for flow in record["flows"] if flow["cc"] and flow["direction"] == direction]
        return math.fsum(flows) if flows else None

    return pick


_GOODPUT = partial(Metric, unit="Mbit/s", better="high", decimals=2)

NUMBERS = (
    Metric(
        "share", "share", "", "high", share, decimals=3, direction="down", needs=(bulk_flows(2),), scale=(0, 1),
        note="share: the bulk flow with the least goodput over the one with most",
    ),
    Metric(
        "responsive_percent", "bulk flows", "%", "high", responsive_percent, direction="down",
        needs=(RATE, bulk_flows(1)),
        note="bulk flows: the goodput of all bulk flows in percent of the link's rate",
    ),
    Metric(
        "offered_percent", "constant", "%", "", offered_percent, direction="down", needs=(RATE,),
        note="constant: what traffic of constant rate sends, in percent of the link's rate",
    ),
    *(
        _GOODPUT(
            of_direction("tcp_goodput_mbps", direction), "TCP", pick=_of_tcp(direction), direction=direction,
            needs=(tcp(direction),), note="TCP: without the datagrams that goodput_mbps also counts",
        )
        for direction in DIRECTIONS
    ),
    _GOODPUT("goodput_all_mbps", "both ways", pick=goodput_all_mbps, note="both ways: of all flows down and up"),
)  # fmt: skip
