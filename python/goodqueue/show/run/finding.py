"""What a run found, in sentences that stand before its tables."""

from collections.abc import Iterator

from goodqueue.measures import metrics
from goodqueue.measures.metrics import METRICS, Metric
from goodqueue.record import Isp, Record
from goodqueue.record.reading import statistic
from goodqueue.show.findings import value_words
from goodqueue.show.run import many, subscribers, tree
from goodqueue.show.table import short, span

FELT = 2
"""The most sentences on what a person feels."""


def sentences(record: Record) -> list[str]:
    """Return what held packets back and what a person felt, in two or three sentences."""
    if (isp := record.get("isp")) is not None:
        return list(_of_subscribers(record, isp))
    return [" ".join(_of_link(record))]


def _of_link(record: Record) -> Iterator[str]:
    values = {key: [value] for key, value in metrics.numbers(record).items()}
    queues = [(direction, record["queues"][direction]) for direction in metrics.loaded([values])]
    tails = {direction: statistic(queue["delay_ms"], "p95") for direction, queue in queues}
    waits = [f"{span(tail)} {direction}" for direction, tail in tails.items() if tail is not None]
    used = [f"{short(queue['utilisation_percent'])} % {direction}" for direction, queue in queues]
    if waits:
        yield f"95 % of the packets queue for at most {', '.join(waits)}; the link is used to {', '.join(used)}."
    felt = [metric for metric in METRICS if metric.is_felt and metric.sentence[0] and values[metric.key][0] is not None]
    yield from (_said(metric, values[metric.key][0] or 0.0) for metric in felt[:FELT])


def _said(metric: Metric, value: float) -> str:
    first, _, end = metric.sentence
    return f"{first.format(value_words(metric, value))}{end}."


def _of_subscribers(record: Record, isp: Isp) -> Iterator[str]:
    node, direction, percent = tree.limiting(isp)[0]
    active = subscribers.are_active(tree.below(isp, node))
    own, others = tree.side(node, direction), sum(one[2] >= tree.FULL_PERCENT for one in tree.limiting(isp)[1:])
    if own["limiting_percent"] is None:
        yield "How long each node held packets back is not known on this engine."
    elif percent < 1:
        yield "No node held packets back for more than 1 % of the time."
    else:
        named = f"The node {node['name']}" if node["name"] else "The link"
        time = f"{short(percent)} % of the time {direction}"
        more = f", and {others} more for half of it or longer" if others else ""
        yield f"{named} ({own['rate_mbps']:g} Mbit/s) held packets back {time}{more}."
    delays = [statistic(subscribers.side(one, direction).get("delay_ms"), "p95") for one in active]
    tails = [delay for delay in delays if delay is not None]
    pages = tree.page_times(record)
    loads = [time for one in active for time in pages.get(one["name"], ())]
    felt = [f"packets wait {span(tail)} (p95)"] if (tail := many.median(tails)) is not None else []
    felt += [f"pages take {span(load)}"] if (load := many.median(loads)) is not None else []
    everybody = subscribers.are_active(isp["subscribers"])
    suffering = sum(map(subscribers.suffers, everybody))
    if felt:
        yield (
            f"At the median subscriber below it {' and '.join(felt)}; {suffering} of {len(everybody)} active ones "
            f"suffer (p95 of {subscribers.SUFFERS_MS:g} ms or more)."
        )
