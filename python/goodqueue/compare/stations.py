"""The stations of a Wi-Fi cell, per discipline: airtime, throughput, delay, aggregation and retries."""

from collections.abc import Sequence

from goodqueue.compare import Comparison
from goodqueue.measures import measured
from goodqueue.measures.stats import Estimate
from goodqueue.record import Record
from goodqueue.record.dotted import walk
from goodqueue.show.tables import Column, Table, number, plus_minus

MEASURES: tuple[tuple[str, str, int], ...] = (
    ("airtime\n%", "airtime_percent", 1),
    ("down\nMbit/s", "down.throughput_mbps", 2),
    ("up\nMbit/s", "up.throughput_mbps", 2),
    ("delay down\nmean ms", "down.delay_ms.mean", 1),
    ("\np95 ms", "down.delay_ms.p95", 1),
    ("frames per\naggregate", "down.aggregate_frames", 1),
    ("retries\n%", "down.retry_percent", 1),
)
"""The heading of each column, its dotted path in a station's record, and its decimals."""

LEADING = ("down.throughput_mbps", "down.delay_ms.mean")
"""Columns that show their interval too. Intervals of all columns would make the table too wide for a terminal."""


def comparison_tables(comparison: Comparison) -> list[Table]:
    """Return a table with one row per discipline and station, means over the seeds. Empty if there is no cell."""
    rows = []
    for entry in comparison.entries:
        if (air := entry.records[0].get("wifi")) is None:
            return []
        for place, station in enumerate(air["stations"]):
            estimates = [_estimate(entry.records, f"wifi.stations.{place}.{path}") for _, path, _ in MEASURES]
            shown = [
                plus_minus(one, digits) if path in LEADING else number(one.mean if one else None, digits)
                for one, (_, path, digits) in zip(estimates, MEASURES, strict=True)
            ]
            rows.append([entry.label if place == 0 else "", station["name"], *shown])
    columns = [Column("qdisc", False), Column("station", False), *(Column(heading) for heading, *_ in MEASURES)]
    notes = [
        "airtime: a station's share of all airtime, both ways; delay: until delivered; aggregates and retries: down"
    ]
    return [Table("Stations: means over the seeds", columns, rows, notes, names=2)]


def _estimate(records: Sequence[Record], path: str) -> Estimate | None:
    """Return the mean over the seeds of the number at ``path``."""
    values = {path: [walk(record, path) for record in records]}
    return measured.estimate(values, path, measured.is_nil(values))
