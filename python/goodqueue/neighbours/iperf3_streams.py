"""The streams of a test by iperf3, as one end saw them: their intervals, and their results."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from goodqueue._goodqueue import rounded
from goodqueue.neighbours import opening, parts

WRAPPED = 1 << 31
"""A counter of TCP's that is not less than this has wrapped, or says -1: TCP_INFO's have 32 bits."""

Table = Mapping[str, Any]


@dataclass(slots=True)
class Stream:
    """One stream, as one end saw it."""

    socket: int
    place: str
    sends: bool
    """Whether this end sends."""
    steps: list[Table] = field(default_factory=list)
    """Its intervals without the omitted ones."""
    warmed_up: bool = False
    """Whether there were intervals that were omitted."""
    end: Table = field(default_factory=dict)
    """Its result: ``sender`` and ``receiver``, or ``udp``."""

    def counts(self, key: str, most: float = opening.MOST) -> list[float | None]:
        """Return the number at ``key`` of each interval, or None if it is unknown, or a counter that has wrapped."""
        return [count(opening.number(step, key, self.place), most) for step in self.steps]

    def total(self, key: str, most: float = opening.MOST) -> float | None:
        """Return the sum of `counts`, or None if one of them is unknown, or if there are none."""
        counts = self.counts(key, most)
        known = [count for count in counts if count is not None]
        return sum(known) if known and len(known) == len(counts) else None

    def column(self, key: str, scale: float, length: int) -> parts.Numbers:
        """Return what this end's TCP said at ``key`` times ``scale``, one per interval of the record. 0 means unknown.

        An end that receives says its own, of a connection on which it sends nothing but ACKs.
        """
        values = self.counts(key, WRAPPED)[:length] if self.sends else []
        values += [None] * (length - len(values))
        return [None if not value else rounded(value * scale) for value in values]

    def result(self, end: str, key: str) -> float | None:
        """Return a number of the result: of the end ``sender``, ``receiver`` or ``udp``."""
        inner = opening.table_or_none(self.end, end, self.place)
        return opening.number(inner, key, f"{self.place}.{end}")

    def rate_mbps(self) -> float | None:
        """Return the rate of the bytes in the intervals, which this end sent or received, or None without intervals."""
        known = [(size, length) for size, length in zip(self.counts("bytes"), self.lengths_s(), strict=True) if length]
        sizes = [(size, length) for size, length in known if size is not None]
        return sum(size for size, _ in sizes) * 8e-6 / sum(length for _, length in sizes) if sizes else None

    def lengths_s(self) -> list[float]:
        """Return the lengths of the intervals, from end to end.

        The time begins anew after a warm-up, and the start and the length of the interval that follows still have the
        warm-up in them.
        """
        ends = self.counts("end")
        first = 0.0 if self.warmed_up or not self.steps else opening.number(self.steps[0], "start", self.place) or 0.0
        known = [end for end in ends if end is not None]
        lengths = [end - begin for begin, end in pairwise([first, *known])]
        if len(lengths) != len(self.steps) or min(lengths, default=1.0) <= 0:
            return [length_s or 0.0 for length_s in self.counts("seconds")]
        return lengths

    def seconds(self) -> float:
        """Return how long the stream was measured."""
        if seconds := sum(self.lengths_s()):
            return seconds
        ends_s = [self.result(end, "seconds") for end in ("sender", "receiver", "udp")]
        return max((end_s for end_s in ends_s if end_s is not None), default=0.0)


def of(data: Mapping[str, Any], test: Table, where: str) -> list[Stream]:
    """Return the streams in the order in which they first appear."""
    reverse = bool(test.get("reverse"))
    is_server = "accepted_connection" in opening.table_or_none(data, "start", where)
    streams: dict[int, Stream] = {}

    def at(socket: object, sends: object, here: str) -> Stream:
        key = round(opening.finite(socket, f"{here}.socket"))
        by_default = reverse == is_server
        return streams.setdefault(key, Stream(key, here, sends if isinstance(sends, bool) else by_default))

    for index, interval in enumerate(opening.tables(data, "intervals", where)):
        here = f"{where}: intervals.{index}"
        for row in opening.tables(interval, "streams", here):
            stream = at(row.get("socket"), row.get("sender"), f"{here}.streams")
            if row.get("omitted") is True:
                stream.warmed_up = True
            else:
                stream.steps.append(row)
    end = opening.table_or_none(data, "end", where)
    for index, row in enumerate(opening.tables(end, "streams", f"{where}: end")):
        here = f"{where}: end.streams.{index}"
        for name in ("sender", "receiver", "udp"):
            if inner := opening.table_or_none(row, name, here):
                at(inner.get("socket"), inner.get("sender"), here).end = row
                break
    return list(streams.values())


def count(value: float | None, most: float) -> float | None:
    """Return ``value``, or None if it is unknown: less than 0, or not less than ``most``."""
    return value if value is not None and 0 <= value < most else None
