"""``goodqueue import``: turns other programs' measurements into records."""

from typing import TYPE_CHECKING, Annotated

import typer

from goodqueue.cli.options import Json, Sets, whole
from goodqueue.errors import UserError, warn

if TYPE_CHECKING:
    from goodqueue.record import Record, SourceFile


def import_(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE...", help="Data files of Flent, or JSON of irtt or iperf3.")
    ],
    scenario: Annotated[
        str | None, typer.Option(metavar="SCENARIO.toml", help="What the path was like: link, qdisc, RTT, traffic.")
    ] = None,
    sets: Sets = None,
    seed: Annotated[
        int,
        typer.Option(
            parser=whole("seed", 0, 2**62),
            metavar="N",
            help="The seed that the first record gets. Each further one has the next.",
        ),
    ] = 1,
    store: Annotated[str | None, typer.Option(metavar="DIR", help="Keeps each record, beside runs.")] = None,
    json: Json = False,
) -> None:
    """Read measurements of a real network by Flent, irtt or iperf3.

    \b
    Examples:
      goodqueue import rrul-*.flent.gz
      irtt client -i 20ms -d 1m -o irtt.json.gz HOST; goodqueue import irtt.json.gz
      iperf3 -c HOST --json --bidir -P 2 > iperf.json; goodqueue import iperf.json
      goodqueue import real.flent.gz --scenario link.toml --json > real.json
      goodqueue run link.toml --json > sim.json; goodqueue report sim.json real.json
      goodqueue import real-*.flent.gz --scenario link.toml --set bottleneck.qdisc=fq_codel --store runs
      goodqueue plot ellipse runs --out ellipse.svg

    The content of a file says which program wrote it; the file may be compressed by gzip or bzip2. Each test becomes a
    record, whose engine is the program. The programs see the ends of the path: goodput, window and RTT of TCP, pings,
    calls, fetches of pages. A queue's fields stay empty, unless Flent asked tc for its statistics. A record of Flent's
    covers the time during which all TCP flows of the test ran. With --scenario the record says what the path was, and a
    report compares it with runs of the same scenario. Without --scenario the link is unknown. --json prints one record
    per line.
    """
    from pathlib import Path

    from goodqueue import store as stores
    from goodqueue.engines import loads
    from goodqueue.flent import programs
    from goodqueue.neighbours import parts
    from goodqueue.show import terminal
    from goodqueue.show.run import run_tables

    if sets and scenario is None:
        raise UserError("--set", "found without --scenario; accepted: with --scenario SCENARIO.toml")
    resolved = None if scenario is None else loads.from_file(scenario, sets or ())
    origin = f"--store {store}"
    if store is not None:
        stores.check(Path(store), origin)
    records: list[Record] = []
    for file in files:
        records += programs.records(file, resolved, seed + len(records))
    if store is not None:
        parts.keep(stores.create(Path(store), origin), records, origin)
    for record in records:
        _note(_source(record))
    if json:
        for record in records:
            terminal.emit_json(record)
        return
    for record in records:
        about = _source(record)
        begin, end = about["measured_s"]
        terminal.say(f"{about['file']}: {about['test']}, {about['title'] or 'no title'}; {begin:.1f} s to {end:.1f} s")
        terminal.say()
        sees_queue = any(queue["delay_ms"] or queue["packets"] for queue in record["queues"].values())
        terminal.show(run_tables(record)[0 if sees_queue else 1 :])
    if store is not None:
        terminal.say(f"Kept: {len(records)} in {store}.")


def _source(record: "Record") -> "SourceFile":
    from goodqueue.record.reading import source_of

    found = source_of(record)
    assert found is not None, "an imported record has a source"
    return found


def _note(source: "SourceFile") -> None:
    """Say how the record differs from what a reader would expect, and which series it does not have, by reason."""
    for note in source.get("notes", []):
        warn(f"{source['file']}: {note}")
    by_reason: dict[str, list[str]] = {}
    for name, why in source.get("reasons", {}).items():
        by_reason.setdefault(why, []).append(name)
    for why, names in by_reason.items():
        some = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        warn(f"{source['file']}: left out: {some}: {why}")
