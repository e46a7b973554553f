"""Draws the distribution of queueing delay as text, on a logarithmic axis.

Each discipline has two lines. The upper one is the density (higher = more packets had that delay). The lower one is a
box plot: its whisker goes from the 5th to the 95th percentile, its box from the 25th to the 75th, with a mark at the
median. Packets whose delay is below the axis are not drawn: their share is printed before it.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from goodqueue.measures.stats import share_below
from goodqueue.show import labels


class Glyphs(NamedTuple):
    """The characters of the picture."""

    levels: str
    """The bars, from nothing to full height."""
    ends: str
    """The left and right end of the whisker."""
    whisker: str
    box: str
    median: str
    axis: str
    tick: str
    below: str
    """Points at the share below the axis."""


UNICODE = Glyphs(" ▁▂▃▄▅▆▇█", "├┤", "─", "━", "┃", "─", "┬", "◂")
ASCII = Glyphs(" ..::-=+#", "||", "-", "=", "O", "-", "+", "<")

LEAST_MS = 0.01
"""The lowest beginning of an axis. The transmission of a full packet at 1 Gbit/s takes about as long."""

SHOWN_BELOW = 0.005
"""A smaller share of packets below the axis is not printed."""

NAME = 22
"""The largest number of characters of a name."""

BELOW_WIDTH = 7
"""The characters of the share below the axis: a blank, ``100 %``, the pointer."""

DECADES = 4
"""The most decades on an axis. The lowest decades are left out."""


class Axis(NamedTuple):
    """A logarithmic axis in ms, ``width`` characters wide."""

    low: float
    high: float
    width: int

    def position(self, value: float) -> float:
        """Return the position of ``value`` in characters from the left, limited to the axis."""
        share = math.log(max(value, self.low) / self.low) / math.log(self.high / self.low)
        return min(max(share, 0.0), 1.0) * self.width

    def edge(self, column: int) -> float:
        """Return the delay at the left edge of ``column``, in ms."""
        return self.low * math.exp(math.log(self.high / self.low) * column / self.width)


def axis_for(distributions: Sequence[Sequence[float]], width: int) -> Axis:
    """Return the axis that covers the 5th percentile to the maximum of each of ``distributions``, with round ends.

    Percentiles below `LEAST_MS` do not count, so that packets that find an empty queue take no room.
    """
    lows = [
        value
        for run in distributions
        if (value := next((value for value in run[5:96] if value >= LEAST_MS), None)) is not None
    ]
    low = _round_down(min(lows, default=LEAST_MS))
    high = _round_up(max([run[-1] for run in distributions] + [low * 10]))
    return Axis(max(low, high / 10**DECADES), high, width)


def _round_down(value: float) -> float:
    decade = 10.0 ** math.floor(math.log10(value))
    return decade * max(step for step in (1, 2, 5) if decade * step <= value * (1 + 1e-9))


def _round_up(value: float) -> float:
    decade = 10.0 ** math.floor(math.log10(value))
    return decade * min(step for step in (1, 2, 5, 10) if decade * step >= value * (1 - 1e-9))


def below(percentiles: Sequence[float], axis: Axis) -> float:
    """Return the share (0 to 1) of the packets whose delay is below the axis."""
    return share_below(percentiles, axis.low, inclusive=False)


def density(percentiles: Sequence[float], axis: Axis, glyphs: Glyphs) -> str:
    """Return the line of bars: each column's share of the packets. The largest share has full height."""
    edges = [below(percentiles, axis), *(share_below(percentiles, axis.edge(at)) for at in range(1, axis.width)), 1.0]
    shares = [right - left for left, right in pairwise(edges)]
    top = max(shares)
    steps = len(glyphs.levels) - 1
    return "".join(
        glyphs.levels[min(steps, max(1, round(steps * share / top)))] if share > 1e-4 and top > 0 else " "
        for share in shares
    )


def box(percentiles: Sequence[float], axis: Axis, glyphs: Glyphs) -> str:
    """Return the line of the box plot: 5th, 25th, 50th, 75th and 95th percentile. An end below the axis is open."""
    if percentiles[95] < axis.low:
        return f"95 % of the packets wait less than {axis.low:g} ms"
    p5, p25, p50, p75, p95 = (
        min(axis.width - 1, int(axis.position(percentiles[percent]))) for percent in (5, 25, 50, 75, 95)
    )
    cells = [" "] * axis.width
    cells[p5 : p95 + 1] = glyphs.whisker * (p95 + 1 - p5)
    cells[p25 : p75 + 1] = glyphs.box * (p75 + 1 - p25)
    cells[p5], cells[p95] = (glyphs.ends[0], glyphs.ends[1]) if p5 < p95 else (glyphs.box, glyphs.box)
    if percentiles[5] < axis.low:
        cells[p5] = glyphs.box if percentiles[25] < axis.low else glyphs.whisker
    if percentiles[50] >= axis.low:
        cells[p50] = glyphs.median
    return "".join(cells)


def scale(axis: Axis, glyphs: Glyphs) -> tuple[str, str]:
    """Return the line of the axis, and the line of its numbers in ms."""
    line = [glyphs.axis] * (axis.width + 1)
    numbers = [" "] * (axis.width + 8)
    free_from = 0
    decade = 10.0 ** math.floor(math.log10(axis.low))
    steps = (1, 2, 5) if axis.high / axis.low <= 1000 else (1,)
    while decade <= axis.high * (1 + 1e-9):
        for step in steps:
            value = decade * step
            if not axis.low * (1 - 1e-9) <= value <= axis.high * (1 + 1e-9):
                continue
            at = min(axis.width, round(axis.position(value)))
            line[at] = glyphs.tick
            text = f"{value:g}"
            begin = max(0, at - len(text) // 2)
            if begin >= free_from:
                numbers[begin : begin + len(text)] = text
                free_from = begin + len(text) + 1
        decade *= 10
    return "".join(line), "".join(numbers).rstrip()


class Line(NamedTuple):
    """A line of the picture: its label, its content, and its kind, which decides its colour."""

    label: str
    drawn: str
    kind: str
    """``density``, ``box``, ``axis`` or ``numbers``."""


def distribution(
    distributions: Sequence[tuple[str, Sequence[float]]], width: int, glyphs: Glyphs = UNICODE
) -> list[Line]:
    """Return the picture of ``distributions``, each a label and 101 percentiles in ms, at most ``width`` characters."""
    if not distributions:
        return []
    names = labels.fit([label for label, _ in distributions], NAME)
    longest = max(map(len, names))
    axis = axis_for([percentiles for _, percentiles in distributions], max(10, width - longest - 8 - BELOW_WIDTH))
    shares = [below(percentiles, axis) for _, percentiles in distributions]
    if max(shares) < SHOWN_BELOW:
        axis = axis_for([percentiles for _, percentiles in distributions], max(10, width - longest - 8))
    lines = []
    for short, (_, percentiles), share in zip(names, distributions, shares, strict=True):
        name = short.ljust(longest)
        if max(shares) >= SHOWN_BELOW:
            name += (f"{share * 100:.0f} %{glyphs.below}" if share >= SHOWN_BELOW else "").rjust(BELOW_WIDTH)
        lines.append(Line(name, density(percentiles, axis, glyphs), "density"))
        lines.append(Line(" " * len(name), box(percentiles, axis, glyphs), "box"))
    longest = len(lines[0].label)
    line, numbers = scale(axis, glyphs)
    lines.append(Line(" " * longest, line, "axis"))
    lines.append(Line("ms".rjust(longest), numbers, "numbers"))
    return lines
