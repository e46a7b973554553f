"""The hosts that a scenario names, per discipline: goodput, round-trip time and loss."""

from goodqueue.compare import Comparison, parts
from goodqueue.show.tables import MANY_HOSTS, Table

MEASURES: tuple[parts.Measure, ...] = (
    ("flows", "flows", 0),
    ("down\nMbit/s", "goodput_mbps.down", 2),
    ("up\nMbit/s", "goodput_mbps.up", 2),
    ("RTT\np50 ms", "rtt_ms.p50", 1),
    ("\np95 ms", "rtt_ms.p95", 1),
    ("loss\n%", "loss_percent", 2),
)

LEADING = ("goodput_mbps.down", "goodput_mbps.up")
"""Columns that show their interval too."""


def comparison_tables(comparison: Comparison) -> list[Table]:
    """Return a table with one row per discipline and host. Empty if the scenario names no host."""
    hosts = comparison.entries[0].records[0].get("hosts", [])
    if not hosts:
        return []
    names = [host["name"] if host["role"] == "host" else f"{host['name']}, server" for host in hosts]
    left = len(names) - MANY_HOSTS
    notes = [f"and {left} more, which --json shows"] if left > 0 else []
    return [parts.table(comparison, "Hosts", "host", ("hosts", names[:MANY_HOSTS]), MEASURES, LEADING, notes)]
