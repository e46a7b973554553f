"""The stations of a Wi-Fi cell, per discipline: airtime, throughput, delay, aggregation and retries."""

from goodqueue.compare import Comparison, parts
from goodqueue.show.tables import Table

MEASURES: tuple[parts.Measure, ...] = (
    ("airtime\n%", "airtime_percent", 1),
    ("down\nMbit/s", "down.throughput_mbps", 2),
    ("up\nMbit/s", "up.throughput_mbps", 2),
    ("delay down\nmean ms", "down.delay_ms.mean", 1),
    ("\np95 ms", "down.delay_ms.p95", 1),
    ("frames per\naggregate", "down.aggregate_frames", 1),
    ("retries\n%", "down.retry_percent", 1),
)

LEADING = ("down.throughput_mbps", "down.delay_ms.mean")
"""Columns that show their interval too. Intervals of all columns would make the table too wide for a terminal."""


def comparison_tables(comparison: Comparison) -> list[Table]:
    """Return a table with one row per discipline and station. Empty if there is no cell."""
    if any("wifi" not in entry.records[0] for entry in comparison.entries):
        return []
    names = [station["name"] for station in comparison.entries[0].records[0]["wifi"]["stations"]]
    notes = [
        "airtime: a station's share of all airtime, both ways; delay: until delivered; aggregates and retries: down"
    ]
    listed = ("wifi.stations", names)
    return [parts.table(comparison, "Stations", "station", listed, MEASURES, LEADING, notes)]
