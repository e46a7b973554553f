"""The figure of ``goodqueue fit``: the probability of each value of each unknown setting."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

from goodqueue.plot import panels, style

FULL = "#0072b2"


@dataclass(frozen=True, slots=True)
class Histogram:
    """The probabilities of parts of a range."""

    edges: Sequence[float]
    """The ends of the parts: one more than there are probabilities."""
    chances: Sequence[float]
    unit: str
    is_log: bool


def figure(words: Mapping[str, Sequence[tuple[str, float]]], numbers: Mapping[str, Histogram]) -> Figure:
    """Draw one panel per setting: bars of words with their probabilities, or a histogram."""
    with style.look():
        drawn, places = panels.grid([*words, *numbers], 2.2, 2.2, is_shared=False)
        for ax, chances in zip(places, words.values(), strict=False):
            ax.barh([word for word, _ in chances], [chance for _, chance in chances], color=FULL)
            ax.invert_yaxis()
            ax.set_xlim(0, 1)
            ax.set_xlabel("probability")
        for ax, histogram in zip(places[len(words) :], numbers.values(), strict=True):
            widths = [end - begin for begin, end in zip(histogram.edges, histogram.edges[1:], strict=False)]
            ax.bar(histogram.edges[:-1], histogram.chances, width=widths, align="edge", color=FULL)
            if histogram.is_log:
                ax.set_xscale("log")
            ax.set_xlabel(histogram.unit or "value")
            ax.set_ylabel("probability")
    return drawn
