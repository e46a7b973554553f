"""Figures of the paper: a queue over time (3, 4), box plots of runs (5, 6, 8, 9), a link that changes (7)."""

from collections.abc import Iterator, Sequence

from matplotlib.axes import Axes

from goodqueue.measures import stats
from goodqueue.plot import style
from goodqueue.plot.delay import cdf
from goodqueue.plot.looks import Look, looks
from goodqueue.scenario import paths
from goodqueue.studies.execution import Measured
from goodqueue.studies.figures import Drawn
from goodqueue.studies.outcome import Outcome

from .numbers import FRAME_BITS

PAPER = "nichols2012"
PRINTED_MS = {50: 2.7, 75: 5.0, 95: 90.0}
"""CoDel's percentiles of delay on the link that changes, as the text prints them; the last is a bound."""


def figures(outcome: Outcome) -> Iterator[Drawn]:
    """Yield each figure whose runs were made."""
    yield from _distribution(outcome)
    with style.look():
        yield from _queues(outcome)
        yield from _boxes(outcome, "5", "bandwidth_mbps", ("delay_by_rate", "utilisation_by_rate"), "rate (Mbit/s)")
        yield from _boxes(outcome, "6", "bandwidth_mbps", ("delay_by_rate", "utilisation_by_rate"), "rate (Mbit/s)")
        yield from _changes(outcome)
        yield from _boxes(outcome, "8", "rtt_ms", ("delay_by_rtt", "utilisation_by_rtt"), "RTT (ms)")
        yield from _boxes(outcome, "9", "rtt_ms", ("jain_by_rtt",), "RTT (ms)")


def _queues(outcome: Outcome) -> Iterator[Drawn]:
    for number, title in (("3", "a window of 25 on a pipe of 20"), ("4", "a window of 20, acknowledged once a window")):
        cells = [cell for cell in outcome.measured(f"{PAPER}/fig{number}") if cell.cell.at.get("rate_scale", 1) == 1]
        record = next((record for cell in cells for record in cell.records), None)
        if record is None:
            continue
        packet_ms = 1e3 * FRAME_BITS / paths.rate_bps(record["scenario"]["bottleneck"])
        packets = record["series"]["packets"]["down"]
        found = [wait / packet_ms + 1 if wait else 0 for wait in packets["delay_ms"]]
        figure = style.new_figure(2.6)
        ax = figure.subplots()
        ax.plot(packets["time_s"], found, ".", ms=2.5, color=looks(["droptail"])[0].colour)
        ax.set_xlim(0, 5)
        ax.set_ylim(bottom=0)
        ax.set_xlabel("time (s)")
        ax.set_ylabel("queue (packets)")
        caption = (
            "What each packet finds before it, the one on the wire included, by its wait. One run (n = 1, seed 1). "
            + ("The text prints 5 ± 1 for the flat part." if number == "3" else "The paper prints no number of it.")
        )
        yield Drawn(f"figure{number}", f"Figure {number}: {title}", caption, figure)


def _boxes(outcome: Outcome, number: str, across: str, metrics: Sequence[str], label: str) -> Iterator[Drawn]:
    """Draw a panel a metric and in it a box an algorithm and value of ``across``, of all runs at that value."""
    cells = [
        cell for cell in outcome.measured(f"{PAPER}/fig{number}") if {across, "flows", "traffic"} <= cell.cell.at.keys()
    ]
    algorithms = [name for name in dict.fromkeys(cell.cell.algorithm for cell in cells) if name != "droptail"]
    if not cells:
        return
    values = sorted({float(cell.cell.at[across]) for cell in cells})
    names = [outcome.study.words.algorithm(name) for name in algorithms]
    figure = style.new_figure(0.7 + 2.3 * len(metrics))
    panels = figure.subplots(len(metrics), 1, sharex=True, squeeze=False)[:, 0]
    for ax, metric in zip(panels, metrics, strict=True):
        for index, (algorithm, look) in enumerate(zip(algorithms, looks(names), strict=True)):
            own = [cell for cell in cells if cell.cell.algorithm == algorithm]
            groups = [_runs(own, across, value, metric) for value in values]
            shift = 0.26 * (index - (len(algorithms) - 1) / 2)
            _box(ax, groups, [place + shift for place in range(len(values))], look)
        name = next(one.name for cell in cells for key, one in cell.cell.experiment.metrics.items() if key == metric)
        ax.set_ylabel(str(outcome.study.words.name(name)))
        if name.endswith("_ms"):
            ax.set_ylim(bottom=0)
        ax.grid(axis="x", visible=False)
    panels[-1].set_xticks(range(len(values)), [f"{value:g}" for value in values])
    panels[-1].set_xlabel(label)
    for index, (name, look) in enumerate(zip(names, looks(names), strict=True)):
        panels[0].text(0.02 + 0.16 * index, 1.03, name, transform=panels[0].transAxes, weight="bold", color=look.ink)
    count = len(_runs(cells, across, values[0], metrics[0])) // len({cell.cell.algorithm for cell in cells})
    caption = (
        f"Boxes: quartiles of {count} runs of each algorithm, all loads and "
        f"{'RTTs' if across == 'bandwidth_mbps' else 'rates'} together; whiskers: to 1.5 times their height; marks: "
        "runs beyond. The paper draws such boxes and prints no number of them."
    )
    yield Drawn(
        f"figure{number}",
        f"Figure {number}: {outcome.study.published.scenarios[f'{PAPER}/fig{number}'].title}",
        caption,
        figure,
    )


