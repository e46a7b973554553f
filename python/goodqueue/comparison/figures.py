"""The figures of a comparison: metrics that a person feels, the queue of each loaded direction, all side by side."""

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from goodqueue import traffic
from goodqueue.comparison.comparing import Comparison
from goodqueue.measures import metrics
from goodqueue.measures.metrics import Metric
from goodqueue.plot.stored import Group
from goodqueue.record import Record
from goodqueue.show.answer import Picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure


KINDS = ("felt", "delay-cdf", "delay-over-time", "delay-goodput", "flow-goodput", "tree", "estimates")

TREES = 4
"""The most trees of an Internet provider on one page."""


def of(comparison: Comparison, kinds: Collection[str] = KINDS) -> Iterator[Picture]:
    """Yield the figures of ``comparison`` of these ``kinds``.

    Metrics that a person feels come first, then the queue of each loaded direction. The name of a figure is its kind.
    For a second direction it ends with the direction.
    """
    n, seeds = len(comparison.seeds), comparison.seeds
    runs = f"n = {n} seed{'s' if n > 1 else ''} ({seeds[0]} to {seeds[-1]})" if n > 1 else f"n = 1 (seed {seeds[0]})"
    shown, directions = comparison.shown(), comparison.loaded()
    sides = f"Mean (mark) and its 95 % confidence interval (bar) over the seeds; thin strokes are the runs; {runs}."
    felt = [metric for metric in shown if metric.is_felt and metric.is_main]
    if "felt" in kinds and felt and not comparison.is_asked:
        better = " MOS: 1 is bad, 4.4 is good." if any(metric.unit == "" for metric in felt) else ""
        yield Picture("felt", f"{sides}{better}", partial(_estimates, comparison, felt), "What a person feels")
    for direction in directions:
        at = metrics.said(direction, directions)
        for picture in _of_direction(comparison, direction, at, runs, kinds):
            yield picture if direction == directions[0] else picture._replace(name=f"{picture.name}-{direction}")
    if "tree" in kinds:
        yield from trees([Group(entry.label, list(entry.records)) for entry in comparison.entries])
    if "estimates" in kinds:
        if not comparison.is_asked:
            shown = [metric for metric in shown if metric.direction and (metric.is_main or metric.is_drawn)]
        yield Picture("estimates", sides, partial(_estimates, comparison, shown), "Side by side")


def _estimates(comparison: Comparison, shown: Sequence[Metric]) -> "Figure":
    from goodqueue.comparison import drawing  # the import of matplotlib takes longer than a small comparison

    return drawing.estimates(comparison, shown)


def trees(groups: Sequence[Group]) -> Iterator[Picture]:
    """Yield the tree of an Internet provider over time for each of the first `TREES` groups that have its series."""
    having = [group for group in groups if any(map(_has_tree, group.records))]
    for position, group in enumerate(having[:TREES]):
        seed = next(record["seed"] for record in group.records if _has_tree(record))
        caption = f"A row per node of the tree, in each direction; seed {seed}."
        name = f"tree-{position + 1}" if position else "tree"
        yield Picture(name, caption, partial(_tree, group), f"Which node limits: {group.label}")


def _has_tree(record: Record) -> bool:
    return bool(record.get("series", {}).get("nodes"))


def _tree(group: Group) -> "Figure":
    from goodqueue.plot import tree

    drawn = tree.figure([group])
    assert drawn is not None, "the group has series"
    return drawn


def _of_direction(
    comparison: Comparison, direction: str, at: str, repeats: str, kinds: Collection[str]
) -> Iterator[Picture]:
    """Yield the figures of the queue and the flows of one direction. Titles end in ``at``."""

    def cdf() -> "Figure":
        from goodqueue.plot import delay

        return delay.cdf(spread, what=f"queueing delay{at}")

    def over_time() -> "Figure":
        from goodqueue.plot import delay

        return delay.over_time(first, queue=direction, what=f"queueing delay{at}")

    def against_goodput() -> "Figure":
        from goodqueue.comparison import drawing

        return drawing.delay_against_goodput(comparison, direction=direction)

    def by_flow() -> "Figure":
        from goodqueue.comparison import drawing

        return drawing.goodput_by_flow(comparison, direction=direction)

    entries = comparison.entries
    spread = [(entry.label, delays) for entry in entries if (delays := entry.delay_percentiles_ms[direction])]
    if "delay-cdf" in kinds and spread:
        caption = (
            f"Share of packets that queued for at most a given time; all seeds pooled, {repeats}. Marks: median, p95."
        )
        yield Picture("delay-cdf", caption, cdf, f"How long packets queue{at}")
    first = [(entry.label, entry.records[0]) for entry in entries]
    interval = first[0][1].get("series", {}).get("interval_s")
    if "delay-over-time" in kinds and interval is not None and all("series" in record for _, record in first):
        caption = (
            f"Mean queueing delay of each {interval:g} s of the first run (seed {comparison.seeds[0]}), the warm-up "
            "included. The axis is logarithmic and the same in each panel."
        )
        yield Picture("delay-over-time", caption, over_time, f"The queue over time{at}")
    goodput = metrics.of_direction("goodput_mbps", direction)
    if "delay-goodput" in kinds and any(value is not None for entry in entries for value in entry.values[goodput]):
        caption = (
            f"A point per run; the large mark is the median, the ellipse one standard deviation. {repeats}. After "
            "RFC 7928, section 2.7."
        )
        yield Picture("delay-goodput", caption, against_goodput, f"What delay buys{at}")
    flows = [(flow["kind"], flow["direction"]) for flow in entries[0].records[0]["flows"]]
    if "flow-goodput" in kinds and flows.count((traffic.BULK, direction)) > 1:
        caption = f"A mark per flow, a line of marks per seed; the vertical stroke is the equal share. {repeats}."
        yield Picture("flow-goodput", caption, by_flow, f"Who gets how much{at}")
