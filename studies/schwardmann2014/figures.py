"""Figure 2 of the paper: the delay of each packet around the start of the CBR stream."""

from collections.abc import Iterator

from goodqueue.plot import style
from goodqueue.plot.looks import looks
from goodqueue.studies.figures import Drawn
from goodqueue.studies.outcome import Outcome

from .numbers import excursion

TARGET_MS = 5.0
RISE_MS = 10.0
SHOWN_S = (59.5, 61.5)


def figures(outcome: Outcome) -> Iterator[Drawn]:
    """Yield figure 2, if its runs were made."""
    cells = outcome.measured("schwardmann2014/fig2")
    if not cells:
        return
    with style.look():
        figure = style.new_figure(0.7 + 1.5 * len(cells))
        panels = figure.subplots(len(cells), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
        names = [outcome.study.words.algorithm(cell.cell.algorithm) for cell in cells]
        for ax, cell, name, look in zip(panels, cells, names, looks(names), strict=True):
            record = next(cell.records)
            start = next(flow["start_s"] for flow in record["flows"] if flow["name"] == "cbr/0")
            packets = record["series"]["packets"]["down"]
            ax.plot(packets["time_s"], packets["delay_ms"], ".", color=look.colour, ms=1.5, rasterized=True)
            ax.axhline(TARGET_MS, color="#888888", lw=0.8)
            ax.axvline(start, color="#888888", lw=0.8, ls=":")
            label = name
            if found := excursion(packets["time_s"], packets["delay_ms"], start, TARGET_MS, RISE_MS):
                ax.axvspan(start, start + found.tau_s, color=look.colour, alpha=0.08, lw=0)
                label += f": τ = {found.tau_s * 1e3:.0f} ms, largest delay {found.delay_max_ms:.1f} ms"
            ax.text(0.995, 0.93, label, transform=ax.transAxes, ha="right", va="top", weight="bold", color=look.ink)
        panels[0].set_xlim(*SHOWN_S)
        panels[0].set_ylim(0, 1.25 * panels[0].get_ylim()[1])  # room for the labels above the curves
        panels[-1].set_xlabel("time (s)")
        figure.supylabel("packet delay (ms)", fontsize=10.5, color="#444444")
    caption = (
        "Delay of each packet when 10 Mbit/s of CBR join five CUBIC flows at 59.77 s (dotted) on a 25 Mbit/s link. "
        "Line: the target of 5 ms. Shade: τ. One run (n = 1, seed 1), as in the paper; its figure prints no numbers."
    )
    yield Drawn("figure2", "Figure 2: a CBR stream joins", caption, figure)
