"""Figures of the paper: goodput against latency (2), calls (3), pages (4, 5), fairness (6), the start-up (7)."""

from collections.abc import Iterator, Sequence
from statistics import fmean

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse

from goodqueue.plot import style
from goodqueue.studies.execution import Measured
from goodqueue.studies.figures import Drawn
from goodqueue.studies.load import latencies
from goodqueue.studies.outcome import Outcome

PAPER = "hoiland2015"
LINKS = {"a": "100/100 Mbit/s", "b": "10/10 Mbit/s", "c": "10/1 Mbit/s"}
SHOWN_S = 25.0


def figures(outcome: Outcome) -> Iterator[Drawn]:
    """Yield each figure whose runs were made."""
    with style.look():
        yield from _ellipses(outcome)
        yield from _calls(outcome)
        for number, page in (("4", "Google"), ("5", "Huffpost")):
            yield from _bars(outcome, number, page)
        yield from _fairness(outcome)
        yield from _start(outcome)


def _ellipses(outcome: Outcome) -> Iterator[Drawn]:
    for panel, link in LINKS.items():
        cells = outcome.measured(f"{PAPER}/fig2{panel}")
        if not cells:
            continue
        figure = style.new_figure(3.4)
        ax = figure.subplots()
        for index, cell in enumerate(cells):
            for metric in ("goodput_down", "goodput_up") if panel == "c" else ("goodput_down",):
                _ellipse(ax, index, cell, metric)
        ax.invert_xaxis()
        ax.set_xlabel("mean induced latency (ms); better is up and to the right")
        ax.set_ylabel("TCP goodput (Mbit/s)")
        more = "Downloads above, uploads below. " if panel == "c" else "Downloads. "
        caption = (
            f"RRUL at {link}. {more}Marks: medians over {_runs(cells)}; ellipses: one standard deviation of the runs' "
            "means, along their principal axes."
        )
        yield Drawn(f"figure2{panel}", f"Figure 2({panel}): RRUL at {link}", caption, figure)


def _ellipse(ax: Axes, index: int, cell: Measured, metric: str) -> None:
    pairs = zip(cell.numbers["latency_mean_ms"].runs, cell.numbers[metric].runs, strict=True)
    known = np.array([(x, y) for x, y in pairs if x is not None and y is not None])
    if not len(known):
        return
    colour = style.colour(index)
    x, y = np.median(known, axis=0)
    ax.plot(x, y, style.MARKERS[index % len(style.MARKERS)], color=colour, ms=4)
    ax.annotate(cell.cell.algorithm, (x, y), xytext=(4, 4), textcoords="offset points", color=style.ink(index), size=8)
    if len(known) > 1:
        values, vectors = np.linalg.eigh(np.cov(known.T))
        width, height = 2 * np.sqrt(np.maximum(values, 0))
        angle = np.degrees(np.arctan2(vectors[1, 0], vectors[0, 0]))
        ax.add_patch(Ellipse((x, y), width, height, angle=angle, color=colour, alpha=0.25, lw=0))


def _calls(outcome: Outcome) -> Iterator[Drawn]:
    for panel in "abcdef":
        cells = outcome.measured(f"{PAPER}/fig3{panel}")
        if not cells:
            continue
        figure = style.new_figure(2.8)
        ax = figure.subplots()
        for index, cell in enumerate(cells):
            heard = [app for record in cell.records for app in record["apps"] if app["kind"] == "voip"]
            lists = [found for app in heard if (found := app["delay_percentiles_ms"]) and None not in found]
            if lists:
                means = [fmean(x for x in column if x is not None) for column in zip(*lists, strict=True)]
                ax.plot(
                    means, [step / 100 for step in range(101)], color=style.colour(index), label=cell.cell.algorithm
                )
        ax.set_xlabel("one-way delay (ms), 25 ms of it the path's")
        ax.set_ylabel("share of packets")
        ax.legend(frameon=False, fontsize=8)
        title = outcome.study.published.scenarios[f"{PAPER}/fig3{panel}"].title
        caption = (
            f"Each percentile is the mean of {_runs(cells)}. The paper samples each 200 ms; here every packet counts."
        )
        yield Drawn(f"figure3{panel}", f"Figure 3({panel}): {title}", caption, figure)


def _bars(outcome: Outcome, number: str, page: str) -> Iterator[Drawn]:
    panels = {panel: outcome.measured(f"{PAPER}/fig{number}{panel}") for panel in "abcdef"}
    if not any(panels.values()):
        return
    figure = style.new_figure(5.2)
    for ax, (panel, cells) in zip(figure.subplots(2, 3).flatten(), panels.items(), strict=True):
        cross = "one upload" if panel in "abc" else "RRUL"
        link = LINKS["abc"["abcdef".index(panel) % 3]]
        _means(ax, cells, "fetch_time_norm_ratio")
        ax.set_title(f"({panel}) {link}, {cross}", fontsize=8)
    figure.supylabel("fetch time / that without load", fontsize=10.5, color="#444444")
    some = next(cells for cells in panels.values() if cells)
    caption = f"Bars: mean of {_runs(some)}; lines: their standard deviation."
    yield Drawn(f"figure{number}", f"Figure {number}: fetching {page}", caption, figure)


