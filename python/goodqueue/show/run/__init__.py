"""The tables of one run. Each module has those of a part of the record."""

from collections.abc import Iterator

from goodqueue import traffic
from goodqueue.record import App, Record
from goodqueue.scenario import warmup
from goodqueue.show.answer import Part, Section, flat
from goodqueue.show.run import air, applications, flows, hosts, many, queues, subscribers, tree
from goodqueue.show.table import Table


def run_parts(record: Record) -> list[Part]:
    """Return the tables of one run. Those of single flows are details if there are many, or subscribers."""
    details: list[Table] = []
    if (isp := record.get("isp")) is not None:
        first = [subscribers.by_plan(isp), *tree.table(record), queues.table(record)]
        details += [subscribers.shares(isp), subscribers.table_of_worst(isp)]
    else:
        first = [queues.table(record), *air.tables(record)]
    first += queues.of_hops(record)
    (details if isp else first).extend([*flows.tables(record), *hosts.tables(record)])
    if isp or any(len(apps) > flows.MANY for _, apps in _by_kind(record)):
        first.append(many.summary(record))
    for kind, apps in _by_kind(record):
        is_many = len(apps) > flows.MANY
        shown = many.applications if is_many else applications.table
        (details if is_many or isp else first).append(shown(kind, apps, warmup.notes(record, kind.name)))
    return [*first, Section("", details, is_detail=True)] if details else [*first]


def run_tables(record: Record) -> list[Table]:
    """Return all tables of one run."""
    return [part for part in flat(run_parts(record)) if isinstance(part, Table)]


def _by_kind(record: Record) -> Iterator[tuple[traffic.Kind, list[App]]]:
    """Yield the kinds of applications that the run has, with the applications of each."""
    for kind in traffic.probes_first():
        if apps := [app for app in record["apps"] if app["kind"] == kind.name]:
            yield kind, apps
