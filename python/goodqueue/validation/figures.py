"""Figures of the simulator against the kernel: one point per cell, the errors, and congestion windows over time."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from goodqueue.measures.stats import Median
from goodqueue.plot import panels, style
from goodqueue.plot.style import Look
from goodqueue.validation.judging import FLOOR_MS, Judgement
from goodqueue.validation.result import Result

ENGINES = ("kernel", "simulator")


def scatter(results: Sequence[Result]) -> Figure:
    """Draw mean delay (ms) and utilisation (%) of each cell: the kernel's on the x axis, the simulator's on the y axis.

    On the diagonal both are the same. Points are medians, and bars their 95 % bootstrap intervals over the seeds.
    """
    looks = _looks(results)
    with style.look():
        figure = style.new_figure(3.5)
        left, right = figure.subplots(1, 2)
        for ax, key in ((left, "delay_mean_ms"), (right, "utilisation_percent")):
            medians = [(result, result.kernel.median(key), result.sim.median(key)) for result in results]
            for result, kernel, sim in medians:
                if kernel and sim:
                    _point(ax, kernel, sim, result.qdisc, looks[result.qdisc], FLOOR_MS if ax is left else 0.0)
            ends = [middle.value for _, kernel, sim in medians for middle in (kernel, sim) if middle]
            _square(ax, ends, logarithmic=ax is left)
        left.set_title("mean delay (ms)", fontsize=9.5)
        right.set_title("utilisation (%)", fontsize=9.5)
        for ax in (left, right):
            ax.set_xlabel("kernel")
        left.set_ylabel("simulator")
        panels.thin_ticks(figure, (left, right))
        handles, names = left.get_legend_handles_labels()
        chosen = dict(zip(names, handles, strict=True))
        figure.legend(chosen.values(), chosen.keys(), loc="outside lower center", ncols=6, frameon=False, fontsize=9)
    return figure


def _looks(results: Sequence[Result]) -> dict[str, Look]:
    return style.looks_by_label(list(dict.fromkeys(result.qdisc for result in results)))


def _point(ax: Axes, kernel: Median, sim: Median, qdisc: str, look: Look, floor: float) -> None:
    x, y = (max(middle.value, floor) for middle in (kernel, sim))
    across, up = (
        [[end - max(middle.low, 0.1 * end)], [max(middle.high, end) - end]] for middle, end in ((kernel, x), (sim, y))
    )
    ax.errorbar(
        x, y, xerr=across, yerr=up, ls="", color=look.colour,  elinewidth=0.7, alpha=0.8, label=qdisc,
        **look.marks(4.5),
    )  # fmt: skip


def _square(ax: Axes, ends: Sequence[float], logarithmic: bool) -> None:
    """Give both axes the same limits and draw the diagonal."""
    if not ends:
        return
    if logarithmic:
        low, high = max(min(ends), FLOOR_MS) / 1.5, max(*ends, FLOOR_MS * 10) * 1.5
        style.log_ms(ax, "x", low, high)
        style.log_ms(ax, "y", low, high)
    else:
        margin = max(0.08 * (max(ends) - min(ends)), 0.5)
        low, high = min(ends) - margin, max(ends) + margin
        ax.set_xlim(low, high)
        ax.set_ylim(low, high)
    ax.plot([low, high], [low, high], color="#999999", lw=0.8, zorder=0)
    ax.set_aspect("equal")


def error_bars(results: Sequence[Result], judgement: Judgement) -> Figure:
    """Draw each cell's error with its 95 % interval: ln of mean delay, points of utilisation. 0 means no error."""
    with style.look():
        figure = style.new_figure(1.0 + 0.17 * len(results))
        left, right = figure.subplots(1, 2, sharey=True)
        looks = _looks(results)
        order = sorted(range(len(results)), key=lambda index: list(looks).index(results[index].qdisc))
        for row, index in enumerate(order):
            errors, look = judgement.cells[index], looks[results[index].qdisc]
            for ax, error in ((left, errors.delay_mean_ln), (right, errors.utilisation_points)):
                if error:
                    ax.errorbar(
                        error.mean, row, xerr=error.half_width or 0, color=look.colour, elinewidth=1.2,
                        **look.marks(3.5),
                    )  # fmt: skip
        for ax, heading in ((left, "mean delay: ln(sim / kernel)"), (right, "utilisation: points")):
            ax.axvline(0, color="#666666", lw=1.2, zorder=1)
            ax.set_title(heading, fontsize=9.5)
            ax.grid(axis="y", visible=False)
            ax.tick_params(axis="y", length=0)
        left.set_yticks(range(len(order)), [results[index].id for index in order], fontsize=7.5)
        for label, index in zip(left.get_yticklabels(), order, strict=True):
            label.set_color(looks[results[index].qdisc].ink)
        left.set_ylim(len(order) - 0.5, -0.5)
    return figure


def windows(results: Sequence[Result]) -> Figure | None:
    """Draw the congestion window (packets) of a single flow over time on both engines: one panel per cell, first seed.

    Returns None if no cell has such a flow.
    """
    shown = [result for result in results if result.sim.cwnd and result.kernel.cwnd]
    if not shown:
        return None
    with style.look():
        figure = style.new_figure(0.7 + 1.15 * len(shown))
        panels = figure.subplots(len(shown), 1, sharex=True, squeeze=False)[:, 0]
        for ax, result in zip(panels, shown, strict=True):
            for name, side, look in zip(ENGINES, (result.kernel, result.sim), style.looks(ENGINES), strict=True):
                times, packets = side.cwnd[0]
                held = [float("nan") if value is None else value for value in packets]
                ax.plot(times, held, color=look.colour, ls=look.line, lw=1.1, drawstyle="steps-post", label=name)
            ax.set_ylim(bottom=0)
            ax.margins(x=0)
            ax.set_title(result.id, fontsize=9)
        panels[-1].set_xlabel("time (s)")
        figure.supylabel("cwnd (packets)", fontsize=10.5, color="#444444")
        handles, names = panels[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside upper right", ncols=2, frameon=False, fontsize=9)
    return figure