def _means(ax: Axes, cells: Sequence[Measured], metric: str) -> None:
    for index, cell in enumerate(cells):
        known = [value for value in cell.numbers[metric].runs if value is not None]
        if known:
            ax.bar(
                index,
                fmean(known),
                yerr=float(np.std(known, ddof=1)) if len(known) > 1 else 0,
                color=style.colour(index),
            )
    names = [cell.cell.algorithm for cell in cells]
    ax.set_xticks(range(len(names)), names, rotation=60, ha="right", fontsize=7)


def _fairness(outcome: Outcome) -> Iterator[Drawn]:
    cells = [cell for cell in outcome.measured(f"{PAPER}/fig6a") if "tcp" not in cell.cell.at]
    rates = sorted({cell.cell.at["bandwidth_mbps"] for cell in cells}, key=float)
    if cells:
        figure = style.new_figure(2.8)
        for ax, rate in zip(figure.subplots(1, len(rates), sharey=True, squeeze=False)[0], rates, strict=True):
            _means(ax, [cell for cell in cells if cell.cell.at["bandwidth_mbps"] == rate], "jain_index")
            ax.set_title(f"{rate} Mbit/s")
        figure.supylabel("Jain's index", fontsize=10.5, color="#444444")
        caption = f"Goodputs of four uploads with round trips of 10, 50, 200 and 500 ms. Bars: mean of {_runs(cells)}."
        yield Drawn("figure6a", "Figure 6(a): fairness between round trips", caption, figure)
    for panel, link in zip("bcd", LINKS.values(), strict=True):
        if cells := outcome.measured(f"{PAPER}/fig6{panel}"):
            yield Drawn(
                f"figure6{panel}", f"Figure 6({panel}): goodput by round trip, {link}", _CAPTION, _grouped(cells)
            )


_CAPTION = "Bars from left to right: the uploads of 10, 50, 200 and 500 ms; lines: the runs' standard deviation."


def _grouped(cells: Sequence[Measured]) -> Figure:
    figure = style.new_figure(2.8)
    ax = figure.subplots()
    for index, cell in enumerate(cells):
        for place, rtt in enumerate((10, 50, 200, 500)):
            runs = [value for value in cell.numbers[f"goodput_{rtt}"].runs if value is not None]
            spread = float(np.std(runs, ddof=1)) if len(runs) > 1 else 0
            ax.bar(index + 0.2 * (place - 1.5), fmean(runs), 0.18, yerr=spread, color=style.colour(place))
    ax.set_xticks(range(len(cells)), [cell.cell.algorithm for cell in cells], fontsize=8)
    ax.set_ylabel("goodput (Mbit/s)")
    return figure


def _start(outcome: Outcome) -> Iterator[Drawn]:
    cells = outcome.measured(f"{PAPER}/fig7")
    rates = sorted({cell.cell.at["bandwidth_mbps"] for cell in cells}, key=float, reverse=True)
    if not cells:
        return
    figure = style.new_figure(0.7 + 1.9 * len(rates))
    panels = figure.subplots(len(rates), 1, sharex=True, squeeze=False)[:, 0]
    for ax, rate in zip(panels, rates, strict=True):
        for index, cell in enumerate([cell for cell in cells if cell.cell.at["bandwidth_mbps"] == rate]):
            points: dict[float, list[float]] = {}
            for record in cell.records:
                for time, value in zip(*latencies(record), strict=True):
                    if time <= SHOWN_S:
                        points.setdefault(time, []).append(value)
            times = sorted(points)
            ax.plot(
                times,
                [fmean(points[time]) for time in times],
                color=style.colour(index),
                lw=1,
                label=cell.cell.algorithm,
            )
        ax.set_title(f"{rate} Mbit/s", fontsize=9)
    panels[0].legend(frameon=False, fontsize=7, ncols=4)
    panels[-1].set_xlabel("time (s)")
    figure.supylabel("latency above the base RTT (ms)", fontsize=10.5, color="#444444")
    caption = f"Point by point the mean of {_runs(cells)} and of their four pings, in bins of 100 ms."
    yield Drawn("figure7", "Figure 7: the first 25 s of RRUL", caption, figure)


def _runs(cells: Sequence[Measured]) -> str:
    count = len(cells[0].seeds)
    return f"{count} runs" if count > 1 else "one run"
