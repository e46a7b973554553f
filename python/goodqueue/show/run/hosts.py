"""The table of the hosts that a scenario names."""

from goodqueue.record import Record
from goodqueue.show import layout
from goodqueue.show.run import flows, queues
from goodqueue.show.table import Table, number

MANY = 24
"""If there are more hosts than this, the table has those with the highest goodput."""


def tables(record: Record) -> list[Table]:
    """Return the table of the hosts that the scenario names."""
    if not (hosts := record.get("hosts", [])):
        return []
    shown = sorted(hosts, key=lambda host: -sum(one or 0 for one in host["goodput_mbps"].values()))[:MANY]
    rows = [
        {
            "host": host["name"],
            "role": host["role"],
            "flows": str(host["flows"]),
            **{f"{direction}\nMbit/s": number(host["goodput_mbps"][direction], 2) for direction in ("down", "up")},
            **flows.rtt_cells(host["rtt_ms"]),
            "loss\n%": number(host["loss_percent"], 2),
        }
        for host in hosts
        if host in shown
    ]
    left = len(hosts) - len(rows)
    notes = [f"and {left} with less goodput, which --json shows"] if left else []
    notes += [f"{host['name']}: {queues.card_note(host['card'])}" for host in hosts if host in shown and "card" in host]
    index = record["fairness"].get("jain_hosts")
    if index is not None and sum(host["role"] == "host" for host in hosts) > 1:
        notes.append(f"Jain's fairness index of the users' hosts: {number(index, 3)}")
    return [layout.fitted(Table.of("Hosts", rows, notes, ("host", "role")), ("RTT ms\np10", "\np90"))]
