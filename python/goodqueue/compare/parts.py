"""Tables with one row per discipline and part of the record, such as a Wi-Fi station or a host."""

from collections.abc import Sequence

from goodqueue.compare import Comparison
from goodqueue.measures import measured
from goodqueue.measures.stats import Estimate
from goodqueue.record import Record
from goodqueue.record.dotted import walk
from goodqueue.show.tables import Column, Table, number, plus_minus

Measure = tuple[str, str, int]
"""The heading of a column, its dotted path in the part, and its decimals."""


def table(
    comparison: Comparison,
    title: str,
    head: str,
    parts: tuple[str, Sequence[str]],
    measures: Sequence[Measure],
    leading: Sequence[str],
    notes: Sequence[str],
) -> Table:
    """Return the means over the seeds. ``parts`` is the path of the list in a record, and the names of its entries.

    ``head`` is the heading of the names. The columns whose paths are ``leading`` show their interval too.
    """
    path, names = parts
    rows = []
    for entry in comparison.entries:
        for place, name in enumerate(names):
            estimates = [_estimate(entry.records, f"{path}.{place}.{own}") for _, own, _ in measures]
            shown = [
                plus_minus(one, digits) if own in leading else number(one.mean if one else None, digits)
                for one, (_, own, digits) in zip(estimates, measures, strict=True)
            ]
            rows.append([entry.label if place == 0 else "", name, *shown])
    columns = [Column("qdisc", False), Column(head, False), *(Column(heading) for heading, *_ in measures)]
    return Table(f"{title}: means over the seeds", columns, rows, notes, names=2)


def _estimate(records: Sequence[Record], path: str) -> Estimate | None:
    """Return the mean over the seeds of the number at ``path``."""
    values = {path: [walk(record, path) for record in records]}
    return measured.estimate(values, path, measured.is_nil(values))
