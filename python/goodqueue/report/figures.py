"""The figures of a comparison: what a person feels, then the queue of each loaded direction, then all side by side."""

from matplotlib.figure import Figure

from goodqueue import metrics
from goodqueue.compare import Comparison
from goodqueue.plot import comparison as plots
from goodqueue.plot import delay


def of(comparison: Comparison) -> list[tuple[str, str, str, Figure]]:
    """Return the figures of ``comparison``, each with a file name, a title and a caption.

    First stands what a person feels, then the queue of each loaded direction. The names of the figures of a second
    direction end with it.
    """
    n, seeds = len(comparison.seeds), comparison.seeds
    runs = f"n = {n} seed{'s' if n > 1 else ''} ({seeds[0]} to {seeds[-1]})" if n > 1 else f"n = 1 (seed {seeds[0]})"
    shown, ways = comparison.shown(), comparison.loaded()
    sides = f"Mean (mark) and its 95 % confidence interval (bar) over the seeds; thin strokes are the runs; {runs}."
    found: list[tuple[str, str, str, Figure]] = []
    felt = [metric for metric in shown if metric.is_felt and metric.is_main]
    if felt and not comparison.is_asked:
        better = " MOS: 1 is bad, 4.4 is good." if any(metric.unit == "" for metric in felt) else ""
        drawn = plots.estimates(comparison, felt)
        found.append(("felt", "What a person feels", f"{sides}{better}", drawn))
    queues = (
        shown if comparison.is_asked else [one for one in shown if one.way and (one.is_main or one.label == "drops")]
    )
    for index, way in enumerate(ways):
        found += _of_queue(comparison, way, f"-{way}" if index else "", runs)
    found.append(("estimates", "Side by side", sides, plots.estimates(comparison, queues)))
    return found


def _of_queue(comparison: Comparison, way: str, end: str, runs: str) -> list[tuple[str, str, str, Figure]]:
    """Return the figures of the queue and the flows of one direction; the names end with ``end``."""
    entries, seeds = comparison.entries, comparison.seeds
    at = metrics.said(way, comparison.loaded())
    found: list[tuple[str, str, str, Figure]] = []
    spread = [(entry.label, delays) for entry in entries if (delays := entry.delay_percentiles_ms[way])]
    if spread:
        caption = (
            f"Share of packets that queued for at most a given time; all seeds pooled, {runs}. Marks: median, p95."
        )
        drawn = delay.cdf(spread, what=f"queueing delay{at}")
        found.append((f"delay-cdf{end}", f"How long packets queue{at}", caption, drawn))
    interval = entries[0].records[0].get("series", {}).get("interval_s")
    if interval is not None and all("series" in entry.records[0] for entry in entries):
        caption = (
            f"Mean queueing delay of each {interval:g} s of the first run (seed "
            f"{seeds[0]}), the warm-up included. The axis is logarithmic and the same in each panel."
        )
        series = [(entry.label, entry.records[0]) for entry in entries]
        drawn = delay.over_time(series, queue=way, what=f"queueing delay{at}")
        found.append((f"delay-over-time{end}", f"The queue over time{at}", caption, drawn))
    goodput = metrics.of_way("goodput_mbps", way)
    if any(value is not None for entry in entries for value in entry.values[goodput]):
        caption = (
            f"A point per run; the large mark is the median, the ellipse one standard deviation. {runs}. After "
            "RFC 7928, section 2.7."
        )
        drawn = plots.delay_against_goodput(comparison, way=way)
        found.append((f"delay-goodput{end}", f"What delay buys{at}", caption, drawn))
    if flows := plots.goodput_by_flow(comparison, way=way):
        caption = f"A mark per flow, a line of marks per seed; the vertical stroke is the equal share. {runs}."
        found.append((f"flow-goodput{end}", f"Who gets how much{at}", caption, flows))
    return found
