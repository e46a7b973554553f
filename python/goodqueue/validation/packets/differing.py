"""Where two runs part: the first packet that one of them lacks, or has at another time."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from goodqueue.validation.packets.reading import SENT, Seen

WITHIN_NS = 2_000
"""Two packets that are farther apart in time are not the same.

Some of Linux's disciplines round times, to the 64 ns of `tc` or to microseconds.
"""

FIELDS = ("connection", "sequence number", "length", "flags", "ACK", "ECN bits", "SACK blocks")
"""What equal packets have in common, in the order of `Seen.content`."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The first packet that differs."""

    point: str
    place: int
    """Its place among the packets at that point."""
    time_ns: int
    """The earlier time of the two."""
    what: str
    """In what the packets differ: a field, the time, or that one run has no further packet."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs beside each other."""

    difference: Difference | None
    """None: the runs are equal to the end."""
    agreeing: int
    """Packets that the hosts sent before the difference."""
    packets: tuple[int, int]
    """All packets that the hosts sent, in either run."""

    @property
    def are_equal(self) -> bool:
        """Whether the runs have the same packets to the end."""
        return self.difference is None


def compare(first: Mapping[str, Seen], second: Mapping[str, Seen], end_ns: int) -> Comparison:
    """Compare two runs, which end at ``end_ns``.

    At the points behind the queues only the order counts: Linux's shaper lets a packet out while tokens are left, and
    the node behind it holds the packet as long as its transmission takes.
    """
    found = [_first(point, first[point], second[point], end_ns) for point in first]
    differences = [difference for difference in found if difference is not None]
    difference = min(differences, key=lambda difference: difference.time_ns, default=None)
    sides = [[seen[point] for point in SENT] for seen in (first, second)]
    agreeing = [
        len(mine)
        if difference is None
        else difference.place
        if difference.point == point
        else _before(mine, theirs, difference.time_ns)
        for point, mine, theirs in zip(SENT, *sides, strict=True)
    ]
    all_sent = tuple(sum(map(len, side)) for side in sides)
    return Comparison(difference, sum(agreeing), (all_sent[0], all_sent[1]))


def first_window(first: Mapping[str, Seen], second: Mapping[str, Seen]) -> tuple[str, int] | None:
    """Return the point and the place of the first packet that the hosts sent with another window than in ``second``."""
    found = []
    for point in SENT:
        common = min(len(seen[point]) for seen in (first, second))
        places = np.flatnonzero(first[point].window[:common] != second[point].window[:common])
        if len(places):
            found.append((int(first[point].time_ns[places[0]]), point, int(places[0])))
    return min(found)[1:] if found else None


def _before(mine: Seen, theirs: Seen, time_ns: int) -> int:
    """Return how many packets both have before ``time_ns``."""
    return min(int(np.searchsorted(seen.time_ns, time_ns)) for seen in (mine, theirs))


def _first(point: str, mine: Seen, theirs: Seen, end_ns: int) -> Difference | None:
    """Return the first difference at ``point``."""
    common = min(len(mine), len(theirs))
    is_other = mine.content[:common] != theirs.content[:common]
    parts = is_other.any(axis=1)
    if point in SENT:
        parts = parts | (np.abs(mine.time_ns[:common] - theirs.time_ns[:common]) > WITHIN_NS)
    places = np.flatnonzero(parts)
    if len(places):
        place = int(places[0])
        fields = [name for name, other in zip(FIELDS, is_other[place], strict=True) if other]
        time_ns = min(int(seen.time_ns[place]) for seen in (mine, theirs))
        return Difference(point, place, time_ns, ", ".join(fields) or "time")
    longer = mine if len(mine) > len(theirs) else theirs
    if len(mine) == len(theirs) or point not in SENT or longer.time_ns[common] >= end_ns - WITHIN_NS:
        return None
    return Difference(point, common, int(longer.time_ns[common]), "no further packet in one of the runs")
