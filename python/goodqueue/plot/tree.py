"""The tree of an Internet provider over time: for how much of each interval each node held packets back."""

from collections.abc import Sequence

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from goodqueue.plot import clock, panels, style
from goodqueue.plot.stored import Group
from goodqueue.record import NodeSeries, Record

COLOURS = "Reds"
ROWS = 40
"""The most nodes: those that limited the most."""

LINK = "the link"

SHARES = (0, 25, 50, 75, 100)
"""The shares of the time whose colours the legend shows, in percent."""


def of(record: Record) -> list[NodeSeries]:
    """Return the series of the nodes of ``record``, if it has any."""
    return record.get("series", {}).get("nodes", [])


def shown(nodes: Sequence[NodeSeries]) -> list[NodeSeries]:
    """Return the nodes that are drawn: at most `ROWS`, those that limited the most, in the order of the tree."""

    def sum_of(node: NodeSeries) -> float:
        percent = node["limiting_percent"]
        return sum(percent["down"]) + sum(percent["up"])

    largest = sorted(nodes, key=lambda node: -sum_of(node))[:ROWS]
    return [node for node in nodes if node in largest]


def figure(groups: Sequence[Group], title: str = "") -> Figure | None:
    """Draw the tree of the first run that has its series, a panel per direction. Returns None if no run has."""
    record = next((record for group in groups for record in group.records if of(record)), None)
    if record is None:
        return None
    nodes = shown(of(record))
    ends = record["series"]["time_s"]
    with style.look():
        drawn = style.new_figure(1.5 + 2 * (0.35 + 0.2 * len(nodes)), panels.WIDE_IN)
        axes = drawn.subplots(2, 1, sharex=True, squeeze=False)[:, 0].tolist()
        for ax, direction in zip(axes, ("down", "up"), strict=True):
            values = [node["limiting_percent"]["down" if direction == "down" else "up"] for node in nodes]
            ax.imshow(
                values, aspect="auto", vmin=0, vmax=100, cmap=COLOURS, interpolation="nearest",
                extent=(0, ends[-1], len(nodes) - 0.5, -0.5),
            )  # fmt: skip
            ax.set_yticks(range(len(nodes)), panels.row_names([node["name"] or LINK for node in nodes]))
            ax.grid(visible=False)
            ax.tick_params(axis="y", length=0)
            ax.set_title(direction, fontsize=style.size(9), loc="left")
        axes[-1].set_xlabel(clock.name(axes[-1], [record]))
        colours = mpl.colormaps[COLOURS]
        handles = [Patch(facecolor=colours(share / 100), edgecolor="#333333", linewidth=0.3) for share in SHARES]
        panels.legend(drawn, handles, [f"{share} %" for share in SHARES], title)
        style.note(drawn, "Colour: the share of the time in which a node held back packets of subscribers below it.")
        panels.settle(drawn)
    return drawn
