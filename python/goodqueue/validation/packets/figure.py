"""The figure of two runs around the first packet that differs."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from goodqueue.plot import style
from goodqueue.validation.packets.differing import Difference
from goodqueue.validation.packets.reading import SENT, Seen

SPAN_NS = 30_000_000
"""How much of the run before the difference is drawn, and as much after it."""
_MARKERS = {"down-in": "o", "up-in": "x"}
_SIZES = (34, 12)
"""The first run's marks are the larger ones, so that both are seen where they agree."""


def draw(names: Sequence[str], captures: Sequence[Mapping[str, Seen]], difference: Difference) -> Figure:
    """Draw the packets that the hosts of both runs sent: data as circles, ACKs as crosses."""
    looks = style.looks(names)
    flow = _flow(captures, difference)
    with style.look():
        figure = style.new_figure(3.2)
        axes = figure.subplots()
        for name, look, run, size in zip(names, looks, captures, _SIZES, strict=True):
            for point in SENT:
                seen = run[point]
                near = np.abs(seen.time_ns - difference.time_ns) <= SPAN_NS
                near &= seen.content[:, 0] == flow
                has_data = seen.content[near, 2] > 0
                shown = np.where(has_data, seen.content[near, 1], seen.content[near, 4]) / 1e3
                at = seen.time_ns[near] / 1e9
                for chosen, marker in ((has_data, "o"), (~has_data, "x")):
                    if chosen.any():
                        what = f"{name}, {'data' if marker == 'o' else 'ACKs'}"
                        axes.scatter(
                            at[chosen], shown[chosen], s=size, marker=marker, color=look.colour, label=what, lw=1
                        )
        axes.axvline(difference.time_ns / 1e9, color="#888888", lw=0.8)
        axes.set_xlabel("time [s]")
        axes.set_ylabel("sequence number [kB]")
        axes.legend(fontsize=style.size(8))
    return figure


def _flow(captures: Sequence[Mapping[str, Seen]], difference: Difference) -> int:
    """Return the connection of the packet that differs, in the first run that has it."""
    seen = next(run[difference.point] for run in captures if difference.place < len(run[difference.point]))
    return seen.packet(difference.place).flow
