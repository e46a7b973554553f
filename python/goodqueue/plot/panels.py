"""Functions for figures of several panels: the grid, the legend above it, names of rows, and ticks that leave room."""

import math
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import FixedFormatter, MaxNLocator
from matplotlib.transforms import Bbox

from goodqueue.plot import style, wishes
from goodqueue.show import labels as naming

WIDE_IN = 7.8
"""The width of a figure with three panels in a row, in inches."""

NAME = 20
"""The maximum number of characters in a line of a row's name, in a figure of the common width."""

LEAST_NAME = 12

PANEL_IN = 1.6
"""The smallest width of a panel, in inches, where three or more stand in a row."""

LINES = 3
"""The maximum number of lines of a row's name."""


def titles(panels: Sequence[str]) -> list[str]:
    """Return the titles of the panels without repetitions."""
    return list(dict.fromkeys(panels))


def grid(
    titles: Sequence[str], height_in: float, single_in: float, is_shared: bool = True
) -> tuple[Figure, list[Axes]]:
    """Return a figure with one panel per title in ``titles``. Call within `style.look`.

    All panels share both axes if ``is_shared``. Otherwise each has its own.

    ``height_in`` is the height of a row of panels in inches. ``single_in`` is the height of a figure with one panel,
    which has no title.
    """
    count = len(titles)
    columns = _columns(count)
    rows = math.ceil(count / columns)
    figure = style.new_figure(
        single_in if count == 1 else 0.75 + height_in * rows, WIDE_IN if columns == 3 else style.WIDTH_IN
    )
    places = figure.subplots(rows, columns, sharex=is_shared, sharey=is_shared, squeeze=False).flatten().tolist()
    for ax in places[count:]:
        ax.set_visible(False)
    for ax in places[max(0, count - columns) : count]:
        ax.tick_params(axis="x", labelbottom=True)  # the place below may be empty
    if count > 1:
        room = style.characters(0.9 * figure.get_size_inches()[0] / columns, 9)
        for ax, title in zip(places, titles, strict=False):
            ax.set_title(wrapped(wishes.written(title), room), fontsize=style.size(9))
            ax.tick_params(labelsize=style.size(8.5))
            leave_room(ax)
    return figure, places[:count]


def _columns(count: int) -> int:
    """Return the number of panels beside each other: up to three, or as many as the width asked for has room for."""
    usual = 1 if count == 1 else 2 if count in (2, 4) else 3
    if wishes.now().height_in is not None:
        usual = min(count, 4)
    return max(1, min(usual, round(style.width(WIDE_IN) / PANEL_IN)))


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
            ax.set_ylabel(up, fontsize=style.size(9))
        if ax.xaxis.get_tick_params()["labelbottom"]:
            ax.set_xlabel(across, fontsize=style.size(9))


def heading(figure: Figure, title: str) -> None:
    """Write ``title`` above a figure of several panels that has no legend."""
    if title:
        figure.suptitle(title, x=0.01, ha="left", weight="bold", fontsize=style.size(10.5))


def legend(figure: Figure, handles: Sequence[Artist], names: Sequence[str], title: str = "") -> None:
    """Write a legend above all axes, in as many columns as fit, and make the figure higher accordingly.

    The figure's ``title`` stands above the legend.
    """
    renderer = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]
    room = style.characters(0.92 * figure.get_size_inches()[0], 9)
    short = [wrapped(wishes.written(name), room) for name in names]
    for columns in range(min(6, len(names)), 0, -1):
        drawn = figure.legend(
            handles, short, loc="outside upper left", ncols=columns, frameon=False, fontsize=style.size(9),
            title=title or None, alignment="left",
            title_fontproperties={"weight": "bold", "size": style.size(10.5)}, columnspacing=1.4,
        )  # fmt: skip
        box = drawn.get_window_extent(renderer)
        if columns == 1 or box.width <= figure.bbox.width - 10:
            style.grow(figure, box.height / figure.dpi)
            return
        drawn.remove()


def row_names(labels: Sequence[str]) -> list[str]:
    """Return a name for each row, wrapped if it is long and shortened if it is longer still. No two names are equal."""
    across = max(LEAST_NAME, min(NAME, style.characters(0.27 * style.width(), 10.5)))
    names = naming.fit([wishes.written(label) for label in labels], across * LINES)
    return ["\n".join(textwrap.wrap(name, across, break_on_hyphens=False)) or name for name in names]


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
            tick.set_fontsize(style.size(8.5))
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.grid(axis="y", visible=False)
    ax.tick_params(axis="y", length=0)


