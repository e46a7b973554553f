"""Figures of the paper: goodput against latency (2, 9), calls (3, 10), pages (4, 5, 11), fairness (6), start-up (7)."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, stdev

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from goodqueue.measures import stats
from goodqueue.measures.base import path_ms
from goodqueue.plot import ellipse, style
from goodqueue.plot.delay import cdf
from goodqueue.plot.labels import label_curves
from goodqueue.plot.looks import Look, looks
from goodqueue.studies.execution import Measured
from goodqueue.studies.figures import Drawn
from goodqueue.studies.outcome import Outcome

from .numbers import SPAN_S, course

PAPER = "hoiland2015"
LINKS = {"a": "100/100 Mbit/s", "b": "10/10 Mbit/s", "c": "10/1 Mbit/s"}
CROSSES = ("one upload", "RRUL")
RTTS_MS = (10, 50, 200, 500)
SHOWN_S = 25.0
TIMES_S = [step * SPAN_S for step in range(1, round(SHOWN_S / SPAN_S) + 1)]


def figures(outcome: Outcome) -> Iterator[Drawn]:
    """Yield each figure whose runs were made."""
    yield from _calls(outcome)
    with style.look():
        yield from _tradeoffs(outcome)
        for number, page in (("4", "Google"), ("5", "Huffpost")):
            titles = [f"{link}, {cross}" for cross in CROSSES for link in LINKS.values()]
            yield from _pages(outcome, number, f"fetching {page}", titles)
        titles = [f"{page}, {cross}" for page in ("Google", "Huffpost") for cross in CROSSES]
        yield from _pages(outcome, "11", "fetching pages over Wi-Fi", titles)
        yield from _fairness(outcome)
        yield from _start(outcome)


def _tradeoffs(outcome: Outcome) -> Iterator[Drawn]:
    plots = [(f"2{panel}", f"at {link}", panel == "c") for panel, link in LINKS.items()]
    for panel, place, is_both in (*plots, ("9", "over Wi-Fi", True)):
        cells = outcome.measured(f"{PAPER}/fig{panel}")
        if not cells:
            continue
        names = _names(outcome, cells)
        ways = {"down": "downloads", "up": "uploads"} if is_both else {"down": "downloads"}
        figure = style.new_figure(0.8 + 2.8 * len(ways))
        panels = figure.subplots(len(ways), 1, sharex=True, squeeze=False)[:, 0]
        for ax, (way, words) in zip(panels, ways.items(), strict=True):
            clouds = [(name, _points(cell, way)) for name, cell in zip(names, cells, strict=True)]
            curves = ellipse.clouds(ax, clouds, medians=True)
            ax.set_ylabel(f"goodput, {words} (Mbit/s)")
            label_curves(ax, curves)
        ellipse.better(panels[0])
        panels[-1].set_xlabel("mean induced latency (ms), less to the right")
        caption = (
            f"RRUL {place}. Small marks: {_runs(cells)}; large: medians; ellipses: one standard deviation (3 runs or "
            "more), of the logarithm where the axis is logarithmic."
        )
        yield Drawn(f"figure{panel}", f"Figure {_printed(panel)}: RRUL {place}", caption, figure)


def _printed(panel: str) -> str:
    """Return ``2(a)`` for ``2a``."""
    return f"{panel[:-1]}({panel[-1]})" if panel[-1].isalpha() else panel


def _points(cell: Measured, way: str) -> list[tuple[float, float]]:
    pairs = zip(cell.numbers["latency_mean_ms"].runs, cell.numbers[f"goodput_{way}"].runs, strict=True)
    return [(x, y) for x, y in pairs if x is not None and y is not None]


def _calls(outcome: Outcome) -> Iterator[Drawn]:
    wired = [(f"at {link}", cross) for link in LINKS.values() for cross in CROSSES]
    plots = dict(zip((f"3{panel}" for panel in "abcdef"), wired, strict=True))
    plots |= {f"10{panel}": ("over Wi-Fi", cross) for panel, cross in zip("ab", CROSSES, strict=True)}
    for panel, (place, cross) in plots.items():
        cells = outcome.measured(f"{PAPER}/fig{panel}")
        names = _names(outcome, cells)
        runs = [(name, pooled) for name, cell in zip(names, cells, strict=True) if (pooled := _induced(cell))]
        if runs:
            figure = cdf(runs, what="induced one-way delay", of="packets of the call with at most this")
            caption = (
                f"A call upstream beside {cross} {place}. All packets of {_runs(cells)}; the paper takes one each "
                "200 ms. The axis leaves out what met an empty queue. Marks: the median and the 95th percentile."
            )
            title = f"Figure {_printed(panel)}: {cross}, {place.removeprefix('at ')}"
            yield Drawn(f"figure{panel}", title, caption, figure)


def _induced(cell: Measured) -> list[float] | None:
    """Return the percentiles of the call's delay above the path's, over all runs."""
    heard, base = [], 0.0
    for record in cell.records:
        base = path_ms(record["scenario"]) / 2
        heard += [app["delay_percentiles_ms"] for app in record["apps"] if app["kind"] == "voip"]
    pooled = stats.pool_percentiles(heard)
    return [max(0.0, value - base) for value in pooled] if pooled else None


def _pages(outcome: Outcome, number: str, what: str, titles: Sequence[str]) -> Iterator[Drawn]:
    """Draw two rows of panels, of which each title is one."""
    panels = {panel: outcome.measured(f"{PAPER}/fig{number}{panel}") for panel in "abcdef"[: len(titles)]}
    some = next((cells for cells in panels.values() if cells), None)
    if not some:
        return
    figure = style.new_figure(5.2)
    axes = figure.subplots(2, len(titles) // 2).flatten()
    for ax, title, (panel, cells) in zip(axes, titles, panels.items(), strict=True):
        if not cells:
            ax.set_visible(False)
        ax.set_title(f"({panel}) {title}", fontsize=6.8)
        ax.axhline(1, color="#999999", lw=0.9, zorder=0)
        _bars(ax, cells, "fetch_time_norm_ratio", _names(outcome, cells))
    figure.supylabel("fetch time over that without load", fontsize=10.5, color="#444444")
    caption = (
        f"Bars: mean of {_runs(some)}; lines: ± one standard deviation of the runs. Grey: the page by itself. Each "
        "panel has its own scale. Where a bar is missing, no fetch ended within the run."
    )
    yield Drawn(f"figure{number}", f"Figure {number}: {what}", caption, figure)


def _names(outcome: Outcome, cells: Sequence[Measured]) -> list[str]:
    return [outcome.study.words.algorithm(cell.cell.algorithm) for cell in cells]


def _bars(ax: Axes, cells: Sequence[Measured], metric: str, names: Sequence[str]) -> None:
    """Draw a bar a cell, with its name below in its colour."""
    for index, (cell, look) in enumerate(zip(cells, looks(names), strict=True)):
        _bar(ax, index, 0.72, cell.numbers[metric].runs, look)
    ax.grid(axis="x", visible=False)
    ax.set_ylim(bottom=0)
    ax.set_xlim(-0.6, len(cells) - 0.4)
    ax.set_xticks(range(len(cells)), names, rotation=60, ha="right", rotation_mode="anchor", fontsize=7.5)
    ax.tick_params(axis="x", length=0, pad=1)
    ax.tick_params(axis="y", labelsize=8)
    for text, look in zip(ax.get_xticklabels(), looks(names), strict=True):
        text.set_color(look.ink)


def _bar(ax: Axes, place: float, width: float, runs: Sequence[float | None], look: Look) -> None:
    """Draw the mean of ``runs`` with their deviation."""
    known = [value for value in runs if value is not None]
    if not known:
        return
    ax.bar(place, fmean(known), width, color=f"{look.colour}88", edgecolor=look.colour, lw=0.8)
    if len(known) > 1:
        ax.errorbar(place, fmean(known), yerr=stdev(known), color=look.ink, capsize=2, elinewidth=1.1)


def _fairness(outcome: Outcome) -> Iterator[Drawn]:
    cells = [cell for cell in outcome.measured(f"{PAPER}/fig6a") if "tcp" not in cell.cell.at]
    rates = _rates(cells)
    if cells:
        figure = style.new_figure(2.8)
        for ax, rate in zip(figure.subplots(1, len(rates), sharey=True, squeeze=False)[0], rates, strict=True):
            own = [cell for cell in cells if cell.cell.at["bandwidth_mbps"] == rate]
            ax.axhline(1, color="#999999", lw=0.9, zorder=0)
            _bars(ax, own, "jain_index", _names(outcome, own))
            ax.set_title(_link(rate), fontsize=9)
        figure.supylabel("Jain index", fontsize=10.5, color="#444444")
        caption = (
            f"Goodputs of four uploads with round trips of 10, 50, 200 and 500 ms. Bars: mean of {_runs(cells)}; "
            "lines: ± one standard deviation of the runs. 1: equal shares."
        )
        yield Drawn("figure6a", "Figure 6(a): fairness between round trips", caption, figure)
    for panel, link in zip("bcd", LINKS.values(), strict=True):
        if cells := outcome.measured(f"{PAPER}/fig6{panel}"):
            caption = (
                "Four bars an algorithm: the uploads with round trips of 10, 50, 200 and 500 ms. Means of "
                f"{_runs(cells)}; lines: ± one standard deviation of the runs."
            )
            shares = _shares(cells, _names(outcome, cells))
            yield Drawn(f"figure6{panel}", f"Figure 6({panel}): goodput by round trip, {link}", caption, shares)


def _shares(cells: Sequence[Measured], names: Sequence[str]) -> Figure:
    figure = style.new_figure(2.9)
    ax = figure.subplots()
    places = []
    own = looks(names)
    for index, (cell, look) in enumerate(zip(cells, own, strict=True)):
        for step, rtt in enumerate(RTTS_MS):
            places.append(index + 0.21 * (step - 1.5))
            _bar(ax, places[-1], 0.18, cell.numbers[f"goodput_{rtt}"].runs, look)
    ax.set_xticks(places, [f"{rtt} ms" for _ in cells for rtt in RTTS_MS], rotation=90, fontsize=6.5)
    ax.tick_params(axis="x", length=0, pad=1)
    ax.grid(axis="x", visible=False)
    top = ax.get_ylim()[1]
    ax.set_ylim(0, 1.1 * top)
    ax.set_xlim(-0.5, len(cells) - 0.5)
    for index, (name, look) in enumerate(zip(names, own, strict=True)):
        ax.text(index, 1.09 * top, name, ha="center", va="top", fontsize=8, color=look.ink)
    ax.set_ylabel("goodput (Mbit/s)")
    return figure


def _rates(cells: Sequence[Measured]) -> list[float | str | bool]:
    return sorted({cell.cell.at["bandwidth_mbps"] for cell in cells}, key=float, reverse=True)


def _link(rate: object) -> str:
    """Return the link whose rate up is ``rate``."""
    return next(link for link in LINKS.values() if link.split()[0].endswith(f"/{rate}"))


def _start(outcome: Outcome) -> Iterator[Drawn]:
    cells = [cell for cell in outcome.measured(f"{PAPER}/fig7") if "bandwidth_mbps" in cell.cell.at]  # not the pooled
    rates = _rates(cells)
    if not cells:
        return
    figure = style.new_figure(0.7 + 2.1 * len(rates))
    panels = figure.subplots(len(rates), 1, sharex=True, squeeze=False)[:, 0]
    for ax, rate in zip(panels, rates, strict=True):
        own = [cell for cell in cells if cell.cell.at["bandwidth_mbps"] == rate]
        courses = dict(zip(_names(outcome, own), map(_course, own), strict=True))
        for look, means in zip(looks(list(courses)), courses.values(), strict=True):
            ax.plot(TIMES_S, means, color=look.colour, lw=1.2)
        ax.set_title(_link(rate), fontsize=9)
        ax.set_xlim(0, SHOWN_S)
        ax.set_ylim(bottom=0)
        _name_ends(ax, courses)
    panels[-1].set_xlabel("time (s)")
    figure.supylabel("induced latency (ms)", fontsize=10.5, color="#444444")
    caption = (
        f"Point by point the mean of {_runs(cells)} and of their four pings, each 200 ms; where a run has no echo, it "
        "is between its neighbours."
    )
    yield Drawn("figure7", "Figure 7: the first 25 s of RRUL", caption, figure)


def _course(cell: Measured) -> list[float]:
    """Return the mean latency of the runs at `TIMES_S`."""
    runs = [found for record in cell.records if (found := course(record, SHOWN_S))]
    return [float(value) for value in np.mean(runs, axis=0)]


def _name_ends(ax: Axes, courses: Mapping[str, Sequence[float]]) -> None:
    """Write each name right of its curve's end, in its colour, as far from the others as a line of text is high."""
    top = ax.get_ylim()[1]
    inks = dict(zip(courses, (look.ink for look in looks(list(courses))), strict=True))
    place = 0.0
    for end, name in sorted((means[-1] / top, name) for name, means in courses.items()):
        place = max(place, end)
        colour = inks[name]
        ax.plot([1, 1.015], [end, place], transform=ax.transAxes, clip_on=False, color=colour, lw=0.7)
        ax.text(1.02, place, name, transform=ax.transAxes, va="center", fontsize=7.5, weight="bold", color=colour)
        place += 0.09


def _runs(cells: Sequence[Measured]) -> str:
    count = len(cells[0].seeds)
    return f"{count} runs" if count > 1 else "one run"
