"""The figure of ``goodqueue advise``: each number before and after as two bars, and a large letter for both."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from goodqueue.plot import style

BEFORE, AFTER = "#8f8f8f", "#0072b2"

ROW_IN, HEAD_IN = 0.62, 1.25

BAR = 0.36
"""The height of a bar, of the 1 that a pair has."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar: its length as a share of the longest of its pair, its interval as such a share, and its words."""

    length: float
    half_width: float
    words: str


@dataclass(frozen=True, slots=True)
class Pair:
    """A number before, and after."""

    name: str
    before: Bar
    after: Bar | None
    """None if nothing is changed."""


def figure(letters: Sequence[str], letters_are: str, groups: Sequence[tuple[str, Sequence[Pair]]]) -> Figure:
    """Draw the ``letters`` of before and after, if there is an after, above the pairs of each group under its name."""
    rows = [len(pairs) for _, pairs in groups]
    with style.look():
        drawn = style.new_figure(HEAD_IN + ROW_IN * sum(rows) + 0.45 * len(groups))
        head, *places = drawn.subplots(1 + len(groups), 1, height_ratios=[1.6, *rows])
        _letters(head, letters, letters_are)
        for ax, (name, pairs) in zip(places, groups, strict=True):
            _bars(ax, name, pairs)
        style.note(drawn, "Each pair has a scale of its own. Line: 95 % confidence interval over the seeds.")
    return drawn


def _letters(ax: Axes, letters: Sequence[str], letters_are: str) -> None:
    ax.set_axis_off()
    ax.set(xlim=(0, 1), ylim=(0, 1))
    columns = [("now", BEFORE, 0.2), ("then", AFTER, 0.76)]
    for letter, (name, colour, x) in zip(letters, columns, strict=False):
        points = 40 if len(letter) <= 2 else 21  # "C or D"
        ax.text(x, 0.42, letter, color=colour, fontsize=style.size(points), weight="bold", ha="center", va="center")
        ax.text(x, -0.08, name, color=colour, fontsize=style.size(10), weight="bold", ha="center", va="center")
    if len(letters) > 1:
        arrow = {"arrowstyle": "-|>", "color": BEFORE, "linewidth": 1.6}
        ax.annotate("", (0.53, 0.42), (0.41, 0.42), arrowprops=arrow)
    ax.set_title(letters_are)


def _bars(ax: Axes, name: str, pairs: Sequence[Pair]) -> None:
    ax.set_title(name)
    for row, pair in enumerate(pairs):
        bars = [(pair.before, BEFORE), *([(pair.after, AFTER)] if pair.after else [])]
        for at, (bar, colour) in enumerate(bars):
            y = row + (at - (len(bars) - 1) / 2) * (BAR + 0.04)
            ax.barh(y, bar.length, BAR, color=f"{colour}b0", edgecolor=colour, linewidth=1.0)
            ax.errorbar(bar.length, y, xerr=bar.half_width, color="#333333", elinewidth=1.2, capsize=2.5)
            end = (bar.length + bar.half_width, y)
            ax.annotate(bar.words, end, (6, 0), textcoords="offset points", va="center", fontsize=style.size(9))
    longest = max(bar.length + bar.half_width for pair in pairs for bar in (pair.before, pair.after) if bar)
    ax.set_xlim(0, 1.28 * longest)  # the words stand beyond the bars
    ax.set_yticks(range(len(pairs)), [pair.name for pair in pairs])
    ax.set_xticks([])
    ax.invert_yaxis()
    ax.grid(visible=False)
    ax.tick_params(axis="y", length=0)
    ax.spines["bottom"].set_visible(False)
