"""The record's part for the subscribers of a provider, from the captures at the bottleneck's queues."""

import json

import numpy as np
from numpy.typing import NDArray

from goodqueue.engines.kernel.sightings import Packets
from goodqueue.record import Isp, Scenario
from goodqueue.scenario import to_json

Got = tuple[int, int, int, int, NDArray[np.int64]]
"""What a subscriber got: bytes, those of the best second, packets offered and dropped, delays in nanoseconds."""


def measured(scenario: Scenario, queues: dict[str, Packets], span: tuple[int, int]) -> Isp:
    """Return what each subscriber of ``scenario`` got of ``queues`` in ``span``, from its begin to its end in ns.

    What held packets back is null: Linux does not say it.
    """
    from goodqueue import _goodqueue

    text = to_json(scenario)
    of_flows = _goodqueue.expanded(text)[1]
    # The flow -1 is none of the scenario's, and is the last entry.
    owner = np.array([*(-1 if number is None else number for number in of_flows), -1], dtype=np.int64)
    count = sum(table["count"] for table in scenario["subscriber"])
    down, up = (_got(queues[direction], owner, count, span) for direction in ("down", "up"))
    isp: Isp = json.loads(_goodqueue.isp_record(text, down, up))
    return isp


def _got(packets: Packets, owner: NDArray[np.int64], count: int, span: tuple[int, int]) -> list[Got]:
    """Return what each of ``count`` subscribers got. ``owner`` has the subscriber of each flow, or -1."""
    begin, end = span
    whose = owner[packets.flow]
    offered = packets.arrived(begin, end) & (whose >= 0)
    left = packets.departed(begin, end) & (whose >= 0)
    by, lengths, departures = whose[left], packets.length[left], packets.departure[left]
    seconds = -(-(end - begin) // 1_000_000_000)
    second = np.minimum((departures - begin) // 1_000_000_000, seconds - 1)
    in_seconds = np.bincount(by * seconds + second, lengths, count * seconds).reshape(count, seconds)
    came = np.bincount(whose[offered], minlength=count)
    dropped = np.bincount(whose[offered & ~packets.left], minlength=count)
    order = np.argsort(by, kind="stable")
    delays = (departures - packets.arrival[left])[order]
    ends = np.cumsum(np.bincount(by, minlength=count))
    return [
        (int(row.sum()), int(row.max(initial=0)), int(came[index]), int(dropped[index]), part)
        for index, (row, part) in enumerate(zip(in_seconds, np.split(delays, ends[:-1]), strict=True))
    ]
