"""Functions for figures of several panels: the grid, the legend above it, names of rows, and ticks that leave room."""

import math
import textwrap
from collections.abc import Sequence

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from goodqueue.plot import style
from goodqueue.show import labels as naming

WIDE_IN = 7.8
"""The width of a figure with three panels in a row, in inches."""

NAME = 20
"""The maximum number of characters in a line of a row's name."""

LINES = 3
"""The maximum number of lines of a row's name."""


def titles(panels: Sequence[str]) -> list[str]:
    """Return the titles of the panels without repetitions."""
    return list(dict.fromkeys(panels))


def grid(named: Sequence[str], height_in: float, single_in: float) -> tuple[Figure, list[Axes]]:
    """Return a figure with one panel per title in ``named``. All panels share both axes. Call within `style.look`.

    ``height_in`` is the height of a row of panels in inches. ``single_in`` is the height of a figure with one panel,
    which has no title.
    """
    count = len(named)
    columns = 1 if count == 1 else 2 if count in (2, 4) else 3
    rows = math.ceil(count / columns)
    figure = style.new_figure(single_in if count == 1 else 0.75 + height_in * rows)
    if columns == 3:
        figure.set_size_inches(WIDE_IN, figure.get_size_inches()[1])
    places = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).flatten().tolist()
    for ax in places[count:]:
        ax.set_visible(False)
    for ax in places[max(0, count - columns) : count]:
        ax.tick_params(axis="x", labelbottom=True)  # the place below may be empty
    if count > 1:
        for ax, title in zip(places, named, strict=False):
            ax.set_title(wrapped(title, 34 if columns == 2 else 28), fontsize=9)
            ax.tick_params(labelsize=8.5)
            leave_room(ax)
    return figure, places[:count]


def leave_room(ax: Axes) -> None:
    """Leave out the last number below ``ax``, which would touch the first number below the next panel."""
    ax.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10], prune="upper"))


def wrapped(text: str, width: int) -> str:
    """Return ``text`` in lines of at most ``width`` characters."""
    return "\n".join(textwrap.wrap(text, width, break_on_hyphens=False)) or text


def label_axes(places: Sequence[Axes], across: str, up: str) -> None:
    """Label the common axes, once at each edge if there are several panels."""
    if len(places) == 1:
        places[0].set_xlabel(across)
        places[0].set_ylabel(up)
        return
    for ax in places:
        if ax.get_subplotspec().is_first_col():  # type: ignore[union-attr]
            ax.set_ylabel(up, fontsize=9)
        if ax.xaxis.get_tick_params()["labelbottom"]:
            ax.set_xlabel(across, fontsize=9)


def heading(figure: Figure, title: str) -> None:
    """Write ``title`` above a figure of several panels that has no legend."""
    if title:
        figure.suptitle(title, x=0.01, ha="left", weight="bold", fontsize=10.5)


def legend(figure: Figure, handles: Sequence[Artist], names: Sequence[str], title: str = "") -> None:
    """Write a legend above all axes, in as many columns as fit, and make the figure higher accordingly.

    The figure's ``title`` stands above the legend.
    """
    canvas = FigureCanvasAgg(figure)
    renderer = canvas.get_renderer()  # type: ignore[no-untyped-call]
    short = [wrapped(name, 84) for name in names]
    for columns in range(min(6, len(names)), 0, -1):
        drawn = figure.legend(
            handles, short, loc="outside upper left", ncols=columns, frameon=False, fontsize=9, title=title or None,
            alignment="left", title_fontproperties={"weight": "bold", "size": 10.5}, columnspacing=1.4,
        )  # fmt: skip
        box = drawn.get_window_extent(renderer)
        if columns == 1 or box.width <= figure.bbox.width - 10:
            width, height = figure.get_size_inches()
            figure.set_size_inches(width, height + box.height / figure.dpi)
            return
        drawn.remove()


def row_names(labels: Sequence[str]) -> list[str]:
    """Return a name for each row, wrapped if it is long and shortened if it is longer still. No two names are equal."""
    found = naming.fit(labels, NAME * LINES)
    return ["\n".join(textwrap.wrap(name, NAME, break_on_hyphens=False)) or name for name in found]


def row_height(names: Sequence[str]) -> float:
    """Return the height in inches of a row that has room for the longest of ``names``."""
    lines = max((name.count("\n") + 1 for name in names), default=1)
    return max(0.36, 0.12 + 0.17 * lines)


def name_rows(ax: Axes, labels: Sequence[str], names: Sequence[str]) -> None:
    """Write the rows' names at the left of ``ax``, in their colours, the first on top."""
    ax.set_yticks(range(len(names)), names)
    for tick, look in zip(ax.get_yticklabels(), style.looks(labels), strict=True):
        tick.set_color(look.ink)
        tick.set_fontweight("bold")
        if "\n" in tick.get_text():
            tick.set_fontsize(8.5)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.grid(axis="y", visible=False)
    ax.tick_params(axis="y", length=0)


def thin_ticks(figure: Figure, places: Sequence[Axes]) -> None:
    """Remove the labels below ``places``, in any panel, that would touch their neighbour. ``places`` share no axis.

    The axes' limits must be final.
    """
    canvas = FigureCanvasAgg(figure)
    canvas.draw()  # type: ignore[no-untyped-call]  # settles the layout, which the positions depend on
    renderer = canvas.get_renderer()  # type: ignore[no-untyped-call]
    for row in {ax.get_subplotspec().rowspan.start for ax in places}:  # type: ignore[union-attr]
        taken: list[tuple[float, float]] = []
        for ax in (one for one in places if one.get_subplotspec().rowspan.start == row):  # type: ignore[union-attr]
            low, high = sorted(ax.get_xlim())
            found = []
            for at, label in zip(ax.get_xticks(), ax.get_xticklabels(), strict=True):
                box = label.get_window_extent(renderer)
                if low <= at <= high and label.get_text():
                    found.append((float(at), box.x0 - 3, box.x1 + 3))
            if ax.get_xscale() == "log":  # 10 is preferred to 5
                found.sort(key=lambda tick: not math.log10(tick[0]).is_integer())
            kept = []
            for at, begin, end in found:
                if all(end < left or right < begin for left, right in taken):
                    taken.append((begin, end))
                    kept.append(at)
            ax.set_xticks(sorted(kept))
