"""Tables of the queues of a run: those of the bottleneck, and those of its other hops."""

from collections.abc import Mapping, Sequence
from typing import cast

from goodqueue import hops
from goodqueue.record import Card, Queue, Record
from goodqueue.record.reading import statistic
from goodqueue.scenario import discipline
from goodqueue.show import labels, layout
from goodqueue.show.run import tree
from goodqueue.show.table import Table, count, number, short, span

MOST_SAID = 3
"""The most lines of `tc` that are shown."""


def table(record: Record) -> Table:
    """Return the table of the bottleneck's queues."""
    return _queue_table("Queues", record["queues"], "queue", [*tree.drops(record), *_said(record)])


def _said(record: Record) -> list[str]:
    """Return what `tc` said when it made the queues, without an end for a tree of hundreds of classes."""
    said = record["kernel"].get("tc_said", []) if "kernel" in record else []
    more = [f"tc: and {len(said) - MOST_SAID} more, which --json shows"] if len(said) > MOST_SAID else []
    return [*(f"tc: {line}" for line in said[:MOST_SAID]), *more]


def of_hops(record: Record) -> list[Table]:
    """Return the tables of the hops that are links and of those that are not, if there are any."""
    return [found for found in (_links(record), _wires(record)) if found.rows]


def links(record: Record) -> dict[str, Queue]:
    """Return the hops that are links, by name, as queues."""
    return {hop["name"]: cast("Queue", hop) for hop in record.get("hops", []) if hops.has_queue(hop)}


def _links(record: Record) -> Table:
    up = {hop["name"] for hop in record.get("hops", []) if hop["direction"] == "up"}
    named = {f"{name}{', up' if name in up else ''}": queue for name, queue in links(record).items()}
    return _queue_table("Hops: links", named, "hop")


def _queue_table(title: str, named: Mapping[str, Queue], head: str, below: Sequence[str] = ()) -> Table:
    """Return the table of queues by name. ``head`` is the heading of the names, and ``below`` are further notes."""
    names = {"delay ms\nmean": "mean", "\np50": "p50", "\np95": "p95", "\np99": "p99", "\nmax": "max"}
    rows = [
        {
            head: name,
            "qdisc": labels.discipline(queue["qdisc"]),
            "used\n%": number(queue["utilisation_percent"]),
            "rate\nMbit/s": number(queue["throughput_mbps"], 2),
            **{over: short(statistic(queue["delay_ms"], name)) for over, name in names.items()},
            "drops\n%": number(queue["drop_percent"], 2),
            "marks\n%": number(queue["mark_percent"], 2),
        }
        for name, queue in named.items()
    ]
    notes = [f"{name}: {discipline.shortened(queue['qdisc'])}{_ring(queue)}" for name, queue in named.items()]
    notes += [f"{name}: {card_note(queue['card'])}" for name, queue in named.items() if "card" in queue]
    return layout.fitted(Table.of(title, rows, [*notes, *below], (head, "qdisc")), ("\nmax", "\np50", "\np99"))


def _ring(queue: Queue) -> str:
    """Return the note on the part of a queue's delay in the driver's ring, if there is one."""
    if "ring" not in queue:
        return ""
    mean = statistic(queue["ring"]["delay_ms"], "mean")
    return f"; in the driver below it {'–' if mean is None else span(mean)} of the mean delay"


def card_note(card: Card) -> str:
    """Return the note on what the host took from a card."""
    words = f"its card delivered {card['packets']} packets at {card['interrupts']} interrupts"
    if card["handed_on"] == card["packets"]:
        return words
    return f"{words}, merged to {card['handed_on']} of {number(card['mean_bytes'], 0)} bytes on average"


def _wires(record: Record) -> Table:
    others = [hop for hop in record.get("hops", []) if not hops.has_queue(hop)]
    rows = [
        {
            "hop": hop["name"],
            "direction": hop["direction"],
            "offered\npackets": count(hop["packets"]["offered"]),
            "lost\n%": number(hop.get("loss_percent"), 2),
            "dupli-\ncated": count(hop["packets"].get("duplicated")),
        }
        for hop in others
    ]
    there = {hop["kind"] for hop in others}
    named = " and ".join(kind.plural for kind in hops.kinds().values() if kind.name in there)
    return Table.of(f"Hops: {named}", rows, texts=("hop", "direction"), names=2)
