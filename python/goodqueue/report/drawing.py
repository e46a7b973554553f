"""The figures of a report on stored results, as `goodqueue plot` draws them. Only this module of the room draws."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from goodqueue.comparison import figures
from goodqueue.comparison.comparing import Comparison
from goodqueue.pages import Figure
from goodqueue.plot import course, delay, ellipse, rows, style
from goodqueue.plot.series import series
from goodqueue.plot.stored import Group, directed, percentiles, repeats
from goodqueue.record import Record
from goodqueue.show.answer import Picture
from goodqueue.store import Store, results
from goodqueue.sweeps import figures as sweep_figures
from goodqueue.sweeps.result import Sweep

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawn

FIGURES = ("felt", "delay-cdf", "estimates")
"""The figures of a comparison. `_of_runs` adds figures of its runs."""

CURVES = 8
"""The most distributions, ellipses or lines in one figure."""

COURSES = {
    "delay_ms": "The queue over time",
    "ping_rtt_ms": "Pings over time",
    "goodput_mbps": "Goodput over time",
}
"""The time series that a page shows, with their titles."""

ROWS = 24
"""The most boxes or indices below each other in one figure."""


def of_sweep(sweep: Sweep, store: Store | None, prefix: str) -> list[Figure]:
    """Return the figures of a sweep, and those of its runs if their ``store`` is there.

    ``prefix`` begins the figures' identifiers. Raises UserError for a damaged run.
    """
    drawn_figures = [_drawn(picture, prefix) for picture in sweep_figures.of(sweep)]
    if store is not None and len(sweep.cells) <= ROWS:
        groups = [Group(sweep_figures.name(cell.cell.at), _runs(cell.keys, store)) for cell in sweep.cells]
        drawn_figures += _of_runs([group for group in groups if group.records], prefix)
    return drawn_figures


def of_comparison(comparison: Comparison, prefix: str) -> list[Figure]:
    """Return the figures of records that differ only in qdisc, seed and engine."""
    groups = [Group(entry.label, list(entry.records)) for entry in comparison.entries]
    return [_drawn(picture, prefix) for picture in figures.of(comparison, FIGURES)] + _of_runs(groups, prefix)


def of_record(record: Record, name: str, prefix: str) -> list[Figure]:
    """Return the figures of a single run of the line ``name``."""
    full = {
        direction: [value for value in queue["delay_percentiles_ms"] or () if value is not None]
        for direction, queue in record["queues"].items()
    }
    spread = [(direction, delays) for direction, delays in full.items() if len(delays) == 101 and delays[-1] > 0]
    caption = "Share of packets that queued for at most a given time, by direction. Marks: median, p95."
    shown = [Figure("How long packets queue", caption, style.svg(delay.cdf(spread), f"{prefix}-cdf"))] if spread else []
    return shown + _of_runs([Group(name, [record])], prefix)


def _runs(keys: Sequence[str], store: Store) -> list[Record]:
    there = [key for key in keys if store.path(key).exists()]
    return [loose.record for loose in results.in_store(store, there)]


def _of_runs(groups: Sequence[Group], prefix: str) -> list[Figure]:
    """Return the figures that fit ``groups`` of repeats, as `goodqueue plot` draws them.

    Latency against goodput, and Jain's index, need several groups or several runs. Boxes need several groups. Courses
    need time series.
    """
    if not groups:
        return []
    several = len(groups) > 1 or len(groups[0].records) > 1
    drawn_figures: list[tuple[str, str, str, Drawn | None]] = []
    if several and len(groups) <= CURVES:
        caption = "Better is up and to the right; a mark a run, and an ellipse of one standard deviation."
        drawn_figures.append(("ellipse", "Latency against goodput", caption, ellipse.figure(groups)))
    if len(groups) > 1:
        caption = "The spread of what a packet, or a ping, meets: median, quartiles, and 5th and 95th percentile."
        pings = any(percentiles(group, "ping_rtt_ms") for group in groups)
        what = "ping_rtt_ms" if pings else directed("delay_ms", groups)
        drawn_figures.append(("box", "Spread of latency", caption, rows.distribution_boxes(groups, what)))
    if several and any(len(record["flows"]) > 1 for group in groups for record in group.records):
        caption = "How evenly the flows shared: 1 where all got the same."
        drawn_figures.append(("jain", "Fairness", caption, rows.jain(groups)))
    if len(groups) <= CURVES:
        caption = f"The mean over the runs at each time; {repeats(groups)}."
        for name, title in COURSES.items():
            what = name if name == "ping_rtt_ms" else directed(name, groups)
            if any(series(record, what) for group in groups for record in group.records):
                drawn_figures.append((f"time-{name}", title, caption, course.figure(groups, what)))
    shown = [
        Figure(title, caption, style.svg(drawn, f"{prefix}-{name}"))
        for name, title, caption, drawn in drawn_figures
        if drawn is not None
    ]
    return shown + [_drawn(picture, prefix) for picture in figures.trees(groups)]


def _drawn(picture: Picture, prefix: str) -> Figure:
    """Return ``picture`` as a page has it, without files."""
    return Figure(picture.title, picture.caption, style.svg(picture.draw(), f"{prefix}-{picture.name}"))
