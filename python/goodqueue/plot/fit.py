"""The figure of ``goodqueue fit``: the probability of each value of each unknown setting."""

from typing import TYPE_CHECKING

from goodqueue.plot import panels, style
from goodqueue.search.fitting import Fit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FULL = "#0072b2"

BINS = 16


def figure(found: Fit) -> "Figure":
    """Draw one panel per setting: bars of words, or a histogram over the range."""
    import numpy as np

    points, weights = found.sample.points, found.sample.weights
    keys = [*(one.key for one in found.plan.choices), *(one.key for one in found.plan.numbers)]
    with style.look():
        drawn, places = panels.grid(keys, 2.2, 2.2, is_shared=False)
        choices = len(found.plan.choices)
        for ax, words in zip(places[:choices], found.words, strict=True):
            ax.barh([word for word, _ in words], [chance for _, chance in words], color=FULL)
            ax.invert_yaxis()
            ax.set_xlim(0, 1)
            ax.set_xlabel("probability")
        for column, (ax, one) in enumerate(zip(places[choices:], found.plan.numbers, strict=True)):
            edges = [one.at(share) for share in np.linspace(0, 1, BINS + 1)]
            heights, _ = np.histogram(points.numbers[:, column], bins=np.linspace(0, 1, BINS + 1), weights=weights)
            ax.bar(edges[:-1], heights, width=np.diff(edges), align="edge", color=FULL)
            if one.fact.is_log:
                ax.set_xscale("log")
            ax.set_xlabel(one.fact.unit or "value")
            ax.set_ylabel("probability")
    return drawn
