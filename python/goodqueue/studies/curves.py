"""Draws measured cells: theirs with two standard deviations, ours with the interval over seeds, along a parameter."""

from collections.abc import Iterator, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from goodqueue.plot import style
from goodqueue.studies import inside
from goodqueue.studies.figures import Drawn
from goodqueue.studies.judging import Judged
from goodqueue.studies.outcome import Outcome
from goodqueue.studies.wording import Words

COLUMNS = 3
THEIRS, OURS = "#555555", "#0072b2"
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
    with style.look():
        figure = style.new_figure(0.5 + 1.7 * rows)
        axes = figure.subplots(rows, min(COLUMNS, len(panels)), squeeze=False, sharey=True)
        for ax in axes.flatten()[len(panels) :]:
            ax.set_visible(False)
        for ax, title in zip(axes.flatten(), panels, strict=False):
            _panel(ax, x, [one for one in members if place(one) == title])
            ax.set_title(words.place(panel, title) if panel else words.algorithm(str(title)), fontsize=8)
        name = words.name(x)
        figure.supxlabel(str(name), fontsize=8)
        figure.supylabel(str(words.name(members[0].value.metric)), fontsize=8)
    return figure


def _panel(ax: Axes, x: str, members: Sequence[Judged]) -> None:
    values = list(dict.fromkeys(one.value.at[x] for one in members))
    is_number = all(isinstance(value, int | float) for value in values)
    ordered = sorted(members, key=lambda one: one.value.at[x] if is_number else str(one.value.at[x]))
    places = [float(one.value.at[x]) if is_number else float(values.index(one.value.at[x])) for one in ordered]
    theirs = [one.value.number or 0.0 for one in ordered]
    bands = [one.value.band or 0.0 for one in ordered]
    ax.errorbar(places, theirs, yerr=bands, fmt="o", mfc="none", ms=4, lw=1, color=THEIRS, capsize=1.5)
    ours = [one.measured.value if one.measured else None for one in ordered]
    ax.plot(places, ours, "-", color=OURS, lw=1.2, marker=".", ms=4)  # type: ignore[arg-type]
    low = [one.measured.low if one.measured and one.measured.low is not None else float("nan") for one in ordered]
    high = [one.measured.high if one.measured and one.measured.high is not None else float("nan") for one in ordered]
    ax.fill_between(places, low, high, color=OURS, alpha=0.2, lw=0)
    if not is_number:
        ax.set_xticks(range(len(values)), [str(value) for value in values], fontsize=6, rotation=60)
    elif min(places) > 0 and max(places) / min(places) >= 10:
        ax.set_xscale("log", base=2)
        style.plain_numbers(ax.xaxis)
