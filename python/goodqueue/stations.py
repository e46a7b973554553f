"""What the stations of a Wi-Fi cell had of the air, discipline by discipline."""

from collections.abc import Mapping, Sequence
from typing import Any

from goodqueue import measured
from goodqueue.compare import Comparison
from goodqueue.stats import Estimate
from goodqueue.tables import Column, Table, number, plus_minus

MEASURES: tuple[tuple[str, str, tuple[str, ...], int], ...] = (
    ("airtime\n%", "", ("airtime_percent",), 1),
    ("down\nMbit/s", "down", ("throughput_mbps",), 2),
    ("up\nMbit/s", "up", ("throughput_mbps",), 2),
    ("delay down\nmean ms", "down", ("delay_ms", "mean"), 1),
    ("\np95 ms", "down", ("delay_ms", "p95"), 1),
    ("frames per\naggregate", "down", ("aggregate_frames",), 1),
    ("retries\n%", "down", ("retry_percent",), 1),
)
"""Heading, direction, path in a station's record, decimals."""

LEADING = (("throughput_mbps",), ("delay_ms", "mean"))
"""Of the way down they have their interval beside them; the others would make the table too wide for a terminal."""


def comparison_tables(comparison: Comparison) -> list[Table]:
    """Return a table with a row per discipline and station, means over the seeds; none where there is no cell."""
    rows = []
    for entry in comparison.entries:
        cells = [air for record in entry.records if (air := record.get("wifi")) is not None]
        if not cells:
            return []
        for place, station in enumerate(cells[0]["stations"]):
            own = [one["stations"][place] for one in cells]
            estimates = [_estimate(own, way, path) for _, way, path, _ in MEASURES]
            shown = [
                plus_minus(one, digits)
                if path in LEADING and way == "down"
                else number(one.mean if one else None, digits)
                for one, (_, way, path, digits) in zip(estimates, MEASURES, strict=True)
            ]
            rows.append([entry.label if place == 0 else "", station["name"], *shown])
    columns = [Column("qdisc", False), Column("station", False), *(Column(heading) for heading, *_ in MEASURES)]
    notes = [
        "airtime: a station's share of all airtime, both ways; delay: until delivered; aggregates and retries: down"
    ]
    return [Table("Stations: means over the seeds", columns, rows, notes, names=2)]


def _estimate(stations: Sequence[Mapping[str, Any]], way: str, path: tuple[str, ...]) -> Estimate | None:
    """Return the mean of one measure of a station over the seeds."""
    found = [_at(station[way] if way else station, path) for station in stations]
    values = {"": [None if one is None else float(one) for one in found]}
    return measured.estimate(values, "", measured.is_nil(values))


def _at(record: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    found: Any = record
    for key in path:
        found = None if found is None else found.get(key)
    return found
