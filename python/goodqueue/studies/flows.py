"""Flows of a run beside one another, by their names or their places."""

import math
from statistics import fmean

from goodqueue.record import Flow, Record
from goodqueue.studies.computing import Options


def goodput_sum_mbps(record: Record, options: Options) -> float | None:
    """Return the total goodput of all flows that the scenario calls ``name``, or None if there are none."""
    own = [flow["goodput_mbps"] for flow in _called(record, options["name"])]
    return math.fsum(own) if own else None


def least_goodput_mbps(record: Record, options: Options) -> float | None:
    """Return the smallest goodput of the flows that the scenario calls ``name``, or None if there are none."""
    return min((flow["goodput_mbps"] for flow in _called(record, options["name"])), default=None)


def loss_ratio(record: Record, options: Options) -> float | None:
    """Return the mean loss share of flows called ``name``, divided by that of flows called ``to_name``.

    Returns None if there are no such flows, or if the latter lose nothing.
    """
    one, other = (
        [flow["loss_percent"] or 0.0 for flow in _called(record, options[key])] for key in ("name", "to_name")
    )
    return fmean(one) / fmean(other) if one and any(other) else None


def _called(record: Record, name: str | float) -> list[Flow]:
    return [flow for flow in record["flows"] if flow["name"].rpartition("/")[0] == name]


def goodput_ratio(record: Record, options: Options) -> float | None:
    """Return the goodput of flow ``flow`` divided by that of flow ``to_flow``. None if the latter is 0."""
    one, other = (record["flows"][int(options[name])]["goodput_mbps"] for name in ("flow", "to_flow"))
    return one / other if other else None
