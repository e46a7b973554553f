"""The traffic of a measurement as a scenario: what a simulation needs to repeat it on another link."""

import json
from functools import cache
from typing import Any

from goodqueue import _goodqueue
from goodqueue.record import Record
from goodqueue.traffic import BULK

MARKED = "rrul"
"""The test of Flent's whose flows have different codepoints. It is a kind of traffic, too."""

SPREAD = "200ms"
"""Programs start their flows within some such time."""


def is_known(cc: str) -> bool:
    """Return whether the simulator has the congestion control ``cc``. A file may name any other, or Python code."""
    return cc in _names()


@cache
def _names() -> frozenset[str]:
    return frozenset(control["name"] for control in json.loads(_goodqueue.congestion_controls()))


def traffic(record: Record, test: str, begin_s: float, end_s: float) -> list[dict[str, Any]]:
    """Return the tables of traffic of a test: the TCP flows of ``record`` by direction, and its pings."""
    times = {"start": f"{begin_s:.6g}s", "stop": f"{end_s:.6g}s", "start_spread": SPREAD}
    if test == MARKED:
        return [{"kind": MARKED, **times}]
    flows = [flow for flow in record["flows"] if flow["kind"] == BULK]
    tables: list[dict[str, Any]] = []
    for direction in ("down", "up"):
        same_direction = [flow for flow in flows if flow["direction"] == direction]
        if same_direction:
            cc = same_direction[0]["cc"]
            control = {"cc": cc} if cc is not None and is_known(cc) else {}
            tables.append({"kind": BULK, "count": len(same_direction), "direction": direction, **control, **times})
    if "series" in record and record["series"]["pings"]:
        tables.append({"kind": "ping"})
    return tables
