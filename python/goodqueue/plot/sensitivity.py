"""The figure of which keys matter: one panel per metric, one pair of bars per key."""

from matplotlib.figure import Figure

from goodqueue.plot import panels, style
from goodqueue.search.sensitivity import Sensitivity
from goodqueue.search.sensitivity_show import HEADINGS, ranked

FULL, PALE = "#0072b2", "#a9cfe6"


def figure(found: Sensitivity) -> Figure:
    """Draw the indices of each metric with their 95 % intervals, the key that matters most at the top."""
    metrics = [metric.key for metric in found.plan.metrics]
    names = [one.key for one in found.plan.ranges]
    height = 0.9 + 0.45 * len(names)
    with style.look():
        drawn, places = panels.grid(metrics, height, height, is_shared=False)
        for ax, metric in zip(places, metrics, strict=True):
            rows = ranked(found, metric)
            for at, one in enumerate(rows):
                pairs = ((at - 0.18, one.first, one.first_half, FULL), (at + 0.18, one.total, one.total_half, PALE))
                for y, value, half, colour in pairs:
                    ax.barh(y, max(value, 0.0), height=0.34, color=colour, xerr=half, error_kw={"lw": 0.8})
            ax.set_yticks(range(len(rows)), [one.key for one in rows])
            ax.invert_yaxis()
            ax.set_xlim(left=0)
            ax.set_xlabel("of the variance" if found.plan.method == "sobol" else "effect")
        alone, total = HEADINGS[found.plan.method]
        style.note(drawn, f"Dark: {alone}. Pale: {total}. Lines: 95 % intervals.")
    return drawn
