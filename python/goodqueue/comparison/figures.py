"""The figures of a comparison: metrics that a person feels, the queue of each loaded direction, all side by side."""

from collections.abc import Collection, Iterator, Sequence

from matplotlib.figure import Figure

from goodqueue.comparison import drawing as plots
from goodqueue.comparison.comparing import Comparison
from goodqueue.measures import metrics
from goodqueue.plot import delay, tree
from goodqueue.plot.stored import Group

KINDS = ("felt", "delay-cdf", "delay-over-time", "delay-goodput", "flow-goodput", "tree", "estimates")

TREES = 4
"""The most trees of an Internet provider on one page."""


def of(comparison: Comparison, kinds: Collection[str] = KINDS) -> list[tuple[str, str, str, Figure]]:
    """Return the figures of ``comparison`` of these ``kinds``, each with a file name, a title and a caption.

    Metrics that a person feels come first, then the queue of each loaded direction. The file name is the kind. For a
    second direction it ends with the direction.
    """
    n, seeds = len(comparison.seeds), comparison.seeds
    runs = f"n = {n} seed{'s' if n > 1 else ''} ({seeds[0]} to {seeds[-1]})" if n > 1 else f"n = 1 (seed {seeds[0]})"
    shown, directions = comparison.shown(), comparison.loaded()
    sides = f"Mean (mark) and its 95 % confidence interval (bar) over the seeds; thin strokes are the runs; {runs}."
    figures: list[tuple[str, str, str, Figure]] = []
    felt = [metric for metric in shown if metric.is_felt and metric.is_main]
    if "felt" in kinds and felt and not comparison.is_asked:
        better = " MOS: 1 is bad, 4.4 is good." if any(metric.unit == "" for metric in felt) else ""
        figures.append(("felt", "What a person feels", f"{sides}{better}", plots.estimates(comparison, felt)))
    for direction in directions:
        for kind, title, caption, drawn in _of_direction(
            comparison, direction, metrics.said(direction, directions), runs, kinds
        ):
            figures.append((kind if direction == directions[0] else f"{kind}-{direction}", title, caption, drawn))
    if "tree" in kinds:
        figures += trees([Group(entry.label, list(entry.records)) for entry in comparison.entries])
    if "estimates" in kinds:
        if not comparison.is_asked:
            shown = [metric for metric in shown if metric.direction and (metric.is_main or metric.is_drawn)]
        figures.append(("estimates", "Side by side", sides, plots.estimates(comparison, shown)))
    return figures


def trees(groups: Sequence[Group]) -> list[tuple[str, str, str, Figure]]:
    """Return the tree of an Internet provider over time for each of the first `TREES` groups that have its series."""
    figures: list[tuple[str, str, str, Figure]] = []
    for group in groups:
        if len(figures) < TREES and (drawn := tree.figure([group])) is not None:
            seed = next(record["seed"] for record in group.records if tree.of(record))
            caption = f"A row per node of the tree, in each direction; seed {seed}."
            name = f"tree-{len(figures) + 1}" if figures else "tree"
            figures.append((name, f"Which node limits: {group.label}", caption, drawn))
    return figures


def _of_direction(
    comparison: Comparison, direction: str, at: str, repeats: str, kinds: Collection[str]
) -> Iterator[tuple[str, str, str, Figure]]:
    """Yield the figures of the queue and the flows of one direction, each after its kind. Titles end in ``at``."""
    entries = comparison.entries
    spread = [(entry.label, delays) for entry in entries if (delays := entry.delay_percentiles_ms[direction])]
    if "delay-cdf" in kinds and spread:
        caption = (
            f"Share of packets that queued for at most a given time; all seeds pooled, {repeats}. Marks: median, p95."
        )
        yield "delay-cdf", f"How long packets queue{at}", caption, delay.cdf(spread, what=f"queueing delay{at}")
    first = [(entry.label, entry.records[0]) for entry in entries]
    interval = first[0][1].get("series", {}).get("interval_s")
    if "delay-over-time" in kinds and interval is not None and all("series" in record for _, record in first):
        caption = (
            f"Mean queueing delay of each {interval:g} s of the first run (seed {comparison.seeds[0]}), the warm-up "
            "included. The axis is logarithmic and the same in each panel."
        )
        drawn = delay.over_time(first, queue=direction, what=f"queueing delay{at}")
        yield "delay-over-time", f"The queue over time{at}", caption, drawn
    goodput = metrics.of_direction("goodput_mbps", direction)
    if "delay-goodput" in kinds and any(value is not None for entry in entries for value in entry.values[goodput]):
        caption = (
            f"A point per run; the large mark is the median, the ellipse one standard deviation. {repeats}. After "
            "RFC 7928, section 2.7."
        )
        yield (
            "delay-goodput",
            f"What delay buys{at}",
            caption,
            plots.delay_against_goodput(comparison, direction=direction),
        )
    if "flow-goodput" in kinds and (flows := plots.goodput_by_flow(comparison, direction=direction)):
        caption = f"A mark per flow, a line of marks per seed; the vertical stroke is the equal share. {repeats}."
        yield "flow-goodput", f"Who gets how much{at}", caption, flows
