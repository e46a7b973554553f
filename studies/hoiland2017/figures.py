"""Two figures: who has the air under each scheme, and how long a ping takes."""

from collections.abc import Iterator, Sequence
from statistics import fmean, stdev

from matplotlib.axes import Axes

from goodqueue.plot import style
from goodqueue.plot.looks import looks
from goodqueue.studies.execution import Measured
from goodqueue.studies.figures import Drawn
from goodqueue.studies.outcome import Outcome

PAPER = "hoiland2017"
STATIONS = {"fast1": "fast", "fast2": "fast", "slow": "slow"}
LOADS = {"table1": "UDP", "tcp": "TCP"}


def figures(outcome: Outcome) -> Iterator[Drawn]:
    """Yield each figure whose runs were made."""
    with style.look():
        yield from _shares(outcome, "airtime", "share of the airtime (%)", "Who has the air", "A third each is fair.")
        yield from _shares(outcome, "rtt", "median RTT of a ping (ms)", "What a ping takes", "The base RTT is 2 ms.")


def _shares(outcome: Outcome, metric: str, label: str, title: str, told: str) -> Iterator[Drawn]:
    """Draw a panel a load, in it three bars a scheme: its stations."""
    panels = {words: cells for id_, words in LOADS.items() if (cells := outcome.measured(f"{PAPER}/{id_}"))}
    if not panels:
        return
    figure = style.new_figure(2.8)
    axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for ax, (words, cells) in zip(axes, panels.items(), strict=True):
        _bars(ax, cells, metric, [outcome.study.words.algorithm(cell.cell.algorithm) for cell in cells])
        ax.set_title(words, fontsize=9)
        if metric == "rtt":
            ax.set_yscale("log")
            style.plain_numbers(ax.yaxis)
    axes[0].set_ylabel(label)
    runs = len(next(iter(panels.values()))[0].seeds)
    caption = (
        f"Three bars a scheme: two fast stations and the slow one (dark). Means of {runs} runs; lines: ± one standard "
        f"deviation. {told}"
    )
    yield Drawn(metric, title, caption, figure)


def _bars(ax: Axes, cells: Sequence[Measured], metric: str, names: Sequence[str]) -> None:
    for index, (cell, look) in enumerate(zip(cells, looks(names), strict=True)):
        for step, (station, kind) in enumerate(STATIONS.items()):
            runs = [value for value in cell.numbers[f"{metric}_{station}"].runs if value is not None]
            if not runs:
                continue
            place = index + 0.26 * (step - 1)
            face = look.colour if kind == "slow" else f"{look.colour}66"
            ax.bar(place, fmean(runs), 0.24, color=face, edgecolor=look.colour, lw=0.8)
            if len(runs) > 1:
                ax.errorbar(place, fmean(runs), yerr=stdev(runs), color=look.ink, capsize=2, elinewidth=1)
    ax.set_xticks(range(len(names)), [name.replace(" ", "\n") for name in names], fontsize=7)
    ax.tick_params(axis="x", length=0)
    ax.grid(axis="x", visible=False)
