"""Linux's packets of a run in short: digests of 10 at the start and of 250 later, each with the time of the last.

With it a simulated run can be compared on a machine that has no kernel, within a second, and the file is small.
"""

import csv
import gzip
import io
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from goodqueue.validation.packets.differing import WITHIN_NS
from goodqueue.validation.packets.reading import SENT, Seen

SHORT, LONG, SHORT_UNTIL = 10, 250, 500
"""Packets in a block up to so many packets, and in the blocks after them."""
COLUMNS = ("cell", "point", "packets", "time_ns", "digest")

Blocks = list[tuple[int, int, int]]
"""The blocks of a point, in order: packets so far, the time of the last one, and the digest of the block's contents."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far a run agrees with the blocks of another."""

    packets: int
    """Packets in the blocks that agree, of both directions, before the end of the first block that does not."""
    is_to_the_end: bool
    """Whether all blocks agree."""


def blocks(seen: Seen) -> Blocks:
    """Return the blocks of what was seen at a point. The last one may be shorter."""
    whole = (*range(SHORT, SHORT_UNTIL + 1, SHORT), *range(SHORT_UNTIL + LONG, len(seen) + 1, LONG))
    ends = [end for end in whole if end <= len(seen)]
    if len(seen) > (ends[-1] if ends else 0):
        ends.append(len(seen))
    content = np.ascontiguousarray(seen.content, dtype="<i8")
    begins = [0, *ends][: len(ends)]
    return [
        (end, int(seen.time_ns[end - 1]), zlib.crc32(content[begin:end].tobytes()))
        for begin, end in zip(begins, ends, strict=True)
    ]


def agreement(run: Mapping[str, Seen], kept: Mapping[str, Blocks]) -> Agreement:
    """Return how far ``run``, which may be shorter, agrees with the blocks ``kept`` of another."""
    agreeing: dict[str, Blocks] = {}
    parted_ns: list[int] = []
    for point, theirs in kept.items():
        ours = blocks(run[point])
        common = _common(ours, theirs)
        agreeing[point] = theirs[:common]
        if common < len(theirs) or common < len(ours):
            parted_ns.append((theirs if common < len(theirs) else ours)[common][1])
    until = min(parted_ns, default=None)
    packets = (
        max((count for count, time_ns, _ in point if until is None or time_ns < until), default=0)
        for point in agreeing.values()
    )
    return Agreement(sum(packets), until is None)


def before(kept: Mapping[str, Blocks], time_ns: int) -> int:
    """Return how many packets are in the blocks that ended before ``time_ns``."""
    return sum(
        max((count for count, ended_ns, _ in blocks if ended_ns < time_ns), default=0) for blocks in kept.values()
    )


def _common(ours: Blocks, theirs: Blocks) -> int:
    """Return how many blocks are equal from the start."""
    common = 0
    for mine, other in zip(ours, theirs, strict=False):
        if (mine[0], mine[2]) != (other[0], other[2]) or abs(mine[1] - other[1]) > WITHIN_NS:
            break
        common += 1
    return common


def write(cells: Mapping[str, Mapping[str, Blocks]]) -> bytes:
    """Return the file of Linux's runs by cell. The same runs give the same bytes."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for cell, points in cells.items():
        for point, listed in points.items():
            writer.writerows((cell, point, *block) for block in listed)
    return gzip.compress(text.getvalue().encode(), mtime=0)


def read(file: Path) -> dict[str, dict[str, Blocks]]:
    """Return the blocks by cell and point that `write` wrote."""
    cells: dict[str, dict[str, Blocks]] = {}
    for cell, point, count, time_ns, digest in _rows(file):
        points = cells.setdefault(cell, {name: [] for name in SENT})
        points[point].append((int(count), int(time_ns), int(digest)))
    return cells


def _rows(file: Path) -> Iterator[list[str]]:
    with gzip.open(file, "rt", encoding="utf-8", newline="") as text:
        rows = csv.reader(text)
        next(rows)
        yield from rows
