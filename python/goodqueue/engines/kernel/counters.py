"""`tc`'s own counters: their increase in the measured time, and the comparison with the captures."""

from typing import Any

import numpy as np

from goodqueue.engines.kernel import tc
from goodqueue.engines.kernel.lab.clock import nanoseconds
from goodqueue.engines.kernel.sightings import Packets
from goodqueue.errors import UserError

SLACK_NS = 250_000_000
"""The maximum time between reading a queue's counters and noting when, since reading starts a program."""

COUNTERS = (
    "bytes", "packets", "drops", "overlimits", "requeues", "drop_overlimit", "drop_overmemory", "ecn_mark", "ce_mark",
    "early", "marked", "pdrop", "other", "matched", "earlydrop", "penaltydrop", "bucketdrop", "queuedrop", "childdrop",
)  # fmt: skip
"""The fields of `tc -s` that are counters. The other fields are states."""


def check(direction: str, packets: Packets, snapshots: list[dict[str, Any]], duplicates: bool = False) -> None:
    """Compare the captures with the discipline's own counters, at each time when these were read.

    ``direction`` is the bottleneck's direction or a hop's name. If netem ``duplicates``, losses are not compared: netem
    may lose a copy alone, and no capture contains that copy.

    Raises UserError if the two disagree. Then one of them is wrong, and the run has no result.
    """
    for snapshot in snapshots:
        at = nanoseconds(snapshot["t_s"])
        leaf = _leaf(direction, snapshot)
        waiting = leaf["qlen"]
        expected = {
            "packets forwarded": (
                leaf["packets"],
                np.concatenate([packets.departure[packets.left], packets.copy_departure]),
            ),
        }
        if not duplicates:
            expected["packets offered"] = (leaf["packets"] + leaf["drops"] + waiting, packets.arrival)
        if snapshot is snapshots[-1]:
            if waiting:
                raise UserError(
                    f"kernel: {direction}: {waiting} packets still waited when the captures ended; accepted: none"
                )
            if not duplicates:
                expected["packets dropped"] = (leaf["drops"], packets.arrival[~packets.left])
        for what, (counted, times) in expected.items():
            least, most = int(np.sum(times <= at - SLACK_NS)), int(np.sum(times <= at + SLACK_NS))
            if not least <= counted <= most:
                seen = f"{least}" if least == most else f"{least} to {most}"
                raise UserError(
                    f"kernel: {direction}: captures and tc disagree at {snapshot['t_s']:.3f} s: {what}: "
                    f"{seen} and {counted}"
                )


def _leaf(direction: str, snapshot: dict[str, Any]) -> dict[str, Any]:
    for qdisc in snapshot["qdiscs"]:
        if qdisc["handle"] == tc.LEAF:
            leaf: dict[str, Any] = qdisc
            return leaf
    raise UserError(f"kernel: {direction}: tc shows no qdisc {tc.LEAF}; accepted: the scenario's discipline there")


def counted(snapshots: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return each discipline's counters over the measured time: from the first reading to the second."""
    before = {_place(qdisc): qdisc for qdisc in snapshots[0]["qdiscs"]}
    return [
        {"kind": qdisc["kind"], "handle": qdisc["handle"], **_since(before[_place(qdisc)], qdisc)}
        for qdisc in snapshots[1]["qdiscs"]
    ]


def _place(qdisc: dict[str, Any]) -> tuple[str, str | None]:
    """Return what names a discipline. All children of a device's queues have the handle 0."""
    return qdisc["handle"], qdisc.get("parent")


def _since(before: dict[str, Any], after: dict[str, Any]) -> dict[str, int]:
    return {name: after[name] - before.get(name, 0) for name in COUNTERS if name in after}
