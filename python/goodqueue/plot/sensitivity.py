"""The figure of which keys matter: one panel per metric, one pair of bars per key."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

from goodqueue.plot import panels, style

FULL, PALE = "#0072b2", "#a9cfe6"


@dataclass(frozen=True, slots=True)
class Pair:
    """The two bars of a key, each with the half-width of its 95 % interval."""

    key: str
    full: float
    full_half: float | None
    pale: float
    pale_half: float | None


def figure(pairs_of: Mapping[str, Sequence[Pair]], axis: str, note: str) -> Figure:
    """Draw the pairs of each metric in their order, from top to bottom. ``axis`` says what the bars are."""
    height = 0.9 + 0.45 * max(map(len, pairs_of.values()))
    with style.look():
        drawn, places = panels.grid(list(pairs_of), height, height, is_shared=False)
        for ax, pairs in zip(places, pairs_of.values(), strict=True):
            for at, pair in enumerate(pairs):
                bars = ((at - 0.18, pair.full, pair.full_half, FULL), (at + 0.18, pair.pale, pair.pale_half, PALE))
                for y, value, half, colour in bars:
                    ax.barh(y, max(value, 0.0), height=0.34, color=colour, xerr=half, error_kw={"lw": 0.8})
            ax.set_yticks(range(len(pairs)), [pair.key for pair in pairs])
            ax.invert_yaxis()
            ax.set_xlim(left=0)
            ax.set_xlabel(axis)
        style.note(drawn, note)
    return drawn
