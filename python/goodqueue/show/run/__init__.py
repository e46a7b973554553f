"""The tables of one run. Each module has those of a part of the record."""

from goodqueue import traffic
from goodqueue.record import Record
from goodqueue.scenario import warmup
from goodqueue.show.run import air, applications, flows, hosts, many, queues, subscribers
from goodqueue.show.table import Table


def run_tables(record: Record) -> list[Table]:
    """Return the tables of one run: its queues, its other hops, its flows, its applications."""
    tables = [queues.table(record), *air.tables(record), *queues.of_hops(record), *subscribers.tables(record)]
    tables += [*flows.tables(record), *hosts.tables(record)]
    for kind in traffic.probes_first():
        if apps := [app for app in record["apps"] if app["kind"] == kind.name]:
            several = many.applications if len(apps) > flows.MANY else applications.table
            tables.append(several(kind, apps, warmup.notes(record, kind.name)))
    return tables
