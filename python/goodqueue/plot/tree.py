"""The tree of an Internet provider over time: for how much of each interval each node held packets back."""

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from goodqueue.plot import panels, style
from goodqueue.plot.stored import Group
from goodqueue.record import NodeSeries, Record

COLOURS = "Reds"
ROWS = 40
"""The most nodes: those that limited the most."""

LINK = "link"


def of(record: Record) -> list[NodeSeries]:
    """Return the series of the nodes of ``record``, if it has any."""
    return record.get("series", {}).get("nodes", [])


def shown(nodes: Sequence[NodeSeries]) -> list[NodeSeries]:
    """Return the nodes that are drawn: at most `ROWS`, those that limited the most, in the order of the tree."""

    def sum_of(node: NodeSeries) -> float:
        found = node["limiting_percent"]
        return sum(found["down"]) + sum(found["up"])

    kept = sorted(nodes, key=lambda node: -sum_of(node))[:ROWS]
    return [node for node in nodes if node in kept]


def figure(found: Sequence[Group], title: str = "") -> Figure | None:
    """Draw the tree of the first run that has its series, a panel per direction. Returns None if no run has."""
    record = next((record for group in found for record in group.records if of(record)), None)
    if record is None:
        return None
    nodes = shown(of(record))
    ends = record["series"]["time_s"]
    with style.look():
        drawn = style.new_figure(1.5 + 2 * (0.35 + 0.2 * len(nodes)), panels.WIDE_IN)
        axes = drawn.subplots(2, 1, sharex=True, squeeze=False)[:, 0].tolist()
        image: Any = None
        for ax, way in zip(axes, ("down", "up"), strict=True):
            values = [node["limiting_percent"]["down" if way == "down" else "up"] for node in nodes]
            image = ax.imshow(
                values, aspect="auto", vmin=0, vmax=100, cmap=COLOURS, interpolation="nearest",
                extent=(0, ends[-1], len(nodes) - 0.5, -0.5),
            )  # fmt: skip
            ax.set_yticks(range(len(nodes)), panels.row_names([node["name"] or LINK for node in nodes]))
            ax.grid(visible=False)
            ax.tick_params(axis="y", length=0)
            ax.set_title(way, fontsize=style.size(9), loc="left")
        axes[-1].set_xlabel("time in the run (s)")
        bar = drawn.colorbar(image, ax=axes, shrink=0.8)
        bar.set_label("share of the time that limits (%)")
        panels.heading(drawn, title)
        style.note(drawn, "A node limits while it holds back packets of subscribers below it (htb: may not send).")
        panels.settle(drawn)
    return drawn
