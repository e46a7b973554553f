"""The course of a run: the mean over its repeats, and how far these spread."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from goodqueue.plot import style
from goodqueue.plot.labels import Curve, label_curves
from goodqueue.plot.stored import SERIES, Group, measured_s, repeats, series


def figure(found: Sequence[Group], what: str, title: str = "") -> Figure | None:
    """Draw one of `SERIES` over time: a line is the mean of a group's runs, the band ± one standard deviation.

    At times that only some runs sampled it is of these. None where no run has the series.
    """
    import numpy as np

    label, unit = SERIES[what]
    with style.look():
        drawn = style.new_figure(3.4)
        ax = drawn.subplots()
        curves, lows, highs = [], [], []
        for index, group in enumerate(found):
            runs = [own for one in group.records if (own := series(one, what))]
            if not runs:
                continue
            times = np.unique(np.concatenate([np.round(at, 6) for at, _ in runs]))
            sampled = np.full((len(runs), len(times)), np.nan)
            for row, (at, values) in zip(sampled, runs, strict=True):
                row[np.searchsorted(times, np.round(at, 6))] = [np.nan if v is None else v for v in values]
            known = np.count_nonzero(~np.isnan(sampled), axis=0)
            kept = known > 0
            times, sampled, known = times[kept], sampled[:, kept], known[kept]
            mean = np.nanmean(sampled, axis=0)
            squares = np.nansum((sampled - mean) ** 2, axis=0)
            spread = np.sqrt(squares / np.maximum(known - 1, 1))
            colour = style.colour(index)
            (line,) = ax.plot(times, mean, color=colour, lw=1.5)
            ax.fill_between(times, np.maximum(mean - spread, 0), mean + spread, color=colour, alpha=0.2, lw=0)
            curves.append((group.label, times, mean, style.ink(index), line))
            lows.append(float(np.percentile(mean, 2)))
            highs.append(float(np.max(mean + spread)))
        if not curves:
            return None
        if unit == "ms" and max(highs) / max(min(lows), 0.1) > 20:
            style.log_ms(ax, "y", max(min(lows) / 1.5, 0.1), max(highs) * 1.2)
        else:
            ax.set_ylim(0, max(highs) * 1.05 or 1.0)  # what is zero throughout has an axis, too
        warmup = min(measured_s(one)[0] for group in found for one in group.records)
        if warmup > 0:
            ax.axvspan(0, warmup, color="#f0f0f0", lw=0, zorder=0)
        ax.margins(x=0)
        ax.set_xlim(left=0)
        ax.set_xlabel("time (s)")
        ax.set_ylabel(f"{label} ({unit})")
        ax.set_title(title)
        shade = "; grey: before measuring" if warmup > 0 else ""
        style.note(drawn, f"Line: mean of the runs; band: ± 1 standard deviation{shade}. {repeats(found)}.")
        low, high = ax.get_ylim()
        label_curves(
            ax,
            [
                Curve(name, list(times), list(np.clip(mean, low, high)), ink, line)
                for name, times, mean, ink, line in curves
            ],
        )
    return drawn
