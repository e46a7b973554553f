"""Tables with one row per discipline and part of the record: Wi-Fi stations, plans of subscribers, named hosts."""

from collections.abc import Sequence

from goodqueue.comparison.comparing import Comparison
from goodqueue.measures import measured
from goodqueue.measures.stats import Estimate
from goodqueue.record import Record
from goodqueue.record.dotted import walk
from goodqueue.show import layout
from goodqueue.show.run.hosts import MANY as MANY_HOSTS
from goodqueue.show.table import Column, Table, number, plus_minus

Measure = tuple[str, str, int]
"""The heading of a column, its dotted path in the part, and its decimals."""

STATION: tuple[Measure, ...] = (
    ("airtime\n%", "airtime_percent", 1),
    ("down\nMbit/s", "down.throughput_mbps", 2),
    ("up\nMbit/s", "up.throughput_mbps", 2),
    ("delay down\nmean ms", "down.delay_ms.mean", 1),
    ("\np95 ms", "down.delay_ms.p95", 1),
    ("frames per\naggregate", "down.aggregate_frames", 1),
    ("retries\n%", "down.retry_percent", 1),
)

HOST: tuple[Measure, ...] = (
    ("flows", "flows", 0),
    ("down\nMbit/s", "goodput_mbps.down", 2),
    ("up\nMbit/s", "goodput_mbps.up", 2),
    ("RTT\np50 ms", "rtt_ms.p50", 1),
    ("\np95 ms", "rtt_ms.p95", 1),
    ("loss\n%", "loss_percent", 2),
)

PLAN: tuple[Measure, ...] = (
    ("down\nMbit/s", "down.throughput_mbps", 1),
    ("delay down p95\nmedian ms", "down.delay_p95_ms.median", 1),
    ("worst\ntenth", "down.delay_p95_ms.worst_tenth", 1),
    ("\nworst", "down.delay_p95_ms.worst", 1),
    ("up p95\nmedian ms", "up.delay_p95_ms.median", 1),
    ("worst\ntenth", "up.delay_p95_ms.worst_tenth", 1),
    ("drops down\n%", "down.drop_percent", 2),
    ("Jain\ndown", "down.jain_throughput", 3),
)

LEADING = ("down.throughput_mbps", "down.delay_ms.mean", "goodput_mbps.down", "goodput_mbps.up")
"""Columns that show their interval too. Intervals of all columns would make a table too wide for a terminal."""


def tables(comparison: Comparison) -> list[Table]:
    """Return the tables of the stations, the plans and the hosts that the scenario has."""
    first, tables = comparison.entries[0].records[0], []
    if all("wifi" in entry.records[0] for entry in comparison.entries):
        names = [station["name"] for station in first["wifi"]["stations"]]
        note = "airtime: a station's share of all airtime, both ways; delay: until delivered; "
        note += "aggregates and retries: down"
        tables.append(_table(comparison, "Stations", "wifi.stations", names, STATION, [note]))
    if all("isp" in entry.records[0] for entry in comparison.entries):
        names = [plan["name"] for plan in first["isp"]["plans"]]
        notes = ["delay p95: of each subscriber's packets in its own queue; worst tenth: a tenth have this or more"]
        tables.append(_table(comparison, "Plans", "isp.plans", names, PLAN, notes))
    if hosts := first.get("hosts", []):
        names = [host["name"] if host["role"] == "host" else f"{host['name']}, server" for host in hosts]
        left = len(names) - MANY_HOSTS
        notes = [f"and {left} more, which --json shows"] if left > 0 else []
        tables.append(_table(comparison, "Hosts", "hosts", names[:MANY_HOSTS], HOST, notes))
    return tables


def _table(
    comparison: Comparison, title: str, path: str, names: Sequence[str], measures: Sequence[Measure], notes: list[str]
) -> Table:
    """Return the means over the seeds. ``path`` is that of the list in a record, whose entries have these ``names``."""
    rows = []
    for entry in comparison.entries:
        for index, name in enumerate(names):
            estimates = [_estimate(entry.records, f"{path}.{index}.{key}") for _, key, _ in measures]
            shown = [
                plus_minus(estimate, digits) if key in LEADING else number(estimate.mean if estimate else None, digits)
                for estimate, (_, key, digits) in zip(estimates, measures, strict=True)
            ]
            rows.append([entry.label if index == 0 else "", name, *shown])
    head = title.lower().removesuffix("s")
    columns = [Column("qdisc", False), Column(head, False), *(Column(heading) for heading, *_ in measures)]
    table = Table(f"{title}: means over the seeds", columns, rows, notes, names=2)
    return layout.fitted(table, [heading for heading, key, _ in reversed(measures) if key not in LEADING])


def _estimate(records: Sequence[Record], path: str) -> Estimate | None:
    """Return the mean over the seeds of the number at ``path``."""
    values = {path: [walk(record, path) for record in records]}
    return measured.estimate(values, path, measured.is_nil(values))
