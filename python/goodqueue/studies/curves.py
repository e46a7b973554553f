"""Draws measured cells: theirs with two standard deviations, ours with the interval over seeds, along a parameter."""

import itertools
from collections.abc import Iterator, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from goodqueue.plot import style
from goodqueue.studies import inside
from goodqueue.studies.figures import Drawn
from goodqueue.studies.judging import Judged
from goodqueue.studies.outcome import Outcome
from goodqueue.studies.wording import Words

COLUMNS = 3
MOST_MARKS = 6
"""Up to so many values of a parameter have a mark each on its axis."""
CHARACTERS = 105
"""The width of a legend."""
THEIRS = "#555555"
OURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""A colour a line: Okabe and Ito's, which the colour-blind tell apart."""
CAPTION = (
    "Hollow marks and bars: measured there, the mean of the runs and two standard deviations (of one run 10 %, or 5 "
    "points of a share). Lines: here, with the 95 % interval over seeds."
)


def figures(outcome: Outcome) -> Iterator[Drawn]:
    """Yield a figure per ``[[cells]]`` and group: panels by line, the study's parameter along the x axis."""
    cells = inside.judged_cells(outcome)
    for view in outcome.study.views:
        own = [one for one in cells if one.value.scenario == view.scenario and one.value.metric == view.metric]
        for group in dict.fromkeys(one.value.at.get(view.by) for one in own):
            some = [one for one in own if one.value.at.get(view.by) == group]
            words = outcome.study.words
            place = "" if group is None else f", {words.place(view.by, group)}"
            title = f"{words.name(view.metric).line}{place}"
            name = "-".join([view.scenario.rpartition("/")[2], *([] if group is None else [_plain(group)])])
            yield Drawn(name, title[0].upper() + title[1:], CAPTION, _figure(words, view.x, view.panel, some))


def _plain(value: object) -> str:
    return str(value).replace(":", "-").replace("/", "-").lower()


def _figure(words: Words, x: str, panel: str, members: Sequence[Judged]) -> Figure:
    def place(one: Judged) -> object:
        return one.value.at.get(panel) if panel else one.value.algorithm

    panels = list(dict.fromkeys(place(one) for one in members))
    rows = -(-len(panels) // COLUMNS)
    lines = _lines(words, x, panel, members)
    axis = _Axis(x, members)
    with style.look():
        figure = style.new_figure(0.5 + 1.7 * rows + (0.12 * len(lines) if len(lines) > 1 else 0))
        axes = figure.subplots(rows, min(COLUMNS, len(panels)), squeeze=False, sharex=True, sharey=True)
        for ax in axes.flatten()[len(panels) :]:
            ax.set_visible(False)
        for ax, title in zip(axes.flatten(), panels, strict=False):
            _theirs(ax, axis, [one for one in members if place(one) == title])
            for color, (name, line) in zip(itertools.cycle(OURS), lines.items(), strict=False):
                _ours(ax, axis, [one for one in line if place(one) == title], color, name)
            ax.set_title(words.place(panel, title) if panel else words.algorithm(str(title)), fontsize=8)
            ax.tick_params(labelbottom=True, labelsize=7)
        axis.mark(axes[0, 0])
        if len(lines) > 1:
            handles, labels = axes[0, 0].get_legend_handles_labels()
            columns = max(1, min(4, CHARACTERS // (max(map(len, labels)) + 8)))
            figure.legend(handles, labels, loc="outside upper right", ncols=columns, frameon=False, fontsize=7)
        figure.supxlabel(str(words.name(x)), fontsize=8)
        figure.supylabel(str(words.name(members[0].value.metric)), fontsize=8)
    return figure


def _lines(words: Words, x: str, panel: str, members: Sequence[Judged]) -> dict[str, list[Judged]]:
    """Return ``members`` by what differs besides ``x`` and the panel, in words. A line joins only equals."""
    others = [name for name in members[0].value.at if name not in (x, panel)]
    differing = [name for name in others if len({one.value.at.get(name) for one in members}) > 1]
    lines: dict[str, list[Judged]] = {}
    for one in members:
        parts = [words.place(name, one.value.at[name]) for name in differing if name in one.value.at]
        parts += [words.algorithm(one.value.algorithm)] if panel else []
        lines.setdefault(", ".join(parts), []).append(one)
    return lines


class _Axis:
    """The axis of a parameter: its values are places, or names at places of their own."""

    def __init__(self, x: str, members: Sequence[Judged]) -> None:
        values = {one.value.at[x] for one in members}
        self._x = x
        self._is_number = all(isinstance(value, int | float) for value in values)
        self._values = sorted(values, key=None if self._is_number else str)

    def place(self, one: Judged) -> float:
        value = one.value.at[self._x]
        return float(value if self._is_number else self._values.index(value))

    def mark(self, ax: Axes) -> None:
        """Set the scale and the marks of ``ax``, with which the others share them."""
        values = self._values
        if not self._is_number:
            ax.set_xticks(range(len(values)), [str(value) for value in values], fontsize=6, rotation=60)
            return
        places = [float(value) for value in values]
        if places[0] > 0 and places[-1] / places[0] >= 10:
            ax.set_xscale("log", base=2)
            style.plain_numbers(ax.xaxis)
        if len(places) <= MOST_MARKS:
            ax.set_xticks(places, [f"{place:g}" for place in places], fontsize=7)
            ax.xaxis.set_minor_locator(NullLocator())


def _theirs(ax: Axes, axis: _Axis, members: Sequence[Judged]) -> None:
    places = [axis.place(one) for one in members]
    means = [one.value.number or 0.0 for one in members]
    bands = [one.value.band or 0.0 for one in members]
    ax.errorbar(places, means, yerr=bands, fmt="o", mfc="none", ms=4, lw=1, color=THEIRS, capsize=1.5)


def _ours(ax: Axes, axis: _Axis, members: Sequence[Judged], color: str, name: str) -> None:
    ordered = sorted(members, key=axis.place)
    places = [axis.place(one) for one in ordered]
    means = [one.measured.value if one.measured else None for one in ordered]
    ax.plot(places, means, "-", color=color, lw=1.2, marker=".", ms=4, label=name)  # type: ignore[arg-type]
    low = [one.measured.low if one.measured and one.measured.low is not None else float("nan") for one in ordered]
    high = [one.measured.high if one.measured and one.measured.high is not None else float("nan") for one in ordered]
    ax.fill_between(places, low, high, color=color, alpha=0.2, lw=0)
