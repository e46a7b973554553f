"""The look of each discipline: the same colour, marker and line in every figure, so that a reader learns it once.

No two disciplines share both colour and marker, for colour-blind readers. No two share both marker and line, for
prints without colour. Families share a hue.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Literal

from goodqueue.scenario import discipline

Line = Literal["-"] | tuple[float, tuple[float, ...]]
"""A line style of matplotlib."""

SOLID: Line = "-"
DASHED: Line = (0, (4.0, 1.6))
DOTTED: Line = (0, (1.0, 1.4))
DASH_DOT: Line = (0, (4.5, 1.5, 1.0, 1.5))
LONG: Line = (0, (8.0, 2.0))
LINES = (SOLID, DASHED, DASH_DOT, DOTTED, LONG)


@dataclass(frozen=True, slots=True)
class Look:
    """The look of one series."""

    colour: str
    """As ``#rrggbb``."""
    ink: str
    """The colour of its name, dark enough for text on white."""
    marker: str
    line: Line
    filled: bool = True
    """Whether its marks are filled."""

    def marks(self, size: float) -> dict[str, Any]:
        """Return the arguments of `Axes.plot` for marks that look ``size`` points large."""
        face = self.colour if self.filled else "white"
        marks = {"marker": self.marker, "markerfacecolor": face, "markeredgecolor": self.colour}
        return {**marks, "markersize": size * SIZES.get(self.marker, 1.0)}


SIZES = {"*": 1.6, "P": 1.2, "X": 1.2, "p": 1.15, "h": 1.15, "H": 1.15, "8": 1.1, "d": 1.2, "D": 0.9, "s": 0.95}
"""The factor that makes a marker look as large as a circle."""

DISCIPLINES: dict[str, tuple[str, str, Line]] = {
    # FIFOs: greys.
    "pfifo": ("#333333", "o", SOLID),
    "bfifo": ("#707070", "s", DASHED),
    "pfifo_head_drop": ("#8f8f8f", "D", DASH_DOT),
    "pfifo_fast": ("#525252", "^", DOTTED),
    "prio": ("#9c9c9c", "v", LONG),
    # CoDel: blues.
    "codel": ("#0072b2", "s", SOLID),
    "cobalt": ("#56b4e9", "d", DASHED),
    # One queue per flow: greens.
    "fq": ("#2f8f1f", "o", LONG),
    "fq_codel": ("#009e73", "^", SOLID),
    "fq_nocodel": ("#4fb83d", "h", DOTTED),
    "fq_pie": ("#5cc9a7", "v", DASH_DOT),
    "sfq": ("#8aa514", ">", DASHED),
    "cake": ("#0b5a45", "*", DASH_DOT),
    "cake_mq": ("#2a8f72", "*", LONG),
    # PIE and the PI controllers: oranges.
    "pie": ("#d55e00", "D", SOLID),
    "docsis_pie": ("#9a4100", "p", DASHED),
    "pi": ("#f2a45c", "<", DASH_DOT),
    # Two queues coupled, for L4S: purple.
    "dualpi2": ("#7e57c2", "P", DASHED),
    "docsis_lld": ("#4527a0", "8", SOLID),
    # RED: pinks.
    "red": ("#cc79a7", "v", SOLID),
    "red_gentle": ("#e5a6ca", "h", DASHED),
    "ared": ("#a23b72", "X", DASHED),
    "choke": ("#6d1f4e", "d", DOTTED),
    # Other disciplines with a drop probability: reds.
    "blue": ("#b2182b", "p", DOTTED),
    "sfb": ("#e06671", "8", DASH_DOT),
    "rem": ("#7f1d1d", "<", LONG),
    # Shapers: browns.
    "tbf": ("#8c564b", "8", LONG),
    "htb": ("#b98d6c", "H", LONG),
    # A path that is played: yellow.
    "netem": ("#b5a30a", "X", DOTTED),
}
"""Colour, marker and line of each discipline of the registry."""

ALIASES = {"droptail": "pfifo", "fifo": "pfifo", "none": "pfifo"}
"""Names of a FIFO in papers."""