def settle(figure: Figure) -> None:
    """Wrap labels and titles that are longer than their place, and remove numbers that would touch their neighbour.

    The axes' limits must be final.
    """
    places = [ax for ax in figure.axes if ax.get_visible()]
    renderer = drawn(figure)
    for _ in range(2):
        changed = [_wrap(text, room, renderer) for text, room in _long(figure, places, renderer)]
        if not any(changed):
            break
        renderer = drawn(figure)
    thin_ticks(figure, places, renderer)


def drawn(figure: Figure) -> Any:
    """Settle the positions of everything in ``figure``, and return the renderer that measures texts."""
    canvas = FigureCanvasAgg(figure)
    if (layout := figure.get_layout_engine()) is None:
        figure.draw_without_rendering()
    else:  # draws all that it needs to measure
        layout.execute(figure)
    return canvas.get_renderer()  # type: ignore[no-untyped-call]


def _long(figure: Figure, places: Sequence[Axes], renderer: Any) -> Iterator[tuple[Text, float]]:
    """Yield the labels and titles of ``figure`` with the room that each has, in pixels."""
    for ax in places:
        frame = ax.get_window_extent(renderer)
        alone = ax.get_subplotspec().get_gridspec().ncols == 1  # type: ignore[union-attr]
        middle = (frame.x0 + frame.x1) / 2
        across = 2 * min(middle, figure.bbox.width - middle) if alone else frame.width * 1.06
        yield ax.xaxis.label, across - 4
        high = ax.get_subplotspec().get_gridspec().nrows == 1  # type: ignore[union-attr]
        yield ax.yaxis.label, frame.height * (1.15 if high else 1.0)
        for title in (ax.title, ax._left_title):  # type: ignore[attr-defined]
            yield title, figure.bbox.width - frame.x0 - 4 if alone else frame.width
    for whole in (figure._suptitle, figure._supxlabel):  # type: ignore[attr-defined]
        if whole is not None:
            yield whole, figure.bbox.width * 0.98


def _wrap(text: Text, room: float, renderer: Any) -> bool:
    """Wrap ``text`` into lines that fit ``room``. Returns whether it changed."""
    words = text.get_text()
    box = text.get_window_extent(renderer)
    length = box.height if text.get_rotation() == 90 else box.width
    if not words or length <= room:
        return False
    longest = max(map(len, words.split("\n")))
    shorter = wrapped(" ".join(words.split()), max(8, int(longest * room / length)))
    text.set_text(shorter)
    return shorter != words


def thin_ticks(figure: Figure, places: Sequence[Axes], renderer: Any = None) -> None:
    """Remove the numbers at the axes of ``places``, in any panel, that would touch their neighbour.

    Names of rows and of categories stay. The axes' limits must be final. A ``renderer`` is one of `drawn`, after which
    nothing moved.
    """
    renderer = renderer or drawn(figure)
    taken: dict[int, list[Bbox]] = {}
    for across in (True, False):
        done: set[Axes] = set()
        for first in places:
            if first in done or isinstance(_axis(first, across).get_major_formatter(), FixedFormatter):
                continue
            shared = first.get_shared_x_axes() if across else first.get_shared_y_axes()
            group = [ax for ax in places if ax is first or shared.joined(first, ax)]
            done.update(group)
            _thin(group, across, renderer, taken)


def _axis(ax: Axes, across: bool) -> Axis:
    return ax.xaxis if across else ax.yaxis


def _thin(group: Sequence[Axes], across: bool, renderer: Any, taken: dict[int, list[Bbox]]) -> None:
    """Keep the numbers of the ``group``, whose axes are one, that touch none of ``taken`` in any panel."""
    axis = _axis(group[0], across)
    ticks = [float(at) for at in axis.get_majorticklocs()]
    low, high = sorted(group[0].get_xlim() if across else group[0].get_ylim())
    by_position: dict[float, list[tuple[int, Bbox]]] = {}
    for ax in group:
        spec = ax.get_subplotspec()
        row = -1 if spec is None else spec.rowspan.start
        for at, label in zip(ticks, _axis(ax, across).get_ticklabels(), strict=False):
            if label.get_text() and label.get_visible() and low <= at <= high:
                box = label.get_window_extent(renderer)
                padded = Bbox.from_extents(box.x0 - 3, box.y0, box.x1 + 3, box.y1)
                by_position.setdefault(at, []).append((row, padded))
    order = sorted(by_position)
    if axis.get_scale() == "log":  # 10 is preferred to 5
        order.sort(key=lambda at: not math.log10(at).is_integer())
    shown = []
    for at in order:
        if not any(box.overlaps(other) for row, box in by_position[at] for other in taken.get(row, [])):
            shown.append(at)
            for row, box in by_position[at]:
                taken.setdefault(row, []).append(box)
    if len(shown) < len(by_position):
        axis.set_ticks(sorted(shown))
