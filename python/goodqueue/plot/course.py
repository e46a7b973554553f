"""The course of a run: the mean over its repeats, with a band for their spread."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from goodqueue.plot import clock, panels, style, wishes
from goodqueue.plot.labels import Curve, name_curves
from goodqueue.plot.series import Values, described, is_law, series
from goodqueue.plot.stored import Group, labels_of, measured_s, repeats
from goodqueue.plot.style import Look

BAND = (10, 90)
"""The band's percentiles of the runs on a logarithmic axis, where the mean minus a deviation may be below zero."""

MARKS = 6
"""The number of marks on a line, which identify the line without its colour."""


@dataclass(frozen=True, slots=True)
class Course:
    """One series of a group: its mean over the runs and its band, at each time."""

    label: str
    times: Any
    mean: Any
    deviation: Any
    percentiles: Any
    """The percentiles of `BAND`."""


def figure(
    groups: Sequence[Group],
    what: str | Sequence[str],
    title: str = "",
    window: tuple[float | None, float | None] = (None, None),
) -> Figure | None:
    """Draw series (see `series`) over time: a line for the mean of each group's runs, a band for their spread.

    The band is ± one standard deviation. On a logarithmic axis it is the 10th to the 90th percentile of the runs. At
    times that only some runs sampled, only these runs count. Several series are rows with a common time axis. Groups
    with a panel of their own are columns, or panels if there is one series. Returns None if no run has any of the
    series.
    """
    series_names = [what] if isinstance(what, str) else list(what)
    titles = panels.titles([group.panel for group in groups])
    courses = {
        (name, panel): [course for group in groups if group.panel == panel and (course := _course(group, name, window))]
        for name in series_names
        for panel in titles
    }
    if not any(courses.values()):
        return None
    labels = labels_of(groups)
    looks = style.looks_by_label(labels)
    with style.look():
        if len(series_names) == 1:
            drawn, axes = panels.grid(titles, 2.1, 3.4)
            places = dict(zip(courses, axes, strict=True))
        else:
            drawn, places = _rows(series_names, titles)
        logarithmic = [_frame(places, courses, name, described(name, groups)[1]) for name in series_names]
        headings = [_labelled(name, groups) for name in series_names]
        curves: list[Curve] = []
        for (name, panel), drawn_courses in courses.items():
            for index, course in enumerate(drawn_courses):
                drawn_on = logarithmic[series_names.index(name)]
                curves.append(_draw(places[name, panel], course, looks[course.label], drawn_on, index))
        warmup = min(measured_s(record)[0] for group in groups for record in group.records)
        for ax in places.values():
            if warmup > (window[0] or 0):
                ax.axvspan(0, warmup, color="#f0f0f0", lw=0, zorder=0)
            ax.margins(x=0)
            ax.set_xlim(window[0] or 0, window[1])
        across = clock.name(next(iter(places.values())), [record for group in groups for record in group.records])
        if len(series_names) == 1:
            panels.label_axes(list(places.values()), across, headings[0])
        else:
            _label_rows(places, series_names, titles, headings, across)
        several = any(len(group.records) > 1 for group in groups)
        words = f"mean of the runs; band: {_band(logarithmic)}" if several else "the run"
        style.note(drawn, f"Line: {words}{_shade(warmup - (window[0] or 0))}. {repeats(groups)}.")
        name_curves(drawn, list(places.values()), curves, labels, title)
    return drawn


def has(groups: Sequence[Group], what: str) -> bool:
    """Return whether any run has the series ``what``."""
    return any(series(record, what) for group in groups for record in group.records)


def _course(group: Group, what: str, window: tuple[float | None, float | None]) -> Course | None:
    """Return the course of the series ``what`` over the runs of ``group``, or None if no run has it.

    A variable that a law has not set, such as CoDel's next drop, is nan at that time. Gaps in other series are
    bridged.
    """
    import numpy as np

    runs = [run_series for record in group.records if (run_series := series(record, what))]
    if not runs:
        return None
    begin, end = (np.inf * sign if edge is None else edge for edge, sign in zip(window, (-1, 1), strict=True))
    runs = [_cut(run, begin, end) for run in runs]
    grid = np.unique(np.concatenate([np.round(at, 6) for at, _ in runs]))
    if not len(grid):
        return None
    sampled = np.full((len(runs), len(grid)), np.nan)
    for row, (at, values) in zip(sampled, runs, strict=True):
        row[np.searchsorted(grid, np.round(at, 6))] = [np.nan if v is None else v for v in values]
    counts = np.count_nonzero(~np.isnan(sampled), axis=0)
    has_samples = counts > 0
    times, sampled, counts = grid[has_samples], sampled[:, has_samples], counts[has_samples]
    mean = np.nanmean(sampled, axis=0)
    squares = np.nansum((sampled - mean) ** 2, axis=0)
    spread = np.sqrt(squares / np.maximum(counts - 1, 1))
    percentiles = np.nanpercentile(sampled, BAND, axis=0)
    if is_law(what):
        every = np.full((4, len(has_samples)), np.nan)
        every[:, has_samples] = [mean, spread, *percentiles]
        mean, spread, percentiles = every[0], every[1], every[2:]
        times = grid
    return Course(group.label, times, mean, spread, percentiles)