COLOURS = ("#e69f00", "#333333", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#8c564b")
"""Colours for series of no discipline: Okabe and Ito's palette, which colour-blind readers can distinguish, without its
pale yellow."""

MARKERS = "osD^vPX*<>phd"
"""Markers for series of no discipline. Their number is coprime to that of the colours: 104 pairs precede a repeat."""

SHADES = (0.0, 0.4, -0.35, 0.2)
"""How much lighter, or darker, each of one discipline's series in one figure is."""


def looks(labels: Sequence[str]) -> list[Look]:
    """Return the look of each series of one figure. No two looks are the same.

    A label begins with the discipline's name, whose look is in `DISCIPLINES`. The bare name, or the first label with
    that name, has this look unchanged. Further labels of the same discipline keep its hue and marker. All other
    labels take looks in order, as do disciplines written in Python (``FILE.py:CLASS``).
    """
    by_index: dict[int, Look] = {}
    by_name: dict[str, list[int]] = {}
    for index, label in enumerate(labels):
        by_name.setdefault(_name(label), []).append(index)
    for name, (colour, marker, line) in DISCIPLINES.items():
        bare_first = sorted(by_name.pop(name, ()), key=lambda index: len(labels[index].split()) > 1)
        for variant, index in enumerate(bare_first):
            by_index[index] = _variant(colour, marker, line, variant)
    free = _others({(look.colour, look.marker) for look in by_index.values()})
    for index, label in enumerate(labels):
        if index in by_index:
            continue
        kin = by_name[_name(label)] if ".py:" in _name(label) else [index]
        base = next(free)
        for variant, cousin in enumerate(kin):
            by_index[cousin] = _variant(base.colour, base.marker, base.line, variant)
    return [by_index[index] for index in range(len(labels))]


def looks_by_label(labels: Sequence[str]) -> dict[str, Look]:
    """Return the looks of the series of one figure by their labels, which must differ."""
    return dict(zip(labels, looks(labels), strict=True))


def look_of(name: str) -> Look:
    """Return the look of the series ``name`` in a figure without others."""
    return looks([name])[0]


def _name(label: str) -> str:
    """Return a label's first word: the discipline of ``codel, 10ms``, ``codel target 20ms``, ``codel (kernel)``."""
    stab, rest = discipline.split_stab(label)
    label = " ".join(rest) if stab and rest else label
    match = re.match(r"[^\s,]+", label)
    name = match[0] if match else label
    return ALIASES.get(name.lower(), name if ".py:" in name else name.lower())


def _variant(colour: str, marker: str, line: Line, variant: int) -> Look:
    """Return the look of one of several series of a discipline. 40 consecutive variants differ from each other."""
    shade = _shaded(colour, SHADES[variant % len(SHADES)])
    turned = LINES[(LINES.index(line) + variant) % len(LINES)]
    return Look(shade, _ink(shade), marker, turned, filled=(variant + variant // 20) % 2 == 0)


def _others(taken: set[tuple[str, str]]) -> Iterator[Look]:
    """Yield looks that are not ``taken``. The palette begins with near-black if the figure has no discipline."""
    colours = COLOURS if taken else (*COLOURS[1:], COLOURS[0])
    for index in count():
        colour, marker = colours[index % len(colours)], MARKERS[index % len(MARKERS)]
        if (colour, marker) not in taken:
            line = LINES[index // len(colours) % len(LINES)]
            yield Look(colour, _ink(colour), marker, line, filled=index // 104 % 2 == 0)


def _channels(colour: str) -> list[int]:
    return [int(colour[at : at + 2], 16) for at in (1, 3, 5)]


def _text(channels: Sequence[float]) -> str:
    return "#" + "".join(f"{round(channel):02x}" for channel in channels)


def _shaded(colour: str, amount: float) -> str:
    """Return ``colour`` mixed with white, or with black if ``amount`` is negative."""
    towards = 255 if amount > 0 else 0
    return _text([channel + abs(amount) * (towards - channel) for channel in _channels(colour)])


def contrast(colour: str) -> float:
    """Return the contrast of ``colour`` with white by WCAG 2.1: 1 for white, 21 for black."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (n / 255 for n in _channels(colour))]
    return 1.05 / (0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05)


def _ink(colour: str) -> str:
    """Return ``colour`` dark enough for text on white: WCAG requires a contrast of 4.5."""
    dark = _text([channel * 0.75 for channel in _channels(colour)])
    while contrast(dark) < 4.5:
        dark = _text([channel * 0.9 for channel in _channels(dark)])
    return dark