def _runs(cells: Sequence[Measured], across: str, value: float, metric: str) -> list[float]:
    own = (
        cell.numbers[metric].runs for cell in cells if float(cell.cell.at[across]) == value and metric in cell.numbers
    )
    return [number for runs in own for number in runs if number is not None]


def _box(ax: Axes, groups: Sequence[Sequence[float]], places: Sequence[float], look: Look) -> None:
    line = {"color": look.ink, "lw": 0.9}
    ax.boxplot(
        groups,
        positions=places,
        widths=0.2,
        patch_artist=True,
        manage_ticks=False,
        boxprops={"facecolor": f"{look.colour}66", "edgecolor": look.ink, "lw": 0.9},
        medianprops={"color": look.ink, "lw": 1.6},
        whiskerprops=line,
        capprops=line,
        flierprops={"marker": ".", "ms": 2.5, "mec": look.colour, "mfc": look.colour},
    )


def _changes(outcome: Outcome) -> Iterator[Drawn]:
    cells = outcome.measured(f"{PAPER}/fig7")
    if not cells:
        return
    names = [outcome.study.words.algorithm(cell.cell.algorithm) for cell in cells]
    figure = style.new_figure(4.6)
    delay, moved = figure.subplots(2, 1, sharex=True)
    for index, (cell, name, look) in enumerate(zip(cells, names, looks(names), strict=True)):
        series = next(cell.records)["series"]
        every = 10  # of intervals: 0.2 s
        delay.plot(series["time_s"][::every], series["queues"]["down"]["delay_ms"][::every], color=look.colour, lw=0.8)
        total, before, course = 0.0, 0.0, []
        for time, *goodputs in zip(series["time_s"], *(flow["goodput_mbps"] for flow in series["flows"]), strict=True):
            total += sum(one or 0.0 for one in goodputs) * (time - before) / 8
            before = time
            course.append(total)
        moved.plot(series["time_s"][::every], course[::every], color=look.colour, lw=1.2)
        delay.text(0.02 + 0.18 * index, 1.03, name, transform=delay.transAxes, weight="bold", color=look.ink)
    delay.set_yscale("log")
    style.plain_numbers(delay.yaxis)
    delay.set_ylim(0.1, 2e4)
    delay.set_ylabel("packet delay (ms)")
    moved.set_ylabel("transferred (MB)")
    moved.set_ylim(bottom=0)
    moved.set_xlim(0, 300)
    moved.set_xlabel("time (s)")
    caption = (
        "The link goes from 100 to 10, 1, 50, 1 and 100 Mbit/s, 50 s each, with a buffer of 830 packets. Delay: means "
        "of 20 ms, every tenth. One run (seed 1). The text prints 10 s as Tail Drop's largest delay."
    )
    yield Drawn("figure7", "Figure 7: a link that changes", caption, figure)


def _distribution(outcome: Outcome) -> Iterator[Drawn]:
    cells = outcome.measured(f"{PAPER}/fig7")
    names = [outcome.study.words.algorithm(cell.cell.algorithm) for cell in cells]
    runs = []
    for name, cell in zip(names, cells, strict=True):
        found = [record["queues"]["down"]["delay_percentiles_ms"] for record in cell.records]
        pooled = stats.pool_percentiles([one for one in found if one])
        if pooled:
            runs.append((name, pooled))
    if not runs:
        return
    figure = cdf(runs, what="packet delay", of="packets with at most this")
    ax = figure.axes[0]
    for percent, printed in PRINTED_MS.items():
        ax.plot(
            printed, percent / 100 if ax.get_ylim()[1] <= 2 else percent, "o", mfc="none", mec="#222222", ms=7, zorder=9
        )
    caption = (
        "All packets of all runs of figure 7. Rings: what the text prints of CoDel, a median of 2.7 ms, 5 ms as the "
        "75th percentile and less than 90 ms for 95 % of the time."
    )
    yield Drawn("figure7-delays", "Figure 7, in the text: delays on a link that changes", caption, figure)