def _cut(run: tuple[list[float], Values], begin: float, end: float) -> tuple[list[float], Values]:
    """Return the part of a series from ``begin`` to ``end``, in seconds of the run."""
    points = [(at, value) for at, value in zip(*run, strict=True) if begin <= at <= end]
    return [at for at, _ in points], [value for _, value in points]


def _rows(names: Sequence[str], titles: Sequence[str]) -> tuple[Figure, dict[tuple[str, str], Axes]]:
    """Return a figure with one row per series and one column per panel. A row shares its y axis, all share the time."""
    figure = style.new_figure(0.8 + 1.45 * len(names), panels.WIDE_IN if len(titles) > 2 else style.WIDTH_IN)
    axes = figure.subplots(len(names), len(titles), sharex=True, sharey="row", squeeze=False)
    if len(titles) > 1:
        panels.leave_room(axes[0, 0])
    return figure, {
        (name, panel): axes[row][column] for row, name in enumerate(names) for column, panel in enumerate(titles)
    }


def _label_rows(
    places: dict[tuple[str, str], Axes],
    names: Sequence[str],
    titles: Sequence[str],
    headings: Sequence[str],
    across: str,
) -> None:
    for name, words in zip(names, headings, strict=True):
        places[name, titles[0]].set_ylabel(panels.wrapped(words, 20), fontsize=style.size(9))
    for panel in titles:
        places[names[0], panel].set_title(
            panels.wrapped(wishes.written(panel), 30) if panel else "", fontsize=style.size(9)
        )
        places[names[-1], panel].set_xlabel(across)
    next(iter(places.values())).get_figure(root=True).align_ylabels()  # type: ignore[union-attr]


def _labelled(what: str, groups: Sequence[Group]) -> str:
    words, unit = described(what, groups)
    words = wishes.written(words, what)
    return f"{words} ({unit})" if unit else words


def _frame(
    places: dict[tuple[str, str], Axes], courses: dict[tuple[str, str], list[Course]], what: str, unit: str
) -> bool:
    """Set the limits of the panels of the series ``what``. Returns whether they are logarithmic."""
    import numpy as np

    drawn = [course for (name, _), some in courses.items() if name == what for course in some]
    ax = next(ax for (name, _), ax in places.items() if name == what)
    if not drawn:
        return False
    least = min(float(np.nanmin(course.mean)) for course in drawn)
    low = min(float(np.nanpercentile(course.mean, 2)) for course in drawn)
    high = max(float(np.nanmax(course.mean + course.deviation)) for course in drawn)
    if unit == "ms" and least >= 0 and high / max(low, 0.1) > 20:
        top = max(float(np.nanmax(np.maximum(course.mean, course.percentiles[1]))) for course in drawn)
        style.log_ms(ax, "y", max(low / 1.5, 0.1), top * 1.2)
        return True
    bottom = min(float(np.nanmin(course.mean - course.deviation)) for course in drawn)
    if least >= 0:
        ax.set_ylim(0, high * 1.05 or 1.0)  # a series that is always zero needs an axis, too
    else:
        margin = 0.05 * (high - bottom)  # a point in time is relative to now and may lie in the past
        ax.set_ylim(bottom - margin, high + margin)
    return False


def _draw(ax: Axes, course: Course, look: Look, logarithmic: bool, index: int) -> Curve:
    """Draw one course with its band. The marks of different lines stand at different times."""
    import numpy as np

    if logarithmic:
        below, above = course.percentiles
    else:
        below, above = course.mean - course.deviation, course.mean + course.deviation
        if ax.get_ylim()[0] >= 0:
            below = np.maximum(below, 0)
    step = max(1, len(course.times) // MARKS)
    begin = (index * step // 4 + step // 2) % step if step > 1 else 0
    (line,) = ax.plot(
        course.times, course.mean, color=look.colour, linestyle=look.line, lw=1.4, markevery=(begin, step),
        **look.marks(4.5),
    )  # fmt: skip
    ax.fill_between(course.times, below, above, color=look.colour, alpha=0.2, lw=0)
    is_sampled = ~np.isnan(course.mean)
    alone = (
        is_sampled & ~np.append(is_sampled[1:], False) & ~np.insert(is_sampled[:-1], 0, False)
    )  # no line leads there
    ax.plot(course.times[alone], course.mean[alone], color=look.colour, ls="", marker=".", ms=4)
    handle = Line2D([], [], color=look.colour, linestyle=look.line, lw=line.get_linewidth(), **look.marks(4.5))
    within = np.clip(course.mean[is_sampled], *ax.get_ylim())  # a name beside the curve must stand within the axes
    return Curve(course.label, list(course.times[is_sampled]), list(within), look.ink, handle)


def _band(logarithmic: Sequence[bool]) -> str:
    deviation, tails = "± 1 standard deviation", f"p{BAND[0]} to p{BAND[1]} of the runs"
    if all(logarithmic):
        return tails
    return f"{deviation}, {tails} where the axis is logarithmic" if any(logarithmic) else deviation


def _shade(warmup: float) -> str:
    return "; grey: before measuring" if warmup > 0 else ""
